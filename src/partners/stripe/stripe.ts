import type { ProviderName } from '../../domain/methods.ts'
import type { PartnerSettings } from '../../domain/partner/drivers.ts'
import { unclear } from '../http.ts'
import type { Driver, OrderRef, PaymentPartner } from '../provider.ts'
import { connectApi } from './api.ts'
import { readCallback } from './callback.ts'
import { listDisputes } from './disputes.ts'
import { answerDispute } from './evidence.ts'
import { openSession } from './opening.ts'
import { checkAccount, expand, findOrder, sessionPath, toPartnerOrder } from './orders.ts'
import { findRefund, refundOrder } from './refund.ts'
import type { StripeOrder } from './state.ts'

/**
 * Stripe Checkout: a session with one kind of method (https://docs.stripe.com/api/checkout/sessions). Stripe finds a
 * session only by its own id, and its objects do not name the account.
 */
export const stripe: Driver = { connect, readCallback }

/** Seconds. Stripe allows 30 minutes to 24 hours from the creation, by its own clock. */
const LIFETIME = { least: 31 * 60, most: 24 * 3600 - 60 }

function connect(provider: ProviderName, settings: PartnerSettings, clock: () => number): PaymentPartner {
  const api = connectApi(provider, settings)
  const { account } = settings
  let isOurAccount = false

  async function find({ attemptId, reference }: OrderRef, signal: AbortSignal): Promise<StripeOrder | null> {
    if (reference !== null) return findOrder(api, { attemptId, reference }, signal)
    // There is nothing to read. This call shows that Stripe responds and accepts the platform's key.
    await checkAccount(api, account, signal)
    return null
  }
  const toOrder = ({ attemptId }: OrderRef, order: StripeOrder | null) =>
    order && toPartnerOrder(provider, order, { attemptId, account, now: Math.floor(clock() / 1000) })

  return {
    name: provider,
    lifetime: LIFETIME,
    async openOrder(order, signal) {
      if (!isOurAccount) await checkAccount(api, account, signal)
      isOurAccount = true
      return openSession(api, order, signal)
    },
    async readOrder(ref, signal) {
      return toOrder(ref, await find(ref, signal))
    },
    async cancelOrder(ref, signal) {
      if (ref.reference === null) return null
      // A second call has no effect. A session that has ended cannot be expired and might be paid, so it is read.
      const answer = await api.post(`${sessionPath(ref.reference)}/expire`, { form: expand(), key: null }, signal)
      const order = await find(ref, signal)
      if (order?.session.status === 'open') throw unclear(provider, `answered ${answer.status} to a cancellation`)
      return toOrder(ref, order)
    },
    async refundOrder({ key, amount, ...ref }, signal) {
      const order = await find(ref, signal)
      if (order === null) return { kind: 'refused', reason: 'the partner does not know the order' }
      return refundOrder(api, { order, key, amount }, signal)
    },
    async findRefund({ key, ...ref }, signal) {
      const order = await find(ref, signal)
      return order && findRefund(order, key)
    },
    listDisputes: (since, signal) => listDisputes(api, since, signal),
    answerDispute: (request, signal) => answerDispute(api, request, signal),
  }
}
