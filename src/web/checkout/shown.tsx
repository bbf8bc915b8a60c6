import type { Attempt } from '../../domain/payment/payment-object.ts'
import { FillLink, OutlineLink } from '../look/parts.tsx'
import type { Words } from '../messages/words.ts'
import type { Checkout, Choice } from './checkout.ts'
import type { View } from './view.ts'

/** The props of a component of a checkout page. */
export type Shown = { readonly checkout: Checkout; readonly words: Words }

/** The props of the page that shows one view. */
export type ShownView<Page extends View['page']> = Shown & { readonly view: Extract<View, { page: Page }> }

/** How the partner of an order, or of an offer, calls itself. */
export function partnerOf({ partners }: Pick<Checkout, 'partners'>, { provider }: Pick<Choice | Attempt, 'provider'>) {
  return partners[provider]
}

/** A link back to the shop; nothing when the merchant gave no URL. */
export function ShopLink({ href, checkout, words, filled = false }: Shown & { href: string | null; filled?: boolean }) {
  const address = webAddress(href)
  if (address === null) return null
  const text = words.t('shop.back', { merchant: checkout.shop.name })
  const target = checkout.frame === null ? undefined : '_top'
  return filled ? (
    <FillLink href={address} icon="shop" target={target}>
      {text}
    </FillLink>
  ) : (
    <OutlineLink href={address} icon="shop" target={target}>
      {text}
    </OutlineLink>
  )
}

/** The shop's address for questions; nothing where the shop gave none. */
export function ShopMail({ checkout }: { readonly checkout: Pick<Checkout, 'shop'> }) {
  const { supportEmail } = checkout.shop
  return supportEmail === null ? null : <a href={`mailto:${supportEmail}`}>{supportEmail}</a>
}

/** The URL when it is http or https; null for `javascript:` and other schemes. */
export function webAddress(href: string | null): string | null {
  return href !== null && /^https?:\/\//i.test(href) ? href : null
}

/** The method's name as words in a sentence can stand beside: "Banking app". */
export function methodName({ method }: Pick<Choice, 'method'>, words: Words): string {
  return words.t(`method.${method}`)
}

export function countryName({ country }: Pick<Checkout, 'country'>, words: Words): string | null {
  return country.code === null ? null : words.country(country.code)
}
