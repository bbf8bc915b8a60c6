import { z } from 'zod'
import { readFee } from '../../../db/merchants/agreement.ts'
import type { StandardAgreement } from '../../../domain/account/agreement.ts'
import { COUNTRY_CODES } from '../../../domain/countries.ts'
import { PROVIDER_NAMES, USED_PROVIDER_NAMES } from '../../../domain/methods.ts'
import {
  convertToMicroUsdc,
  formatAmount,
  formatUsdc,
  type Money,
  parseAmount,
  splitFee,
} from '../../../domain/money.ts'
import { type DownPartners, type Offer, offersFor, REFUSAL_REASONS, type Refusal } from '../../../domain/offers.ts'
import type { Offering } from '../../../domain/partner/offering.ts'
import { QUOTE, ROUTE_PREVIEW } from '../../document/examples.ts'
import { defineOperation } from '../../operation.ts'
import { amountProblem, QUOTE_MS, type RateBook, readRates, requirePrice } from '../prices.ts'
import { amountsByCurrency, amountText, currency, currencyCode, moment, usdcAmount } from './fields.ts'
import { extendJsonSchema } from './patterns.ts'

export type QuoteDeps = {
  readonly rates: RateBook
  readonly offering: Offering
  readonly down: () => DownPartners
  readonly clock: () => number
  readonly agreement: StandardAgreement
}

const money = z.strictObject({ amount: z.string(), currency })

const quoteObject = z
  .strictObject({
    object: z.literal('quote'),
    amount_decimal: z.string(),
    currency,
    provider: z.enum(PROVIDER_NAMES).nullable(),
    rate: z.string(),
    rate_source: z.string(),
    gross_usdc_estimate: usdcAmount,
    fee_usdc_estimate: usdcAmount,
    fee_percent: z.string(),
    net_usdc_estimate: usdcAmount,
    expires_at: moment,
  })
  .meta({ id: 'Quote', examples: [QUOTE] })

const previewBody = z
  .strictObject({
    amount: amountText,
    currency: currencyCode,
    provider: z.enum(PROVIDER_NAMES).optional(),
    fallback: z.enum(['picker', 'none']).default('picker'),
    country: z
      .enum(COUNTRY_CODES as [string, ...string[]], 'must be a country such as DE (ISO 3166 alpha-2)')
      .optional(),
    device_wallet: z.boolean().optional().meta({ description: 'True if the buyer’s device has a built-in wallet.' }),
  })
  .meta(extendJsonSchema(amountsByCurrency('amount')))

const offerObject = z.strictObject({
  provider: z.enum(USED_PROVIDER_NAMES),
  method: z.string(),
  charge: money.nullable().meta({ description: 'What the buyer would be charged.' }),
  estimated_seconds: z.strictObject({ p50: z.int(), p95: z.int() }),
  measured_seconds: z.strictObject({ p50: z.int(), p95: z.int() }).nullable(),
  identity_check: z.boolean(),
})

const refusalObject = z.strictObject({
  provider: z.enum(USED_PROVIDER_NAMES),
  method: z.string(),
  reason: z.enum(REFUSAL_REASONS),
  message: z.string(),
  limit: money.nullable(),
})

const previewObject = z
  .strictObject({
    object: z.literal('route_preview'),
    pinned: offerObject.nullable(),
    pinned_refused: refusalObject.nullable(),
    offers: z.array(offerObject),
    refused: z.array(refusalObject),
    net_usdc_estimate: usdcAmount,
  })
  .meta({ id: 'RoutePreview', examples: [ROUTE_PREVIEW] })

