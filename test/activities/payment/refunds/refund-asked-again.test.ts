import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { PaymentDeps } from '../../../../src/activities/payment/payment-deps.ts'
import { createMoneyWorld, type MoneyWorld } from '../money-world.ts'
import { perform } from '../world.ts'

/** The partner refuses a refund, and it is asked for again by the same key: what is still on its way was said of the first one. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

type Wallet = PaymentDeps['partners']['wallet_app']
const answers = (changes: Partial<Wallet>): Partial<PaymentDeps> => {
  const { wallet_app, ...others } = world.deps.partners
  return { partners: { ...others, wallet_app: { ...wallet_app, ...changes } } }
}
const pending: Partial<Wallet> = { refundOrder: async () => ({ kind: 'pending' }) }
const refused: Partial<Wallet> = { refundOrder: async () => ({ kind: 'refused', reason: 'the balance is too low' }) }
async function refunding() {
  const made = await world.paid()
  await world.decide(made.id, 'hold')
  await world.refund(made.id, {}, answers(pending))
  return made
}
const isStillAsked = async (id: string) => {
  expect((await world.state(id)).intents).toMatchObject([{ kind: 'refund', state: 'pending' }])
  expect(await world.parts(id)).toEqual(['10000 returning'])
  await world.decide(id, 'release')
  expect((await world.payment(id)).status).toBe('under_review')
}

describe('a refund that is asked for again after the partner refused it', () => {
  test('is not taken back by a reading that heard of the first one', async () => {
    const made = await refunding()
    const { wallet_app } = world.deps.partners
    const late: Wallet['readOrder'] = async (asked, signal) => {
      const order = await wallet_app.readOrder(asked, signal)
      await world.read(made, answers(refused))
      await world.refund(made.id, {}, answers(pending))
      return order
    }
    await world.read(made, answers({ ...refused, readOrder: late }))
    await isStillAsked(made.id)
    await world.read(made, answers({ refundOrder: async () => ({ kind: 'refunded' }) }))
    expect(await world.payment(made.id)).toMatchObject({ status: 'refunded' })
  })

  test('… nor by the answer to the decision that asked for the first one', async () => {
    const made = await world.paid()
    await world.decide(made.id, 'hold')
    const late: NonNullable<Wallet['refundOrder']> = async () => {
      await world.read(made, answers(refused))
      await world.refund(made.id, {}, answers(pending))
      return { kind: 'refused', reason: 'the balance is too low' }
    }
    expect(await world.refund(made.id, {}, answers({ refundOrder: late }))).toMatchObject({ refunded: false })
    await isStillAsked(made.id)
  })

  // The late money was called given back, and its workflow ended.
  test('… nor called done by that answer', async () => {
    const made = await world.paid()
    await world.decide(made.id, 'hold')
    const late: NonNullable<Wallet['refundOrder']> = async () => {
      await world.read(made, answers(refused))
      await world.refund(made.id, {}, answers(pending))
      return { kind: 'refunded' }
    }
    expect(await world.refund(made.id, {}, answers({ refundOrder: late }))).toMatchObject({ refunded: false })
    await isStillAsked(made.id)
  })

  test('… nor, of late money, which has a workflow of its own', async () => {
    const made = await world.opened()
    await perform(world.activities().closeUnpaid, { paymentId: made.id, as: 'expired', expiresAt: 0 })
    await world.checkout.db.query('update payment set listen_ended = true where id = $1', [made.id])
    const { wallet_app } = world.deps.partners
    const paid = async (...asked: Parameters<Wallet['readOrder']>) => {
      const order = await wallet_app.readOrder(...asked)
      return order === null ? null : { ...order, status: 'paid' as const, received: order.amount }
    }
    await world.read(made, answers({ readOrder: paid }))
    expect(await world.parts(made.id)).toEqual(['10000 late'])
    await world.refund(made.id, { attempt: made.attemptId }, answers(pending))
    const late: Wallet['readOrder'] = async (asked, signal) => {
      await world.read(made, answers({ ...refused, readOrder: paid }))
      await world.refund(made.id, { attempt: made.attemptId }, answers(pending))
      return paid(asked, signal)
    }
    await world.read(made, answers({ ...refused, readOrder: late }))
    expect(await world.parts(made.id)).toEqual(['10000 returning'])
  })
})
