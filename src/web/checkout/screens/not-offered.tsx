import type { Refusal } from '../../../domain/offers.ts'
import { Head } from '../../kit/head.tsx'
import { ShopMail } from '../../kit/panel.tsx'
import type { Words } from '../../messages/words.ts'
import type { Checkout } from '../checkout.ts'
import { countryName, type ShownView } from '../shown.tsx'
import { CountryLine } from './country.tsx'
import { refusalSentence } from './refused.tsx'

/** The page for a buyer without any offer. */
export function NotOffered({ checkout, words, view }: ShownView<'not_offered'>) {
  const { t } = words
  return (
    <>
      <Head icon="globe" title={t('none.heading')} lead={leadText(checkout, view.refusal, words)} />
      <p>
        {t('none.advice', { merchant: checkout.shop.name })} <ShopMail shop={checkout.shop} />
      </p>
      <CountryLine checkout={checkout} words={words} />
    </>
  )
}

function leadText(checkout: Checkout, refusal: Refusal | null, words: Words): string {
  const { t } = words
  const country = countryName(checkout, words)
  // With a fallback to the picker, the other providers are not offered either, so the sentence does not name the pin.
  if (refusal === null || checkout.payment.fallback === 'picker')
    return country === null ? t('none.any_unknown') : t('none.any', { country })
  if (refusal.reason === 'country' && country === null) return t('none.any_unknown')
  const why = refusalSentence(refusal, country, words)
  return t('none.only_pinned', { why, merchant: checkout.shop.name })
}
