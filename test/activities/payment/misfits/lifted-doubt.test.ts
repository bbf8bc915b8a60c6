import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { whyNotThere } from '../../../../src/domain/payment/decision.ts'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { offeredDecisions, snapshotOf } from '../../../../src/domain/payment/snapshot.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld } from '../money-world.ts'

/** A doubt that holds a payout ends when the partner says what is there, and by no word that says less. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

const PART = { status: 'paid', amount: eur('15000'), received: eur('4000') } as const
const ON_HOLD = { status: 'on_hold', received: eur('4000') } as const
const WITHHELD = expect.stringContaining('The partner holds the money of this order back')

const read = (made: Made, said: Partial<PartnerOrder>) => world.read(made, world.says(said))
const stateOf = async ({ id }: Made) => {
  const { status, parkReason } = await world.payment(id)
  return [status, parkReason]
}
/** What a decision that sets money going is told, which has the order read first. */
const told = async (made: Made, said: Partial<PartnerOrder>) =>
  whyNotThere(await read(made, said), { orderChanged: false })

async function doubtful(): Promise<Made> {
  const made = await world.settling()
  await read(made, PART)
  expect(await stateOf(made)).toEqual(['under_review', 'payout_held'])
  return made
}
const acknowledged = async (made: Made) => void (await world.decide(made.id, 'acknowledge'))

describe.each([
  ['has it on hold, with less', ON_HOLD, async () => {}],
  ['says that nothing has come', { status: 'open', received: null } as const, async () => {}],
  ['has it on hold, and the change is acknowledged', { ...ON_HOLD, amount: eur('15000') }, acknowledged],
])('a payout that is held for a doubt, whose order fits again, and the partner %s', (_, said, decided) => {
  const withheld = async () => {
    const made = await doubtful()
    await decided(made)
    expect(await told(made, said)).toEqual(WITHHELD)
    return made
  }

  // Its doubt was gone, and it was paid out: the partner had 40.00 EUR of 100.00.
  test('is not paid out, and an operator sees why', async () => {
    const made = await withheld()
    expect(await world.attention(made.id)).toEqual(['misfit asked for 15000 EUR, received 4000', 'parked payout_held'])
    await expect(world.decide(made.id, 'retry')).rejects.toThrow('and wait until the partner says what is there')
    expect(await stateOf(made)).toEqual(['under_review', 'payout_held'])
  })

  test('… is voided when it says that less is there', async () => {
    const made = await withheld()
    await read(made, { status: 'paid', received: eur('4000') })
    expect(await stateOf(made)).toEqual(['under_review', 'funds_reversed'])
    expect(await world.attention(made.id)).toEqual(['parked funds_reversed'])
  })

  test('… is paid out when it says that all of it is there', async () => {
    const made = await withheld()
    expect(await told(made, { status: 'paid', received: eur('10000') })).toBeNull()
    expect(await world.attention(made.id)).toEqual(['parked payout_held'])
    expect((await world.decide(made.id, 'retry')).payment.status).toBe('settling')
  })
})

test('a change that was acknowledged before the partner said what is there is not to be acknowledged again', async () => {
  const made = await doubtful()
  await acknowledged(made)
  expect(offeredDecisions(snapshotOf(await world.state(made.id)))).toEqual(['retry'])
  const { version } = await world.payment(made.id)
  await acknowledged(made)
  expect((await world.payment(made.id)).version).toBe(version)
})

test('a hold that came before the doubt is not lifted while the partner has the money on hold', async () => {
  const made = await world.settling()
  await world.decide(made.id, 'hold')
  await read(made, PART)
  expect(await told(made, ON_HOLD)).toEqual(WITHHELD)
  expect(await told(made, { status: 'paid', received: eur('10000') })).toBeNull()
  expect((await world.decide(made.id, 'release')).payment.status).toBe('settling')
})

test('money that is on hold after its sale, without a doubt, stops nothing', async () => {
  const made = await world.settling()
  await world.decide(made.id, 'hold')
  expect(await told(made, ON_HOLD)).toBeNull()
  expect((await world.decide(made.id, 'release')).payment.status).toBe('settling')
})
