import { CompleteAsyncError } from '@temporalio/activity'
import { ApplicationFailure, ApplicationFailureCategory, TemporalFailure } from '@temporalio/common'

/**
 * Only this function decides retries: the activity's policy repeats a thrown error without end; an expected answer is a
 * value and is never thrown. Messages name the failure and carry no secret and no personal data.
 */
export function toFailure(error: unknown): unknown {
  if (error instanceof TemporalFailure || error instanceof CompleteAsyncError) return error
  if (isPartnerError(error)) return partnerFailure(error)
  if (error instanceof Error)
    return ApplicationFailure.create({ type: error.name, message: error.message, cause: error })
  return ApplicationFailure.create({ type: 'Unknown', message: String(error) })
}

export function guarded<Args extends unknown[], Result>(
  work: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      return await work(...args)
    } catch (error) {
      throw toFailure(error)
    }
  }
}

export type PartnerTrouble = Error & {
  kind: 'unknown' | 'throttled' | 'misconfigured'
  retryAfterSeconds: number | null
  wasAsked: boolean
}

/** Compares the name, because activities import the types of providers, not their values. */
export function isPartnerError(error: unknown): error is PartnerTrouble {
  return error instanceof Error && error.name === 'PartnerError'
}

/** An operator must act before the partner answers otherwise, so it is asked rarely. */
const MISCONFIGURED_RETRY_SECONDS = 60

const UNKNOWN_RETRY_SECONDS = 5

/** Seconds until the party is asked again, if the workflow waits and not the activity. */
export function waitAfter(error: PartnerTrouble): number {
  return secondsAfter(error) ?? UNKNOWN_RETRY_SECONDS
}

/** Seconds that the party asks us to wait; null if it asks for nothing. */
export function secondsAfter({ kind, retryAfterSeconds }: PartnerTrouble): number | null {
  return kind === 'misconfigured' ? MISCONFIGURED_RETRY_SECONDS : retryAfterSeconds
}

/** `mostSeconds`: how long the next try waits at most, whatever the party asks for. */
export function partnerFailure(error: PartnerTrouble, mostSeconds = Number.POSITIVE_INFINITY): ApplicationFailure {
  const seconds = secondsAfter(error)
  return ApplicationFailure.create({
    type: `Partner.${error.kind}`,
    message: error.message,
    ...(seconds === null ? {} : { nextRetryDelay: Math.min(seconds, mostSeconds) * 1000 }),
  })
}

/** An expected wait: tried again after the delay, and not counted or logged as an error. */
export function notYet(message: string, afterSeconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'NotYet',
    message,
    nextRetryDelay: afterSeconds * 1000,
    category: ApplicationFailureCategory.BENIGN,
  })
}
