import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld } from '../money-world.ts'
import type { Refunding } from '../partner-says.ts'
import { perform } from '../world.ts'

/** What an operator has closed once, before the order fitted and its money was the payment's; then it is said again. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

const FITS = { status: 'paid', received: eur('10000') } as const
const PART = { status: 'paid', amount: eur('15000'), received: eur('4000') } as const
const WHOLE = { status: 'paid', amount: eur('15000'), received: eur('15000') } as const
const LISTED = 'misfit asked for 15000 EUR, received 4000'

/** The partner says this of the order, and answers a refund so. */
const says = (order: Partial<PartnerOrder>, refund: Refunding = 'pending') => world.says(order, { refund })
const read = (made: Made, ...said: Parameters<typeof says>) => world.read(made, says(...said))
const expire = ({ id }: Made) => perform(world.activities().closeUnpaid, { paymentId: id, as: 'expired', expiresAt: 0 })
const stateOf = async ({ id }: Made) => {
  const { status, parkReason } = await world.payment(id)
  return [status, parkReason]
}

/** It expired, an operator closed what was said of its order, and then the order fitted and was paid. */
async function paidAfter(said: Partial<PartnerOrder>): Promise<Made> {
  const made = await world.opened()
  await expire(made)
  await read(made, said)
  await world.decide(made.id, 'approve')
  expect(await world.attention(made.id)).toEqual([])
  await read(made, FITS)
  expect(await stateOf(made)).toEqual(['processing', null])
  return made
}

async function settling(made: Made): Promise<Made> {
  await world.handOver(made.id)
  expect(await stateOf(made)).toEqual(['settling', null])
  return made
}

describe('an order that has less money, in words that an operator closed before it fitted', () => {
  test('is not converted', async () => {
    const made = await paidAfter(PART)
    expect(await read(made, PART)).not.toMatchObject({ whole: true })
    expect(await stateOf(made)).toEqual(['under_review', 'order_changed'])
    expect(await world.attention(made.id)).toEqual([LISTED, 'parked order_changed'])
    await read(made, FITS)
    expect(await stateOf(made)).toEqual(['processing', null])
  })

  test('is not paid out', async () => {
    const made = await settling(await paidAfter(PART))
    await read(made, PART)
    expect(await stateOf(made)).toEqual(['under_review', 'payout_held'])
    expect(await world.attention(made.id)).toEqual([LISTED, 'parked payout_held'])
  })

  test('… where the operator had rejected the payment', async () => {
    const made = await world.opened()
    await read(made, PART)
    await world.decide(made.id, 'reject')
    await world.decide(made.id, 'approve')
    await read(made, FITS)
    await world.decide(made.id, 'approve')
    await settling(made)
    await read(made, PART)
    expect(await stateOf(made)).toEqual(['under_review', 'payout_held'])
  })

  test('does not go on after a refused refund', async () => {
    const made = await paidAfter(PART)
    await world.decide(made.id, 'hold')
    await world.refund(made.id, {}, says(FITS))
    await world.decide(made.id, 'release')
    await read(made, { ...FITS, status: 'on_hold' }, 'refused')
    expect(await stateOf(made)).toEqual(['under_review', 'order_changed'])
    await read(made, PART)
    expect(await stateOf(made)).toEqual(['under_review', 'order_changed'])
    expect(await world.attention(made.id)).toEqual([LISTED, 'parked order_changed'])
  })
})

// Each decision was refused because of the words, and acknowledging them because there was nothing to acknowledge.
test('an order that has all of the money, in words that were closed before, goes on, and can be acknowledged', async () => {
  const made = await paidAfter(WHOLE)
  expect(await read(made, WHOLE)).toMatchObject({ understood: false, whole: true })
  expect(await stateOf(made)).toEqual(['processing', null])
  expect(await world.attention(made.id)).toEqual(['misfit asked for 15000 EUR, received 15000'])
  await world.decide(made.id, 'acknowledge')
  expect(await world.attention(made.id)).toEqual([])
})

describe('what stops nothing stays closed when it is said again', () => {
  test('because the payment has no money', async () => {
    const made = await world.opened()
    await expire(made)
    await read(made, PART)
    await world.decide(made.id, 'approve')
    await read(made, PART)
    expect(await world.attention(made.id)).toEqual([])
  })

  test('because the payment has money of another order', async () => {
    const { made, other } = await world.two()
    const { id, attemptId } = other
    await expire(made)
    await read(made, PART)
    await world.decide(id, 'approve')
    await world.read(other, world.says(FITS, { partner: 'card_partner' }))
    expect(await world.payment(id)).toMatchObject({ status: 'processing', paidAttemptId: attemptId })
    await read(made, PART)
    expect(await world.attention(id)).toEqual([])
  })

  test('because the payment is over', async () => {
    const made = await settling(await paidAfter(PART))
    await world.settle(made.id)
    await read(made, PART)
    expect(await world.attention(made.id)).toEqual([])
    expect((await world.payment(made.id)).closedAt).not.toBeNull()
  })
})
