import type { SettlementHooks } from '../../../../src/db/settlement/context.ts'
import { createSettlementHooks } from '../../../../src/settlement/hooks.ts'
import { bookSettled } from '../../../../test/support/book-settled.ts'

const nothing = async (): Promise<void> => undefined

const { onTreasuryMovement, onBalanceDifference } = createSettlementHooks({
  publicUrl: 'http://127.0.0.1',
  now: Date.now,
})

/**
 * Records every notification of a payment, so that they can be counted. Sweeps end and USDC is booked as in the worker,
 * so the balance of the treasuries is compared with the books at each final block.
 */
export const ANNOUNCING: SettlementHooks = {
  async onSettled(tx, settlements) {
    await bookSettled(tx, settlements)
    for (const { ownerId, txHash } of settlements)
      await tx.query('insert into announced (payment_id, what) values ($1, $2)', [ownerId, txHash])
  },
  async onStopped(tx, { ownerId, reason }) {
    await tx.query('insert into announced (payment_id, what) values ($1, $2)', [ownerId, `stopped: ${reason}`])
  },
  onResumed: nothing,
  onVoided: nothing,
  onDeposit: nothing,
  onReturned: nothing,
  onTreasuryMovement,
  onBalanceDifference,
  onGas: nothing,
}
