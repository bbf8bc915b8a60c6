import { createHash } from 'node:crypto'
import type { PartnerSettings } from '../../domain/partner/drivers.ts'
import { ask, type HttpAnswer, unclear } from '../http.ts'
import { readAs } from '../reading.ts'
import { errorSchema, STRIPE_VERSION, type StripeError } from './wire.ts'

type Form = Readonly<Record<string, string>>

/** `name` with its ending, such as `receipt.pdf`. */
export type EvidenceFile = { readonly name: string; readonly type: string; readonly bytes: Uint8Array }

export type StripeApi = {
  readonly to: string
  get(path: string, query: Form, signal: AbortSignal): Promise<HttpAnswer>
  /** Without a key, only what has the same effect twice. */
  post(
    path: string,
    request: { readonly form: Form; readonly key: string | null },
    signal: AbortSignal,
  ): Promise<HttpAnswer>
  /** Uploads a file as evidence: Stripe has another host for it. */
  upload(file: EvidenceFile, key: string, signal: AbortSignal): Promise<HttpAnswer>
  readError(answer: HttpAnswer): StripeError
  /** Returns null if Stripe itself reports that there is no such object. Any other 404 comes from a proxy in between. */
  readMissing(answer: HttpAnswer): null
}

const API = 'https://api.stripe.com'
const FILES = 'https://files.stripe.com'

export function connectApi(to: string, { url, secret }: Pick<PartnerSettings, 'url' | 'secret'>): StripeApi {
  const identity = {
    accept: 'application/json',
    authorization: `Bearer ${secret}`,
    'stripe-version': STRIPE_VERSION,
  }
  const readError = (answer: HttpAnswer): StripeError => readAs(to, errorSchema, answer).error

  return {
    to,
    readError,
    async get(path, query, signal) {
      const search = new URLSearchParams(query).toString()
      const target = `${url}${path}${search === '' ? '' : `?${search}`}`
      const answer = await ask({ to, method: 'GET', url: target, headers: identity }, signal)
      if (answer.status !== 200 && answer.status !== 404) throw unclear(to, `answered ${answer.status} to a question`)
      return answer
    },
    post(path, { form, key }, signal) {
      const headers = {
        ...identity,
        'content-type': 'application/x-www-form-urlencoded',
        ...(key !== null && { 'idempotency-key': key }),
      }
      const body = new URLSearchParams(form).toString()
      return ask({ to, method: 'POST', url: `${url}${path}`, headers, body }, signal)
    },
    upload({ name, type, bytes }, key, signal) {
      // The same bytes each time: Stripe refuses a key with another request.
      const boundary = `pinrail-${createHash('sha256').update(key).update(bytes).digest('hex').slice(0, 32)}`
      const part = (head: string) => `--${boundary}\r\nContent-Disposition: form-data; ${head}`
      const body = Buffer.concat([
        Buffer.from(`${part('name="purpose"')}\r\n\r\ndispute_evidence\r\n`),
        Buffer.from(`${part(`name="file"; filename="${name}"`)}\r\nContent-Type: ${type}\r\n\r\n`),
        bytes,
        Buffer.from(`\r\n--${boundary}--\r\n`),
      ])
      const contentType = `multipart/form-data; boundary=${boundary}`
      const headers = { ...identity, 'content-type': contentType, 'idempotency-key': key }
      return ask({ to, method: 'POST', url: `${url === API ? FILES : url}/v1/files`, headers, body }, signal)
    },
    readMissing(answer) {
      if (readError(answer).code === 'resource_missing') return null
      throw unclear(to, `answered ${answer.status} about an object`)
    },
  }
}
