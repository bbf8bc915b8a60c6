import { randomBytes, randomUUID } from 'node:crypto'
import type { ProviderName } from '../../src/domain/methods.ts'
import type { DriverName } from '../../src/domain/partner/drivers.ts'
import { POLL_AFTER_MINUTES } from '../../src/domain/payment/workflow-step.ts'
import { cashfreeWire } from '../../src/sandbox/partners/cashfree/cashfree.ts'
import type { SandboxOrder } from '../../src/sandbox/partners/order.ts'
import { razorpayWire } from '../../src/sandbox/partners/razorpay/razorpay.ts'
import { revolutWire } from '../../src/sandbox/partners/revolut/revolut.ts'
import { stripeWire } from '../../src/sandbox/partners/stripe/stripe.ts'
import type { Wire } from '../../src/sandbox/partners/wire.ts'
import type { System } from '../system.ts'
import { deliveredEvents, finalState, JOURNEYS, until } from './journey.ts'
import type { Merchant, PaymentAnswer } from './merchant.ts'

/** The stories of payments at real partners, played by the partners' protocols in the sandbox. */

type RealDriver = Exclude<DriverName, 'simulator'>

/** The provider for which `npm run demo` uses a driver. */
export const PROVIDERS_BY_DRIVER: Readonly<Record<RealDriver, ProviderName>> = {
  cashfree: 'local_partner',
  razorpay: 'local_partner',
  revolut: 'wallet_app',
  stripe: 'card_partner',
}

export const isRealDriver = (name: string): name is RealDriver => name in PROVIDERS_BY_DRIVER

const WIRES: Readonly<Record<RealDriver, Wire>> = {
  cashfree: cashfreeWire,
  razorpay: razorpayWire,
  revolut: revolutWire,
  stripe: stripeWire('card_partner', '/card-partner'),
}

/** While a webhook secret is rotated: the sandbox signs with the first, and the api accepts both. */
export type Rotation = { readonly old: string; readonly new: string }

export function createRotation(driver: RealDriver): Rotation {
  const prefixes: Readonly<Record<RealDriver, string>> = {
    cashfree: '',
    razorpay: '',
    revolut: 'wsk_',
    stripe: 'whsec_',
  }
  const secret = (): string => `${prefixes[driver]}${randomBytes(16).toString('hex')}`
  return { old: secret(), new: secret() }
}

type Stage = {
  readonly driver: RealDriver
  readonly rotation: Rotation
  readonly merchant: Merchant
  readonly system: Pick<System, 'sandboxUrl' | 'info'>
  readonly say: (step: string) => void
}

/** Plays all stories by a driver, one after the other. Throws if one ends in another way. */
export async function playStories(stage: Stage): Promise<void> {
  for (const [title, story] of Object.entries(STORIES)) stage.say(`${title}: ${await story(stage)}`)
}

/** Seconds to skip, after which the first poll is a second ahead. */
const UNTIL_POLL = POLL_AFTER_MINUTES[0] * 60 - 1

const STORIES: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  paid: async (stage) => describe(await pay(stage)),

  'declined, then paid': async (stage) => {
    const { id } = await create(stage)
    await stage.merchant.simulate(id, { action: 'decline', failure_code: 'insufficient_funds' })
    await until(async () => {
      const { attempts } = await stage.merchant.read(id)
      return attempts[0]?.failure_code === 'insufficient_funds' ? attempts : null
    }, `${id} to be declined`)
    return describe(await pay(stage, id))
  },

  'partly refunded after the settlement': async (stage) => {
    const paid = await pay(stage)
    await stage.merchant.simulate(paid.id, {
      action: 'reverse',
      received_minor: `${Math.floor(paid.amount_minor / 2)}`,
    })
    return describeChargeback(stage, paid)
  },

  'disputed after the settlement': async (stage) => {
    const paid = await pay(stage)
    await stage.merchant.simulate(paid.id, { action: 'reverse' })
    return describeChargeback(stage, paid)
  },

  'webhook lost': async (stage) => {
    await fault(stage, 'callbacks_never')
    const { id } = await create(stage)
    await stage.merchant.simulate(id, { action: 'pay' })
    await stage.merchant.skipTime(id, { seconds: UNTIL_POLL })
    return describe(await finish(stage, id))
  },

  'webhook twice': async (stage) => {
    await fault(stage, 'callbacks_twice')
    const paid = await pay(stage)
    const events = await deliveredEvents(stage.merchant, paid.id)
    if (events.length !== 1) throw new Error(`${paid.id} was reported ${events.length} times`)
    return describe(paid)
  },

  'event of another business on the account': async (stage) => {
    const foreign = { attemptId: `order-${randomUUID()}`, reference: WIRES[stage.driver].newReference() }
    const status = await callback(stage, { ...(await anyOrder(stage)), ...foreign }, stage.rotation.old)
    return `answered with ${expectStatus(status, 200)}`
  },

  'webhook secret rotated': async (stage) => {
    await fault(stage, 'callbacks_never')
    const { id } = await create(stage)
    await stage.merchant.simulate(id, { action: 'pay' })
    const order = await findOrder(stage, id)
    expectStatus(await callback(stage, order, 'a secret that was removed'), 401)
    expectStatus(await callback(stage, order, stage.rotation.new), 200)
    const paid = await finish(stage, id)
    expectStatus(await callback(stage, order, stage.rotation.old), 200)
    return `${describe(paid)} by a callback with the new secret; the old one is accepted too`
  },
}

