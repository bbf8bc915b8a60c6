import { leaveNotice } from '../db/accounts/account-notices.ts'
import type { Tx } from '../db/db.ts'
import { book, isBooked } from '../db/ledger.ts'
import { putOutbox } from '../db/outbox.ts'
import { type ChangeContext, changePaymentIn, type LockedWork } from '../db/payments/payment-changes.ts'
import { finishSweep, sweptFrom } from '../db/settlement/deposits.ts'
import { acknowledged, type Booking, gasSpent, swept, toppedUp, withdrawn } from '../domain/ledger.ts'
import { subtract } from '../domain/money.ts'
import {
  type BalanceDifference,
  type GasSpent,
  type HoldReason,
  PASSING_HOLDS,
  type TreasuryMovement,
  type VoidProof,
} from '../domain/settlement/payout.ts'
import { createNote } from '../domain/timeline.ts'
import { createDepositHook } from './deposit-hook.ts'
import { createSettledHook, type Wake } from './settled.ts'

/**
 * Writes the engine's changes to payments, in the engine's own transactions: the one that marks a payout settled moves
 * the payment to `succeeded`, books the ledger, and writes event and outbox.
 */
export function createSettlementHooks(context: ChangeContext, wake: Wake = () => undefined) {
  return {
    onSettled: createSettledHook(context, wake),
    onHeld,
    onReleased,
    onVoided,
    onTreasuryMovement,
    onGas,
    onBalanceDifference: (tx: Tx, difference: BalanceDifference) => bookDifference(tx, difference, context.now()),
    onDeposit: createDepositHook(context, wake),
  }

  async function onHeld(tx: Tx, held: { paymentId: string; reason: HoldReason; detail: string }): Promise<void> {
    const { paymentId, reason, detail } = held
    // A wait for funds or for the token ends automatically; after a while the payment counts as delayed.
    if (PASSING_HOLDS.includes(reason)) return
    await changeAndRelay(tx, paymentId, async (work) => {
      const { merchantId, livemode, payout } = work.state.payment
      await leaveNotice(tx, { merchantId, livemode }, { kind: 'payout.held', data: { id: paymentId, reason } })
      if (payout !== 'handed') return
      work.set({ payout: 'stopped', stoppedFor: reason })
      work.because({ why: 'payout_stopped', data: { reason, detail } })
    })
  }

  async function onReleased(tx: Tx, { paymentId }: { paymentId: string }): Promise<void> {
    await changeAndRelay(tx, paymentId, async (work) => {
      const { payout, held } = work.state.payment
      // Also rolls back the release of the payout, whatever else the payment waits for: nothing bypasses a hold.
      if (held)
        throw new Error('An operator holds the payment: release it first (`pinrail payments decide <payment> release`)')
      if (payout !== 'stopped') return
      work.set({ payout: 'handed', stoppedFor: null })
      work.because({ why: 'payout_resumed', data: {} })
    })
  }

  async function onVoided(tx: Tx, proof: VoidProof): Promise<void> {
    if (proof.kind === 'cancelled') await bookGas(tx, { reference: proof.paymentId, wei: proof.gasWei }, context.now())
    await changeAndRelay(tx, proof.paymentId, async (work) => {
      work.set({ payout: 'void', stoppedFor: null })
      work.note(
        createNote('payment.payout_voided', {
          proof: proof.kind,
          tx_hash: proof.kind === 'cancelled' ? proof.txHash : null,
          block_number: String(proof.blockNumber),
        }),
      )
    })
  }

  /**
   * Top-ups are the converter's deliveries. Money that left without a payout stops the lanes, and is missing from the
   * books.
   */
  async function onTreasuryMovement(tx: Tx, movement: TreasuryMovement): Promise<void> {
    const fact = { reference: `${movement.txHash}:${movement.logIndex}`, micro: movement.micro }
    const at = new Date(context.now()).toISOString()
    if (movement.isGone === true) {
      // A movement that failed until then, or that went from one treasury of the platform to another, was not booked.
      for (const booked of [chooseBooking(movement, await sweptFrom(tx, movement)), acknowledged])
        if (await isBooked(tx, booked(fact))) await book(tx, booked(reverseFact(fact)), at)
      return
    }
    const isKnown = movement.isAcknowledged === true
    // A movement to another treasury of the platform was not booked.
    if (isKnown && !(await isBooked(tx, withdrawn(fact)))) return
    const booked = isKnown ? acknowledged : chooseBooking(movement, await finishSweep(tx, movement))
    if (await book(tx, booked(fact), at)) return
    // It was booked back, because its block had left the chain, and the same transaction may make it again.
    if (await isBooked(tx, booked(reverseFact(fact))))
      await book(tx, booked({ ...fact, reference: `${fact.reference}:again` }), at)
  }

  function onGas(tx: Tx, { chainId, wallet, nonce, wei }: GasSpent): Promise<void> {
    return bookGas(tx, { reference: `${chainId}:${wallet}:${nonce}`, wei }, context.now())
  }

  async function changeAndRelay(tx: Tx, id: string, work: LockedWork): Promise<void> {
    const { events } = await changePaymentIn(tx, context, { id, work })
    await putOutbox(tx, 'complete_transfer', [{ subject: id, payload: { events } }])
    tx.afterCommit(() => wake('transfers'))
  }
}

type Fact = Parameters<typeof toppedUp>[0]

/** Books a higher balance as delivered: a treasury had it before it was watched. Books a lower one as spent. */
async function bookDifference(tx: Tx, difference: BalanceDifference, now: number): Promise<void> {
  const { chainId, blockNumber, micro, explainedBy } = difference
  const size = (micro < 0n ? -micro : micro).toString()
  const fact =
    explainedBy === undefined
      ? { reference: `balance:${chainId}:${blockNumber}`, micro: size }
      : { reference: `balance:${explainedBy}`, micro: subtract('0', size) }
  const at = new Date(now).toISOString()
  for (const booked of micro < 0n ? [withdrawn, acknowledged] : [toppedUp]) await book(tx, booked(fact), at)
}

/** Returns how a movement is booked. `paymentId`: the payment of a sweep. */
function chooseBooking({ direction }: TreasuryMovement, paymentId: string | null): (fact: Fact) => Booking {
  if (paymentId !== null) return (fact) => swept({ ...fact, paymentId })
  return direction === 'in' ? toppedUp : withdrawn
}

/** Returns the reversed fact. Booked back, it leaves every account as if it had never been. */
const reverseFact = ({ reference, micro }: Fact): Fact => ({
  reference: `${reference}:gone`,
  micro: subtract('0', micro),
})

async function bookGas(
  tx: Tx,
  { reference, wei }: { reference: string; wei: bigint | null },
  now: number,
): Promise<void> {
  if (wei !== null && wei > 0n)
    await book(tx, gasSpent({ reference, wei: wei.toString() }), new Date(now).toISOString())
}
