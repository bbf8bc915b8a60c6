import type { Currency } from '../../domain/currencies.ts'
import type { ProviderName } from '../../domain/methods.ts'
import { formatAmount, type Money } from '../../domain/money.ts'
import { checkLimits, type RateTable, ratesNeeded } from '../../domain/offers.ts'
import { Problem } from '../http/problems.ts'

/** Current rates: USDC for one major unit. */
export type RateBook = { current(currency: Currency): Promise<{ readonly rate: string; readonly source: string }> }

/** Refuses an amount outside the limits of the provider, naming the limit and who would take the amount. */
export async function requireWithinLimits(
  rates: RateBook,
  amount: Money,
  provider: ProviderName | null,
): Promise<void> {
  const check = checkLimits(amount, provider, await rateTable(rates, amount.currency))
  if (check.ok) return
  const { code, limit, alternatives } = check
  const edge = code === 'amount_too_small' ? 'minimum' : 'maximum'
  const others =
    alternatives.length === 0 ? '' : ` Without a pinned provider, or with ${alternatives.join(' or ')}, it would pass.`
  throw new Problem(
    code,
    `${formatAmount(amount)} ${amount.currency} is outside the limits of ${provider ?? 'any method'}: the ${edge} is ${formatAmount(limit)} ${limit.currency}.${others}`,
    { param: 'amount', members: { [edge]: { amount: formatAmount(limit), currency: limit.currency }, alternatives } },
  )
}

/** The current rate; when there is none that is young enough, the request may be sent again. */
export async function currentRate(rates: RateBook, currency: Currency): ReturnType<RateBook['current']> {
  try {
    return await rates.current(currency)
  } catch {
    throw new Problem('temporarily_unavailable', `There is no current rate of ${currency}. Try again.`, {
      headers: { 'retry-after': '5' },
    })
  }
}

export async function rateTable(rates: RateBook, currency: Currency): Promise<RateTable> {
  const entries = await Promise.all(
    ratesNeeded(currency).map(async (needed) => [needed, (await currentRate(rates, needed)).rate] as const),
  )
  return Object.fromEntries(entries)
}
