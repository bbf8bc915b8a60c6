import type { z } from 'zod'
import { type Currency, isCurrency } from '../domain/currencies.ts'
import { type CallbackReading, MAX_CALLBACK_BYTES } from '../domain/payment/partner.ts'
import { type HttpAnswer, parseStorable, readJson, unclear } from './http.ts'

export const FOREIGN: CallbackReading = { kind: 'foreign' }

export const ABOUT_DISPUTE: CallbackReading = { kind: 'dispute' }

export const refused = (reason: 'signature' | 'timestamp' | 'format'): CallbackReading => ({ kind: 'refused', reason })

/** Throws PartnerError `unknown` with the names of unreadable fields, never their values. */
export function readAs<T extends z.ZodType>(to: string, schema: T, answer: HttpAnswer): z.infer<T> {
  const result = schema.safeParse(readJson(to, answer))
  if (result.success) return result.data
  const fields = result.error.issues.slice(0, 5).map((issue) => issue.path.join('.') || 'the whole')
  throw unclear(to, `answered ${answer.status} with fields that cannot be read: ${fields.join(', ')}`)
}

/** As readAs. Throws for a status other than 200. */
export function readOk<T extends z.ZodType>(to: string, schema: T, answer: HttpAnswer): z.infer<T> {
  if (answer.status !== 200) throw unclear(to, `answered ${answer.status}`)
  return readAs(to, schema, answer)
}

export function readCurrency(to: string, text: string): Currency {
  if (isCurrency(text)) return text
  throw unclear(to, 'answered with a currency that we do not charge in')
}

/** Null if it is too long, not UTF-8, not JSON, or does not match the schema. */
export function readCallbackBody<T extends z.ZodType>(schema: T, body: Uint8Array): z.infer<T> | null {
  if (body.length > MAX_CALLBACK_BYTES) return null
  try {
    const result = schema.safeParse(parseStorable(new TextDecoder('utf-8', { fatal: true }).decode(body)))
    return result.success ? result.data : null
  } catch {
    return null
  }
}

/** Counts code points, so that no character is cut in half. */
export function shorten(description: string, characters: number): string {
  return Array.from(description).slice(0, characters).join('')
}
