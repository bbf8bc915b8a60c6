import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'

/** How long Temporal is waited for, and what its answers mean to somebody who starts, tells or asks a workflow. */

/** Runs one call of the client, which fails when the deadline (milliseconds) has passed. */
export type Within = <T>(ms: number, call: () => Promise<T>) => Promise<T>

export function deadlinesOf(client: Client): Within {
  return (ms, call) => client.connection.withDeadline(Date.now() + ms, call)
}

/** A start must not keep the merchant waiting: the relay does it later. */
export const START_DEADLINE_MS = 1500
export const SIGNAL_DEADLINE_MS = 3000
/** The buyer waits in front of the screen. */
const UPDATE_DEADLINE_MS = 30_000

/** One message, to the run that is there and to one that has to be started for it. */
export type Message<T> = { readonly toRun: () => Promise<T>; readonly toNewRun: () => Promise<T> }

/** Starts a workflow; false when it exists already. */
export async function startOnce(start: () => Promise<unknown>): Promise<boolean> {
  try {
    await start()
    return true
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false
    throw error
  }
}

/** The update arrived while the workflow was ending: a new run answers it. */
function workflowEnded(error: unknown): boolean {
  return (
    error instanceof WorkflowUpdateFailedError &&
    error.cause instanceof ApplicationFailure &&
    error.cause.type === 'AcceptedUpdateCompletedWorkflow'
  )
}

/** No answer in time, or the partner could not be reached: the outcome is unknown, and asking again is safe. */
function unavailable(error: unknown): { kind: 'unavailable' } {
  const timedOut = error instanceof Error && /RPCTimeoutOrCancelled|Deadline/i.test(error.name)
  // The SDK wraps what gRPC reports.
  const down = error instanceof ServiceError || isGrpcServiceError(error)
  if (error instanceof WorkflowUpdateFailedError || down || timedOut) return { kind: 'unavailable' }
  throw error
}

/** Signals the run that is there; where none is, one that is started for it. */
export async function signalRun(within: Within, { toRun, toNewRun }: Message<void>): Promise<void> {
  try {
    await within(SIGNAL_DEADLINE_MS, toRun)
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error
    await within(SIGNAL_DEADLINE_MS, toNewRun)
  }
}

/** Sends an update and waits for its answer: `unavailable` when the outcome is unknown. */
export async function askRun<T>(within: Within, { toRun, toNewRun }: Message<T>): Promise<T | { kind: 'unavailable' }> {
  try {
    return await within(UPDATE_DEADLINE_MS, toRun).catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError || workflowEnded(error)) return within(UPDATE_DEADLINE_MS, toNewRun)
      throw error
    })
  } catch (error) {
    return unavailable(error)
  }
}
