import type { Tx } from '../db/db.ts'
import { bookAll } from '../db/ledger.ts'
import { wakeDeducting } from '../db/refunds/deductions.ts'
import { recordPaidReleases } from '../db/reserves/releases.ts'
import { recordEvents } from '../db/webhooks/events.ts'
import { isId } from '../domain/ids.ts'
import { type Booking, claimed, gasSpent, reservePaid } from '../domain/ledger.ts'
import { withPaidOut } from '../domain/payment/funds/funds.ts'
import { toFunds } from '../domain/payment/funds/stored-funds.ts'
import type { Payment } from '../domain/payment/payment-object.ts'
import type { Settlement } from '../domain/settlement/payout.ts'
import { renderRelease } from '../domain/settlement/reserve-release.ts'
import { createNote } from '../domain/timeline.ts'
import { type ChangeContext, changeLockedPayments } from '../payments/change-payment.ts'
import type { LockedDraft } from '../payments/payment-draft.ts'

export type Wake = (sweep: 'changes' | 'receipts' | 'callbacks' | 'refunds') => void

/**
 * Payouts that are final on chain move their payments to `succeeded`. All of them are written in one statement, with
 * books, timeline, events and outbox rows. Those of reserves are booked, recorded and announced.
 */
export function createSettledHook(context: ChangeContext, wake: Wake) {
  return async function onSettled(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
    tx.afterCommit(() => {
      wake('changes')
      wake('receipts')
    })
    const ofReserves = settlements.filter(({ ownerId }) => isId('reserveRelease', ownerId))
    const ofPayments = settlements.filter((settlement) => !ofReserves.includes(settlement))
    const at = new Date(context.now()).toISOString()
    const released = ofReserves.length === 0 ? [] : await recordPaidReleases(tx, ofReserves)
    const bookings = ofReserves.flatMap((settlement) => [...listBookings(settlement), reservePaid(settlement)])
    await bookAll(tx, bookings, at)
    await changeLockedPayments(
      tx,
      context,
      ofPayments.map((settlement) => ({
        id: settlement.ownerId,
        change: (draft) => recordSettlement(draft, settlement),
      })),
    )
    await recordEvents(
      tx,
      released.map((release) => ({
        merchantId: release.merchantId,
        livemode: release.livemode,
        type: 'reserve.released',
        paymentId: null,
        object: renderRelease(release),
        at,
      })),
    )
  }
}

/**
 * Records a settlement that is proved on chain, always. If it was not expected, an operator must decide about it, or
 * about what the partner has taken back: the transfer may have been faster than a void.
 */
function recordSettlement(draft: LockedDraft, settlement: Settlement): void {
  const { transfer } = draft.state.payment
  const fact = { tx_hash: settlement.txHash, block_number: String(settlement.blockNumber) }
  draft.relayChange()
  draft.setPayment({ transfer: createTransfer(settlement) })
  if (transfer !== null) {
    // The block in which it was final has left the chain, and it is booked already.
    if (!isSamePlace(transfer, settlement)) draft.addNote(createNote('payment.transfer_replaced', fact))
    return
  }
  for (const booking of listBookings(settlement)) draft.addBooking(booking)
  const { deduction } = draft.state.payment
  // What the payout lacks counts for its refund from now on.
  if (deduction !== null) draft.addStatement(wakeDeducting(deduction.refundId))
  draft.setCause({ why: 'settled', data: fact })
  draft.setFunds(withPaidOut(toFunds(draft.state), BigInt(settlement.microUsdc)))
}

export function listBookings({ ownerId, microUsdc, gasWei, claimedFrom }: Settlement): Booking[] {
  const claim = claimedFrom === null ? [] : [claimed({ reference: ownerId, micro: microUsdc, from: claimedFrom })]
  return [...claim, ...listGasBookings(ownerId, gasWei)]
}

/** `wei` is null if another relayer paid for the gas. */
export const listGasBookings = (reference: string, wei: bigint | null): Booking[] =>
  wei === null || wei === 0n ? [] : [gasSpent({ reference, wei: wei.toString() })]

const createTransfer = ({ txHash, logIndex, blockNumber, finalizedAt }: Settlement) => ({
  txHash,
  logIndex,
  blockNumber: String(blockNumber),
  finalizedAt: finalizedAt.toISOString(),
})

type Transfer = NonNullable<Payment['transfer']>

const isSamePlace = (known: Transfer, { txHash, logIndex, blockNumber }: Settlement): boolean =>
  known.txHash === txHash && known.logIndex === logIndex && known.blockNumber === String(blockNumber)
