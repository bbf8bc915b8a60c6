import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { createMoneyWorld, type Made, type MoneyWorld } from '../money-world.ts'
import type { Refunding } from '../partner-says.ts'

/** Money of an order that comes while its refund is being carried out, which the partner refuses in the end, or does not. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

const has = (minor: string): Partial<PartnerOrder> => ({ status: 'paid', received: { minor, currency: 'EUR' } })
const CHANGED = { ...has('4000'), amount: { minor: '15000', currency: 'EUR' } } as const

const says = (refund: Refunding, order: Partial<PartnerOrder>) => world.says(order, { refund })
const read = (made: Made, ...said: Parameters<typeof says>) => world.read(made, says(...said))
const standing = async ({ id }: Made) => {
  const { payment, attempts } = await world.state(id)
  const { status, parkReason, exception, confirmed } = payment
  return [status, parkReason, exception, attempts[0]?.status, confirmed?.minor]
}

/** Its order was changed, and its refund is being carried out; then the partner had less, and then so much. */
async function refundingWith(minor: string, isSold = false): Promise<Made> {
  const made = await world.paid()
  if (isSold) await world.convert(made.id)
  await read(made, 'pending', CHANGED)
  await world.refund(made.id, {}, says('pending', CHANGED))
  await read(made, 'pending', has('4000'))
  await read(made, 'pending', has(minor))
  return made
}
/** Too little was paid, and its refund is being carried out; then the partner had so much. */
async function completedWhileRefunding(minor: string): Promise<Made> {
  const made = await world.paid('6000')
  await world.refund(made.id, {}, says('pending', has('6000')))
  await read(made, 'pending', has(minor))
  return made
}

describe('a refund that is refused, of an order that has all of the money by then', () => {
  // 40.00 EUR were confirmed, and the other 60.00 were nobody's: the whole price could not be settled any more.
  test('and had less meanwhile: it goes on', async () => {
    const made = await refundingWith('10000')
    await read(made, 'refused', has('10000'))
    expect(await standing(made)).toEqual(['processing', null, null, 'confirmed', '10000'])
    expect(await world.parts(made.id)).toEqual(['10000 counted', '-6000 counted', '6000 counted'])
    expect(await world.attention(made.id)).toEqual([])
  })

  test('… after the conversion: it goes on, and nothing is lost', async () => {
    const made = await refundingWith('10000', true)
    await read(made, 'refused', has('10000'))
    expect(await standing(made)).toEqual(['processing', null, null, 'confirmed', '10000'])
    expect((await world.books(made.id)).filter((line) => line.startsWith('chargeback_loss'))).toEqual([])
  })

  test('… and more than that: the rest is surplus', async () => {
    const made = await refundingWith('12500')
    await read(made, 'refused', has('12500'))
    expect(await standing(made)).toEqual(['processing', null, 'duplicate_payment', 'confirmed', '10000'])
    expect(await world.attention(made.id)).toEqual(['surplus 2500 EUR'])
  })

  test('and had too little before: it is completed, and goes on', async () => {
    const made = await completedWhileRefunding('10000')
    await read(made, 'refused', has('10000'))
    expect(await standing(made)).toEqual(['processing', null, null, 'confirmed', '10000'])
    expect(await world.attention(made.id)).toEqual([])
  })

  test('… by the answer to the operator’s own decision: it waits for the partner’s word', async () => {
    const made = await completedWhileRefunding('12000')
    await expect(world.refund(made.id, {}, says('refused', has('12000')))).rejects.toThrow('balance is too low')
    expect(await standing(made)).toEqual(['under_review', 'order_changed', 'overpaid', 'confirmed', '12000'])
    await read(made, 'refused', has('12000'))
    expect(await standing(made)).toEqual(['processing', null, 'overpaid', 'confirmed', '12000'])
  })

  test('… and has less than the price still: it is too little, and can be approved', async () => {
    const made = await completedWhileRefunding('8000')
    await read(made, 'refused', has('8000'))
    expect(await standing(made)).toEqual(['under_review', 'underpaid', 'underpaid', 'underpaid', '8000'])
    expect((await world.decide(made.id, 'approve')).payment.status).toBe('processing')
  })
})

test.each([
  ['what was too little', () => completedWhileRefunding('10000')],
  ['what was confirmed', () => refundingWith('10000')],
  ['what was sold', () => refundingWith('10000', true)],
])('a refund that is carried out takes with it what came meanwhile: %s', async (_, refunding) => {
  const made = await refunding()
  await read(made, 'refunded', { status: 'refunded', received: null })
  expect((await world.payment(made.id)).status).toBe('refunded')
  expect(await world.attention(made.id)).toEqual([])
  expect((await world.books(made.id)).filter((line) => line.startsWith('partner_receivable'))).toEqual([])
})
