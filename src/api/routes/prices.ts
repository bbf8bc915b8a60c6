import type { Currency } from '../../domain/currencies.ts'
import { PROVIDER_NAMES, type ProviderName } from '../../domain/methods.ts'
import { formatAmount } from '../../domain/money.ts'
import { limitsIn, type RateTable, ratesNeeded } from '../../domain/offers.ts'
import { listCurrencies, type Offering } from '../../domain/partner/offering.ts'
import {
  type Price,
  type PriceQuestion,
  type PriceRates,
  type PriceRefusal,
  quotePrice,
  whyUnpriceable,
} from '../../domain/payment/price.ts'
import { Problem, refuseField } from '../http/problems.ts'
import { decimalsAllowed } from './v1/fields.ts'

/** USDC for one major unit. */
export type RateBook = { current(currency: Currency): Promise<{ readonly rate: string; readonly source: string }> }

/** Milliseconds. The rate that counts is locked when the money arrives. */
export const QUOTE_MS = 15 * 60_000

export type PriceDeps = { readonly rates: RateBook; readonly offering: Offering }

/** Throws a Problem outside the limits, in a currency that is not charged here, or without a current rate. */
export async function requirePrice(
  { rates, offering }: PriceDeps,
  asked: Omit<PriceQuestion, 'rates' | 'offering'>,
): Promise<Price> {
  const question = { ...asked, offering }
  const hopeless = whyUnpriceable(question)
  if (hopeless !== null) throw toProblem(hopeless, question)
  const now = await readRates(rates, question.currency)
  const answer = quotePrice({ ...question, rates: now })
  if (answer.ok) return answer.price
  throw toProblem(answer.refusal, { ...question, table: now.table })
}

type Charged = Pick<PriceQuestion, 'currency' | 'provider' | 'offering'>

/** Throws a Problem that names the currencies in which the provider, or any of them, charges here. */
export function requireCurrency(charged: Charged): void {
  const { currency, provider, offering } = charged
  if (!listCurrencies(offering, provider).includes(currency)) throw currencyProblem(charged)
}

function currencyProblem({ currency, provider, offering }: Charged): Problem {
  const others = PROVIDER_NAMES.filter((name) => name !== provider && offering[name].currencies.includes(currency))
  const allowed = `must be a currency that ${provider ?? 'a provider'} takes: ${listCurrencies(offering, provider).join(', ')}`
  const instead = others.length === 0 ? '' : ` ${others.join(' and ')} would take ${currency}.`
  return new Problem('currency_not_supported', `currency: ${allowed}.${instead}`, { param: 'currency' })
}

export async function readRates(rates: RateBook, currency: Currency): Promise<PriceRates> {
  const own = currentRate(rates, currency)
  const entries = ratesNeeded(currency).map(
    async (needed) => [needed, (await (needed === currency ? own : currentRate(rates, needed))).rate] as const,
  )
  const [{ rate, source }, table] = await Promise.all([own, Promise.all(entries)])
  return { rate, source, table: Object.fromEntries(table) }
}

/** Without a recent rate, the request can be sent again. */
export async function currentRate(rates: RateBook, currency: Currency): ReturnType<RateBook['current']> {
  try {
    return await rates.current(currency)
  } catch {
    throw new Problem('temporarily_unavailable', `There is no current rate for ${currency}. Try again.`, {
      headers: { 'retry-after': '5' },
    })
  }
}

type Asked = Charged & { readonly table?: RateTable }

function toProblem(refusal: PriceRefusal, asked: Asked): Problem {
  const { currency, provider, table = {} } = asked
  if (refusal.code === 'amount') return amountProblem(refusal.problem, currency)
  if (refusal.code === 'currency_not_supported') return currencyProblem(asked)
  return limitProblem(refusal, provider, table)
}

export function amountProblem(problem: 'format' | 'precision' | 'zero', currency: Currency): Problem {
  if (problem !== 'precision')
    return new Problem('validation_failed', `amount: must be an amount of ${currency} (${problem}).`)
  return refuseField('amount', decimalsAllowed(currency), 'amount_precision')
}

function limitProblem(
  { code, limit, alternatives, amount }: Extract<PriceRefusal, { ok: false }>,
  provider: ProviderName | null,
  table: RateTable,
): Problem {
  const edge = code === 'amount_too_small' ? 'minimum' : 'maximum'
  const others =
    alternatives.length === 0
      ? ''
      : ` Without a pinned provider, or with ${alternatives.join(' or ')}, it would be accepted.`
  return new Problem(
    code,
    `${formatAmount(amount)} ${amount.currency} is outside the limits of ${provider ?? 'any method'}: the ${edge} is ${formatAmount(limit)} ${limit.currency}.${others}`,
    {
      param: 'amount',
      members: { [edge]: { amount: formatAmount(limit), currency: limit.currency }, alternatives },
      limit: limitsIn(amount.currency, provider, table)[edge],
    },
  )
}
