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
 * for a dispute that has some: so the dispute is read before anything is sent, and again unless Stripe has taken it.
 */
export async function answerDispute(
  api: StripeApi,
  request: DisputeRequest,
  signal: AbortSignal,
): Promise<DisputeAnswerResult> {
  const known = await readResult(api, request, signal)
  if (known !== null) return known
  const sent = await send(api, request, signal)
  if (sent.kind === 'taken') return sent
  const result = (await readResult(api, request, signal)) ?? sent
  if (result.kind === 'unclear') throw unclear(api.to, `answered ${result.status} to evidence, and does not have it`)
  return result
}

/** Reads the result from the dispute; null: it waits for an answer, and does not have this one. */
async function readResult(
  api: StripeApi,
  request: DisputeRequest,
  signal: AbortSignal,
): Promise<DisputeAnswerResult | null> {
  const read = await api.get(disputePath(request.dispute), {}, signal)
  if (read.status === 404) return { kind: 'refused', reason: 'the partner does not know the dispute' }
  const dispute = readAs(api.to, disputeAnswerSchema, read)
  if (isTaken(dispute, request)) return { kind: 'taken' }
  return OPEN.includes(dispute.status) ? null : { kind: 'refused', reason: 'the dispute is over' }
}

type Sent = DisputeAnswerResult | { readonly kind: 'unclear'; readonly status: number }

async function send(api: StripeApi, request: DisputeRequest, signal: AbortSignal): Promise<Sent> {
  const path = disputePath(request.dispute)
  const isAccepting = request.kind === 'accept'
  const form = isAccepting ? {} : await createForm(api, request, signal)
  if (isRefusal(form)) return form
  const answer = await api.post(isAccepting ? `${path}/close` : path, { form, key: request.key }, signal)
  if (answer.status === 200 && isTaken(readAs(api.to, disputeAnswerSchema, answer), request)) return { kind: 'taken' }
  const error = answer.status === 400 || answer.status === 404 ? api.readError(answer) : null
  return error === null || error.type === 'idempotency_error'
    ? { kind: 'unclear', status: answer.status }
    : { kind: 'refused', reason: error.code ?? error.type }
}

/** The states in which Stripe takes an answer. */
const OPEN: readonly string[] = ['needs_response', 'warning_needs_response']

/** An inquiry that is accepted is closed, and a chargeback is lost. */
const isTaken = ({ status, metadata }: Dispute, { kind, key }: DisputeRequest): boolean =>
  kind === 'accept' ? status === 'lost' || status === 'warning_closed' : metadata?.[ANSWER_KEY] === key

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
