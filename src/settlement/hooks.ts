import { leaveNotice } from '../db/accounts/account-notices.ts'
import type { Tx } from '../db/db.ts'
import { book, bookAll, isBooked } from '../db/ledger.ts'
import { finishSweep, sweptFrom } from '../db/settlement/deposits.ts'
import { isId } from '../domain/ids.ts'
import { acknowledged, type Booking, received, swept, toppedUp, withdrawn } from '../domain/ledger.ts'
import { subtract } from '../domain/money.ts'
import type { ReturnedUsdc } from '../domain/settlement/deposit.ts'
import {
  type BalanceDifference,
  type GasSpent,
  PASSING_STOPS,
  type StoppedPayout,
  type TreasuryMovement,
  type VoidProof,
} from '../domain/settlement/payout.ts'
import { createNote } from '../domain/timeline.ts'
import { type ChangeContext, changeLockedPayment, type LockedChange } from '../payments/change-payment.ts'
import { createDepositHook } from './deposit-hook.ts'
import { createRefundHooks } from './refund-hook.ts'
import { createSettledHook, listGasBookings, type Wake } from './settled-hook.ts'

/**
 * Writes the engine's changes to payments, in the engine's own transactions: the one that marks a payout settled moves
 * the payment to `succeeded`, books the ledger, and writes event and outbox row.
 */
export function createSettlementHooks(
  context: ChangeContext,
  { wake = () => undefined, hasFloat = false }: { readonly wake?: Wake; readonly hasFloat?: boolean } = {},
) {
  const refunds = createRefundHooks(context, wake)
  // A refill claims what arrives for it. Without a float it is what the converter has bought.
  const arrived = hasFloat ? received : toppedUp
  return {
    onSettled: createSettledHook(context, wake),
    onStopped,
    onResumed,
    onVoided,
    onTreasuryMovement: (tx: Tx, movement: TreasuryMovement) =>
      bookMovement(tx, movement, { now: context.now(), arrived }),
    onGas,
    onBalanceDifference: (tx: Tx, difference: BalanceDifference) =>
      bookDifference(tx, difference, { now: context.now(), arrived }),
    onDeposit: createDepositHook(context, wake, refunds),
    onReturned: (tx: Tx, back: ReturnedUsdc) => refunds.onReturned(tx, back),
  }

  async function onStopped(tx: Tx, { ownerId, reason, detail }: StoppedPayout): Promise<void> {
    if (isId('reserveRelease', ownerId)) return
    // A wait for funds or for the token ends automatically; after a while the payment counts as delayed.
    if (PASSING_STOPS.includes(reason)) return
    await changeAndRelay(tx, ownerId, async (draft) => {
      const { merchantId, livemode, payout } = draft.state.payment
      await leaveNotice(tx, { merchantId, livemode }, { kind: 'payout.stopped', data: { id: ownerId, reason } })
      if (payout !== 'handed') return
      draft.setPayment({ payout: 'stopped', stoppedFor: reason })
      draft.setCause({ why: 'payout_stopped', data: { reason, detail } })
    })
  }

  async function onResumed(tx: Tx, { ownerId }: { ownerId: string }): Promise<void> {
    if (isId('reserveRelease', ownerId)) return
    await changeAndRelay(tx, ownerId, (draft) => {
      const { payout, held } = draft.state.payment
      // Also rolls back that the payout continues, whatever else the payment waits for: nothing bypasses a hold.
      if (held)
        throw new Error('An operator holds the payment: release it first (`pinrail payments decide <payment> release`)')
      if (payout !== 'stopped') return
      draft.setPayment({ payout: 'handed', stoppedFor: null })
      draft.setCause({ why: 'payout_resumed', data: {} })
    })
  }

  async function onVoided(tx: Tx, proof: VoidProof): Promise<void> {
    const gas = proof.kind === 'canceled' ? listGasBookings(proof.ownerId, proof.gasWei) : []
    // Until an operator has the reserves held back again, `settlement_attention` lists the release.
    if (isId('reserveRelease', proof.ownerId)) return bookAll(tx, gas, new Date(context.now()).toISOString())
    await changeAndRelay(tx, proof.ownerId, (draft) => {
      for (const booking of gas) draft.addBooking(booking)
      // The refund looks for other payouts.
      draft.setPayment({ payout: 'void', stoppedFor: null, deduction: null })
      draft.addNote(
        createNote('payment.payout_voided', {
          proof: proof.kind,
          tx_hash: proof.kind === 'canceled' ? proof.txHash : null,
          block_number: String(proof.blockNumber),
        }),
      )
    })
  }

  async function onGas(tx: Tx, { chainId, wallet, nonce, wei }: GasSpent): Promise<void> {
    await bookAll(tx, listGasBookings(`${chainId}:${wallet}:${nonce}`, wei), new Date(context.now()).toISOString())
  }

  async function changeAndRelay(tx: Tx, id: string, change: LockedChange): Promise<void> {
    await changeLockedPayment(tx, context, {
      id,
      change: (draft) => {
        draft.relayChange()
        return change(draft, tx)
      },
    })
    tx.afterCommit(() => wake('changes'))
  }
}

