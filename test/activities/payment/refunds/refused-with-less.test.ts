import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld } from '../money-world.ts'
import type { Refunding } from '../partner-says.ts'
import { perform } from '../world.ts'

/** A refund that the partner refuses in the end, and of which it took a part back while it was being carried out. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

const LESS = { received: eur('4000') }
const A_LITTLE_LESS = { received: eur('9950') }
const CHANGED = { amount: eur('15000'), received: eur('4000') }
const ON_HOLD = { status: 'on_hold' } as const

/** The partner answers the refund so, and says this of the order. */
const says = (refund: Refunding, order: Partial<PartnerOrder> = {}) => world.says(order, { refund })
const read = (made: Made, ...said: Parameters<typeof says>) => world.read(made, says(...said))
const standing = async ({ id }: Made) => {
  const { payment, attempts } = await world.state(id)
  const { status, parkReason, held, confirmed } = payment
  return [status, parkReason, held, attempts[0]?.status, confirmed?.minor]
}
const TOO_LITTLE = ['under_review', 'underpaid', false, 'underpaid', '4000']

/** Its refund is being carried out, while it waits for this word of its partner. */
async function refundingAt(said: Partial<PartnerOrder>): Promise<Made> {
  const made = await world.paid()
  await read(made, 'pending', said)
  await world.refund(made.id, {}, says('pending', said))
  return made
}
async function refundingAfterHold(): Promise<Made> {
  const made = await world.paid()
  await world.decide(made.id, 'hold')
  await world.refund(made.id, {}, says('pending'))
  return made
}

/** The order for what was confirmed before is ended first. */
async function isSold(id: string): Promise<void> {
  for (const _ of ['ended', 'asked for anew'])
    await perform(world.activities().convertToUsdc, { paymentId: id, last: false })
  expect((await world.payment(id)).usdc).not.toBeNull()
}

describe('what is left is too little, and waits for an operator who can decide', () => {
  test.each([
    ['a changed order', CHANGED],
    ['what the partner held', ON_HOLD],
  ])('%s', async (_, said) => {
    const made = await refundingAt(said)
    await read(made, 'refused', LESS)
    expect(await standing(made)).toEqual(TOO_LITTLE)
    expect(await world.parts(made.id)).toEqual(['10000 counted', '-6000 counted'])
    expect(await world.attention(made.id)).toEqual(['parked underpaid'])
    expect((await world.payment(made.id)).exception).toBe('underpaid')
    // The partner's word does not make it enough, and all of it does.
    await read(made, 'refused', LESS)
    expect(await standing(made)).toEqual(TOO_LITTLE)
    await read(made, 'refused')
    expect(await standing(made)).toEqual(['processing', null, false, 'confirmed', '10000'])
  })

  test('… and is approved, or refunded', async () => {
    const made = await refundingAt(ON_HOLD)
    await read(made, 'refused', LESS)
    expect((await world.decide(made.id, 'approve')).payment.status).toBe('processing')
    await isSold(made.id)

    const other = await refundingAt(ON_HOLD)
    await read(other, 'refused', LESS)
    await world.decide(other.id, 'recordExternalRefund')
    expect((await world.payment(other.id)).status).toBe('refunded')
    expect(await world.books(other.id)).toEqual(['exchange EUR -4000', 'partner_receivable EUR 4000'])
  })

  test('… when the answer to the operator’s own decision says that it is refused', async () => {
    const made = await refundingAt(ON_HOLD)
    await read(made, 'pending', LESS)
    expect((await standing(made))[1]).toBe('partner_hold')
    await expect(world.refund(made.id, {}, says('refused'))).rejects.toThrow('balance is too low')
    expect(await standing(made)).toEqual(TOO_LITTLE)
    expect(await world.checkout.timeline(made.id, 'attempt.underpaid')).toHaveLength(1)
  })

  test('… where a hold was released meanwhile', async () => {
    const made = await refundingAfterHold()
    await world.decide(made.id, 'release')
    await read(made, 'refused', LESS)
    expect(await standing(made)).toEqual(TOO_LITTLE)
  })

  test('… when a hold is released after it', async () => {
    const made = await refundingAfterHold()
    await read(made, 'refused', LESS)
    expect(await standing(made)).toEqual(['under_review', 'operator_hold', true, 'underpaid', '4000'])
    await world.decide(made.id, 'release')
    expect(await standing(made)).toEqual(TOO_LITTLE)
  })

  // It waited for a word that makes nothing of too little, and no decision approves what waits for a partner.
  test.each([
    ['fits again', {}],
    ['has all of it by another amount', { amount: eur('15000') }],
  ])('… and was in doubt beside a hold, once its order %s', async (_, again) => {
    const made = await world.paid()
    await world.decide(made.id, 'hold')
    await read(made, 'pending', LESS)
    await read(made, 'pending', { amount: eur('15000'), received: eur('3000') })
    await expect(world.refund(made.id, {}, says('refused', LESS))).rejects.toThrow('balance is too low')
    expect((await standing(made))[1]).toBe('order_changed')
    await read(made, 'pending', { ...LESS, ...again })
    expect(await standing(made)).toEqual(['under_review', 'underpaid', true, 'underpaid', '4000'])
    await world.decide(made.id, 'release')
    expect(await standing(made)).toEqual(TOO_LITTLE)
    expect((await world.decide(made.id, 'approve')).payment.status).toBe('processing')
  })

  test('… or was too little before: less of it is approved', async () => {
    const made = await world.paid('6000')
    await world.refund(made.id, {}, says('pending'))
    await read(made, 'refused', LESS)
    expect(await standing(made)).toEqual(TOO_LITTLE)
    expect((await world.decide(made.id, 'approve')).payment.status).toBe('processing')
  })
})

describe('what is left is enough, and goes on', () => {
  test('where a hold was released meanwhile, by the answer that came with the refusal', async () => {
    const made = await refundingAfterHold()
    await world.decide(made.id, 'release')
    await read(made, 'refused', A_LITTLE_LESS)
    expect(await standing(made)).toEqual(['processing', null, false, 'confirmed', '9950'])
  })

  test('where the partner held it, by its next word', async () => {
    const made = await refundingAt(ON_HOLD)
    await read(made, 'refused', A_LITTLE_LESS)
    await read(made, 'refused', A_LITTLE_LESS)
    expect(await standing(made)).toEqual(['processing', null, false, 'confirmed', '9950'])
    await isSold(made.id)
  })
})
