import type { Refusal } from '../../domain/offers.ts'
import type { Words } from '../messages/words.ts'
import type { Checkout, View } from './checkout.ts'
import { CountryChooser, countryName, Notice, ShopLink, type Shown } from './parts.tsx'

/** No way to pay works for this buyer, so the page says so and shows no picker. */
export function NotOffered({ checkout, words, view }: Shown & { view: Extract<View, { page: 'not_offered' }> }) {
  const { t } = words
  return (
    <>
      <h1>{t('none.heading')}</h1>
      <Notice kind="info">{sentence(checkout, view.refusal, words)}</Notice>
      <p>{t('none.advice', { merchant: checkout.merchantName })}</p>
      <CountryChooser checkout={checkout} words={words} />
      <ShopLink href={checkout.payment.cancelUrl} checkout={checkout} words={words} />
    </>
  )
}

function sentence(checkout: Checkout, refusal: Refusal | null, words: Words): string {
  const { t } = words
  const country = countryName(checkout.country, words)
  // With a fallback to the picker the other ways do not work either, so the pinned one is not named.
  if (refusal === null || checkout.payment.fallback === 'picker')
    return country === null ? t('none.any_unknown') : t('none.any', { country })
  const method = t(`method.${refusal.method}`)
  if (refusal.reason === 'country' && country !== null)
    return t('none.country', { method, country, merchant: checkout.merchantName })
  if (refusal.reason === 'currency') return t('none.currency', { method })
  if (refusal.reason !== 'country' && refusal.reason !== 'device' && refusal.limit !== null)
    return t(`none.${refusal.reason}`, { method, limit: words.money(refusal.limit) })
  return t('none.any_unknown')
}
