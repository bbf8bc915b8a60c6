import { EEA, WAYS } from '../../../domain/methods.ts'
import type { Offer, Refusal } from '../../../domain/offers.ts'
import { Aside } from '../../kit/aside.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { Fold } from '../../kit/fold.tsx'
import { Note } from '../../kit/note.tsx'
import type { Words } from '../../messages/words.ts'
import { isSameWay } from '../checkout.ts'
import { countryName, getPartner, methodName, type Shown, type ShownView } from '../shown.tsx'

export function RefusedNote({ checkout, words, view }: ShownView<'pick'>) {
  const { t } = words
  if (view.why === null) return null
  const { pinnedRefused, refused } = checkout.offered
  const { choice } = checkout.asked
  const chosen = choice === null ? undefined : refused.find((refusal) => isSameWay(refusal, choice))
  const why = view.why === 'choice_refused' ? (chosen ?? null) : pinnedRefused
  if (why?.reason === 'down') return <DownNote checkout={checkout} words={words} refusal={why} />
  const elsewhere = checkout.offered.offers.find(
    (offer) => offer.method === why?.method && isConverted(offer, checkout),
  )
  if (elsewhere !== undefined) return <OtherCurrencyNote checkout={checkout} words={words} offer={elsewhere} />
  const strong = why === null ? t('refused.choice') : refusalSentence(why, countryName(checkout, words), words)
  return (
    <Note tone="brand" icon="globe" strong={strong}>
      {t('refused.others')}
    </Note>
  )
}

function OtherCurrencyNote({ checkout, words, offer }: Shown & { offer: Offer }) {
  const { t } = words
  const currency = words.currency(offer.chargeCurrency)
  const country = countryName(checkout, words)
  const { name: partner } = getPartner(checkout, offer)
  return (
    <Note tone="brand" icon="globe" strong={t('confirm.charged_in', { currency })}>
      {country !== null && t('why.converted', { partner, country, currency })}
    </Note>
  )
}

/** The offer appears again automatically when the partner is back. */
function DownNote({ checkout, words, refusal }: Shown & { refusal: Refusal }) {
  const { t } = words
  return (
    <Note tone="wait" icon="clock" strong={downSentence(refusal, words)}>
      {t('down.back', { partner: getPartner(checkout, refusal).name })} {t('refused.others')}
    </Note>
  )
}

/** Lists the methods that are missing only because their partner is down, without the one that the note names. */
export function DownLines({ checkout, words }: Shown) {
  const { pinnedRefused, offers, refused } = checkout.offered
  const isNoted = (refusal: Refusal) => checkout.asked.choice === null && pinnedRefused?.method === refusal.method
  const there = new Set(offers.map(({ method }) => method))
  const down = refused.filter((each) => each.reason === 'down' && !there.has(each.method) && !isNoted(each))
  if (down.length === 0) return null
  const sentences = [...new Set(down.map(({ provider }) => provider))].map((provider) => {
    const ways = down.filter((each) => each.provider === provider).map((each) => methodName(each, words))
    const { name: partner } = getPartner(checkout, { provider })
    return `${words.t('down.heading', { partner })} (${words.list(ways)}).`
  })
  return <Aside icon="clock">{sentences.join(' ')}</Aside>
}

function downSentence({ method }: Refusal, { t }: Words): string {
  return t('down.way', { way: t(`way.${method}`) })
}

export function refusalSentence({ method, reason, limit }: Refusal, country: string | null, words: Words): string {
  const { t } = words
  const way = t(`way.${method}`)
  if (reason === 'country' && country !== null) return t('refused.country', { way, country })
  if (reason === 'currency') return t('refused.currency', { way })
  if (reason === 'device') return t('refused.device')
  if (reason === 'down') return t('down.way', { way })
  if (reason !== 'country' && limit !== null) return t(`refused.${reason}`, { way, limit: words.money(limit) })
  return t('refused.choice')
}

/** Explains why another currency is charged, and which methods the buyer's country rules out. */
export function WhyNot({ checkout, words }: Shown) {
  const { t } = words
  const country = countryName(checkout, words)
  const converted = checkout.offered.offers.find((offer) => isConverted(offer, checkout)) ?? null
  const missing = listMissing(checkout)
  if (country === null || (converted === null && missing.length === 0)) return null
  const isOpen = converted !== null && checkout.offered.pinnedRefused !== null
  const title =
    converted === null ? t('why.ways') : t('why.currency', { currency: words.currency(converted.chargeCurrency) })
  return (
    <Fold icon="help" title={title} open={isOpen}>
      {converted !== null && (
        <p>
          {t('why.converted', {
            partner: getPartner(checkout, converted).name,
            country,
            currency: words.currency(converted.chargeCurrency),
          })}
        </p>
      )}
      {missing.length > 0 && (
        <Facts>
          {missing.map((refusal) => (
            <Fact key={refusal.method} name={methodName(refusal, words)}>
              {describePlaces(refusal, words)}
            </Fact>
          ))}
        </Facts>
      )}
    </Fold>
  )
}

function isConverted({ provider, chargeCurrency }: Offer, { payment }: Shown['checkout']): boolean {
  return provider !== 'crypto' && chargeCurrency !== payment.amount.currency
}

/** Lists each method that only the country rules out and that no other partner offers. */
function listMissing({ offered }: Shown['checkout']): Refusal[] {
  const there = new Set(offered.offers.map(({ method }) => method))
  const missing = offered.refused.filter(({ reason, method }) => reason === 'country' && !there.has(method))
  return missing.filter(({ method }, index) => missing.findIndex((other) => other.method === method) === index)
}

function describePlaces({ provider, method }: Refusal, words: Words): string {
  const way = WAYS.find((each) => each.provider === provider && each.method === method)
  if (way === undefined || !('only' in way.countries)) return words.t('why.not_here')
  return words.t('why.only_in', { places: listPlaces(way.countries.only, words) })
}

function listPlaces(only: readonly string[], words: Words): string {
  const rest = only
    .filter((code) => !EEA.includes(code))
    .map((code) => (code === 'US' ? words.t('place.us') : words.country(code)))
  if (rest.length === only.length) return words.list(rest)
  const europe = only.includes('NO') ? words.t('place.eea') : words.t('place.eu')
  return words.list([...rest, europe])
}
