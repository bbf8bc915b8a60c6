import type { Tx } from '../db/db.ts'
import { bookAll } from '../db/ledger.ts'
import { putOutbox } from '../db/outbox.ts'
import {
  type ChangeContext,
  changePaymentIn,
  changePaymentsIn,
  type LockedWork,
  type PaymentWork,
  type Written,
} from '../db/payments/payment-changes.ts'
import { lockPayments } from '../db/payments/payments.ts'
import { type Booking, claimed, gasSpent } from '../domain/ledger.ts'
import { withPaidOut } from '../domain/payment/funds/funds.ts'
import { toFunds } from '../domain/payment/funds/stored-funds.ts'
import type { PaymentWithAttempts } from '../domain/payment/payment-object.ts'
import type { Settlement } from '../domain/settlement/payout.ts'
import { createNote } from '../domain/timeline.ts'

/** Called after a commit that left work to a sweep. */
export type Wake = (sweep: 'transfers' | 'receipts' | 'news') => void

/**
 * A payout that is final on chain moves its payment to `succeeded`, books the ledger and writes event and outbox.
 * Settlements that are as expected, nearly all, are written together, and every other one separately.
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
    const changes = settlements.map((settlement) => ({
      settlement,
      before: states.get(settlement.paymentId) as PaymentWithAttempts,
    }))
    const plain = changes.filter(({ before, settlement }) => isAsExpected(before, settlement))
    const written = await settleTogether(tx, context, plain)
    for (const change of changes) {
      if (plain.includes(change)) continue
      const {
        settlement: { paymentId: id },
      } = change
      written.push(await changePaymentIn(tx, context, { id, work: recordSettlement(change.settlement) }))
    }
    const messages = written.map(({ state, events }) => ({ subject: state.payment.id, payload: { events } }))
    await putOutbox(tx, 'complete_transfer', messages)
  }
}

/**
 * Returns true if the payment waits for this very transfer, and the transfer changes nothing else that is known of it.
 */
function isAsExpected(state: PaymentWithAttempts, settlement: Settlement): boolean {
  const { status, payout, transfer, usdc } = state.payment
  const isAgreed = transfer === null && usdc?.net === settlement.microUsdc
  return isAgreed && status === 'settling' && payout === 'handed' && state.attempts.every(({ back }) => back === 'no')
}

type Change = { readonly settlement: Settlement; readonly before: PaymentWithAttempts }

async function settleTogether(tx: Tx, context: ChangeContext, changes: readonly Change[]): Promise<Written[]> {
  const bookings = changes.flatMap(({ settlement }) => listBookings(settlement))
  await bookAll(tx, bookings, new Date(context.now()).toISOString())
  const works = changes.map(({ settlement, before }) => ({
    before,
    work: (work: PaymentWork) => setPaid(work, settlement),
  }))
  return [...(await changePaymentsIn(tx, context, works))]
}

function setPaid(work: PaymentWork, settlement: Settlement): void {
  work.because({ why: 'settled', data: createFact(settlement) })
  work.setFunds(withPaidOut(toFunds(work.state), BigInt(settlement.microUsdc)))
  work.set({ transfer: createTransfer(settlement) })
}

/** Lists what a settled payout books besides the payment's own books. */
export function listBookings({ paymentId, microUsdc, gasWei, claimedFrom }: Settlement): Booking[] {
  const gas = gasWei === null || gasWei === 0n ? [] : [gasSpent({ reference: paymentId, wei: gasWei.toString() })]
  const claim = claimedFrom === null ? [] : [claimed({ reference: paymentId, micro: microUsdc, from: claimedFrom })]
  return [...claim, ...gas]
}

const createTransfer = ({ txHash, logIndex, blockNumber, finalizedAt }: Settlement) => ({
  txHash,
  logIndex,
  blockNumber: String(blockNumber),
  finalizedAt: finalizedAt.toISOString(),
})

type Place = NonNullable<PaymentWithAttempts['payment']['transfer']>

const createFact = ({ txHash, blockNumber }: Settlement) => ({ tx_hash: txHash, block_number: String(blockNumber) })

const isSamePlace = (known: Place, { txHash, logIndex, blockNumber }: Settlement): boolean =>
  known.txHash === txHash && known.logIndex === logIndex && known.blockNumber === String(blockNumber)

/**
 * Records a settlement that is proved on chain, always. If it was not expected, an operator must decide about it, or
 * about what the partner has taken back: the transfer may have been faster than a void.
 */
function recordSettlement(settlement: Settlement): LockedWork {
  return async (work, tx) => {
    const { transfer } = work.state.payment
    if (transfer !== null) {
      // The block in which it was final has left the chain, and it is booked already.
      if (!isSamePlace(transfer, settlement)) work.note(createNote('payment.transfer_replaced', createFact(settlement)))
      return work.set({ transfer: createTransfer(settlement) })
    }
    await bookAll(tx, listBookings(settlement), work.at)
    setPaid(work, settlement)
  }
}
