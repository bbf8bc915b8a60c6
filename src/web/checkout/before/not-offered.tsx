import type { Refusal } from '../../../domain/offers.ts'
import { Head } from '../../look/parts.tsx'
import type { Words } from '../../messages/words.ts'
import type { Checkout } from '../checkout.ts'
import { countryName, ShopLink, ShopMail, type ShownView } from '../shown.tsx'
import { CountryLine } from './country.tsx'
import { refusalSentence } from './refused.tsx'

/** No way to pay works for this buyer, so the page says so and shows no picker. */
export function NotOffered({ checkout, words, view }: ShownView<'not_offered'>) {
  const { t } = words
  return (
    <>
      <Head icon="globe" title={t('none.heading')} lead={sentence(checkout, view.refusal, words)} />
      <p>
        {t('none.advice', { merchant: checkout.shop.name })} <ShopMail checkout={checkout} />
      </p>
      <CountryLine checkout={checkout} words={words} />
      <ShopLink href={checkout.payment.cancelUrl} checkout={checkout} words={words} />
    </>
  )
}

function sentence(checkout: Checkout, refusal: Refusal | null, words: Words): string {
  const { t } = words
  const country = countryName(checkout, words)
  // With a fallback to the picker the other ways do not work either, so the pinned one is not named.
  if (refusal === null || checkout.payment.fallback === 'picker')
    return country === null ? t('none.any_unknown') : t('none.any', { country })
  if (refusal.reason === 'country' && country === null) return t('none.any_unknown')
  const why = refusalSentence(refusal, country, words)
  return t('none.only_pinned', { why, merchant: checkout.shop.name })
}
