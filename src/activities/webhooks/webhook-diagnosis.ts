import { ApplicationFailure, cancellationSignal } from '@temporalio/activity'
import { type Delivery, loadDeliveries } from '../../db/webhooks/deliveries.ts'
import { readOtherSecrets } from '../../db/webhooks/webhook-endpoints.ts'
import { classifyAnswer, describeAnswer } from '../../domain/webhook.ts'
import { type Diagnosis, type DiagnosisTarget, mayBeSignature } from '../../domain/webhook-diagnosis.ts'
import { type DeliveryRequest, renderRequest } from '../../webhooks/formats.ts'
import { type KnownSecrets, listProbes } from '../../webhooks/mistakes.ts'
import type { SendResult } from '../../webhooks/send.ts'
import { signsAt } from '../../webhooks/sign.ts'
import { type DeliveryDeps, toMessage } from './webhook-try.ts'

export type WebhookDiagnosisActivities = {
  /**
   * Sends the event with the right signature, and if it is refused, with one signature after the other that a receiver
   * with a usual mistake accepts. An acceptance counts if the right signature is refused once more after it.
   */
  diagnoseDelivery(target: DiagnosisTarget): Promise<Diagnosis>
}

/** Milliseconds for each request, and for all: somebody waits for the answer. */
const REQUEST_MS = 3_000
const ALL_MS = 20_000

export function createWebhookDiagnosisActivities(deps: DeliveryDeps): WebhookDiagnosisActivities {
  return {
    async diagnoseDelivery({ eventId, endpointId }) {
      const [delivery] = await loadDeliveries(deps.db, eventId, endpointId)
      if (delivery === undefined) throw ApplicationFailure.nonRetryable('the delivery was deleted')
      const until = deps.now() + ALL_MS
      const message = { id: eventId, at: deps.now(), body: delivery.body }
      const opened = await openSecrets(deps, delivery)
      if (opened === null) return { cause: 'sealed_secret', requests: 0 }
      const { signed, known } = opened
      let requests = 0
      const send = ({ headers, body }: DeliveryRequest): Promise<SendResult> => {
        requests += 1
        const { url } = delivery
        return deps.sender.send({ endpointId, url, headers, body, totalMs: REQUEST_MS }, cancellationSignal())
      }
      const sendRight = () => send(renderRequest(toMessage({ eventId, delivery, secrets: signed, at: deps.now() })))

      const first = await sendRight()
      const atOnce = readOther(first)
      if (atOnce !== null) return { ...atOnce, requests }
      // The mistakes are those of receivers of Standard Webhooks.
      const probes = delivery.format === 'standard' ? listProbes(message, known, readClock(first)) : []
      for (const { mistake, detail, headers } of probes) {
        if (deps.now() >= until) break
        const result = await send({ headers, body: delivery.body })
        if (!mayBeSignature(result)) {
          const found = readOther(result)
          const other = found?.cause === 'none' ? readOther(await sendRight()) : found
          return other === null ? { cause: mistake, detail, requests } : { ...other, requests }
        }
      }
      return { cause: 'unknown', requests }
    },
  }
}

type Other = { readonly cause: 'none' } | { readonly cause: 'response'; readonly response: string }

/** Null: the response can mean a wrong signature. */
function readOther(result: SendResult): Other | null {
  if (classifyAnswer(result) === 'delivered') return { cause: 'none' }
  return mayBeSignature(result) ? null : { cause: 'response', response: describeAnswer(result) }
}

function readClock({ headers }: SendResult): number | null {
  const at = Date.parse(headers['date'] ?? '')
  return Number.isNaN(at) ? null : at
}

type OpenedSecrets = { readonly signed: string[]; readonly known: KnownSecrets }

/** Null: a secret that signs cannot be opened. Any other that cannot be opened only leaves its mistake untried. */
async function openSecrets(deps: DeliveryDeps, delivery: Delivery): Promise<OpenedSecrets | null> {
  const { endpoint_id: endpointId, merchant_id: merchantId } = delivery
  const others = await readOtherSecrets(deps.db, { endpointId, merchantId })
  const secrets = delivery.secrets.map((secret) => ({
    secret: openSecret(deps, secret.sealed, endpointId),
    isActive: signsAt(secret, deps.now()),
  }))
  const active = secrets.filter(({ isActive }) => isActive)
  const signed = active.flatMap(({ secret }) => secret ?? [])
  if (signed.length < active.length) return null
  const [current] = signed
  if (current === undefined) throw ApplicationFailure.nonRetryable('the endpoint has no secret')
  const known = {
    current,
    previous: secrets.find(({ isActive }) => !isActive)?.secret ?? null,
    others: others.flatMap(({ id, url, sealed }) => {
      const secret = openSecret(deps, sealed, id)
      return secret === null ? [] : [{ url, secret }]
    }),
  }
  return { signed, known }
}

function openSecret({ secretBox }: DeliveryDeps, sealed: string, endpointId: string): string | null {
  try {
    return secretBox.open(sealed, endpointId)
  } catch {
    return null
  }
}
