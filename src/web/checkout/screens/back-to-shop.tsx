import { isOpen } from '../../../domain/payment/payment.ts'
import { ShopLink, type Shown } from '../shown.tsx'
import type { View } from '../view.ts'

/** Pages that have their own link, to the page for buyers who have paid. */
const OWN_LINK: readonly View['page'][] = ['progress', 'checking']
/** Pages on which the buyer can do nothing else. */
const NOTHING_ELSE: readonly View['page'][] = ['down', 'not_offered', 'no_more_tries']

/** The way back to the shop on each page of a payment that is open. */
export function BackToShop({ checkout, words, view: { page } }: Shown & { view: View }) {
  const { status, cancelUrl, successUrl } = checkout.payment
  if (!isOpen(status) || OWN_LINK.includes(page)) return null
  // A buyer who is back from the partner has probably paid.
  const href = page === 'returning' ? (successUrl ?? cancelUrl) : cancelUrl
  const weight = NOTHING_ELSE.includes(page) ? 'outlined' : 'quiet'
  return <ShopLink href={href} checkout={checkout} words={words} weight={weight} />
}
