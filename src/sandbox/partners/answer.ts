import type { Request, Response } from 'express'
import type { Faults, Operation } from './faults.ts'

/** An answer of a partner's API as a value, so that a fault can delay or drop it. */
export type Reply = {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

export function jsonReply(status: number, value: unknown): Reply {
  return { status, body: JSON.stringify(value) }
}

const RETRY_AFTER_SECONDS = 2

export type Performing = {
  readonly response: Response
  readonly faults: Faults
  readonly operation: Operation
  /** The attempt id, or another key that a fault may name. */
  readonly key: string
}

/** Runs one operation and sends its answer, unless a fault ends the connection before or after its effect. */
export async function perform(performing: Performing, effect: () => Promise<Reply>): Promise<void> {
  const { response, faults, operation, key } = performing
  const throttle = faults.take('throttle', key, operation)
  if (throttle !== null) {
    const seconds = throttle.seconds ?? RETRY_AFTER_SECONDS
    return write(response, { status: 429, body: '{}', headers: { 'retry-after': seconds.toString() } })
  }
  if (faults.take('server_error', key, operation) !== null) return write(response, { status: 500, body: '{}' })
  const before = faults.take('timeout_before_effect', key, operation)
  if (before !== null) return cutOff(response, before.mode)
  const reply = await effect()
  const after = faults.take('timeout_after_effect', key, operation)
  if (after !== null) return cutOff(response, after.mode)
  write(response, reply)
}

export function write(response: Response, reply: Reply): void {
  response
    .status(reply.status)
    .set({ 'content-type': 'application/json', 'cache-control': 'no-store', ...reply.headers })
    .send(reply.body)
}

function cutOff(response: Response, mode: 'close' | 'hang' | undefined): void {
  if (mode !== 'hang') response.socket?.destroy()
}

/** Returns the raw body; empty if there is none. */
export function rawBody(request: Request): string {
  return Buffer.isBuffer(request.body) ? request.body.toString('utf8') : ''
}

/** Returns the body parsed as JSON; null if it is not JSON. */
export function jsonBody(request: Request): unknown {
  try {
    return JSON.parse(rawBody(request))
  } catch {
    return null
  }
}

export function formBody(request: Request): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(rawBody(request)))
}
