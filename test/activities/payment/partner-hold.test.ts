import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createMoneyWorld, type MoneyWorld } from './money-world.ts'

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
