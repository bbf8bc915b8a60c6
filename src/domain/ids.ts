/**
 * Ids are TypeIDs: a prefix and a UUIDv7 in base 32. They are made at the edges (`newId` needs randomness, so it is in
 * src/ids.ts); here are their kinds, and every key that is derived from them. Nothing else builds one.
 */

export const ID_PREFIXES = {
  merchant: 'mer',
  payment: 'pay',
  attempt: 'att',
  event: 'evt',
  endpoint: 'we',
  apiKey: 'key',
  request: 'req',
  partnerEvent: 'pev',
  person: 'per',
  session: 'ses',
  signInLink: 'lnk',
  mail: 'mail',
  link: 'plink',
  channel: 'nch',
  channelMessage: 'ncm',
  auditEntry: 'aud',
} as const

export type IdKind = keyof typeof ID_PREFIXES

/** The form of a TypeID of the kind. */
export function typeId(kind: IdKind): RegExp {
  return new RegExp(`^${ID_PREFIXES[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`)
}

/** A TypeID of the kind: 26 characters of Crockford's base 32 after the prefix. */
export function isId(kind: IdKind, value: string): boolean {
  const prefix = `${ID_PREFIXES[kind]}_`
  return value.startsWith(prefix) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(value.slice(prefix.length))
}

const BASE_32 = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * When a payment's id was made, in Unix milliseconds: the first 48 bits of its UUIDv7 (RFC 9562, 5.7), which are in the
 * first ten characters. No backup and no clock of a database changes it. Null for what is no id of a payment.
 */
export function timeOfPayment(paymentId: string): number | null {
  if (!isId('payment', paymentId)) return null
  const start = ID_PREFIXES.payment.length + 1
  return Array.from({ length: 10 }, (_digit, at) => BASE_32.indexOf(paymentId.charAt(start + at))).reduce(
    (value, digit) => value * 32 + digit,
    0,
  )
}

/** The smallest id of a payment that was made at the Unix millisecond or later. */
export function firstPaymentId(time: number): string {
  const digits = Array.from({ length: 10 }, (_digit, at) => BASE_32.charAt(Math.floor(time / 32 ** (9 - at)) % 32))
  return `${ID_PREFIXES.payment}_${digits.join('')}${'0'.repeat(16)}`
}

/** The payment's workflow has the payment's id. */
export const paymentWorkflowId = (paymentId: string): string => paymentId

/** The workflow that owns the retries of one event at one endpoint. */
export const deliveryWorkflowId = (eventId: string, endpointId: string): string => `whd_${eventId}_${endpointId}`

/** The workflow that tells one channel what is waiting for it. */
export const notificationWorkflowId = (channelId: string): string => `ntf_${channelId}`

/** The first of its kind has no number. */
export const nth = (order: number): string => (order === 1 ? '' : `:${order}`)

/** Idempotency keys of effects outside: from our ids and the step, never random, never per try. */
/** A payment's orders at the converter are counted from 1; only the last one is open. */
export const conversionKey = (paymentId: string, order: number): string => `${paymentId}:convert${nth(order)}`
export const refundKey = (attemptId: string): string => `${attemptId}:refund`

/** The activity that waits for the payout; the settlement runner completes it by this id. */
export const SETTLE_ACTIVITY_ID = 'settle'
