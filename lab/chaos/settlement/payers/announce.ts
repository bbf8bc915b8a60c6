import type { SettlementHooks } from '../../../../src/db/settlement/context.ts'
import { finishSweep } from '../../../../src/db/settlement/deposits.ts'

const nothing = async (): Promise<void> => undefined

/** What payments are told is written down, to be counted. Sweeps end as they do in the worker. */
export const ANNOUNCING: SettlementHooks = {
  async onSettled(tx, settlements) {
    for (const { paymentId, txHash } of settlements)
      await tx.query('insert into announced (payment_id, what) values ($1, $2)', [paymentId, txHash])
  },
  async onHeld(tx, { paymentId, reason }) {
    await tx.query('insert into announced (payment_id, what) values ($1, $2)', [paymentId, `held: ${reason}`])
  },
  onReleased: nothing,
  onVoided: nothing,
  onDeposit: nothing,
  async onTreasuryMovement(tx, movement) {
    await finishSweep(tx, movement)
  },
  onGas: nothing,
}
