import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client'
import type { Decision, DecisionAnswer, Say } from '../domain/payment/requests.ts'
import { operatorUpdates } from '../workflows/messages.ts'
import { deadlinesOf, UPDATE_DEADLINE_MS, unavailable, workflowEnded } from './calls.ts'

/** What became of an operator's decision. `unknown`: it may have been carried out all the same. */
export type DecisionOutcome =
  | { readonly kind: 'done'; readonly status: string; readonly message: string }
  | { readonly kind: 'refused' | 'not_running' | 'unknown'; readonly message: string }

/** Sends a decision to the workflow of a payment, and waits for its answer. */
export async function sendDecision(
  client: Client,
  request: { workflowId: string; say: Say; decision: Decision },
): Promise<DecisionOutcome> {
  const { workflowId, say, decision } = request
  try {
    const answer = await deadlinesOf(client)(UPDATE_DEADLINE_MS, () =>
      client.workflow.getHandle(workflowId).executeUpdate(operatorUpdates[say], { args: [decision] }),
    )
    return outcomeOf(answer)
  } catch (error) {
    if (error instanceof WorkflowNotFoundError)
      return { kind: 'not_running', message: `no workflow ${workflowId} is running` }
    // The run has accepted it, and may have stored what another run carries out.
    if (workflowEnded(error)) return { kind: 'unknown', message: 'The run was ended while it carried the decision out' }
    if (error instanceof WorkflowUpdateFailedError) return { kind: 'refused', message: rootOf(error).message }
    unavailable(error)
    return { kind: 'unknown', message: 'Temporal or the workers did not answer in time' }
  }
}

/** A try that came after another one of its own does not know whether that one carried the decision out. */
export function outcomeOf({ unsure, ...answer }: DecisionAnswer): DecisionOutcome {
  return unsure === true ? { kind: 'unknown', message: answer.message } : { kind: 'done', ...answer }
}

/** What is refused while it is carried out comes as the failure of an activity, which has the reason as its cause. */
function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error
}
