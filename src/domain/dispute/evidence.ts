/** The evidence that a merchant can submit, and its limits. The names are those of the API; each driver has its partner's. */

type EvidenceText = { readonly label: string; readonly hint: string; readonly most: number }

const SHORT = 500
/** Stripe takes 150,000 characters of all texts together. */
const LONG = 20_000

export const EVIDENCE_TEXTS = {
  explanation: { label: 'Your explanation', hint: 'What happened, in short sentences, with dates.', most: LONG },
  product_description: { label: 'What you sold', hint: 'As you described it to the buyer.', most: LONG },
  customer_name: { label: 'Name of the buyer', hint: '', most: SHORT },
  customer_email: { label: 'E-mail of the buyer', hint: '', most: SHORT },
  customer_ip: { label: 'IP address of the buyer', hint: 'From which the order was placed.', most: SHORT },
  billing_address: { label: 'Billing address', hint: '', most: SHORT },
  access_activity_log: {
    label: 'Use of the service',
    hint: 'Log entries that show that the buyer used it.',
    most: LONG,
  },
  service_date: { label: 'Date of the service', hint: 'When the buyer received it.', most: SHORT },
  shipping_address: { label: 'Shipping address', hint: '', most: SHORT },
  shipping_carrier: {
    label: 'Carrier',
    hint: 'Such as DHL. If there are several, separate them by commas.',
    most: SHORT,
  },
  shipping_date: { label: 'Date of shipping', hint: '', most: SHORT },
  shipping_tracking_number: { label: 'Tracking number', hint: '', most: SHORT },
  refund_policy_disclosure: {
    label: 'Where the buyer saw your refund policy',
    hint: 'Before the purchase.',
    most: LONG,
  },
  refund_refusal_explanation: { label: 'Why you refused a refund', hint: '', most: LONG },
  cancellation_rebuttal: { label: 'Why the subscription was not canceled', hint: '', most: LONG },
  duplicate_charge_explanation: {
    label: 'How the two charges differ',
    hint: 'If the buyer sees a duplicate.',
    most: LONG,
  },
} as const satisfies Readonly<Record<string, EvidenceText>>
export type EvidenceTextName = keyof typeof EVIDENCE_TEXTS

export const EVIDENCE_FILES = {
  receipt: 'Receipt or invoice',
  customer_communication: 'Messages with the buyer',
  customer_signature: 'Signature of the buyer',
  shipping_documentation: 'Proof of delivery',
  service_documentation: 'Proof of the service',
  refund_policy: 'Refund policy',
  cancellation_policy: 'Cancellation policy',
  other: 'Another document',
} as const
export type EvidenceFileName = keyof typeof EVIDENCE_FILES

/** Bytes of all files together. */
export const MOST_EVIDENCE_BYTES = 4 * 1024 * 1024

export type MediaType = 'application/pdf' | 'image/jpeg' | 'image/png'

const SIGNATURES: readonly (readonly [MediaType, readonly number[]])[] = [
  ['application/pdf', [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
]

/** Returns the type by the first bytes; null: it is neither a PDF nor a JPEG or PNG picture. */
export const findMediaType = (bytes: Uint8Array): MediaType | null =>
  SIGNATURES.find(([, start]) => start.every((byte, place) => bytes[place] === byte))?.[0] ?? null

/** `accept`: the merchant concedes, and the dispute is lost. */
export const ANSWER_KINDS = ['evidence', 'accept'] as const
export type AnswerKind = (typeof ANSWER_KINDS)[number]

/** `sending`: the partner has not confirmed it yet. `refused`: it had no effect. */
export const ANSWER_STATES = ['sending', 'sent', 'refused'] as const
export type AnswerState = (typeof ANSWER_STATES)[number]

/** The merchant's last request to the partner. Its texts and files are deleted once the partner has them. */
export type DisputeAnswer = {
  readonly kind: AnswerKind
  readonly state: AnswerState
  /** False: the evidence is stored at the partner, and can still be changed. */
  readonly submit: boolean
  readonly texts: readonly string[]
  readonly files: readonly string[]
  /** The partner's words; null: it did not refuse. */
  readonly refusal: string | null
  readonly createdAt: string
}
