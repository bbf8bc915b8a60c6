import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client'
import type { Decision, DecisionAnswer, Say } from '../domain/payment/requests.ts'
import { operatorUpdates } from '../workflows/messages.ts'
import { createDeadlines, UPDATE_DEADLINE_MS, unavailable, workflowEnded } from './calls.ts'

/** The outcome of an operator's decision. `unknown`: it might have been carried out anyway. */
export type DecisionOutcome =
  | { readonly kind: 'done'; readonly status: string; readonly message: string }
  | { readonly kind: 'refused' | 'not_running' | 'unknown'; readonly message: string }

export async function sendDecision(
  client: Client,
  request: { workflowId: string; say: Say; decision: Decision },
): Promise<DecisionOutcome> {
  const { workflowId, say, decision } = request
  try {
    const answer = await createDeadlines(client)(UPDATE_DEADLINE_MS, () =>
      client.workflow.getHandle(workflowId).executeUpdate(operatorUpdates[say], { args: [decision] }),
    )
    return toOutcome(answer)
  } catch (error) {
    if (error instanceof WorkflowNotFoundError)
      return { kind: 'not_running', message: `no workflow ${workflowId} is running` }
    // The run has accepted it, and might have stored what another run carries out.
    if (workflowEnded(error)) return { kind: 'unknown', message: 'The run was ended while it carried the decision out' }
    if (error instanceof WorkflowUpdateFailedError) return { kind: 'refused', message: findRoot(error).message }
    unavailable(error)
    return { kind: 'unknown', message: 'Temporal or the workers did not answer in time' }
  }
}

/** `unknown` for a retry that cannot see whether the earlier try carried the decision out. */
export function toOutcome({ unsure, ...answer }: DecisionAnswer): DecisionOutcome {
  return unsure === true ? { kind: 'unknown', message: answer.message } : { kind: 'done', ...answer }
}

/** Returns the innermost cause: a refusal while the decision is carried out is the cause of an activity's failure. */
function findRoot(error: Error): Error {
  return error.cause instanceof Error ? findRoot(error.cause) : error
}
