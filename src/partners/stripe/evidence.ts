import {
  type EvidenceFileName,
  type EvidenceTextName,
  findMediaType,
  type MediaType,
} from '../../domain/dispute/evidence.ts'
import { unclear } from '../http.ts'
import type { DisputeAnswerResult, DisputeRequest } from '../provider.ts'
import { readAs } from '../reading.ts'
import type { StripeApi } from './api.ts'
import { type Dispute, disputeAnswerSchema, fileSchema } from './wire.ts'

/** Stripe's names (https://docs.stripe.com/api/disputes/evidence_object) of those that have another name here. */
const TEXTS: Readonly<Partial<Record<EvidenceTextName, string>>> = {
  explanation: 'uncategorized_text',
  customer_email: 'customer_email_address',
  customer_ip: 'customer_purchase_ip',
}
const FILES: Readonly<Partial<Record<EvidenceFileName, string>>> = { other: 'uncategorized_file' }

const ENDINGS: Readonly<Record<MediaType, string>> = {
  'application/pdf': 'pdf',
  'image/jpeg': 'jpg',
  'image/png': 'png',
}

/** The dispute has the key of the last evidence, so that it can be read if Stripe has taken it. */
const ANSWER_KEY = 'answer'

const disputePath = (id: string): string => `/v1/disputes/${encodeURIComponent(id)}`

/**
 * Each call has its key, so that repeating it has no second effect. Stripe forgets keys after a day, and refuses evidence
 * for a dispute that has some: what it refuses is read again.
 */
export async function answerDispute(
  api: StripeApi,
  request: DisputeRequest,
  signal: AbortSignal,
): Promise<DisputeAnswerResult> {
  const path = disputePath(request.dispute)
  const isAccepting = request.kind === 'accept'
  const form = isAccepting ? {} : await createForm(api, request, signal)
  if (isRefusal(form)) return form
  const target = isAccepting ? `${path}/close` : path
  const answer = await api.post(target, { form, key: request.key }, signal)
  if (answer.status === 200 && isTaken(readAs(api.to, disputeAnswerSchema, answer), request)) return { kind: 'taken' }
  const read = await api.get(path, {}, signal)
  if (read.status === 404) return { kind: 'refused', reason: 'the partner does not know the dispute' }
  if (isTaken(readAs(api.to, disputeAnswerSchema, read), request)) return { kind: 'taken' }
  const error = answer.status === 400 || answer.status === 404 ? api.readError(answer) : null
  if (error === null || error.type === 'idempotency_error')
    throw unclear(api.to, `answered ${answer.status} to evidence, and does not have it`)
  return { kind: 'refused', reason: error.code ?? error.type }
}

const isTaken = ({ status, metadata }: Dispute, { kind, key }: DisputeRequest): boolean =>
  kind === 'accept' ? status === 'lost' : metadata?.[ANSWER_KEY] === key

type Form = Readonly<Record<string, string>>
type Refusal = Extract<DisputeAnswerResult, { kind: 'refused' }>

const isRefusal = (form: Form | Refusal): form is Refusal => form['kind'] === 'refused'

/** Uploads the files. Their names are those of their fields: a name that the merchant chose could be personal data. */
async function createForm(
  api: StripeApi,
  { key, texts, files, submit }: DisputeRequest,
  signal: AbortSignal,
): Promise<Form | Refusal> {
  const form: Record<string, string> = { submit: `${submit}`, [`metadata[${ANSWER_KEY}]`]: key }
  for (const [name, text] of Object.entries(texts)) form[`evidence[${TEXTS[name as EvidenceTextName] ?? name}]`] = text
  for (const [name, bytes] of Object.entries(files)) {
    const type = findMediaType(bytes)
    if (type === null) return { kind: 'refused', reason: `${name} is of no type that the partner takes` }
    const answer = await api.upload({ name: `${name}.${ENDINGS[type]}`, type, bytes }, `${key}:${name}`, signal)
    if (answer.status === 400) return { kind: 'refused', reason: `${name}: ${api.readError(answer).code ?? 'refused'}` }
    if (answer.status !== 200) throw unclear(api.to, `answered ${answer.status} to a file`)
    form[`evidence[${FILES[name as EvidenceFileName] ?? name}]`] = readAs(api.to, fileSchema, answer).id
  }
  return form
}
