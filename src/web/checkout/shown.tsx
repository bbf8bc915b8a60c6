import { formatUsdc, type MicroUsdc } from '../../domain/money.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import { FillLink, OutlineLink, QuietLink } from '../kit/button.tsx'
import type { Stop } from '../kit/rail.tsx'
import type { Words } from '../messages/words.ts'
import type { OtherMoney } from './amounts.ts'
import type { Checkout, Choice } from './checkout.ts'
import type { View } from './view.ts'

export type Shown = { readonly checkout: Checkout; readonly words: Words }

export type ShownView<Page extends View['page']> = Shown & { readonly view: Extract<View, { page: Page }> }

export function getPartner({ partners }: Pick<Checkout, 'partners'>, { provider }: Pick<Choice | Attempt, 'provider'>) {
  return partners[provider]
}

type ShopLinkProps = Shown & { readonly href: string | null; readonly weight?: 'filled' | 'outlined' | 'quiet' }

export function ShopLink({ href, checkout, words, weight = 'outlined' }: ShopLinkProps) {
  const address = webAddress(href)
  if (address === null) return null
  const text = words.t('shop.back', { merchant: checkout.shop.name })
  const target = checkout.frame === null ? undefined : '_top'
  if (weight === 'quiet')
    return (
      <QuietLink href={address} target={target}>
        {text}
      </QuietLink>
    )
  return weight === 'filled' ? (
    <FillLink href={address} icon="shop" target={target}>
      {text}
    </FillLink>
  ) : (
    <OutlineLink href={address} icon="shop" target={target}>
      {text}
    </OutlineLink>
  )
}

/** Returns an http or https URL; null for `javascript:` and other schemes. */
export function webAddress(href: string | null): string | null {
  return href !== null && /^https?:\/\//i.test(href) ? href : null
}

/** Formats the amount in its currency, and USDC as a wallet shows it. */
export function formatOtherMoney({ amount, micro }: OtherMoney, { money }: Words): string {
  return micro === null ? money(amount) : `${shortUsdc(micro)} USDC`
}

/** Formats micro-USDC with two decimals, and more if they are not zero: exact and easy to compare with a wallet. */
export function shortUsdc(micro: MicroUsdc): string {
  return formatUsdc(micro).replace(/(\.\d\d\d*?)0+$/, '$1')
}

/** Returns `text`, which says how long a bank takes; undefined if all attempts are USDC, which no bank returns. */
export function bankTime(attempts: readonly Attempt[], text: string): string | undefined {
  return attempts.every(({ provider }) => provider === 'crypto') ? undefined : text
}

export function backStop(attempts: readonly Attempt[], { t }: Words): Stop {
  return { state: 'todo', name: t('done.twice.back'), why: bankTime(attempts, t('done.twice.back.why')) }
}

export function methodName({ method }: Pick<Choice, 'method'>, words: Words): string {
  return words.t(`method.${method}`)
}

export function countryName({ country }: Pick<Checkout, 'country'>, words: Words): string | null {
  return country.code === null ? null : words.country(country.code)
}
