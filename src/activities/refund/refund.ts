import type { Tx } from '../../db/db.ts'
import { postponeWake } from '../../db/refunds/refunds.ts'
import { REFUND_FINALITY_MS, type Refund } from '../../domain/refund/refund.ts'
import type { RefundFacts } from '../../domain/refund/refund-change.ts'
import type { RefundAnswer } from '../../domain/refund/refund-step.ts'
import { changeRefund, type RefundDraft } from '../../payments/change-refund.ts'
import { guarded } from '../failure.ts'
import { askRefund } from './ask-refund.ts'
import { collectDeductions, collectRefund } from './collect-refund.ts'
import { fundRefund } from './fund-refund.ts'
import { openRefund } from './open-refund.ts'
import { createRefundAnswer, type RefundDeps } from './refund-deps.ts'

/** Every call of a refund's workflow to the outside. Each writes its record in the transaction of its effect. */
export type RefundActivities = ReturnType<typeof createRefundActivities>

export function createRefundActivities(deps: RefundDeps) {
  const activity = <Result>(work: (deps: RefundDeps, id: string) => Promise<Result>) =>
    guarded((id: string) => work(deps, id))
  return {
    loadRefund: activity(async (loading, id) => createRefundAnswer(await collectRefund(loading, id))),
    openRefund: activity(openRefund),
    cancelRefund: activity((_deps, id) => end(deps, id, () => ({ status: 'canceled' }))),
    /** `now`: the time by which the run decided it, in Unix milliseconds. */
    expireRefund: guarded(({ id, now }: { readonly id: string; readonly now: number }) =>
      end(deps, id, ({ expiresAt }) =>
        Date.parse(expiresAt) + REFUND_FINALITY_MS <= now ? { status: 'expired' } : {},
      ),
    ),
    postponeWake: guarded((wake: Parameters<typeof postponeWake>[1]) => postponeWake(deps.db, wake)),
    fundRefund: guarded((funding: Parameters<typeof fundRefund>[1]) => fundRefund(deps, funding)),
    askRefund: activity(askRefund),
  }
}

/** Ends a refund whose USDC is not there. Whatever arrives, is there in part, or was deducted goes back. */
async function end(
  { db, context }: RefundDeps,
  id: string,
  decideEnd: (refund: Refund) => RefundFacts,
): Promise<RefundAnswer> {
  const change = async (draft: RefundDraft, tx: Tx): Promise<void> => {
    await collectDeductions(draft, tx)
    if (draft.refund.status === 'awaiting_funds') draft.setRefund(decideEnd(draft.refund))
  }
  return createRefundAnswer(await changeRefund(db, context, { id, change }))
}
