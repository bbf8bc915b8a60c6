import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld } from '../money-world.ts'

/** Answers that were on their way while something newer was heard of the payment's own money. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

const WHOLE = { amount: eur('15000'), received: eur('15000') }
const PART = { amount: eur('15000'), received: eur('4000') }
const HELD = { status: 'on_hold' } as const

/** The partner says this of the order; `meanwhile` happens after it has answered, and before the answer is applied. */
const says = (order: Partial<PartnerOrder>, meanwhile?: () => Promise<unknown>) =>
  world.says(order, meanwhile && { meanwhile })
const read = (made: Made, ...said: Parameters<typeof says>) => world.read(made, says(...said))
const stateOf = async ({ id }: Made) => {
  const { status, parkReason } = await world.payment(id)
  return [status, parkReason]
}

describe('an order that was changed, and has less than was paid, does not go on by an answer that was asked for before', () => {
  test.each([
    ['of another amount, with all of the money', WHOLE],
    ['that fits', {}],
  ])('%s', async (_, older) => {
    const made = await world.paid()
    expect((await read(made, older, () => read(made, PART))).understood).toBe(false)
    expect(await stateOf(made)).toEqual(['under_review', 'order_changed'])
    expect(await world.attention(made.id)).toContain('misfit asked for 15000 EUR, received 4000')
    await read(made, older)
    expect(await stateOf(made)).toEqual(['processing', null])
  })

  test('… when the doubt of then had gone, and came again in the same words', async () => {
    const made = await world.paid()
    await read(made, PART)
    const again = async () => {
      await read(made, WHOLE)
      await read(made, PART)
    }
    for (const older of [WHOLE, {}]) {
      await read(made, older, again)
      expect(await stateOf(made)).toEqual(['under_review', 'order_changed'])
    }
  })

  test('… when the change was acknowledged meanwhile, and what is missing is not counted yet', async () => {
    const made = await world.paid()
    await read(made, {}, async () => {
      await read(made, PART)
      await world.decide(made.id, 'acknowledge')
    })
    expect(await stateOf(made)).toEqual(['under_review', 'order_changed'])
    await read(made, PART)
    expect(await stateOf(made)).toEqual(['under_review', 'underpaid'])
  })

  test('… while an operator holds it: a release is not let through by it', async () => {
    const made = await world.paid()
    await world.decide(made.id, 'hold')
    await read(made, WHOLE, () => read(made, PART))
    await world.decide(made.id, 'release')
    expect((await world.payment(made.id)).status).toBe('under_review')
  })
})

test('counted money that its partner holds is not let go by an answer that was asked for before', async () => {
  const made = await world.paid()
  expect((await read(made, {}, () => read(made, HELD))).understood).toBe(false)
  expect(await stateOf(made)).toEqual(['under_review', 'partner_hold'])
  await read(made, {})
  expect(await stateOf(made)).toEqual(['processing', null])
})
