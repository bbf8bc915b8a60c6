import { formatAmount, type Money } from '../../domain/money.ts'
import { isOpen } from '../../domain/payment/payment.ts'
import { Icon } from '../look/icons.tsx'
import { logoPath } from '../look/logo.ts'
import { Fact, Facts } from '../look/parts.tsx'
import { Time } from '../look/time.tsx'
import type { Words } from '../messages/words.ts'
import { getAmounts } from './amounts.ts'
import { type Checkout, findPaidAttempt, type Shop } from './checkout.ts'
import { countryName, ShopMail, type Shown } from './shown.tsx'
import { canMoneyArrive, hasSurplus, type View, wasReturned } from './view.ts'

export function Panel({ checkout, words, view }: Shown & { view: View | null }) {
  const { t } = words
  const { shop } = checkout
  const { label, amount, dim } = findSum(checkout, view)
  return (
    <header class="panel">
      <p class="payee">
        <Logo shop={shop} />
        <span class="shop" dir="auto">
          {shop.name}
        </span>
      </p>
      <p class="sum">
        <span class="label">{t(label)}</span>{' '}
        <data class={amountLook(words.money(amount), dim)} value={`${formatAmount(amount)} ${amount.currency}`}>
          {words.money(amount)}
        </data>
      </p>
      <details class="more">
        <summary>
          <span class="unseen">{t('panel.details')}</span>
          <Icon name="down" />
        </summary>
        <div class="more-in">
          <Details checkout={checkout} words={words} view={view} />
        </div>
      </details>
    </header>
  )
}

/** A longer amount does not fit next to the card at full size, in characters. A number must not break. */
const LARGE_AMOUNT = 11

export function amountLook(text: string, dim: boolean): string {
  return ['amount', text.length > LARGE_AMOUNT && 'long', dim && 'dim'].filter(Boolean).join(' ')
}

/** The merchant's logo, on white in both color schemes; without one, the first letter of the merchant's name. */
export function Logo({ shop: { name, logo } }: { shop: Pick<Shop, 'name' | 'logo'> }) {
  if (logo !== null)
    return (
      <span class="logo own">
        <img src={logoPath(logo)} alt="" width={44} height={44} />
      </span>
    )
  return (
    <span class="logo" aria-hidden="true">
      {/[\p{L}\p{N}]/u.exec(name)?.[0]?.toUpperCase() ?? '·'}
    </span>
  )
}

function Details({ checkout, words, view }: Shown & { view: View | null }) {
  const { t } = words
  const { payment, shop } = checkout
  const country = countryName(checkout, words)
  const mayPay = isOpen(payment.status)
  const isAskedHere = view?.page === 'pick' || view?.page === 'country' || view?.page === 'not_offered'
  return (
    <>
      {payment.description !== null && (
        <p class="what">
          <bdi>{payment.description}</bdi>
        </p>
      )}
      <Facts>
        {payment.reference !== null && (
          <Fact name={t('panel.order')}>
            <bdi>{payment.reference}</bdi>
          </Fact>
        )}
        {mayPay && (
          <Fact name={t('panel.open_until')}>
            <Time at={payment.expiresAt} style="day" words={words} />
          </Fact>
        )}
        {payment.paidAt !== null && (
          <Fact name={t('receipt.paid')}>
            <Time at={payment.paidAt} style="day" words={words} />
          </Fact>
        )}
        {mayPay && !isAskedHere && findPaidAttempt(checkout) === null && (
          <Fact name={t('panel.from')}>
            {country ?? t('country.not_known')} <a href={countryPath(checkout, view)}>{t('country.change')}</a>
          </Fact>
        )}
      </Facts>
      <Question shop={shop} words={words} />
    </>
  )
}

export function Question({ shop, words }: { shop: Shop; words: Words }) {
  if (shop.supportEmail === null) return null
  return (
    <p class="ask">
      {words.t('panel.question')}
      <br />
      <ShopMail checkout={{ shop }} />
    </p>
  )
}

/** Returns the path of the country form. Its query has the buyer's choice, so that the form leads back to it. */
export function countryPath({ path, asked }: Checkout, view: View | null): string {
  const choice = view?.page === 'confirm' ? view.offer : asked.choice
  return choice === null ? `${path}?step=country` : `${path}?step=country&method=${choice.provider}.${choice.method}`
}

type Label = 'sum.pay' | 'sum.paid' | 'sum.price' | 'sum.not_charged' | 'sum.returned'
type Sum = { readonly label: Label; readonly amount: Money; readonly dim: boolean }

/** The label must be true: no "paid" before the payment, no "not charged" if money arrived or can still arrive. */
function findSum(checkout: Checkout, view: View | null): Sum {
  const { price, paid } = getAmounts(checkout)
  const { status, payout } = checkout.payment
  // The partner reversed the money. It is not known yet if the merchant is paid anyway.
  if (payout === 'voiding') return { label: 'sum.price', amount: price, dim: false }
  // Money that went back without becoming the payment's own was not the price: another amount, or another token.
  if (status === 'refunded')
    return paid === null
      ? { label: 'sum.price', amount: price, dim: true }
      : { label: 'sum.returned', amount: paid, dim: true }
  if (paid !== null) return { label: 'sum.paid', amount: paid, dim: false }
  if (status === 'succeeded') return { label: 'sum.paid', amount: price, dim: false }
  if (view?.page !== 'closed')
    return {
      label: status === 'under_review' || findPaidAttempt(checkout) !== null ? 'sum.price' : 'sum.pay',
      amount: price,
      dim: false,
    }
  const isElsewhere = hasSurplus(checkout) || canMoneyArrive(checkout) || wasReturned(checkout)
  return isElsewhere
    ? { label: 'sum.price', amount: price, dim: false }
    : { label: 'sum.not_charged', amount: price, dim: true }
}