export const readQuote = defineOperation({
  name: 'readQuote',
  method: 'get',
  path: '/v1/quotes',
  tag: 'Methods',
  summary: 'Quote what would arrive from an amount, at the current rate',
  scope: 'payments:read',
  query: z.strictObject({ amount: amountText, currency: currencyCode, provider: z.enum(PROVIDER_NAMES).optional() }),
  answers: { 200: quoteObject },
  problems: ['amount_too_small', 'amount_too_large', 'currency_not_supported'],
  example: { query: { amount: '49.99', currency: 'EUR', provider: 'wallet_app' } },
  handle: async ({ caller, db, query }, { rates, offering, clock, agreement }: QuoteDeps) => {
    const provider = query.provider ?? null
    const price = await requirePrice({ rates, offering }, { text: query.amount, currency: query.currency, provider })
    const { amount, rate, rateSource } = price
    const feePercent = await readFee(db, caller, agreement.feePercent)
    const usdc = splitFee(price.gross, feePercent)
    return {
      status: 200,
      body: {
        object: 'quote' as const,
        amount_decimal: formatAmount(amount),
        currency: amount.currency,
        provider,
        rate,
        rate_source: rateSource,
        gross_usdc_estimate: formatUsdc(usdc.gross),
        fee_usdc_estimate: formatUsdc(usdc.fee),
        fee_percent: feePercent,
        net_usdc_estimate: formatUsdc(usdc.net),
        expires_at: new Date(clock() + QUOTE_MS).toISOString(),
      },
    }
  },
})

export const previewRoutes = defineOperation({
  name: 'previewRoutes',
  method: 'post',
  path: '/v1/routes/preview',
  tag: 'Methods',
  summary: 'List which ways to pay would work, and why others would not',
  scope: 'payments:read',
  body: previewBody,
  answers: { 200: previewObject },
  problems: ['currency_not_supported'],
  example: { body: { amount: 49.99, currency: 'EUR', country: 'DE' } },
  handle: async ({ caller, db, body }, { rates, offering, down, agreement }: QuoteDeps) => {
    const amount = read(body.amount, body.currency)
    const { table, rate } = await readRates(rates, amount.currency)
    const { pinned, pinnedRefused, offers, refused } = offersFor({
      amount,
      provider: body.provider ?? null,
      fallback: body.fallback,
      country: body.country ?? null,
      rates: table,
      deviceWallet: body.device_wallet ?? null,
      offering,
      down: down(),
    })
    const { net } = splitFee(convertToMicroUsdc(amount, rate), await readFee(db, caller, agreement.feePercent))
    return {
      status: 200,
      body: {
        object: 'route_preview' as const,
        pinned: pinned === null ? null : renderOffer(pinned),
        pinned_refused: pinnedRefused === null ? null : renderRefusal(pinnedRefused, body.country),
        offers: offers.map(renderOffer),
        refused: refused.map((refusal) => renderRefusal(refusal, body.country)),
        net_usdc_estimate: formatUsdc(net),
      },
    }
  },
})

function read(text: string, code: Money['currency']): Money {
  const parsed = parseAmount(text, code)
  if (parsed.ok) return parsed.money
  throw amountProblem(parsed.problem, code)
}

function renderOffer({ provider, method, charge, estimatedSeconds, measuredSeconds, identityCheck }: Offer) {
  return {
    provider,
    method,
    charge: charge === null ? null : renderMoney(charge),
    estimated_seconds: { ...estimatedSeconds },
    measured_seconds: measuredSeconds,
    identity_check: identityCheck,
  }
}

function renderRefusal({ provider, method, reason, limit }: Refusal, country: string | undefined) {
  const edge = limit === null ? '' : `${formatAmount(limit)} ${limit.currency}`
  const messages = {
    country: `${provider} does not offer ${method} in ${country ?? 'this country'}.`,
    currency: `${provider} does not accept this currency.`,
    device: 'The device has no built-in wallet.',
    amount_too_small: `The minimum of ${provider} is ${edge}.`,
    amount_too_large: `The maximum of ${provider} is ${edge}.`,
    down: `${provider} is not responding at the moment. It is offered again as soon as it responds.`,
  }
  return { provider, method, reason, message: messages[reason], limit: limit === null ? null : renderMoney(limit) }
}

function renderMoney(amount: Money) {
  return { amount: formatAmount(amount), currency: amount.currency }
}
