import { z } from 'zod'
import {
  DISPUTE_KINDS,
  DISPUTE_REASONS,
  DISPUTE_STATUSES,
  type DisputeReason,
  type DisputeStatus,
} from '../../../../domain/dispute/dispute.ts'
import {
  ANSWER_KINDS,
  ANSWER_STATES,
  EVIDENCE_FILES,
  EVIDENCE_TEXTS,
  type EvidenceFileName,
  type EvidenceTextName,
  findMediaType,
  MOST_EVIDENCE_BYTES,
} from '../../../../domain/dispute/evidence.ts'
import { DISPUTE } from '../../../document/dispute-examples.ts'
import { currency, moment, textAsSent, usdcAmount } from '../fields.ts'

export const disputeStatus = z.enum(Object.keys(DISPUTE_STATUSES) as [DisputeStatus, ...DisputeStatus[]])

const cost = z.strictObject({
  taken: z.string(),
  fee: z.string().nullable(),
  fee_currency: currency.nullable(),
  from_reserve_usdc: usdcAmount,
  from_platform_usdc: usdcAmount,
})

const answer = z.strictObject({
  kind: z.enum(ANSWER_KINDS),
  status: z.enum(ANSWER_STATES),
  submit: z.boolean(),
  fields: z.array(z.string()),
  refusal: z.string().nullable(),
  created_at: moment,
})

export const disputeObject = z
  .strictObject({
    id: z.string(),
    object: z.literal('dispute'),
    livemode: z.boolean(),
    payment: z.string(),
    provider: z.string(),
    partner_dispute: z.string(),
    kind: z.enum(DISPUTE_KINDS),
    status: disputeStatus,
    reason: z.enum(Object.keys(DISPUTE_REASONS) as [DisputeReason, ...DisputeReason[]]),
    reason_text: z.string().nullable(),
    amount: z.number(),
    amount_decimal: z.string(),
    amount_minor: z.int(),
    currency,
    evidence_through: z.enum(['api', 'partner']),
    evidence_due_at: moment.nullable(),
    evidence_submitted_at: moment.nullable(),
    answer: answer.nullable(),
    cost,
    opened_at: moment.nullable(),
    created_at: moment,
    updated_at: moment,
    closed_at: moment.nullable(),
    version: z.int(),
  })
  .meta({ id: 'Dispute', examples: [DISPUTE] })

const textNames = Object.keys(EVIDENCE_TEXTS) as EvidenceTextName[]
const fileNames = Object.keys(EVIDENCE_FILES) as EvidenceFileName[]

/** Base64 characters of the largest file. */
const MOST_CHARACTERS = Math.ceil(MOST_EVIDENCE_BYTES / 3) * 4

const file = z
  .string()
  .max(MOST_CHARACTERS, 'must have at most 4 MB')
  .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'must be in base64')
  .refine((text) => findMediaType(Buffer.from(text.slice(0, 64), 'base64')) !== null, 'must be a PDF, JPEG or PNG file')

const optional = <Name extends string, T extends z.ZodType>(names: readonly Name[], schema: (name: Name) => T) =>
  Object.fromEntries(names.map((name) => [name, schema(name).optional()])) as Record<Name, z.ZodOptional<T>>

const describeText = (name: EvidenceTextName): string => {
  const { label, hint } = EVIDENCE_TEXTS[name]
  return hint === '' ? `${label}.` : `${label}. ${hint}`
}

export const evidenceBody = z
  .strictObject({
    submit: z.boolean().default(true),
    ...optional(textNames, (name) => textAsSent(EVIDENCE_TEXTS[name].most).meta({ description: describeText(name) })),
    files: z
      .strictObject(optional(fileNames, (name) => file.meta({ description: `${EVIDENCE_FILES[name]}, in base64.` })))
      .default({}),
  })
  .refine(
    ({ files }) => Object.values(files).reduce((sum, text = '') => sum + text.length, 0) <= MOST_CHARACTERS,
    'must have at most 4 MB of files',
  )
  .refine((body) => listTexts(body).length + Object.keys(body.files).length > 0, 'must have at least one text or file')
export type EvidenceBody = z.output<typeof evidenceBody>

/** The texts that are not empty. */
export const listTexts = (body: { readonly [name in EvidenceTextName]?: string | undefined }) =>
  textNames.flatMap((name): [EvidenceTextName, string][] => {
    const text = body[name]?.trim() ?? ''
    return text === '' ? [] : [[name, text]]
  })