function create({ driver, merchant }: Stage): Promise<PaymentAnswer> {
  const provider = PROVIDERS_BY_DRIVER[driver]
  const journey = JOURNEYS.find((each) => each.provider === provider)
  if (journey === undefined) throw new Error(`there is no journey by ${provider}`)
  return merchant.create({ ...journey.body, provider, description: `Demo order (${driver})` })
}

async function pay(stage: Stage, id?: string): Promise<PaymentAnswer> {
  const payment = id ?? (await create(stage)).id
  await stage.merchant.simulate(payment, { action: 'pay' })
  return finish(stage, payment)
}

async function finish({ merchant }: Stage, id: string): Promise<PaymentAnswer> {
  const payment = await finalState(merchant, id)
  if (payment.status !== 'succeeded') throw new Error(`${id} ended as ${payment.status}`)
  return payment
}

const describe = ({ id, settlement }: PaymentAnswer): string => `${id} succeeded, ${settlement.net_usdc} USDC`

/** Describes the loss as the webhook reports it: the payment itself stays as it was settled. */
async function describeChargeback({ merchant }: Stage, { id }: PaymentAnswer): Promise<string> {
  const { lost, currency } = await until(async () => {
    const objects = (await merchant.events(id)).map(({ data }) => data.object)
    return objects.map((object) => ('chargeback' in object ? object.chargeback : null)).find(Boolean) ?? null
  }, `${id} to be charged back`)
  return `${id} lost ${lost} ${currency}`
}

/** A fault of the next callback of the driver's partner. */
async function fault({ driver, system }: Stage, name: string): Promise<void> {
  await send(`${system.sandboxUrl}${WIRES[driver].path}/sandbox/faults`, { fault: name, times: 1 })
}

async function findOrder(stage: Stage, paymentId: string): Promise<SandboxOrder> {
  const { attempts } = await stage.merchant.read(paymentId)
  const orders = await listOrders(stage)
  const order = orders.find(({ attemptId }) => attempts.some(({ id }) => id === attemptId))
  if (order === undefined) throw new Error(`${paymentId} has no order`)
  return order
}

async function anyOrder(stage: Stage): Promise<SandboxOrder> {
  const paid = (await listOrders(stage)).find(({ status }) => status === 'paid')
  if (paid === undefined) throw new Error('no order was paid')
  return paid
}

async function listOrders({ driver, system }: Stage): Promise<SandboxOrder[]> {
  const response = await fetch(`${system.sandboxUrl}${WIRES[driver].path}/sandbox/orders`)
  return (await response.json()) as SandboxOrder[]
}

/** Sends the partner's event about the order, and returns the status of the response. */
async function callback({ driver, system }: Stage, order: SandboxOrder, secret: string): Promise<number> {
  const wire = WIRES[driver]
  const now = Date.now()
  const event = wire.event(order, { eventId: `evt_${randomUUID()}`, at: now })
  const { body, headers } = wire.sign(event, { secret, now: Math.floor(now / 1000) })
  const response = await fetch(`${system.info.api_url}/callbacks/${PROVIDERS_BY_DRIVER[driver]}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return response.status
}

function expectStatus(status: number, expected: number): number {
  if (status !== expected) throw new Error(`a callback was answered with ${status} instead of ${expected}`)
  return status
}

async function send(url: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
}
