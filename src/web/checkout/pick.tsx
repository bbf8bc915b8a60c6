import type { Offer, Refusal } from '../../domain/offers.ts'
import type { Words } from '../messages/words.ts'
import { type Checkout, openedAttempt, type View } from './checkout.ts'
import { CountryChooser, countryName, DeclinedNotice, Notice, type Shown } from './parts.tsx'

export function Pick({ checkout, words, view }: Shown & { view: Extract<View, { page: 'pick' }> }) {
  const { t } = words
  const opened = openedAttempt(checkout.attempts)
  const why = sentenceWhy(view.why, checkout, words)
  return (
    <>
      <h1>{t('pick.heading')}</h1>
      {view.declined !== null && <DeclinedNotice failure={view.declined} words={words} />}
      {why !== null && <Notice kind="info">{why}</Notice>}
      {opened !== null && (
        <Notice kind="info">
          {t('pick.open_attempt', { method: t(`method.${opened.method}`) })}{' '}
          <a href={checkout.path}>{t('pick.keep')}</a>
        </Notice>
      )}
      <ul class="methods">
        {checkout.offered.offers.map((offer) => (
          <li key={`${offer.provider}.${offer.method}`}>
            <Method offer={offer} checkout={checkout} words={words} />
          </li>
        ))}
      </ul>
      <CountryChooser checkout={checkout} words={words} />
    </>
  )
}

function Method({ offer, checkout, words }: Shown & { offer: Offer }) {
  const { t } = words
  return (
    <a class="method" href={`${checkout.path}?method=${offer.provider}.${offer.method}`}>
      <span class="method-name">{t(`method.${offer.method}`)}</span>
      <span class="method-facts">{t('pick.time', { duration: words.duration(offer.estimatedSeconds.p50) })}</span>
      <span class="method-hint">{t(`method.${offer.method}.hint`)}</span>
      {offer.charge !== null && offer.chargeCurrency !== checkout.payment.amount.currency && (
        <span class="method-charge">
          {t('pick.charged', { currency: offer.chargeCurrency, amount: words.money(offer.charge) })}
        </span>
      )}
    </a>
  )
}

function sentenceWhy(why: 'pin_refused' | 'choice_refused' | null, checkout: Checkout, words: Words): string | null {
  if (why === null) return null
  const { pinnedRefused } = checkout.offered
  if (why === 'choice_refused' || pinnedRefused === null) return words.t('refused.choice')
  return refusalSentence(pinnedRefused, countryName(checkout.country, words), words)
}

function refusalSentence({ reason, limit }: Refusal, country: string | null, words: Words): string {
  const { t } = words
  if (reason === 'country' && country !== null) return t('refused.country', { country })
  if (reason === 'currency') return t('refused.currency')
  if (reason === 'device') return t('refused.device')
  if (reason !== 'country' && limit !== null) return t(`refused.${reason}`, { limit: words.money(limit) })
  return t('refused.choice')
}
