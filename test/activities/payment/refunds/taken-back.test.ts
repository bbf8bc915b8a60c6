import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { newId } from '../../../../src/ids.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld } from '../money-world.ts'
import { perform } from '../world.ts'

/** What the merchant reads of a payment whose money was there, and has gone before it was sold. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

const close = ({ id }: Made, as: 'canceled' | 'expired') =>
  perform(world.activities().closeUnpaid, { paymentId: id, as, expiresAt: 0 })
const says = (made: Made, order: Partial<PartnerOrder>) => world.read(made, world.says(order))
const paid = { status: 'paid', received: eur('10000') } as const
const takenBack = { status: 'declined', received: null, failureCode: 'reversed' } as const
const told = async ({ id }: Made) => {
  const { status, exception } = await world.payment(id)
  return { status, exception }
}

describe('late money that the partner takes back', () => {
  // It was open again, and could be paid by another order.
  test('leaves a payment canceled that its merchant had canceled', async () => {
    const made = await world.opened()
    await close(made, 'canceled')
    await says(made, paid)
    expect(await told(made)).toEqual({ status: 'processing', exception: 'paid_late' })
    await says(made, takenBack)
    expect(await told(made)).toEqual({ status: 'canceled', exception: null })
    const order = { paymentId: made.id, attemptId: newId('attempt'), provider: 'card_partner', method: 'card' } as const
    const { answer } = await perform(world.activities().openPartnerOrder, order)
    expect(answer).toEqual({ kind: 'not_payable', status: 'canceled' })
    expect(await world.books(made.id)).toEqual([])
    const ends = (await world.events(made.id)).filter(
      (type) => type === 'payment.canceled' || type === 'payment.processing',
    )
    expect(ends).toEqual(['payment.canceled', 'payment.processing', 'payment.canceled'])
    // It is waited for as after any cancellation.
    await says(made, paid)
    expect(await told(made)).toEqual({ status: 'processing', exception: 'paid_late' })
  })

  test('leaves a payment failed that had failed, and was approved for that money', async () => {
    const made = await world.paid()
    await says(made, { status: 'refunded', received: null })
    expect(await told(made)).toEqual({ status: 'failed', exception: null })
    const other = { id: made.id, attemptId: newId('attempt') }
    await world.checkout.change(made.id, (work) =>
      work.addAttempt({ id: other.attemptId, provider: 'wallet_app', method: 'banking_app', asked: eur('10000') }),
    )
    const order = { attemptId: other.attemptId, reference: 'ref' }
    const wallet = world.deps.partners.wallet_app
    const answers = (said: Partial<PartnerOrder>) => ({
      partners: {
        ...world.deps.partners,
        wallet_app: {
          ...wallet,
          readOrder: async () =>
            ({
              account: world.deps.accounts.wallet_app,
              amount: eur('10000'),
              failureCode: null,
              ...order,
              ...said,
            }) as PartnerOrder,
        },
      },
    })
    await world.read(other, answers(paid))
    await world.decide(made.id, 'approve')
    expect(await told(made)).toEqual({ status: 'processing', exception: null })
    await world.read(other, answers(takenBack))
    expect(await told(made)).toEqual({ status: 'failed', exception: null })
  })
})

// It had expired, and was overpaid; it had failed, and its settlement was delayed.
describe('what was said of the money is said no more', () => {
  test('of too much that was taken back, when the payment expires', async () => {
    const made = await world.paid('15000')
    expect(await told(made)).toEqual({ status: 'processing', exception: 'overpaid' })
    await says(made, takenBack)
    await close(made, 'expired')
    expect(await told(made)).toEqual({ status: 'expired', exception: null })
  })

  test.each([
    ['failed', async (made: Made) => says(made, { status: 'refunded', received: null })],
    [
      'refunded',
      async ({ id }: Made) => {
        await world.decide(id, 'hold')
        await world.decide(id, 'recordExternalRefund')
      },
    ],
  ] as const)('of a delay, when the payment is %s', async (status, end) => {
    const made = await world.paid()
    await perform(world.activities().markDelayed, made.id)
    expect(await told(made)).toEqual({ status: 'processing', exception: 'settlement_delayed' })
    await end(made)
    expect(await told(made)).toEqual({ status, exception: null })
  })
})
