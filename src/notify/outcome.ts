import { type Outcome, pauseSeconds } from '../domain/notification/channel.ts'

/**
 * Sends a request to a chat service, on a dedicated connection, so that it is not sent twice when the service closes
 * one.
 */
export type Post = (request: {
  readonly channelId: string
  readonly url: string
  readonly body: object
  readonly signal: AbortSignal
}) => Promise<Posted>

export type Posted = {
  /** HTTP status; null without an answer. */
  readonly status: number | null
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly retryAfterSeconds: number | null
  /** Why there was no usable answer. */
  readonly error: string | null
  /** True if anything of the request may have reached the service. */
  readonly wasSent: boolean
}

/** Returns the outcome that is the same for every service; null if it depends on the service. */
export function commonOutcome({ status, retryAfterSeconds, error, wasSent }: Posted): Outcome | null {
  if (status === null) {
    if (error === 'refused_url' || error === 'refused_address')
      return { kind: 'refused', what: 'channel', reason: 'requests to its address are not allowed' }
    const reason = `no response (${error ?? 'closed'})`
    return wasSent ? { kind: 'unknown', reason } : { kind: 'not_taken', reason }
  }
  if (status >= 200 && status < 300) return { kind: 'accepted', pauseSeconds: 0 }
  if (status === 429) return { kind: 'limited', seconds: pauseSeconds(retryAfterSeconds) }
  // A gateway in between does not know what became of the message.
  if (status >= 500) return { kind: 'unknown', reason: `HTTP ${status}` }
  if (status >= 300 && status < 400) return { kind: 'refused', what: 'channel', reason: 'it responded with a redirect' }
  return null
}

/** Parses the body as JSON; returns an empty object for anything else. */
export function readJson(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

const LONGEST_REASON = 120

/** Returns the service's text, short and in printable characters: pages and mails show it. */
export function describeRefusal(service: string, text: unknown, status: number): string {
  const plain = (typeof text === 'string' ? text : '').replace(/[^\x20-\x7e]/g, '').slice(0, LONGEST_REASON)
  return plain === '' ? `${service} responded HTTP ${status}` : `${service} says "${plain}"`
}
