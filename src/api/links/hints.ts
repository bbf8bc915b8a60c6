import { isCurrency } from '../../domain/currencies.ts'
import { isProviderName, limitsOf, PROVIDER_NAMES, PROVIDERS, type ProviderName } from '../../domain/methods.ts'
import { formatAmount, formatUsdc, type Money } from '../../domain/money.ts'
import { checkLimits } from '../../domain/offers.ts'
import { type PriceRates, type PriceRefusal, priceOf, whyUnpriceable } from '../../domain/payment/price.ts'
import type { Hint, LinkDraft } from '../../web/links/link-draft.ts'
import { type RateBook, readRates } from '../routes/prices.ts'
import { plainAmount } from './press.ts'

/** What stands under the amount: the limits, what is wrong with it, or what arrives. */
export async function hintOfAmount(rates: RateBook, draft: LinkDraft): Promise<Hint> {
  const { kind, currency } = draft
  const provider = isProviderName(draft.provider) ? draft.provider : null
  const written = plainAmount(draft.amount)
  if (!isCurrency(currency)) return { tone: 'problem', text: 'Choose a currency.' }
  if (provider !== null && !PROVIDERS[provider].currencies.includes(currency))
    return { tone: 'problem', text: `${PROVIDERS[provider].label} does not take ${currency}.` }
  if (kind === 'open' || written === '') return { tone: 'quiet', text: limitsText(provider) }
  const question = { text: written, currency, provider }
  if (whyUnpriceable(question) !== null)
    return { tone: 'problem', text: `This is not an amount of ${currency}. Write it like 12.50.` }
  const now = await readRates(rates, currency).catch(() => null)
  if (now === null) return { tone: 'quiet', text: limitsText(provider) }
  const answer = priceOf({ ...question, rates: now })
  if (!answer.ok) return { tone: 'problem', text: refusedText(answer.refusal, provider) }
  const arrives = `You receive about ${formatUsdc(answer.price.usdc.net).slice(0, -4)} USDC after our fee.`
  const without = provider === null ? notTaking(answer.price.amount, now) : ''
  return { tone: 'quiet', text: `${arrives}${without}` }
}

const text = (money: Money): string => `${formatAmount(money)} ${money.currency}`

function limitsText(provider: ProviderName | null): string {
  const { minimum, maximum } = limitsOf(provider)
  const who = provider === null ? 'It can be' : `${PROVIDERS[provider].label} takes`
  return `${who} ${text(minimum)} to ${text(maximum)}.`
}

function refusedText(refusal: PriceRefusal, provider: ProviderName | null): string {
  const who = provider === null ? '' : ` for ${PROVIDERS[provider].label}`
  if (!('limit' in refusal)) return 'This amount cannot be charged.'
  return `The ${refusal.code === 'amount_too_small' ? 'least' : 'most'}${who} is ${text(refusal.limit)}.`
}

/** Which methods do not take the amount although they take its currency. */
function notTaking(amount: Money, { table }: PriceRates): string {
  const refused = PROVIDER_NAMES.flatMap((name) => {
    const { label, currencies } = PROVIDERS[name]
    const check = currencies.includes(amount.currency) ? checkLimits(amount, name, table) : null
    if (check === null || check.ok) return []
    return `${check.code === 'amount_too_small' ? 'less' : 'more'} than ${label} takes (${text(check.limit)})`
  })
  return refused.length === 0 ? '' : ` It is ${refused.join(', and ')}: those buyers see other ways to pay.`
}
