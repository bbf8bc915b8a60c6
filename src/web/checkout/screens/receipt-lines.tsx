import type { ComponentChildren } from 'preact'
import { type Money, subtract } from '../../../domain/money.ts'
import { getItemAmount } from '../../../domain/payment/invoice.ts'
import { listAddresses } from '../../../domain/platform.ts'
import { Amount } from '../../kit/amount.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { Time } from '../../kit/time.tsx'
import type { Words } from '../../messages/words.ts'
import { getAmounts, type OtherMoney } from '../amounts.ts'
import type { Checkout } from '../checkout.ts'
import { getRefundedPart, refundFacts } from '../refunds.ts'
import { formatOtherMoney, getPartner, methodName, type Shown } from '../shown.tsx'

export function Lines({ checkout, words }: Shown) {
  const { t } = words
  const { price, paid, extra } = getAmounts(checkout)
  return (
    <dl class="lines">
      {listReceiptItems(checkout, words).map(({ name, note, amount }, place) => (
        // Two items can be the same.
        <div key={`${place}`}>
          <dt>
            <bdi>{name ?? t('receipt.price')}</bdi>
            {note !== null && <span class="hint"> {note}</span>}
          </dt>
          <dd>
            <Amount money={amount} words={words} />
          </dd>
        </div>
      ))}
      {extra !== null && (
        <div>
          <dt>{t('receipt.extra')}</dt>
          <dd>
            <Amount money={extra} words={words} />
          </dd>
        </div>
      )}
      <div class="total">
        <dt>{t('receipt.paid')}</dt>
        <dd>
          <Amount money={paid ?? price} words={words} />
        </dd>
      </div>
    </dl>
  )
}

/** Lists the items, else the description as one item. A name is null if there is neither. */
export function listReceiptItems(
  { payment: { amount, description, invoice } }: Pick<Checkout, 'payment'>,
  { t }: Words,
): readonly { readonly name: string | null; readonly note: string | null; readonly amount: Money }[] {
  const items = invoice?.items ?? []
  if (items.length === 0) return [{ name: description, note: null, amount }]
  return items.map((item) => ({
    name: item.quantity === 1 ? item.name : `${item.quantity} × ${item.name}`,
    note: item.taxPercent === null ? null : t('item.tax', { percent: item.taxPercent }),
    amount: getItemAmount(item, amount.currency),
  }))
}

/** Lists the facts that the merchant adds, in the merchant's words. */
export function listInvoiceFacts(
  { payment: { invoice, description, reference }, customerTaxId }: Checkout,
  { t }: Words,
): { name: string; value: string }[] {
  const facts: (readonly [string, string | null | undefined])[] = [
    // Otherwise it is a line.
    [t('receipt.description'), invoice !== null && invoice.items.length > 0 ? description : null],
    [t('panel.order'), reference],
    [t('receipt.invoice'), invoice?.number],
    [t('receipt.merchant_tax_id'), invoice?.taxId],
    [t('receipt.customer_tax_id'), customerTaxId],
  ]
  return facts.flatMap(([name, value]) => (value ? [{ name, value }] : []))
}

export function ReceiptFacts({ checkout, words, children }: Shown & { children?: ComponentChildren }) {
  const { t } = words
  const { payment } = checkout
  const statement = statementName(checkout)
  return (
    <Facts>
      <Fact name={t('receipt.with')}>{paidWith(checkout, words)}</Fact>
      <Fact name={t('receipt.on')}>
        <Time at={paidAt(checkout)} style="long" words={words} />
      </Fact>
      {listInvoiceFacts(checkout, words).map(({ name, value }) => (
        <Fact key={name} name={name}>
          <bdi>{value}</bdi>
        </Fact>
      ))}
      {statement !== null && (
        <Fact name={t('receipt.statement')}>
          <bdi>{statement}</bdi>
        </Fact>
      )}
      <Fact name={t('done.payment')}>
        <span class="id">{payment.id}</span>
      </Fact>
      {moneyFacts(checkout, words).map(({ name, value }) => (
        <Fact key={`${name} ${value}`} name={name}>
          {value}
        </Fact>
      ))}
      {children}
    </Facts>
  )
}

/** Lists an accepted amount below the price, a chargeback, refunds, and other money that goes or went back. */
export function moneyFacts(checkout: Checkout, words: Words): { name: string; value: string }[] {
  const { t, money } = words
  const { paid, counted, chargedBack, surplus, returned } = getAmounts(checkout)
  const describe = (other: OtherMoney): string => {
    const way = formatOtherMoney(other, words)
    return other.micro === null ? t('receipt.with_at', { way, partner: getPartner(checkout, other.attempt).name }) : way
  }
  const isLess =
    counted !== null &&
    paid?.currency === counted.asked.currency &&
    subtract(paid.minor, counted.asked.minor).startsWith('-')
  return [
    ...(isLess ? [{ name: t('receipt.accepted'), value: money(paid) }] : []),
    ...(chargedBack === null ? [] : [{ name: t('receipt.charged_back'), value: money(chargedBack) }]),
    ...refundFacts(checkout, words),
    ...surplus.map((second) => ({ name: t('done.twice.returning'), value: describe(second) })),
    ...returned.map((second) => ({ name: t('receipt.returned'), value: describe(second) })),
  ]
}

export function receiptStatus(checkout: Checkout, { t }: Words): string {
  if (getAmounts(checkout).chargedBack !== null) return t('receipt.charged_back')
  if (!checkout.payment.livemode) return t('receipt.status.test')
  return t(REFUNDED_STATUS[getRefundedPart(checkout)])
}

const REFUNDED_STATUS = {
  nothing: 'receipt.status.done',
  part: 'receipt.status.refunded_part',
  all: 'receipt.status.refunded',
} as const

export function paidAt({ payment }: Pick<Checkout, 'payment'>): string {
  return payment.paidAt ?? payment.succeededAt ?? payment.updatedAt
}

/** Returns the name on the buyer's statement; null if there is no statement, as for USDC. */
export function statementName(checkout: Checkout): string | null {
  const { counted } = getAmounts(checkout)
  return counted === null || counted.provider === 'crypto' ? null : getPartner(checkout, counted).statement
}

/** Returns the platform's addresses as a receipt prints them. */
export function printedAddresses({ platform }: Pick<Checkout, 'platform'>): string[] {
  return listAddresses(platform).map(({ address }) => address)
}

export function paidWith(checkout: Checkout, words: Words): string {
  const { counted } = getAmounts(checkout)
  const { methodUsed } = checkout.payment
  if (counted === null) return methodUsed === null ? '–' : methodName({ method: methodUsed }, words)
  const way = methodName(counted, words)
  if (counted.provider === 'crypto') return way
  return words.t('receipt.with_at', { way, partner: getPartner(checkout, counted).name })
}
