import { setTimeout as delay } from 'node:timers/promises'
import { finalState, JOURNEYS, type Journey } from '../../../scripts/demo/journey.ts'
import type { PaymentAnswer } from '../../../scripts/demo/merchant.ts'
import { shuffled } from '../../support/random.ts'
import { createRefunds, type Refunds } from './refunds.ts'
import type { TestSystem } from './test-system.ts'

/**
 * The processes that a round can kill. `chain` is the proxy before the chain: a chain keeps its blocks, but a
 * connection to it can break.
 */
export const VICTIMS = ['worker', 'api', 'temporal', 'postgres', 'chain'] as const
export type Victim = (typeof VICTIMS)[number]

export type Round = {
  readonly payments: number
  /** Each is killed once, in an order and at moments that the seed decides. */
  readonly victims: readonly Victim[]
  readonly random: () => number
  readonly say: (line: string) => void
}

/** Buyers arrive over this time, and the kills come between them (milliseconds). */
const SPREAD_MS = 4000
/** The longest time that the connection to the chain stays broken. */
const CUT_MS = 3000

/** The number of payments of which one is refunded as soon as it is paid, and one in part when it is settled. */
const ONE_OF_EACH = 5

/**
 * Payments by all partners at once, some with refunds, and kills in the middle of them; resolves when every payment and
 * every refund has ended.
 */
export async function playRound(testSystem: TestSystem, round: Round): Promise<PaymentAnswer[]> {
  const { random, say } = round
  const refunds = createRefunds(testSystem)
  await refunds.receiveAllEvents()
  const buying = Array.from({ length: round.payments }, async (_each, index) => {
    const payment = await buy(testSystem, index, random() * SPREAD_MS)
    await refund(testSystem, refunds, { id: payment.id, place: index % ONE_OF_EACH })
    return payment
  })
  const killing = killAll(testSystem, round)
  const payments = await Promise.all(buying)
  const lastKillAt = await killing
  for (const { id } of payments) {
    const { status } = await finalState(testSystem.merchant, id)
    if (status !== 'succeeded' && status !== 'refunded') throw new Error(`${id} ended as ${status}`)
  }
  say(
    `${payments.length} payments and their refunds ended within ${((Date.now() - lastKillAt) / 1000).toFixed(1)} s of the last kill`,
  )
  return payments
}

const FIRST: Journey = { provider: 'wallet_app', body: { amount: '49.90', currency: 'EUR' } }

/** A merchant and a buyer who try again if they receive no response. */
async function buy(testSystem: TestSystem, index: number, afterMs: number): Promise<PaymentAnswer> {
  await delay(afterMs)
  const { provider, body, method } = JOURNEYS[index % JOURNEYS.length] ?? FIRST
  const payment = await testSystem.createPatiently({ ...body, provider })
  await testSystem.pay(payment, method === undefined ? {} : { method })
  return payment
}

async function refund(
  { merchant }: TestSystem,
  refunds: Refunds,
  { id, place }: { readonly id: string; readonly place: number },
): Promise<void> {
  if (place === 3) await refunds.refund(id)
  if (place !== 4) return
  await finalState(merchant, id)
  await refunds.refund(id, '10')
}

/** Kills each victim once, and returns the time of the last kill, in Unix milliseconds. */
async function killAll(testSystem: TestSystem, { victims, random, say }: Round): Promise<number> {
  let lastKillAt = 0
  for (const victim of shuffled(victims, random)) {
    await delay((random() * SPREAD_MS) / victims.length + 300)
    say(`kill -9 ${victim}`)
    lastKillAt = Date.now()
    if (victim === 'chain') {
      await testSystem.chain.kill()
      await delay(random() * CUT_MS)
      await testSystem.chain.revive()
    } else await testSystem.kill(victim)
  }
  for (const victim of victims) await testSystem.system.children.get(victim as 'worker')?.untilReady()
  return lastKillAt
}
