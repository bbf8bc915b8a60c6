import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'

/** Deadlines of calls to Temporal, and the meaning of its errors for starts, signals and updates of workflows. */

/** Runs one call of the client. Rejects if it takes longer than `ms` milliseconds. */
export type Within = <T>(ms: number, call: () => Promise<T>) => Promise<T>

export function createDeadlines(client: Client): Within {
  return (ms, call) => client.connection.withDeadline(Date.now() + ms, call)
}

/** Milliseconds, short because the merchant waits: the relay starts workflows that were not started in time. */
export const START_DEADLINE_MS = 1500
export const SIGNAL_DEADLINE_MS = 3000
/** Milliseconds, long because the update opens an order at a partner while the buyer waits. */
export const UPDATE_DEADLINE_MS = 30_000

export type Message<T> = { readonly toRun: () => Promise<T>; readonly toNewRun: () => Promise<T> }

export async function startOnce(start: () => Promise<unknown>): Promise<boolean> {
  try {
    await start()
    return true
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false
    throw error
  }
}

/** True if the workflow ended before it answered the update, so that a new run must answer it. */
export function workflowEnded(error: unknown): boolean {
  return (
    error instanceof WorkflowUpdateFailedError &&
    error.cause instanceof ApplicationFailure &&
    error.cause.type === 'AcceptedUpdateCompletedWorkflow'
  )
}

/** `unavailable`: the outcome is unknown, and a repeated call is safe. Rethrows other errors. */
export function unavailable(error: unknown): { kind: 'unavailable' } {
  const timedOut = error instanceof Error && /RPCTimeoutOrCancelled|Deadline/i.test(error.name)
  // The SDK wraps gRPC errors.
  const down = error instanceof ServiceError || isGrpcServiceError(error)
  if (error instanceof WorkflowUpdateFailedError || down || timedOut) return { kind: 'unavailable' }
  throw error
}

export async function signalRun(within: Within, { toRun, toNewRun }: Message<void>): Promise<void> {
  try {
    await within(SIGNAL_DEADLINE_MS, toRun)
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error
    await within(SIGNAL_DEADLINE_MS, toNewRun)
  }
}

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
