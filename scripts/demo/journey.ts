import { setTimeout as delay } from 'node:timers/promises'
import type { ProviderName } from '../../src/domain/methods.ts'
import { payAtCheckout } from '../../src/sandbox/buyer.ts'
import type { Merchant, NewPayment, PaymentAnswer } from './merchant.ts'

/** One payment from the merchant's order to the verified webhook, without a person. */

export type Journey = {
  readonly provider: ProviderName
  readonly body: Pick<NewPayment, 'amount' | 'currency'>
  /** The checkout's name of the method, if the buyer picks one. */
  readonly method?: string
}

export const JOURNEYS: readonly Journey[] = [
  { provider: 'wallet_app', body: { amount: '49.90', currency: 'EUR' } },
  { provider: 'card_partner', body: { amount: '120.00', currency: 'USD' } },
  { provider: 'local_partner', body: { amount: '5000.00', currency: 'INR' }, method: 'upi' },
]

/** Longer than any payment takes, even if a process is killed and replaced. */
const PATIENCE_MS = 180_000

export async function travel(
  journey: Journey,
  { merchant, sandboxUrl, say }: { merchant: Merchant; sandboxUrl: string; say: (step: string) => void },
): Promise<PaymentAnswer> {
  const { provider, body, method } = journey
  const created = await merchant.create({ ...body, provider, description: `Demo order (${provider})` })
  say(`created ${created.id}`)
  const bought = await payAtCheckout(created.checkout_url, { sandboxUrl, ...(method !== undefined && { method }) })
  say(`the buyer paid at ${new URL(bought.partnerPage).pathname}`)
  const succeeded = await finalState(merchant, created.id, say)
  if (succeeded.status !== 'succeeded') throw new Error(`${created.id} ended as ${succeeded.status}`)
  const events = await deliveredEvents(merchant, created.id)
  say(`webhook ${events[0]?.type} ${events[0]?.id}, signature verified`)
  return succeeded
}

/** Follows the payment until it is closed, and reports each new state. */
export async function finalState(
  merchant: Pick<Merchant, 'read'>,
  id: string,
  say: (step: string) => void = () => undefined,
): Promise<PaymentAnswer> {
  let last = ''
  return until(async () => {
    const payment = await merchant.read(id)
    if (payment.status !== last) say(payment.status)
    last = payment.status
    return ['succeeded', 'failed', 'expired', 'canceled', 'refunded'].includes(payment.status) ? payment : null
  }, `${id} to end`)
}

export function deliveredEvents(merchant: Merchant, id: string): ReturnType<Merchant['events']> {
  return until(async () => {
    const events = await merchant.events(id)
    return events.length > 0 ? events : null
  }, `the webhook of ${id}`)
}

/** Repeats until there is an answer, also while a service is down for a moment. */
export async function until<T>(ask: () => Promise<T | null>, what: string, patienceMs = PATIENCE_MS): Promise<T> {
  let trouble: unknown
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await delay(100)) {
    try {
      const answer = await ask()
      if (answer !== null) return answer
    } catch (error) {
      trouble = error
    }
  }
  throw new Error(`waited ${patienceMs / 1000} s for ${what}`, { cause: trouble })
}
