import { createHash } from 'node:crypto'
import type { Tx } from '../db/db.ts'
import { book } from '../db/ledger.ts'
import { putOutbox } from '../db/outbox.ts'
import { recordPartnerEvent } from '../db/partner-events.ts'
import { type ChangeContext, changePaymentIn, type PaymentWork } from '../db/payment-changes.ts'
import type { PaymentFields } from '../db/payment-writes.ts'
import { finishSweep } from '../db/settlement/deposits.ts'
import type { RecordedDeposit } from '../domain/deposit.ts'
import { deposited, gasSpent, settled, swept, toppedUp, withdrawn } from '../domain/ledger.ts'
import { canMove, isPaid } from '../domain/payment.ts'
import {
  type HoldReason,
  PASSING_HOLDS,
  type Settlement,
  type TreasuryMovement,
  type VoidProof,
} from '../domain/payout.ts'

/**
 * What the payments learn from the settlement engine, in the engine's own transactions: the one that marks a payout
 * settled moves the payment to `succeeded`, books the ledger, and writes event and outbox.
 */
export function createSettlementHooks(context: ChangeContext) {
  return { onSettled, onHeld, onReleased, onVoided, onTreasuryMovement, onDeposit }

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
      message: `The payout is held: ${held.reason}`,
      data: { detail: held.detail },
    })
  }

  async function onReleased(tx: Tx, { paymentId }: { paymentId: string }): Promise<void> {
    await changeAndTell(tx, paymentId, async (work) => {
      if (work.state.payment.status !== 'under_review' || work.state.payment.parkReason !== 'payout_held') return
      const note = { kind: 'payment.settling', actor: 'system' as const, message: 'The payout goes on' }
      await work.move('settling', note, { statusReason: null, parkReason: null })
    })
  }

  async function onVoided(tx: Tx, proof: VoidProof): Promise<void> {
    await parkPayout(tx, proof.paymentId, {
      reason: 'payout_voided',
      message: 'The payout was voided, with proof that it cannot be paid any more',
      data: {
        proof: proof.kind,
        tx_hash: proof.kind === 'cancelled' ? proof.txHash : null,
        block_number: String(proof.blockNumber),
      },
    })
  }

  /** As a partner's callback: stored with the deposit, passed on by the relay. The payment then reads its deposit. */
  async function onDeposit(tx: Tx, deposit: RecordedDeposit): Promise<void> {
    const { paymentId, attemptId, expected } = deposit
    const at = new Date(context.now()).toISOString()
    const reference = `${deposit.txHash}:${deposit.logIndex}`
    if (expected) await book(tx, deposited({ paymentId, reference, micro: deposit.units }), at)
    const bodySha256 = createHash('sha256').update(JSON.stringify(deposit)).digest()
    await recordPartnerEvent(tx, { provider: 'crypto', eventId: reference, attemptId, bodySha256, at })
    await changePaymentIn(tx, context, { id: paymentId, work: (work) => noteDeposit(work, deposit) })
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

  function parkPayout(
    tx: Tx,
    paymentId: string,
    park: { reason: 'payout_held' | 'payout_voided'; message: string; data: object },
  ): Promise<void> {
    return changeAndTell(tx, paymentId, async (work) => {
      const { status } = work.state.payment
      const note = { kind: 'payment.under_review', actor: 'system' as const, message: park.message, data: park.data }
      const fields = { statusReason: park.reason, parkReason: park.reason }
      if (status === 'settling') await work.move('under_review', note, fields)
      else await work.change({ ...note, kind: `payout.${park.reason}` }, status === 'under_review' ? fields : {})
    })
  }

  async function changeAndTell(tx: Tx, id: string, work: (payment: PaymentWork) => Promise<void>): Promise<void> {
    const { events } = await changePaymentIn(tx, context, { id, work })
    await putOutbox(tx, 'complete_transfer', { subject: id, payload: { events } })
  }
}

/** What comes after the payment's money was counted is a second payment: it stays in `suspense`, and is shown. */
async function noteDeposit(work: PaymentWork, deposit: RecordedDeposit): Promise<void> {
  const attempt = work.state.attempts.find(({ id }) => id === deposit.attemptId)
  const { txHash, units, token, sender } = deposit
  const data = { attempt_id: deposit.attemptId, tx_hash: txHash, units, token, sender }
  if (attempt === undefined || !isPaid(attempt.status)) {
    const message = deposit.expected ? 'USDC came to the address of the payment' : 'Another token came to the address'
    await work.note({ kind: 'deposit.received', actor: 'system', message, data })
    return
  }
  const message = 'More came to the address of the payment after its money was counted. It is not settled'
  const exception = deposit.expected ? 'duplicate_payment' : 'wrong_asset'
  await work.change({ kind: 'deposit.surplus', actor: 'system', message, data }, { exception })
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
    const note = {
      kind: 'payment.succeeded',
      actor: 'system' as const,
      message: 'The USDC is final at the wallet of the merchant',
      data: fact,
    }
    const delayed = payment.exception === 'settlement_delayed' ? { exception: null } : {}
    await work.move('succeeded', note, { ...proof, ...delayed, statusReason: null, parkReason: null })
    return
  }
  const park = { statusReason: 'unexpected_settlement', parkReason: 'unexpected_settlement' as const }
  const note = {
    kind: 'payment.unexpected_settlement',
    actor: 'system' as const,
    message: 'A transfer was proved on chain that the record did not expect',
    data: fact,
  }
  if (canMove(payment.status, 'under_review')) await work.move('under_review', note, { ...proof, ...park })
  else await work.change(note, { ...proof, ...park })
}
