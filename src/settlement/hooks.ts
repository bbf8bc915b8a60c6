import type { Tx } from '../db/db.ts'
import { book } from '../db/ledger.ts'
import { putOutbox } from '../db/outbox.ts'
import { type ChangeContext, changePaymentIn, type PaymentWork } from '../db/payments/payment-changes.ts'
import { finishSweep } from '../db/settlement/deposits.ts'
import { gasSpent, settled, swept, toppedUp, withdrawn } from '../domain/ledger.ts'
import { NOT_PARKED, type PaymentFields, parked } from '../domain/payment/changes.ts'
import { canMove } from '../domain/payment/payment.ts'
import {
  type GasSpent,
  type HoldReason,
  PASSING_HOLDS,
  type Settlement,
  type TreasuryMovement,
  type VoidProof,
} from '../domain/settlement/payout.ts'
import { because, noteOf, payoutHeld, type Reason } from '../domain/timeline.ts'
import { createDepositHook } from './deposit-hook.ts'

/**
 * What the payments learn from the settlement engine, in the engine's own transactions: the one that marks a payout
 * settled moves the payment to `succeeded`, books the ledger, and writes event and outbox.
 */
export function createSettlementHooks(context: ChangeContext) {
  return { onSettled, onHeld, onReleased, onVoided, onTreasuryMovement, onGas, onDeposit: createDepositHook(context) }

  async function onSettled(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
    for (const settlement of settlements) {
      const id = settlement.paymentId
      const { events } = await changePaymentIn(tx, context, { id, work: (work) => recordSettlement(work, settlement) })
      await putOutbox(tx, 'complete_transfer', { subject: id, payload: { events } })
    }
  }

  async function onHeld(tx: Tx, held: { paymentId: string; reason: HoldReason; detail: string }): Promise<void> {
    // Waiting for funds or for the token to go on passes by itself; after a while the payment counts as delayed.
    if (PASSING_HOLDS.includes(held.reason)) return
    await parkPayout(tx, held.paymentId, {
      reason: 'payout_held',
      note: payoutHeld(held.reason, { detail: held.detail }),
    })
  }

  async function onReleased(tx: Tx, { paymentId }: { paymentId: string }): Promise<void> {
    await changeAndTell(tx, paymentId, async (work) => {
      const { status, parkReason, held } = work.state.payment
      if (status !== 'under_review' || parkReason !== 'payout_held') return
      // Rolls the release of the payout back with it.
      if (held) throw new Error('An operator holds the payment: release it with an update of its workflow first')
      await work.move('settling', because('payout_resumed'), NOT_PARKED)
    })
  }

  async function onVoided(tx: Tx, proof: VoidProof): Promise<void> {
    if (proof.kind === 'cancelled') await bookGas(tx, { reference: proof.paymentId, wei: proof.gasWei }, context.now())
    await parkPayout(tx, proof.paymentId, {
      reason: 'payout_voided',
      note: because('payout_voided', {
        proof: proof.kind,
        tx_hash: proof.kind === 'cancelled' ? proof.txHash : null,
        block_number: String(proof.blockNumber),
      }),
    })
  }

  /** Top-ups are the converter's deliveries. What left without a payout stops the lanes, and is missing from the books. */
  async function onTreasuryMovement(tx: Tx, movement: TreasuryMovement): Promise<void> {
    const fact = { reference: `${movement.txHash}:${movement.logIndex}`, micro: movement.micro }
    const paymentId = await finishSweep(tx, movement)
    if (paymentId !== null) {
      await book(tx, swept({ ...fact, paymentId }), new Date(context.now()).toISOString())
      return
    }
    const booking = movement.direction === 'in' ? toppedUp(fact) : withdrawn(fact)
    await book(tx, booking, new Date(context.now()).toISOString())
  }

  function onGas(tx: Tx, { chainId, wallet, nonce, wei }: GasSpent): Promise<void> {
    return bookGas(tx, { reference: `${chainId}:${wallet}:${nonce}`, wei }, context.now())
  }

  function parkPayout(
    tx: Tx,
    paymentId: string,
    park: { reason: 'payout_held' | 'payout_voided'; note: Reason },
  ): Promise<void> {
    return changeAndTell(tx, paymentId, async (work) => {
      const { status } = work.state.payment
      const fields = parked(park.reason)
      if (status === 'settling') await work.move('under_review', park.note, fields)
      else await work.change({ ...park.note, kind: `payout.${park.reason}` }, status === 'under_review' ? fields : {})
    })
  }

  async function changeAndTell(tx: Tx, id: string, work: (payment: PaymentWork) => Promise<void>): Promise<void> {
    const { events } = await changePaymentIn(tx, context, { id, work })
    await putOutbox(tx, 'complete_transfer', { subject: id, payload: { events } })
  }
}

async function bookGas(
  tx: Tx,
  { reference, wei }: { reference: string; wei: bigint | null },
  now: number,
): Promise<void> {
  if (wei !== null && wei > 0n)
    await book(tx, gasSpent({ reference, wei: wei.toString() }), new Date(now).toISOString())
}

/** A settlement proved on chain is always recorded. Where the table does not lead to `succeeded`, an operator decides. */
async function recordSettlement(work: PaymentWork, settlement: Settlement): Promise<void> {
  const { payment } = work.state
  if (payment.transfer !== null) return
  const fact = { tx_hash: settlement.txHash, block_number: String(settlement.blockNumber) }
  const proof: PaymentFields = {
    txHash: settlement.txHash,
    logIndex: settlement.logIndex,
    blockNumber: String(settlement.blockNumber),
    finalizedAt: settlement.finalizedAt.toISOString(),
  }
  await work.book(settled({ paymentId: payment.id, net: settlement.microUsdc }))
  if (settlement.gasWei !== null && settlement.gasWei > 0n)
    await work.book(gasSpent({ reference: payment.id, wei: settlement.gasWei.toString() }))

  const expected = payment.usdc?.net === settlement.microUsdc && canMove(payment.status, 'succeeded')
  if (expected) {
    const delayed = payment.exception === 'settlement_delayed' ? { exception: null } : {}
    await work.move('succeeded', because('settled', fact), { ...proof, ...delayed, ...NOT_PARKED })
    return
  }
  const fields = { ...proof, ...parked('unexpected_settlement') }
  if (canMove(payment.status, 'under_review'))
    await work.move('under_review', because('unexpected_settlement', fact), fields)
  else await work.change(noteOf('payment.unexpected_settlement', fact), fields)
}
