import type { Db } from '../../db/db.ts'
import type { Delivery, TryRecord } from '../../db/webhooks/deliveries.ts'
import { classifyAnswer, describeAnswer, isOverloaded, type LastAnswer } from '../../domain/webhook.ts'
import { type DeliveryMessage, renderRequest } from '../../webhooks/formats.ts'
import type { SecretBox } from '../../webhooks/secret-box.ts'
import type { Sender, SendResult } from '../../webhooks/send.ts'
import { signsAt } from '../../webhooks/sign.ts'

export type DeliveryDeps = {
  readonly db: Db
  readonly secretBox: Pick<SecretBox, 'open'>
  readonly sender: Pick<Sender, 'send'>
  /** Unix milliseconds. */
  readonly now: () => number
}

export type PlannedTry = {
  readonly eventId: string
  readonly delivery: Delivery
  readonly number: number
  /** How much of the schedule is used up after it. */
  readonly step: number
  /** Milliseconds that the receiver has; absent: the usual time. */
  readonly totalMs?: number
}

export type Tried = { readonly record: TryRecord; readonly result: SendResult }

/** Any reaction of the receiver is a value; it throws only because of `signal`. */
export async function makeTry(deps: DeliveryDeps, planned: PlannedTry, signal: AbortSignal): Promise<Tried> {
  const { eventId, delivery, number, step, totalMs } = planned
  const at = deps.now()
  const secrets = openSecrets(deps, delivery, at)
  const result =
    secrets === null ? UNUSABLE_SECRET : await send(deps, { eventId, delivery, secrets, at, totalMs }, signal)
  const { status, error, headers, bodyExcerpt, durationMs } = result
  return {
    result,
    record: {
      eventId,
      endpointId: delivery.endpoint_id,
      number,
      step,
      verdict: classifyAnswer(result),
      at: new Date(at).toISOString(),
      durationMs,
      status,
      headers,
      bodyExcerpt,
      error,
    },
  }
}

export function lastAnswer(result: SendResult): LastAnswer {
  return {
    text: describeAnswer(result),
    overloaded: isOverloaded(result),
    retryAfterSeconds: result.retryAfterSeconds,
  }
}

type Signed = Pick<PlannedTry, 'eventId' | 'delivery'> & {
  readonly secrets: readonly string[]
  readonly at: number
  readonly totalMs: number | undefined
}

function send(deps: DeliveryDeps, { eventId, delivery, secrets, at, totalMs }: Signed, signal: AbortSignal) {
  const { endpoint_id: endpointId, url } = delivery
  const { headers, body } = renderRequest(toMessage({ eventId, delivery, secrets, at }))
  return deps.sender.send({ endpointId, url, headers, body, ...(totalMs !== undefined && { totalMs }) }, signal)
}

export function toMessage({ eventId, delivery, secrets, at }: Omit<Signed, 'totalMs'>): DeliveryMessage {
  const { format, endpoint_id: endpointId, merchant_id: merchantId, body } = delivery
  return { format, eventId, endpointId, merchantId, body, at, secrets }
}

/** A secret that cannot be decrypted affects only this endpoint: it must not block the others of the same event. */
const UNUSABLE_SECRET: SendResult = {
  status: null,
  error: 'unusable_secret',
  headers: {},
  bodyExcerpt: '',
  retryAfterSeconds: null,
  durationMs: 0,
  bytesSent: 0,
}

function openSecrets(deps: DeliveryDeps, { endpoint_id, secrets }: Delivery, at: number): string[] | null {
  const active = secrets.filter((secret) => signsAt(secret, at))
  try {
    return active.map(({ sealed }) => deps.secretBox.open(sealed, endpoint_id))
  } catch {
    return null
  }
}
