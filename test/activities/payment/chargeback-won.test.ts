import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { createMoneyWorld, type Made, type MoneyWorld } from './money-world.ts'

/** What a partner took back of a payment that was paid out was our loss. When it comes again it is ours, and nobody's else. */

let world: MoneyWorld
let made: Made
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

/** The partner says of the order that it has so much of it. */
async function has(minor: string | null): Promise<void> {
  const partner = world.deps.partners.wallet_app
  const order = await partner.readOrder({ attemptId: made.attemptId }, AbortSignal.timeout(5000))
  if (order === null) throw new Error('the partner does not know the order')
  const says: PartnerOrder =
    minor === null
      ? { ...order, status: 'declined', received: null, failureCode: 'reversed' }
      : { ...order, status: 'paid', received: { minor, currency: 'EUR' }, failureCode: null }
  const partners: PaymentDeps['partners'] = {
    ...world.deps.partners,
    wallet_app: { ...partner, readOrder: async () => says },
  }
  await world.read(made, { partners })
}

const seen = async () => ({
  books: (await world.books(made.id)).filter((line) => line.includes(' EUR ')),
  attention: await world.attention(made.id),
  exception: (await world.payment(made.id)).exception,
})
const PAID_OUT = { books: ['conversion EUR -10000', 'partner_receivable EUR 10000'], attention: [], exception: null }

describe('money that was taken back after the payout, and comes again', () => {
  beforeEach(async () => {
    made = await world.settling()
    await world.settle(made.id)
  })

  test('is our loss no more, and leaves nothing for an operator to give back', async () => {
    expect(await seen()).toEqual(PAID_OUT)
    await has(null)
    expect(await seen()).toEqual({
      books: ['chargeback_loss EUR 10000', 'conversion EUR -10000'],
      attention: ['chargeback'],
      exception: null,
    })
    for (let reading = 0; reading < 2; reading++) await has('10000')
    expect(await seen()).toEqual(PAID_OUT)
    await expect(world.refund(made.id)).rejects.toThrow()
    const events = await world.events(made.id)
    expect(events.filter((type) => type === 'payment.chargeback')).toHaveLength(1)
    expect((await world.payment(made.id)).status).toBe('succeeded')
  })

  test('in parts, is a chargeback until all of it is there', async () => {
    await has('4000')
    await has('7000')
    expect(await seen()).toEqual({
      books: ['chargeback_loss EUR 3000', 'conversion EUR -10000', 'partner_receivable EUR 7000'],
      attention: ['chargeback'],
      exception: null,
    })
    await has('10000')
    expect(await seen()).toEqual(PAID_OUT)
  })

  test('with more than was lost, is the buyer’s for the rest', async () => {
    await has('4000')
    await has('10500')
    expect(await seen()).toEqual({
      books: ['conversion EUR -10000', 'partner_receivable EUR 10500', 'suspense EUR -500'],
      attention: ['surplus 500 EUR'],
      exception: 'duplicate_payment',
    })
  })

  test('after an operator has seen the loss, opens nothing; taken back once more, it is lost again', async () => {
    await has(null)
    await world.decide(made.id, 'approve')
    await has('10000')
    expect(await seen()).toEqual(PAID_OUT)
    await has(null)
    expect(await seen()).toMatchObject({
      attention: ['chargeback'],
      books: ['chargeback_loss EUR 10000', expect.any(String)],
    })
  })
})

describe('money that was taken back and comes again before its payout is paid or void', () => {
  beforeEach(async () => {
    made = await world.settling()
    await has(null)
    await has('10000')
    expect((await world.payment(made.id)).parkReason).toBe('funds_reversed')
  })

  test('is no chargeback and no second payment where the transfer is faster than the void', async () => {
    await world.settle(made.id)
    expect(await seen()).toEqual(PAID_OUT)
    const events = await world.events(made.id)
    expect(events).toContain('payment.succeeded')
    expect(events).not.toContain('payment.chargeback')
  })

  test('goes back to the buyer by an operator’s decision where the payout is void', async () => {
    await world.voided(made.id)
    expect((await world.payment(made.id)).parkReason).toBe('payout_voided')
    expect(await world.refund(made.id)).toMatchObject({ refunded: true, payment: { status: 'refunded' } })
    expect(await world.books(made.id)).toEqual(['conversion USDC 108000000', 'exchange USDC -108000000'])
    expect(await world.attention(made.id)).toEqual([])
  })
})

test('what comes again once the payout is void is the buyer’s', async () => {
  made = await world.settling()
  await has('4000')
  await world.voided(made.id)
  await has('10000')
  expect(await seen()).toMatchObject({ attention: expect.arrayContaining(['surplus 6000 EUR']) })
})
