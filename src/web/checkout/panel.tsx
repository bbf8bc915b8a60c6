import type { Money } from '../../domain/money.ts'
import { isOpen } from '../../domain/payment/payment.ts'
import { Amount } from '../kit/amount.tsx'
import { Fact, Facts } from '../kit/facts.tsx'
import { Panel, Sum } from '../kit/panel.tsx'
import { Time } from '../kit/time.tsx'
import { getAmounts } from './amounts.ts'
import { type Checkout, findPaidAttempt } from './checkout.ts'
import { listReceiptItems } from './screens/receipt-lines.tsx'
import { countryName, type Shown } from './shown.tsx'
import { canMoneyArrive, hasSurplus, type View, wasReturned } from './view.ts'

export function CheckoutPanel({ checkout, words, view }: Shown & { view: View | null }) {
  const { label, amount, dim } = findSum(checkout, view)
  return (
    <Panel
      shop={checkout.shop}
      words={words}
      sum={<Sum label={words.t(label)} amount={amount} dim={dim} words={words} />}
    >
      <Details checkout={checkout} words={words} view={view} />
    </Panel>
  )
}

function Details({ checkout, words, view }: Shown & { view: View | null }) {
  const { t } = words
  const { payment } = checkout
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
      {payment.invoice !== null && payment.invoice.items.length > 0 && (
        <Facts>
          {listReceiptItems(checkout, words).map(({ name, amount }, place) => (
            <Fact key={`${place}`} name={<bdi>{name}</bdi>}>
              <Amount money={amount} words={words} />
            </Fact>
          ))}
        </Facts>
      )}
      <Facts>
        {payment.reference !== null && (
          <Fact name={t('panel.order')}>
            <bdi>{payment.reference}</bdi>
          </Fact>
        )}
        {payment.invoice?.number && (
          <Fact name={t('receipt.invoice')}>
            <bdi>{payment.invoice.number}</bdi>
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
    </>
  )
}

/** Returns the path of the country form. Its query has the buyer's choice, so that the form leads back to it. */
export function countryPath({ path, asked }: Checkout, view: View | null): string {
  const choice = view?.page === 'confirm' ? view.offer : asked.choice
  return choice === null ? `${path}?step=country` : `${path}?step=country&method=${choice.provider}.${choice.method}`
}

type Label = 'sum.pay' | 'sum.paid' | 'sum.price' | 'sum.not_charged' | 'sum.returned'
type ShownSum = { readonly label: Label; readonly amount: Money; readonly dim: boolean }

/** The label must be true: no "paid" before the payment, no "not charged" if money arrived or can still arrive. */
function findSum(checkout: Checkout, view: View | null): ShownSum {
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
