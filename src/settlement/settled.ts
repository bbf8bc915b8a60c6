import type { Tx } from '../db/db.ts'
import { book, bookAll } from '../db/ledger.ts'
import { putOutbox } from '../db/outbox.ts'
import { type ChangeContext, changePaymentIn, type PaymentWork } from '../db/payments/payment-changes.ts'
import { succeedTogether } from '../db/payments/payment-sets.ts'
import { lockPayments } from '../db/payments/payments.ts'
import { type Booking, claimed, gasSpent } from '../domain/ledger.ts'
import { withPaidOut } from '../domain/payment/funds/funds.ts'
import { toFunds, withFunds } from '../domain/payment/funds/stored-funds.ts'
import type { PaymentWithAttempts } from '../domain/payment/payment-object.ts'
import type { Settlement } from '../domain/settlement/payout.ts'
import { noteOf } from '../domain/timeline.ts'

/** Called after a commit that left work to a sweep. */
export type Wake = (sweep: 'transfers' | 'receipts' | 'news') => void

/**
 * A payout that is final on chain moves its payment to `succeeded`, books the ledger and writes event and outbox. What is
 * as expected, and nearly everything is, is written together, in one statement for each table; every other payment by
 * itself.
 */
export function createSettledHook(context: ChangeContext, wake: Wake) {
  return async function onSettled(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
    tx.afterCommit(() => {
      wake('transfers')
      wake('receipts')
    })
    const states = await lockPayments(
      tx,
      settlements.map(({ paymentId }) => paymentId),
    )
    const isPlain = (settlement: Settlement): boolean => isAsExpected(states.get(settlement.paymentId), settlement)
    await settleTogether(tx, context, { settlements: settlements.filter(isPlain), states })
    for (const settlement of settlements.filter((one) => !isPlain(one))) {
      const id = settlement.paymentId
      const { events } = await changePaymentIn(tx, context, { id, work: (work) => recordSettlement(work, settlement) })
      await putOutbox(tx, 'complete_transfer', [{ subject: id, payload: { events } }])
    }
  }
}

/** Whether the payment waits for this very transfer and nothing else is known of it that the transfer would change. */
function isAsExpected(state: PaymentWithAttempts | undefined, settlement: Settlement): boolean {
  if (state === undefined) return false
  const { status, payout, transfer, usdc } = state.payment
  const isAgreed = transfer === null && usdc?.net === settlement.microUsdc
  return isAgreed && status === 'settling' && payout === 'handed' && state.attempts.every(({ back }) => back === 'no')
}

async function settleTogether(
  tx: Tx,
  context: ChangeContext,
  { settlements, states }: { settlements: readonly Settlement[]; states: ReadonlyMap<string, PaymentWithAttempts> },
): Promise<void> {
  if (settlements.length === 0) return
  await bookAll(tx, settlements.flatMap(listBookings), new Date(context.now()).toISOString())
  const events = await succeedTogether(
    tx,
    context,
    settlements.map((settlement) => {
      const before = states.get(settlement.paymentId) as PaymentWithAttempts
      return { before, paid: withTransfer(before, settlement), data: factOf(settlement) }
    }),
  )
  await putOutbox(
    tx,
    'complete_transfer',
    settlements.map(({ paymentId }, index) => ({ subject: paymentId, payload: { events: events[index] ?? [] } })),
  )
}

/** The payment as the chain has paid it. */
function withTransfer(state: PaymentWithAttempts, settlement: Settlement): PaymentWithAttempts {
  const paid = withFunds(state, withPaidOut(toFunds(state), BigInt(settlement.microUsdc)))
  return { ...paid, payment: { ...paid.payment, transfer: transferOf(settlement) } }
}

/** Lists what a settled payout books besides the payment's own books. */
export function listBookings({ paymentId, microUsdc, gasWei, claimedFrom }: Settlement): Booking[] {
  const gas = gasWei === null || gasWei === 0n ? [] : [gasSpent({ reference: paymentId, wei: gasWei.toString() })]
  const claim = claimedFrom === null ? [] : [claimed({ reference: paymentId, micro: microUsdc, from: claimedFrom })]
  return [...claim, ...gas]
}

const transferOf = ({ txHash, logIndex, blockNumber, finalizedAt }: Settlement) => ({
  txHash,
  logIndex,
  blockNumber: String(blockNumber),
  finalizedAt: finalizedAt.toISOString(),
})

type Place = NonNullable<PaymentWithAttempts['payment']['transfer']>

const factOf = ({ txHash, blockNumber }: Settlement) => ({ tx_hash: txHash, block_number: String(blockNumber) })

const isSamePlace = (known: Place, { txHash, logIndex, blockNumber }: Settlement): boolean =>
  known.txHash === txHash && known.logIndex === logIndex && known.blockNumber === String(blockNumber)

/**
 * A settlement proved on chain is always recorded. Where it was not expected, a person is asked about it, or about what the
 * partner has taken back: the transfer may have been faster than a void.
 */
async function recordSettlement(work: PaymentWork, settlement: Settlement): Promise<void> {
  const { transfer } = work.state.payment
  const data = factOf(settlement)
  if (transfer !== null) {
    // The block in which it was final has left the chain, and it is booked already.
    if (!isSamePlace(transfer, settlement)) work.note(noteOf('payment.transfer_replaced', data))
    work.set({ transfer: transferOf(settlement) })
    return
  }
  for (const booking of listBookings(settlement)) await book(work.tx, booking, work.at)
  work.because({ why: 'settled', data })
  work.setFunds(withPaidOut(toFunds(work.state), BigInt(settlement.microUsdc)))
  work.set({ transfer: transferOf(settlement) })
}
