import type { Currency } from '../../domain/currencies.ts'
import type { Money } from '../../domain/money.ts'
import type { PartnerOrder } from '../../domain/payment/partner.ts'
import { unclear } from '../http.ts'
import { type OrderRef, PartnerError } from '../provider.ts'
import { readAs, readCurrency } from '../reading.ts'
import { fromStripeAmount } from './amount.ts'
import type { StripeApi } from './api.ts'
import { reportDispute } from './disputes.ts'
import { readState, type StripeOrder } from './state.ts'
import {
  accountSchema,
  disputeListSchema,
  EXPANDED,
  LIST_LIMIT,
  type Refund,
  refundListSchema,
  type Session,
  sessionSchema,
} from './wire.ts'

/** Throws PartnerError `misconfigured` if the key belongs to another account. */
export async function checkAccount(api: StripeApi, account: string, signal: AbortSignal): Promise<void> {
  const answer = await api.get('/v1/account', {}, signal)
  if (readAs(api.to, accountSchema, answer).id !== account)
    throw new PartnerError('misconfigured', `${api.to}: the key is another account's`, { isWhole: true })
}

export const sessionPath = (id: string): string => `/v1/checkout/sessions/${encodeURIComponent(id)}`

export const expand = (): Record<string, string> =>
  Object.fromEntries(EXPANDED.map((name, place) => [`expand[${place}]`, name]))

export async function findOrder(
  api: StripeApi,
  { attemptId, reference }: OrderRef & { readonly reference: string },
  signal: AbortSignal,
): Promise<StripeOrder | null> {
  const answer = await api.get(sessionPath(reference), expand(), signal)
  if (answer.status === 404) return api.readMissing(answer)
  const session = readAs(api.to, sessionSchema, answer)
  if (session.client_reference_id !== attemptId) throw unclear(api.to, 'answered about another session')
  return { session, ...(await findTakenBack(api, session, signal)) }
}

/** Makes no more calls for an order without refunds and disputes, as most are. */
async function findTakenBack(
  api: StripeApi,
  { payment_status: status, payment_intent: payment }: Session,
  signal: AbortSignal,
): Promise<Pick<StripeOrder, 'refunds' | 'disputes'>> {
  const charge = payment?.latest_charge
  if (status === 'unpaid') return { refunds: [], disputes: [] }
  if (!payment || !charge || charge.amount_captured === 0)
    throw unclear(api.to, 'answered with a paid session without its charge')
  const [refunds, disputes] = await Promise.all([
    charge.amount_refunded > 0 ? listRefunds(api, payment.id, signal) : [],
    charge.disputed
      ? api
          .get('/v1/disputes', listQuery(payment.id), signal)
          .then((answer) => readAs(api.to, disputeListSchema, answer).data)
      : [],
  ])
  return { refunds, disputes }
}

const listQuery = (payment: string) => ({ payment_intent: payment, limit: `${LIST_LIMIT}` })

export async function listRefunds(api: StripeApi, payment: string, signal: AbortSignal): Promise<readonly Refund[]> {
  const answer = await api.get('/v1/refunds', listQuery(payment), signal)
  return readAs(api.to, refundListSchema, answer).data
}

/** `now` is in Unix seconds. */
export function toPartnerOrder(
  to: string,
  order: StripeOrder,
  about: { readonly attemptId: string; readonly account: string; readonly now: number },
): PartnerOrder {
  const { session } = order
  const { status, received, failureCode } = readState(order, about.now)
  const currency = readCurrency(to, session.currency.toUpperCase())
  const payment = session.payment_intent
  const payments = [payment?.id, payment?.latest_charge?.id].filter((id) => id !== undefined)
  return {
    attemptId: about.attemptId,
    reference: session.id,
    account: about.account,
    status,
    amount: toMoney(to, BigInt(session.amount_total), currency),
    received: received === null ? null : toMoney(to, received, currency),
    failureCode,
    ...(payments.length > 0 && { payments }),
    disputes: order.disputes.map((dispute) => reportDispute(to, dispute, currency)),
  }
}

function toMoney(to: string, amount: bigint, currency: Currency): Money {
  const money = fromStripeAmount(amount, currency)
  if (money === null) throw unclear(to, 'answered with an amount that cannot be read')
  return money
}
