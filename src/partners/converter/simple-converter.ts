import { z } from 'zod'
import { isCurrency } from '../../domain/currencies.ts'
import { ask, type HttpAnswer, type HttpCall, unclear } from '../http.ts'
import { readAs } from '../reading.ts'
import type { Conversion, Converter, EndedConversion, Rate } from './converter.ts'

/** The protocol is in docs/providers.md. */

const NAME = 'converter'

/** Less than the poll's ten minutes: if both timers fire at once, Temporal's test server deadlocks. */
const RETRY_SECONDS = { min: 1, max: 570 }

const OTHER_KEY = 'answered about another conversion'

const rateText = z.string().regex(/^\d{1,12}(\.\d{1,12})?$/)
const ratesSchema = z.object({
  as_of: z.iso.datetime(),
  source: z.string().min(1).max(100),
  rates: z.record(z.string(), rateText),
})
const openSchema = [
  z.object({
    status: z.literal('filled'),
    id: z.string().min(1).max(100),
    key: z.string(),
    bought_micro_usdc: z.string().regex(/^\d{1,30}$/),
  }),
  z.object({ status: z.literal('pending'), key: z.string(), retry_after_seconds: z.int().min(0) }),
] as const
const conversionSchema = z.discriminatedUnion('status', [
  ...openSchema,
  z.object({ status: z.literal('rejected'), key: z.string(), reason: z.string().max(200) }),
])
const endedSchema = z.discriminatedUnion('status', [
  ...openSchema,
  z.object({ status: z.literal('canceled'), key: z.string() }),
])

export function createConverter(settings: { readonly url: string; readonly secret: string }): Converter {
  const authorization = `Bearer ${settings.secret}`
  const call = async (request: Omit<HttpCall, 'to'>, signal: AbortSignal): Promise<HttpAnswer> => {
    const answer = await ask({ to: NAME, ...request, headers: { authorization, ...request.headers } }, signal)
    if (answer.status !== 200) throw unclear(NAME, `answered ${answer.status}`)
    return answer
  }

  return {
    async rates(signal) {
      return readRates(await call({ method: 'GET', url: `${settings.url}/v1/rates`, headers: {} }, signal))
    },
    async convert({ key, amount, rate }, signal) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': key }
      const body = JSON.stringify({ sell_minor: amount.minor, sell_currency: amount.currency, rate })
      const url = `${settings.url}/v1/conversions`
      return readConversion(key, await call({ method: 'POST', url, headers, body }, signal))
    },
    async cancel(key, signal) {
      const url = `${settings.url}/v1/conversions/${encodeURIComponent(key)}/cancel`
      return readEnded(key, await call({ method: 'POST', url, headers: {} }, signal))
    },
  }
}

function readRates(answer: HttpAnswer): Rate[] {
  const { as_of: asOf, source, rates } = readAs(NAME, ratesSchema, answer)
  // Zero is no rate: nothing can be converted at it.
  return Object.entries(rates).flatMap(([currency, rate]) =>
    isCurrency(currency) && Number(rate) > 0 ? [{ currency, rate, source, asOf }] : [],
  )
}

function readConversion(key: string, answer: HttpAnswer): Conversion {
  const conversion = readAs(NAME, conversionSchema, answer)
  if (conversion.key !== key) throw unclear(NAME, OTHER_KEY)
  return conversion.status === 'rejected' ? { kind: 'refused', reason: conversion.reason } : readOpen(conversion)
}

function readEnded(key: string, answer: HttpAnswer): EndedConversion {
  const conversion = readAs(NAME, endedSchema, answer)
  if (conversion.key !== key) throw unclear(NAME, OTHER_KEY)
  return conversion.status === 'canceled' ? { kind: 'canceled' } : readOpen(conversion)
}

function readOpen(conversion: z.infer<(typeof openSchema)[number]>): Exclude<Conversion, { kind: 'refused' }> {
  if (conversion.status === 'filled')
    return { kind: 'filled', microUsdc: BigInt(conversion.bought_micro_usdc).toString(), reference: conversion.id }
  const seconds = Math.min(Math.max(conversion.retry_after_seconds, RETRY_SECONDS.min), RETRY_SECONDS.max)
  return { kind: 'pending', retryAfterSeconds: seconds }
}
