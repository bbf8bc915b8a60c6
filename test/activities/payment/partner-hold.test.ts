import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createMoneyWorld, eur, type MoneyWorld } from './money-world.ts'

/** A partner that holds the money for a check of its own, to its end. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

async function heldThere(receivedMinor?: string) {
  const made = await world.opened()
  await world.act(made.attemptId, { action: 'hold', ...(receivedMinor === undefined ? {} : { receivedMinor }) })
  expect((await world.read(made)).payment).toMatchObject({ status: 'under_review', parkReason: 'partner_hold' })
  // What the partner only holds is nobody's yet.
  expect([await world.parts(made.id), await world.books(made.id)]).toEqual([[], []])
  return made
}

test('released, the money is counted, and goes on by itself', async () => {
  const made = await heldThere()
  await world.act(made.attemptId, { action: 'release' })
  expect((await world.read(made)).payment).toMatchObject({ status: 'processing', parkReason: null })
  expect(await world.parts(made.id)).toEqual(['10000 counted'])
  expect(await world.books(made.id)).toEqual(['merchant_payable EUR -10000', 'partner_receivable EUR 10000'])
  await world.convert(made.id)
  expect((await world.payment(made.id)).usdc).toEqual({ gross: '108000000', fee: '4860000', net: '103140000' })
})

test('released with too little, it waits as underpaid', async () => {
  const made = await heldThere('6000')
  await world.act(made.attemptId, { action: 'release' })
  expect((await world.read(made)).payment).toMatchObject({
    status: 'under_review',
    parkReason: 'underpaid',
    exception: 'underpaid',
  })
  expect(await world.parts(made.id)).toEqual(['6000 counted'])
})

test('not released, it fails with nothing in the books', async () => {
  const made = await heldThere()
  await world.act(made.attemptId, { action: 'reverse' })
  expect((await world.read(made)).payment.status).toBe('failed')
  expect([await world.parts(made.id), await world.books(made.id)]).toEqual([[], []])
  expect(await world.attention(made.id)).toEqual([])
})

describe('held after it had been counted, it goes on by itself', () => {
  const ON_HOLD = { status: 'on_hold' } as const
  async function heldAfterwards() {
    const made = await world.paid()
    await world.read(made, world.says(ON_HOLD))
    expect((await world.payment(made.id)).parkReason).toBe('partner_hold')
    return made
  }

  // It waited for the next poll, up to 6 hours.
  test('when its refund is refused, by the answer that came with the refusal', async () => {
    const made = await heldAfterwards()
    await world.refund(made.id, {}, world.says(ON_HOLD, { refund: 'pending' }))
    await world.read(made, world.says({}, { refund: 'refused' }))
    expect(await world.payment(made.id)).toMatchObject({ status: 'processing', parkReason: null })
  })

  test('… unless an operator holds it, too', async () => {
    const made = await heldAfterwards()
    await world.decide(made.id, 'hold')
    await world.refund(made.id, {}, world.says(ON_HOLD, { refund: 'pending' }))
    await world.read(made, world.says({}, { refund: 'refused' }))
    expect(await world.payment(made.id)).toMatchObject({ status: 'under_review', parkReason: 'operator_hold' })
  })

  test('when the partner lets go all of it under another amount, of which an operator is told', async () => {
    const made = await heldAfterwards()
    await world.read(made, world.says({ amount: eur('15000'), received: eur('15000') }))
    expect(await world.payment(made.id)).toMatchObject({ status: 'processing', parkReason: null })
    expect(await world.attention(made.id)).toEqual(['misfit asked for 15000 EUR, received 15000'])
  })

  test('… and not by less of it', async () => {
    const made = await heldAfterwards()
    await world.read(made, world.says({ amount: eur('15000'), received: eur('9000') }))
    expect(await world.payment(made.id)).toMatchObject({ status: 'under_review', parkReason: 'partner_hold' })
  })
})