type Fact = Parameters<typeof toppedUp>[0]

type BookingRules = { readonly now: number; readonly arrived: typeof toppedUp }

/**
 * Books a movement by its direction. Money that left without a payout stops the lanes, and is missing from the
 * books.
 */
async function bookMovement(tx: Tx, movement: TreasuryMovement, { now, arrived }: BookingRules): Promise<void> {
  const fact = { reference: `${movement.txHash}:${movement.logIndex}`, micro: movement.micro }
  const at = new Date(now).toISOString()
  switch (movement.fate) {
    case 'final':
      return bookOrRebook(tx, { booked: chooseBooking(movement, await finishSweep(tx, movement), arrived), fact, at })
    case 'acknowledged':
      // A movement to another treasury of the platform was not booked.
      if (await isBooked(tx, withdrawn(fact))) await bookOrRebook(tx, { booked: acknowledged, fact, at })
      return
    case 'gone':
      // A movement that failed until then, or that went from one treasury of the platform to another, was not booked.
      for (const booked of [chooseBooking(movement, await sweptFrom(tx, movement), arrived), acknowledged])
        if (await isBooked(tx, booked(fact))) await book(tx, booked(reverseFact(fact)), at)
  }
}

type Booked = (fact: Fact) => Booking

/** A fact that was booked back, because its block had left the chain, may be made again by the same transaction. */
async function bookOrRebook(
  tx: Tx,
  { booked, fact, at }: { readonly booked: Booked; readonly fact: Fact; readonly at: string },
): Promise<void> {
  if (await book(tx, booked(fact), at)) return
  if (await isBooked(tx, booked(reverseFact(fact))))
    await book(tx, booked({ ...fact, reference: `${fact.reference}:again` }), at)
}

/** Books a higher balance as delivered: a treasury had it before it was watched. Books a lower one as spent. */
async function bookDifference(tx: Tx, difference: BalanceDifference, { now, arrived }: BookingRules): Promise<void> {
  const { chainId, blockNumber, micro, explainedBy } = difference
  const size = (micro < 0n ? -micro : micro).toString()
  const fact =
    explainedBy === undefined
      ? { reference: `balance:${chainId}:${blockNumber}`, micro: size }
      : { reference: `balance:${explainedBy}`, micro: subtract('0', size) }
  const at = new Date(now).toISOString()
  for (const booked of micro < 0n ? [withdrawn, acknowledged] : [arrived]) await book(tx, booked(fact), at)
}

/** Returns how a movement is booked. `paymentId`: the payment of a sweep. */
function chooseBooking({ direction }: TreasuryMovement, paymentId: string | null, arrived: typeof toppedUp): Booked {
  if (paymentId !== null) return (fact) => swept({ ...fact, paymentId })
  return direction === 'in' ? arrived : withdrawn
}

/** Returns the reversed fact. Booked back, it leaves every account as if it had never been. */
const reverseFact = ({ reference, micro }: Fact): Fact => ({
  reference: `${reference}:gone`,
  micro: subtract('0', micro),
})
