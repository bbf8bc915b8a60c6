import type { ComponentChildren } from 'preact'
import { subtract } from '../../../domain/money.ts'
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
      <div>
        <dt>
          <bdi>{checkout.payment.description ?? t('receipt.price')}</bdi>
        </dt>
        <dd>
          <Amount money={price} words={words} />
        </dd>
      </div>
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
      {payment.reference !== null && (
        <Fact name={t('panel.order')}>
          <bdi>{payment.reference}</bdi>
        </Fact>
      )}
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
