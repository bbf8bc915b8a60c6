import type { ComponentChildren } from 'preact'
import type { Money } from '../../domain/money.ts'
import type { Words } from '../messages/words.ts'
import { Amount } from './amount.tsx'
import { Icon } from './icon.tsx'
import { Logo } from './logo.tsx'

export type PanelShop = {
  readonly name: string
  /** The name under which the logo is served; null without a logo. */
  readonly logo: string | null
  /** The e-mail address for buyers' questions; null if the merchant gave none. */
  readonly supportEmail: string | null
}

type PanelProps = {
  readonly shop: PanelShop
  readonly words: Words
  readonly sum: ComponentChildren
  /** The details of the payment. On a phone, they are folded. */
  readonly children: ComponentChildren
}

/** The merchant's part of a buyer's page: who is paid, how much, for what, and where to ask. */
export function Panel({ shop, words, sum, children }: PanelProps) {
  return (
    <header class="panel">
      <Payee shop={shop} />
      {sum}
      <details class="more">
        <summary>
          <span class="unseen">{words.t('panel.details')}</span>
          <Icon name="down" />
        </summary>
        <div class="more-in">
          {children}
          <Question shop={shop} words={words} />
        </div>
      </details>
    </header>
  )
}

export function Payee({ shop }: { shop: PanelShop }) {
  return (
    <p class="payee">
      <Logo shop={shop} />
      <span class="shop" dir="auto">
        {shop.name}
      </span>
    </p>
  )
}

/** A longer amount does not fit next to the view at full size, in characters. A number must not break. */
const LARGE_AMOUNT = 11

type SumProps = { readonly label: string; readonly amount: Money; readonly dim?: boolean; readonly words: Words }

export function Sum({ label, amount, dim = false, words }: SumProps) {
  const isLong = words.money(amount).length > LARGE_AMOUNT
  const look = ['amount', isLong && 'long', dim && 'dim'].filter(Boolean).join(' ')
  return (
    <p class="sum">
      <span class="label">{label}</span> <Amount money={amount} words={words} look={look} />
    </p>
  )
}

function Question({ shop, words }: { shop: PanelShop; words: Words }) {
  if (shop.supportEmail === null) return null
  return (
    <p class="ask">
      {words.t('panel.question')}
      <br />
      <ShopMail shop={shop} />
    </p>
  )
}

export function ShopMail({ shop: { supportEmail } }: { shop: PanelShop }) {
  return supportEmail === null ? null : <a href={`mailto:${supportEmail}`}>{supportEmail}</a>
}
