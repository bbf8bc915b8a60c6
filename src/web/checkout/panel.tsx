import { formatAmount, type Money } from '../../domain/money.ts'
import { isOpen } from '../../domain/payment/payment.ts'
import { Icon } from '../look/icons.tsx'
import { logoPath } from '../look/logo.ts'
import { Fact, Facts } from '../look/parts.tsx'
import { Time } from '../look/time.tsx'
import type { Words } from '../messages/words.ts'
import { amountsOf } from './amounts.ts'
import { type Checkout, paidAttempt, type Shop } from './checkout.ts'
import { countryName, ShopMail, type Shown } from './shown.tsx'
import { isMoneyHeld, mayMoneyCome, type View, wasReturned } from './view.ts'

/** What is paid and to whom, in the shop's colour. On a phone it is one row that opens. */
export function Panel({ checkout, words, view }: Shown & { view: View | null }) {
  const { t } = words
  const { shop } = checkout
  const { label, amount, dim } = sumOf(checkout, view)
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

/** More characters than these do not fit at full size beside the card, and a number must not break. */
const LARGE_AMOUNT = 11

export function amountLook(text: string, dim: boolean): string {
  return ['amount', text.length > LARGE_AMOUNT && 'long', dim && 'dim'].filter(Boolean).join(' ')
}

/** The shop's own, on white in the light and in the dark; or the first letter of its name, which stands beside it. */
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
        {mayPay && !isAskedHere && paidAttempt(checkout) === null && (
          <Fact name={t('panel.from')}>
            {country ?? t('country.not_known')} <a href={countryPath(checkout, view)}>{t('country.change')}</a>
          </Fact>
        )}
      </Facts>
      <Question shop={shop} words={words} />
    </>
  )
}

/** Whom a buyer asks; nothing where the shop does not say. */
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

/** Where the country is corrected; it knows the way to pay that the buyer is looking at, and leads back to it. */
export function countryPath({ path, asked }: Checkout, view: View | null): string {
  const choice = view?.page === 'confirm' ? view.offer : asked.choice
  return choice === null ? `${path}?step=country` : `${path}?step=country&method=${choice.provider}.${choice.method}`
}

type Label = 'sum.pay' | 'sum.paid' | 'sum.price' | 'sum.not_charged' | 'sum.returned'
type Sum = { readonly label: Label; readonly amount: Money; readonly dim: boolean }

/** The label carries the truth: it never says "paid" before, nor "not charged" where money was, is or may come. */
function sumOf(checkout: Checkout, view: View | null): Sum {
  const { price, paid } = amountsOf(checkout)
  const { status, payout } = checkout.payment
  // The partner has taken it back, and whether the shop gets it all the same is not known yet.
  if (payout === 'voiding') return { label: 'sum.price', amount: price, dim: false }
  // What went back without ever being the payment's own was no price: another amount, or another token.
  if (status === 'refunded')
    return paid === null
      ? { label: 'sum.price', amount: price, dim: true }
      : { label: 'sum.returned', amount: paid, dim: true }
  if (paid !== null) return { label: 'sum.paid', amount: paid, dim: false }
  if (status === 'succeeded') return { label: 'sum.paid', amount: price, dim: false }
  if (view?.page !== 'closed')
    return {
      label: status === 'under_review' || paidAttempt(checkout) !== null ? 'sum.price' : 'sum.pay',
      amount: price,
      dim: false,
    }
  const isElsewhere = isMoneyHeld(checkout) || mayMoneyCome(checkout) || wasReturned(checkout)
  return isElsewhere
    ? { label: 'sum.price', amount: price, dim: false }
    : { label: 'sum.not_charged', amount: price, dim: true }
}
