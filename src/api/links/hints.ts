import { type Currency, getDecimals, isCurrency } from '../../domain/currencies.ts'
import { getLimits, isProviderName, PROVIDER_NAMES, PROVIDERS, type ProviderName } from '../../domain/methods.ts'
import { formatAmount, formatUsdc, groupedAmount, type Money, type Percent, splitFee } from '../../domain/money.ts'
import { checkLimits, limitsIn } from '../../domain/offers.ts'
import { listCurrencies } from '../../domain/partner/offering.ts'
import { type PriceRates, quotePrice } from '../../domain/payment/price.ts'
import { readTypedAmount } from '../../domain/typed-amount.ts'
import type { Hint, LinkDraft } from '../../web/links/link-draft.ts'
import { type PriceDeps, readRates } from '../routes/prices.ts'

/** The limits, the reason why the amount cannot be charged, or what the merchant receives. */
export async function createAmountHint(
  { rates, offering }: PriceDeps,
  draft: LinkDraft,
  feePercent: Percent,
): Promise<Hint> {
  const { kind, currency } = draft
  const provider = isProviderName(draft.provider) ? draft.provider : null
  if (!isCurrency(currency)) return problem('Choose a currency.')
  if (!listCurrencies(offering, provider).includes(currency))
    return problem(`${provider === null ? 'This deployment' : PROVIDERS[provider].label} does not accept ${currency}.`)
  const typed = (kind === 'open' ? [draft.min_amount, draft.max_amount] : [draft.amount]).filter(
    (written) => written.trim() !== '',
  )
  const wrong = typed.map((written) => amountProblem(written, currency)).find((why) => why !== null)
  if (wrong !== undefined) return problem(wrong)
  const now = await readRates(rates, currency).catch(() => null)
  const read = kind === 'open' ? null : readTypedAmount(draft.amount, currency)
  if (read?.ok !== true || now === null) return quiet(limitsText(currency, provider, now))
  const answer = quotePrice({ text: formatAmount(read.money), currency, provider, offering, rates: now })
  if (!answer.ok && 'limit' in answer.refusal) {
    const isLeast = answer.refusal.code === 'amount_too_small'
    const { minimum, maximum } = limitsIn(currency, provider, now.table)
    return problem(limitText(isLeast, isLeast ? minimum : maximum, provider))
  }
  if (!answer.ok) return problem('This amount cannot be charged.')
  const arrives = `You receive about ${formatUsdc(splitFee(answer.price.gross, feePercent).net).slice(0, -4)} USDC after our fee.`
  const without = provider === null ? notTaking(answer.price.amount, { ...now, offering }) : ''
  return quiet(`${arrives}${without}`)
}

const problem = (why: string): Hint => ({ tone: 'problem', text: why })
const quiet = (hint: string): Hint => ({ tone: 'quiet', text: hint })

/** Null if the amount can be read. */
export function amountProblem(written: string, currency: Currency): string | null {
  const read = readTypedAmount(written, currency)
  if (read.ok) return null
  const decimals = getDecimals(currency)
  switch (read.problem) {
    case 'ambiguous':
      return `“${written.trim()}” can be read in two ways. For ${text(read.grouped)}, enter ${formatAmount(read.grouped)}.`
    case 'currency':
      return `Enter the amount in ${currency}, without the sign of another currency.`
    case 'precision':
      return decimals === 0 ? `${currency} has no decimals.` : `${currency} has at most ${decimals} decimals.`
    case 'zero':
      return 'Enter an amount above zero.'
    case 'format':
      return `Enter an amount in ${currency}, such as ${decimals === 0 ? '1250' : '12.50'}.`
  }
}

export function limitText(isLeast: boolean, limit: Money, provider: ProviderName | null): string {
  const who = provider === null ? '' : ` for ${PROVIDERS[provider].label}`
  return `The ${isLeast ? 'minimum' : 'maximum'}${who} is ${text(limit)}.`
}

const text = (money: Money): string => `${groupedAmount(money)} ${money.currency}`

/** Without rates, the limits in the method's own currency. */
function limitsText(currency: Currency, provider: ProviderName | null, now: PriceRates | null): string {
  const { minimum, maximum } = now === null ? getLimits(provider) : limitsIn(currency, provider, now.table)
  const who = provider === null ? 'It can be' : `${PROVIDERS[provider].label} accepts`
  return `${who} ${text(minimum)} to ${text(maximum)}.`
}

function notTaking(amount: Money, { table, offering }: PriceRates & Pick<PriceDeps, 'offering'>): string {
  const refused = PROVIDER_NAMES.flatMap((name) => {
    const { label, currencies } = offering[name]
    const check = currencies.includes(amount.currency) ? checkLimits(amount, name, { rates: table, offering }) : null
    if (check === null || check.ok) return []
    const { minimum, maximum } = limitsIn(amount.currency, name, table)
    return check.code === 'amount_too_small'
      ? `below the minimum of ${label} (${text(minimum)})`
      : `above the maximum of ${label} (${text(maximum)})`
  })
  return refused.length === 0 ? '' : ` It is ${refused.join(', and ')}: those buyers see other ways to pay.`
}
