import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Db } from '../../../src/db/db.ts'
import { createMoneyWorld, type MoneyWorld } from './money-world.ts'

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())
beforeEach(() => world.clearFaults())

/** 100.00 EUR that the payment counts, in two parts, and 25.00 EUR beyond, while an operator holds it. */
async function heldWithSurplus() {
  const { id, attemptId } = await world.paid('6000')
  for (const receivedMinor of ['10000', '12500']) {
    await world.act(attemptId, { action: 'top_up', receivedMinor })
    await world.read({ id, attemptId })
  }
  await world.decide(id, 'hold')
  return { id, attemptId }
}

describe('a refund that the partner refuses', () => {
  test('leaves each part where it was: what was counted is counted, what was surplus is surplus', async () => {
    const { id, attemptId } = await heldWithSurplus()
    await world.fault({ fault: 'refund_refused', attemptId })
    await expect(world.refund(id)).rejects.toMatchObject({ message: expect.stringContaining('the balance is too low') })
    expect(await world.parts(id)).toEqual(['6000 counted', '4000 counted', '2500 surplus'])
    expect((await world.decide(id, 'release')).payment.status).toBe('processing')
    await world.convert(id)
    expect((await world.payment(id)).usdc?.gross).toBe('108000000')
    expect(await world.attention(id)).toEqual(['surplus 2500 EUR'])
  })

  test('of which the partner took some back meanwhile: that is taken from the surplus first', async () => {
    const { id, attemptId } = await heldWithSurplus()
    await world.fault({ fault: 'refund_pending', seconds: 600, attemptId })
    await world.refund(id)
    const real = world.deps.partners.wallet_app
    const order = await real.readOrder({ attemptId }, AbortSignal.timeout(5000))
    if (order === null) throw new Error('no order')
    const less = {
      ...real,
      readOrder: async () => ({ ...order, status: 'paid' as const, received: { ...order.amount, minor: '9000' } }),
      refundOrder: async () => ({ kind: 'refused', reason: 'too late' }) as const,
    }
    await world.read({ id, attemptId }, { partners: { ...world.deps.partners, wallet_app: less } })
    expect(await world.parts(id)).toEqual([
      '6000 counted',
      '4000 counted',
      '2500 surplus',
      '-2500 surplus',
      '-1000 counted',
    ])
    expect(await world.books(id)).toEqual(['merchant_payable EUR -9000', 'partner_receivable EUR 9000'])
  })
})

describe('a refund that was carried out', () => {
  test('asked for again is answered from the rows, and nobody is asked', async () => {
    const { id } = await world.paid('6000')
    await world.refund(id)
    const { version } = await world.payment(id)
    const partners = { ...world.deps.partners, wallet_app: { ...world.deps.partners.wallet_app } }
    partners.wallet_app.refundOrder = () => Promise.reject(new Error('the partner was asked again'))
    let transactions = 0
    const db: Db = {
      ...world.deps.db,
      transaction: (work) => {
        transactions++
        return world.deps.db.transaction(work)
      },
    }
    expect(await world.refund(id, {}, { partners, db })).toMatchObject({ refunded: true, payment: { version } })
    expect(transactions).toBe(1)
  })

  test('leaves what comes after it to another way: the partner’s key is one for the life of the order', async () => {
    const { id, attemptId } = await world.paid('6000')
    await world.decide(id, 'recordExternalRefund')
    await world.act(attemptId, { action: 'top_up', receivedMinor: '7000' })
    await world.read({ id, attemptId })
    await expect(world.refund(id, { attempt: attemptId })).rejects.toMatchObject({
      type: 'DecisionRefused',
      message:
        'wallet_app gives back a whole order, and money of this one was given back before: use recordExternalRefund for the rest',
    })
    expect(await world.parts(id)).toEqual(['6000 returned', '-6000 returned', '1000 surplus'])
    await world.decide(id, 'recordExternalRefund', { attempt: attemptId })
    expect(await world.attention(id)).toEqual([])
  })
})
