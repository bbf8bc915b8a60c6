import { formatAmount } from '../../domain/money.ts'
import { isOpen } from '../../domain/payment/payment.ts'
import type { Shown } from './parts.tsx'

/** The amount, the merchant and the description; shown on every page of the checkout. */
export function Summary({ checkout, words }: Shown) {
  const { t } = words
  const { payment, merchantName } = checkout
  return (
    <header class="summary">
      <p class="merchant" dir="auto">
        {merchantName}
      </p>
      <p class="amount">
        <data value={`${formatAmount(payment.amount)} ${payment.amount.currency}`}>{words.money(payment.amount)}</data>
      </p>
      <dl class="details">
        {payment.description !== null && (
          <div>
            <dt class="visually-hidden">{t('summary.for')}</dt>
            <dd class="description" dir="auto">
              {payment.description}
            </dd>
          </div>
        )}
        {payment.reference !== null && (
          <div>
            <dt>{t('summary.reference')}</dt>
            <dd dir="auto">{payment.reference}</dd>
          </div>
        )}
        {isOpen(payment.status) && (
          <div>
            <dt>{t('summary.until')}</dt>
            <dd>
              <time dateTime={payment.expiresAt}>{words.dateTime(payment.expiresAt)}</time>
            </dd>
          </div>
        )}
      </dl>
    </header>
  )
}
