import type { Currency } from '../currencies.ts'
import type { ProviderName } from '../methods.ts'
import { type AmountProblem, convertToMicroUsdc, type MicroUsdc, type Money, parseAmount } from '../money.ts'
import { checkLimits, type LimitCheck, type RateTable } from '../offers.ts'
import { listCurrencies, type Offering } from '../partner/offering.ts'

export type PriceQuestion = {
  /** Major units, as the merchant wrote them. */
  readonly text: string
  readonly currency: Currency
  /** The pinned provider; null: the buyer picks. */
  readonly provider: ProviderName | null
  readonly offering: Offering
  /** The present rates: every currency that `ratesNeeded` names, and the source of the rate of `currency`. */
  readonly rates: PriceRates
}

export type PriceRates = { readonly table: RateTable; readonly rate: string; readonly source: string }

export type Price = {
  readonly amount: Money
  readonly rate: string
  readonly rateSource: string
  /** At that rate, before the fee. */
  readonly gross: MicroUsdc
}

export type PriceRefusal =
  | { readonly code: 'amount'; readonly problem: AmountProblem }
  | { readonly code: 'currency_not_supported' }
  | (Extract<LimitCheck, { ok: false }> & { readonly amount: Money })

export type PriceAnswer =
  | { readonly ok: true; readonly price: Price }
  | { readonly ok: false; readonly refusal: PriceRefusal }

type Unrated = Omit<PriceQuestion, 'rates'>

/** No rate can change the refusal, so it need not wait for one. Null: priced, or outside of the limits. */
export function whyUnpriceable(question: Unrated): PriceRefusal | null {
  const read = readAmount(question)
  return 'refusal' in read ? read.refusal : null
}

function readAmount({ text, currency, provider, offering }: Unrated): { amount: Money } | { refusal: PriceRefusal } {
  const parsed = parseAmount(text, currency)
  if (!parsed.ok) return { refusal: { code: 'amount', problem: parsed.problem } }
  if (!listCurrencies(offering, provider).includes(currency)) return { refusal: { code: 'currency_not_supported' } }
  return { amount: parsed.money }
}

export function quotePrice({ rates, ...question }: PriceQuestion): PriceAnswer {
  const read = readAmount(question)
  if ('refusal' in read) return { ok: false, refusal: read.refusal }
  const { amount } = read
  const limits = checkLimits(amount, question.provider, { rates: rates.table, offering: question.offering })
  if (!limits.ok) return { ok: false, refusal: { ...limits, amount } }
  const gross = convertToMicroUsdc(amount, rates.rate)
  return { ok: true, price: { amount, rate: rates.rate, rateSource: rates.source, gross } }
}
