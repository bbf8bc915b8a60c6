import { add } from '../../domain/money.ts'
import type { Words } from '../messages/words.ts'
import { getAmounts } from './amounts.ts'
import type { Checkout } from './checkout.ts'

/** Lists the refunds as facts of a receipt, with their days. */
export const refundFacts = ({ refunds }: Checkout, { t, money, moment }: Words): { name: string; value: string }[] =>
  refunds.map(({ amount, state, at }) => ({
    name: t(`receipt.refund.${state}`),
    value: t('receipt.refund.value', { amount: money(amount), time: moment(at, 'date') }),
  }))

/** Returns how much of the payment refunds have given back. */
export function getRefundedPart(checkout: Checkout): 'nothing' | 'part' | 'all' {
  const done = checkout.refunds.filter(({ state }) => state === 'done')
  const { paid, price } = getAmounts(checkout)
  const sum = done.reduce((total, { amount }) => add(total, amount.minor), '0')
  if (done.length === 0) return 'nothing'
  return BigInt(sum) < BigInt((paid ?? price).minor) ? 'part' : 'all'
}

/** True if the buyer waits for money: the page asks for changes. */
export const isRefundComing = ({ refunds }: Pick<Checkout, 'refunds'>): boolean =>
  refunds.some(({ state }) => state === 'coming')
