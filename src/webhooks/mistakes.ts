import { createHmac } from 'node:crypto'
import type { Mistake } from '../domain/webhook-diagnosis.ts'
import { type SignedHeaders, signedHeaders } from './sign.ts'

export type Message = { readonly id: string; readonly at: number; readonly body: Buffer }

export type KnownSecrets = {
  /** Signs events. */
  readonly current: string
  /** Null: there is none that no longer signs. */
  readonly previous: string | null
  readonly others: readonly { readonly url: string; readonly secret: string }[]
}

/** The event, signed so that a receiver with this mistake accepts it. */
export type Probe = {
  readonly mistake: Mistake
  readonly detail: string | null
  readonly headers: Readonly<Record<string, string>>
}

/** Milliseconds by which clocks may differ: verifiers usually accept five minutes. */
const CLOCK_TOLERANCE_MS = 60_000

/** The likely mistakes first. `receiverClock`: Unix milliseconds of the receiver's last response; null: unknown. */
export function listProbes(message: Message, secrets: KnownSecrets, receiverClock: number | null): Probe[] {
  const { current, previous, others } = secrets
  const bySecret = (secret: string) => ({ ...signedHeaders({ ...message, secrets: [secret] }) })
  const probes: Probe[] = []
  const add = (mistake: Mistake, detail: string | null, headers: Readonly<Record<string, string>>) =>
    probes.push({ mistake, detail, headers })
  if (receiverClock !== null && Math.abs(receiverClock - message.at) > CLOCK_TOLERANCE_MS)
    add('clock', null, { ...signedHeaders({ ...message, at: receiverClock, secrets: [current] }) })
  if (previous !== null) add('previous_secret', null, bySecret(previous))
  for (const { url, secret } of others) add('other_endpoint', `the endpoint ${url}`, bySecret(secret))
  const signs = createSigner(message, current)
  for (const [spelling, text] of spellings(message.body.toString('utf8')))
    add('parsed_body', spelling, signs({ content: (id, time) => `${id}.${time}.${text}` }))
  add('undecoded_secret', 'with `whsec_`', signs({ key: Buffer.from(current) }))
  add('undecoded_secret', 'without `whsec_`', signs({ key: Buffer.from(withoutPrefix(current)) }))
  const body = message.body.toString('utf8')
  add('signed_content', 'the body alone', signs({ content: () => body }))
  add('signed_content', 'without the id', signs({ content: (_id, time) => `${time}.${body}` }))
  add('signature_format', 'without `v1,`', signs({ format: (digest) => digest.toString('base64') }))
  add('signature_format', 'hexadecimal', signs({ format: (digest) => digest.toString('hex') }))
  const right = signedHeaders({ ...message, secrets: [current] })
  add('other_headers', '`svix-…`', {
    ...right,
    'svix-id': right['webhook-id'],
    'svix-timestamp': right['webhook-timestamp'],
    'svix-signature': right['webhook-signature'],
  })
  return probes
}

type Wrong = {
  readonly key?: Buffer
  readonly content?: (id: string, timestamp: string) => string
  readonly format?: (digest: Buffer) => string
}

/** Signs as Standard Webhooks says, but for what is wrong. */
function createSigner(message: Message, secret: string): (wrong: Wrong) => SignedHeaders {
  const right = signedHeaders({ ...message, secrets: [secret] })
  const timestamp = right['webhook-timestamp']
  const rightContent = `${message.id}.${timestamp}.${message.body.toString('utf8')}`
  return ({ key = Buffer.from(withoutPrefix(secret), 'base64'), content, format = standard }) => {
    const signed = content?.(message.id, timestamp) ?? rightContent
    return { ...right, 'webhook-signature': format(createHmac('sha256', key).update(signed).digest()) }
  }
}

const standard = (digest: Buffer): string => `v1,${digest.toString('base64')}`

const withoutPrefix = (secret: string): string => secret.slice('whsec_'.length)

/** How other languages write the same JSON by default, if not as we do. JavaScript, Ruby and Rust do. */
function spellings(body: string): [string, string][] {
  const value: unknown = JSON.parse(body)
  const ascii = (text: string) => text.replace(/[\u0080-\uffff]/g, escapeUnit)
  const texts: [string, string][] = [
    ['as Python writes it', ascii(writeSpaced(value))],
    ['as PHP writes it', ascii(body.replaceAll('/', '\\/'))],
    ['as Go writes it', JSON.stringify(sortKeys(value)).replace(/[<>&\u2028\u2029]/g, escapeUnit)],
    ['with indentation', JSON.stringify(value, null, 2)],
  ]
  return texts.filter(([, text]) => text !== body)
}

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

function writeSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeSpaced).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${writeSpaced(one)}`)
    .join(', ')}}`
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isObject(value)) return value
  const sorted = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(sorted.map(([key, one]) => [key, sortKeys(one)]))
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
