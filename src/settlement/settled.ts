import type { Tx } from '../db/db.ts'
import { book, bookAll } from '../db/ledger.ts'
import { putOutbox } from '../db/outbox.ts'
import { type ChangeContext, changePaymentIn, type PaymentWork } from '../db/payments/payment-changes.ts'
import { succeedTogether } from '../db/payments/payment-sets.ts'
import { lockPayments } from '../db/payments/payments.ts'
import { type Booking, claimed, gasSpent } from '../domain/ledger.ts'
import { exceptionAtEnd, NOT_PARKED, type PaymentFields, parked } from '../domain/payment/changes.ts'
import { whyNotFree } from '../domain/payment/money/intents.ts'
import { canMove } from '../domain/payment/payment.ts'
import type { PaymentWithAttempts } from '../domain/payment/payment-object.ts'
import type { Settlement } from '../domain/settlement/payout.ts'
import { because, noteOf } from '../domain/timeline.ts'
import { endVoid } from './voids.ts'

/**
 * A payout that is final on chain moves its payment to `succeeded`, books the ledger and writes event and outbox. What is
 * as expected, and nearly everything is, is written together, in one statement for each table; every other payment by
 * itself.
 */
export function createSettledHook(context: ChangeContext) {
  return async function onSettled(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
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
  const { status, transfer, usdc, parkReason } = state.payment
  const isAgreed = transfer === null && usdc?.net === settlement.microUsdc
  return isAgreed && status === 'settling' && parkReason === null
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
      const state = states.get(settlement.paymentId) as PaymentWithAttempts
      const exception = exceptionAtEnd(state.payment.exception)
      const { microUsdc: paidMicro } = settlement
      return {
        state,
        transfer: transferOf(settlement),
        paidMicro,
        exception,
        reason: because('settled', factOf(settlement)),
      }
    }),
  )
  await putOutbox(
    tx,
    'complete_transfer',
    settlements.map(({ paymentId }, index) => ({ subject: paymentId, payload: { events: events[index] ?? [] } })),
  )
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

/** A settlement proved on chain is always recorded. Where the table does not lead to `succeeded`, an operator decides. */
async function recordSettlement(work: PaymentWork, settlement: Settlement): Promise<void> {
  const { payment } = work.state
  const fact = factOf(settlement)
  const proof: PaymentFields = { ...transferOf(settlement), paidMicro: settlement.microUsdc }
  if (payment.transfer !== null) {
    // The block in which it was final has left the chain, and it is booked already.
    if (!isSamePlace(payment.transfer, settlement)) await work.change(noteOf('payment.transfer_replaced', fact), proof)
    return
  }
  for (const booking of listBookings(settlement)) await book(work.tx, booking, work.at)

  const expected = payment.usdc?.net === settlement.microUsdc && canMove(payment.status, 'succeeded')
  await endVoid(work, 'refused')
  if (expected) {
    const isLess = whyNotFree({ ...work.state, payment: { ...payment, held: false } }) === 'changed'
    await work.move('succeeded', because('settled', fact), { ...proof, ...NOT_PARKED })
    // The transfer was faster than the void, or came in spite of it: what the partner took back of the money is our loss.
    if (isLess) await work.openIncident({ kind: 'chargeback', attemptId: payment.paidAttemptId })
    return
  }
  if (canMove(payment.status, 'under_review') || payment.status === 'under_review') {
    const fields = { ...proof, ...parked('unexpected_settlement') }
    if (payment.status === 'under_review') await work.change(noteOf('payment.unexpected_settlement', fact), fields)
    else await work.move('under_review', because('unexpected_settlement', fact), fields)
    return
  }
  await work.change(noteOf('payment.unexpected_settlement', fact), proof)
  await work.openIncident({ kind: 'unexpected_settlement', attemptId: null })
}
