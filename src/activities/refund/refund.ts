import { loadRefund, postponeWake } from '../../db/refunds/refunds.ts'
import { REFUND_FINALITY_MS } from '../../domain/refund/refund.ts'
import type { RefundAnswer } from '../../domain/refund/refund-step.ts'
import { changeRefund, type RefundDraft } from '../../payments/change-refund.ts'
import { guarded } from '../failure.ts'
import { askRefund } from './ask-refund.ts'
import { fundRefund } from './fund-refund.ts'
import { openRefund } from './open-refund.ts'
import { createRefundAnswer, type RefundDeps } from './refund-deps.ts'

/** Every call of a refund's workflow to the outside. Each writes its record in the transaction of its effect. */
export type RefundActivities = ReturnType<typeof createRefundActivities>

export function createRefundActivities(deps: RefundDeps) {
  const activity = <Result>(work: (deps: RefundDeps, id: string) => Promise<Result>) =>
    guarded((id: string) => work(deps, id))
  return {
    loadRefund: activity(async ({ db }, id) => createRefundAnswer({ refund: await loadRefund(db, id), events: [] })),
    openRefund: activity(openRefund),
    cancelRefund: activity((_deps, id) => end(deps, id, 'canceled')),
    expireRefund: activity((_deps, id) => end(deps, id, 'expired')),
    postponeWake: guarded((wake: Parameters<typeof postponeWake>[1]) => postponeWake(deps.db, wake)),
    fundRefund: guarded((funding: Parameters<typeof fundRefund>[1]) => fundRefund(deps, funding)),
    askRefund: activity(askRefund),
  }
}

/** Ends a refund whose USDC is not there. Whatever arrives, or is there in part, goes back. */
async function end({ db, context }: RefundDeps, id: string, status: 'canceled' | 'expired'): Promise<RefundAnswer> {
  const change = ({ refund, setRefund }: RefundDraft): void => {
    const isDue = Date.parse(refund.expiresAt) + REFUND_FINALITY_MS <= context.now()
    if (refund.status === 'awaiting_funds' && (status === 'canceled' || isDue)) setRefund({ status })
  }
  return createRefundAnswer(await changeRefund(db, context, { id, change }))
}
