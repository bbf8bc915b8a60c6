import { createHash } from 'node:crypto'
import type { Tx } from '../db/db.ts'
import { recordCallback } from '../db/payments/partner-callbacks.ts'
import { deposited } from '../domain/ledger.ts'
import { OTHER_TOKEN } from '../domain/payment/reading.ts'
import { isDust, type RecordedDeposit } from '../domain/settlement/deposit.ts'
import { createNote } from '../domain/timeline.ts'
import { type ChangeContext, changeLockedPayment, type LockedChange } from '../payments/change-payment.ts'
import type { PaymentDraft } from '../payments/payment-draft.ts'
import type { createRefundHooks } from './refund-hook.ts'
import type { Wake } from './settled-hook.ts'

/** Stores a final deposit like a partner's callback. After the relay, the payment reads its deposit. */
export function createDepositHook(
  context: ChangeContext,
  wake: Wake,
  refunds: Pick<ReturnType<typeof createRefundHooks>, 'onRefundDeposit'>,
) {
  return async function onDeposit(tx: Tx, deposit: RecordedDeposit): Promise<void> {
    const { paymentId, owner, expected, token, sender, units } = deposit
    if ('refundId' in owner) return refunds.onRefundDeposit(tx, owner.refundId, deposit)
    const { attemptId } = owner
    const at = new Date(context.now()).toISOString()
    const reference = `${deposit.txHash}:${deposit.logIndex}`
    // In another block, the same deposit has the same body.
    const body = JSON.stringify({ reference, attemptId, token, sender, units })
    const bodySha256 = createHash('sha256').update(body).digest()
    // Under the lock: a row that names the payment takes a weaker one, and two transactions that both want the stronger
    // one wait for each other.
    const change: LockedChange = async (draft) => {
      if (expected) draft.addBooking(deposited({ paymentId, reference, micro: deposit.units }))
      await recordCallback(tx, { provider: 'crypto', eventId: reference, subject: { attemptId }, bodySha256, at })
      noteDeposit(draft, attemptId, deposit)
    }
    await changeLockedPayment(tx, context, { id: paymentId, change })
    tx.afterCommit(() => wake('callbacks'))
  }
}

/**
 * Notes a deposit on its payment, which learns the meaning by reading the deposit. Another token is noted as a misfit
 * here, because no reading counts it: it waits for an operator, whatever becomes of the payment.
 */
function noteDeposit(draft: PaymentDraft, attemptId: string, deposit: RecordedDeposit): void {
  const { txHash, units, token, sender } = deposit
  const data = { attempt_id: attemptId, tx_hash: txHash, units, token, sender }
  draft.addNote(createNote(deposit.expected ? 'deposit.received' : 'deposit.other_token', data))
  if (deposit.expected || isDust(deposit)) return
  const known = draft.state.attempts.find(({ id }) => id === attemptId)?.misfit?.received
  const before = known?.currency === token ? BigInt(known.minor) : 0n
  // One more is another question, even if the last one is not answered yet.
  const received = { minor: (before + BigInt(units)).toString(), currency: token }
  draft.setAttempt(attemptId, { misfit: { ...OTHER_TOKEN, received }, misfitAnswer: 'none' })
}
