import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { PaymentDeps } from '../../../../src/activities/payment/payment-deps.ts'
import { createMoneyWorld, type Made, type MoneyWorld } from '../money-world.ts'

/** Money that was returned to the buyer from elsewhere: what the partner still has of it is ours, until it takes it back. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

const TAKEN = 'outside_reversed'

/** The partner says that it has so much of the order. */
async function has({ attemptId }: Made, received: string): Promise<Partial<PaymentDeps>> {
  const real = world.deps.partners.wallet_app
  const order = await real.readOrder({ attemptId }, AbortSignal.timeout(5000))
  if (order === null) throw new Error('no order')
  const now = { ...order, received: { minor: received, currency: 'EUR' as const } }
  return { partners: { ...world.deps.partners, wallet_app: { ...real, readOrder: async () => now } } }
}

async function returnedOutside(): Promise<Made> {
  const made = await world.paid('6000')
  await world.decide(made.id, 'recordExternalRefund')
  return made
}

describe('a partner that takes back what was returned from elsewhere', () => {
  test('in part: the books follow, once, and an operator sees that the buyer may have it twice', async () => {
    const made = await returnedOutside()
    const less = await has(made, '4000')
    for (let reading = 0; reading < 2; reading++) expect((await world.read(made, less)).understood).toBe(true)
    expect(await world.books(made.id)).toEqual(['exchange EUR -4000', 'partner_receivable EUR 4000'])
    expect(await world.attention(made.id)).toEqual([`${TAKEN} 2000 EUR`])
    expect((await world.payment(made.id)).closedAt).toBeNull()

    await world.decide(made.id, 'approve')
    expect(await world.attention(made.id)).toEqual([])
    expect((await world.payment(made.id)).closedAt).not.toBeNull()

    await world.read(made, await has(made, '1000'))
    expect(await world.books(made.id)).toEqual(['exchange EUR -1000', 'partner_receivable EUR 1000'])
    expect(await world.attention(made.id)).toEqual([`${TAKEN} 5000 EUR`])
  })

  test('as a whole: the same', async () => {
    const made = await returnedOutside()
    await world.act(made.attemptId, { action: 'reverse' })
    for (let reading = 0; reading < 2; reading++) await world.read(made)
    expect(await world.books(made.id)).toEqual([])
    expect(await world.attention(made.id)).toEqual([`${TAKEN} 6000 EUR`])
    await world.decide(made.id, 'approve')
    await world.read(made)
    expect(await world.attention(made.id)).toEqual([])
  })

  test('and receives it again: it is money beside the payment, for an operator', async () => {
    const made = await returnedOutside()
    await world.read(made, await has(made, '4000'))
    await world.read(made, await has(made, '6000'))
    expect(await world.parts(made.id)).toContain('2000 surplus')
    expect(await world.attention(made.id)).toEqual([`${TAKEN} 2000 EUR`, 'surplus 2000 EUR'])
    expect(await world.books(made.id)).toEqual([
      'exchange EUR -4000',
      'partner_receivable EUR 6000',
      'suspense EUR -2000',
    ])
  })

  test('beside the payment’s own money: that is still there, and goes on', async () => {
    const made = await world.paid('10000')
    await world.act(made.attemptId, { action: 'top_up', receivedMinor: '12000' })
    await world.read(made)
    await world.decide(made.id, 'recordExternalRefund')
    await world.read(made, await has(made, '10000'))
    expect(await world.payment(made.id)).toMatchObject({ status: 'processing', confirmed: { minor: '10000' } })
    expect(await world.books(made.id)).toEqual(['merchant_payable EUR -10000', 'partner_receivable EUR 10000'])
    expect(await world.attention(made.id)).toEqual([`${TAKEN} 2000 EUR`])
    // More than that is the payment's.
    await world.read(made, await has(made, '7000'))
    expect(await world.payment(made.id)).toMatchObject({ status: 'under_review', parkReason: 'underpaid' })
    expect(await world.books(made.id)).toEqual(['merchant_payable EUR -7000', 'partner_receivable EUR 7000'])
  })
})
