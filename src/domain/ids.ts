/** Kinds of ids, and every key that is derived from one. Ids are TypeIDs: a prefix and a UUIDv7 in base 32. */

export const ID_PREFIXES = {
  merchant: 'mer',
  payment: 'pay',
  attempt: 'att',
  refund: 're',
  dispute: 'dp',
  disputeAnswer: 'dpa',
  event: 'evt',
  endpoint: 'we',
  apiKey: 'key',
  request: 'req',
  partnerCallback: 'pcb',
  person: 'per',
  session: 'ses',
  signInLink: 'lnk',
  mail: 'mail',
  link: 'plink',
  channel: 'nch',
  channelMessage: 'ncm',
  auditEntry: 'aud',
  refill: 'rfl',
  reserveRelease: 'rel',
} as const

export type IdKind = keyof typeof ID_PREFIXES

export function typeId(kind: IdKind): RegExp {
  return new RegExp(`^${ID_PREFIXES[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`)
}

export function isId(kind: IdKind, value: string): boolean {
  const prefix = `${ID_PREFIXES[kind]}_`
  return value.startsWith(prefix) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(value.slice(prefix.length))
}

const BASE_32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** Writes a UUID as a TypeID of the kind (https://github.com/jetify-com/typeid, version 0.3): 26 digits of five bits. */
export function formatId(kind: IdKind, uuid: string): string {
  const value = BigInt(`0x${uuid.replaceAll('-', '')}`)
  const digits = Array.from({ length: 26 }, (_, at) => BASE_32.charAt(Number((value >> BigInt(5 * (25 - at))) & 31n)))
  return `${ID_PREFIXES[kind]}_${digits.join('')}`
}

/**
 * Returns when a payment's id was made, in Unix milliseconds: the first 48 bits of its UUIDv7 (RFC 9562, 5.7). No
 * backup and no database clock changes it. Null: it is not the id of a payment.
 */
export function readPaymentTime(paymentId: string): number | null {
  if (!isId('payment', paymentId)) return null
  const start = ID_PREFIXES.payment.length + 1
  return Array.from({ length: 10 }, (_digit, at) => BASE_32.indexOf(paymentId.charAt(start + at))).reduce(
    (value, digit) => value * 32 + digit,
    0,
  )
}

/** Returns what follows the prefix: ids of all kinds are in the order of their time by it. */
export const digitsOfId = (id: string): string => id.slice(id.indexOf('_') + 1)

/** Returns the smallest id of a payment that was made at the Unix millisecond or later. */
export function firstPaymentId(time: number): string {
  const digits = Array.from({ length: 10 }, (_digit, at) => BASE_32.charAt(Math.floor(time / 32 ** (9 - at)) % 32))
  return `${ID_PREFIXES.payment}_${digits.join('')}${'0'.repeat(16)}`
}

export const paymentWorkflowId = (paymentId: string): string => paymentId

export const refundWorkflowId = (refundId: string): string => refundId

export const deliveryWorkflowId = (eventId: string, endpointId: string): string => `whd_${eventId}_${endpointId}`

/** One at a time for each endpoint. */
export const diagnosisWorkflowId = (endpointId: string): string => `diagnosis_${endpointId}`

export const notificationWorkflowId = (channelId: string): string => `ntf_${channelId}`

/** The suffix of a counted key; the first of its kind has none. */
export const nth = (order: number): string => (order === 1 ? '' : `:${order}`)

/** Idempotency keys of calls to partners: from ids and the step, never random, never per try. */
/** Counted from 1; only the last order of a payment is open. */
export const conversionKey = (paymentId: string, order: number): string => `${paymentId}:convert${nth(order)}`
/** The key of a give-back of a whole order, counted from 1: a refusal has no effect, and the next request has the next key. */
export const refundKey = (attemptId: string, order: number): string => `${attemptId}:refund${nth(order)}`

/** The activity that waits for the payout; the settlement runner completes it by this id. */
export const SETTLE_ACTIVITY_ID = 'settle'
