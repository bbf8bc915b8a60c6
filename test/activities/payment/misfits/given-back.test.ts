import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { BEING_REFUNDED } from '../../../../src/domain/payment/refund.ts'
import { offeredDecisions, snapshotOf } from '../../../../src/domain/payment/snapshot.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld } from '../money-world.ts'
import type { Refunding } from '../partner-says.ts'
import { perform } from '../world.ts'

/** Money of another amount than was asked for is given back, and meanwhile, or afterwards, the partner corrects its order. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

const has = (minor: string): Partial<PartnerOrder> => ({ status: 'paid', received: eur(minor) })
const MISFIT = { ...has('10000'), amount: eur('15000') }
const NOTHING = { status: 'refunded', received: null } as const
const LISTED = 'misfit asked for 15000 EUR, received 10000'

const says = (refund: Refunding, order: Partial<PartnerOrder>) => world.says(order, { refund })
const read = (made: Made, ...said: Parameters<typeof says>) => world.read(made, says(...said))
const stateOf = async ({ id }: Made) => {
  const { payment, attempts } = await world.state(id)
  return [payment.status, payment.parkReason, attempts[0]?.status]
}
const back = async ({ id }: Made) => {
  const parts = await world.parts(id)
  return { parts, books: await world.books(id), attention: await world.attention(id), events: await world.events(id) }
}
/** Nothing is anybody's, and the merchant was told that the money went back. */
const ALL_BACK = { books: [], attention: [], events: ['payment.created', 'payment.under_review', 'payment.refunded'] }

async function misfit(): Promise<Made> {
  const made = await world.opened()
  await read(made, 'pending', MISFIT)
  return made
}
async function refunding(): Promise<Made> {
  const made = await misfit()
  await world.refund(made.id, {}, says('pending', MISFIT))
  return made
}

describe('an order that fits again while its refund is being carried out', () => {
  test('is refunded with all that it has, by the partner’s word', async () => {
    const made = await refunding()
    await read(made, 'pending', has('10000'))
    expect(await world.parts(made.id)).toEqual(['10000 returning'])
    for (let reading = 0; reading < 2; reading++) await read(made, 'pending', has('12500'))
    expect(await world.parts(made.id)).toEqual(['10000 returning', '2500 returning'])
    await read(made, 'refunded', NOTHING)
    expect(await stateOf(made)).toEqual(['refunded', null, 'refunded'])
    expect(await back(made)).toMatchObject(ALL_BACK)
  })

  test('… by the answer to the operator, who asks once more', async () => {
    const made = await refunding()
    await read(made, 'pending', has('10000'))
    expect((await world.refund(made.id, {}, says('refunded', has('10000')))).refunded).toBe(true)
    expect(await stateOf(made)).toEqual(['refunded', null, 'refunded'])
    expect(await back(made)).toMatchObject(ALL_BACK)
  })

  test('… and is to be approved where the partner refuses it', async () => {
    const made = await refunding()
    await read(made, 'pending', has('10000'))
    await read(made, 'refused', has('10000'))
    expect(await stateOf(made)).toEqual(['under_review', 'amount_mismatch', 'confirmed'])
    expect(await back(made)).toMatchObject({ parts: ['10000 counted'], attention: ['parked amount_mismatch'] })
    expect((await world.decide(made.id, 'approve')).payment.status).toBe('processing')
  })

  test('… or is a second payment, where another order was paid meanwhile', async () => {
    const { made, other } = await world.two()
    await read(made, 'pending', MISFIT)
    await world.refund(made.id, {}, says('pending', MISFIT))
    await read(made, 'pending', has('10000'))
    await payOther(other)
    await read(made, 'refused', has('10000'))
    expect(await back(made)).toMatchObject({
      books: ['merchant_payable EUR -10000', 'partner_receivable EUR 20000', 'suspense EUR -10000'],
      attention: ['parked amount_mismatch', 'surplus 10000 EUR'],
    })
    const { payment } = await world.decide(made.id, 'approve')
    expect(payment).toMatchObject({ status: 'processing', paidAttemptId: other.attemptId })
    // Whatever becomes of the other one's money, this is no loss of it.
    await world.convert(made.id)
    await world.refund(made.id, {}, says('refunded', has('10000')))
    const suspended = (await world.books(made.id)).filter((line) => /suspense|merchant_payable EUR|loss/.test(line))
    expect(suspended).toEqual([])
  })

  test('cannot be rejected meanwhile, and that is not offered', async () => {
    const made = await refunding()
    expect(offeredDecisions(snapshotOf(await world.state(made.id)))).not.toContain('reject')
    await expect(world.decide(made.id, 'reject')).rejects.toThrow(BEING_REFUNDED.why)
  })
})

test('more money of a held order comes while its refund is being carried out: it goes back with the rest', async () => {
  const made = await world.paid()
  await world.decide(made.id, 'hold')
  await world.refund(made.id, {}, says('pending', has('10000')))
  await read(made, 'pending', has('12500'))
  expect((await world.refund(made.id, {}, says('refunded', has('12500')))).refunded).toBe(true)
  expect(await stateOf(made)).toEqual(['refunded', null, 'refunded'])
  expect(await back(made)).toMatchObject({ books: [], attention: [] })
})

test('… and of a second payment', async () => {
  const { made, other } = await world.two()
  await payOther(other)
  await read(made, 'pending', has('10000'))
  await world.refund(made.id, {}, says('pending', has('10000')))
  await read(made, 'pending', has('12500'))
  await world.refund(made.id, {}, says('refunded', has('12500')))
  expect(await world.attention(made.id)).toEqual([])
  expect((await world.payment(made.id)).status).toBe('processing')
})

async function payOther(other: Made): Promise<void> {
  await world.sandbox.act('card_partner', other.attemptId, { action: 'pay', receivedMinor: '10000' })
  await world.read(other)
}

describe('what was given back from elsewhere', () => {
  test('is no money that comes when the partner corrects its order', async () => {
    const made = await misfit()
    await world.decide(made.id, 'recordExternalRefund')
    const OURS = ['exchange EUR -10000', 'partner_receivable EUR 10000']
    for (const order of [MISFIT, has('10000')]) {
      await read(made, 'refunded', order)
      expect(await stateOf(made)).toEqual(['refunded', null, 'refunded'])
      expect(await back(made)).toMatchObject({
        parts: ['10000 returned', '-10000 returned'],
        books: OURS,
        attention: [],
      })
    }
    // What comes beyond it goes back by hand as well: the partner gives back a whole order.
    await read(made, 'refunded', has('12500'))
    expect(await world.attention(made.id)).toEqual(['surplus 2500 EUR'])
    await expect(world.refund(made.id, {}, says('refunded', has('12500')))).rejects.toThrow('given back before')
    await world.decide(made.id, 'recordExternalRefund')
    // The buyer has it twice.
    await read(made, 'refunded', NOTHING)
    expect(await back(made)).toMatchObject({ books: [], attention: ['outside_reversed 12500 EUR'] })
  })

  test('of a sum that nobody has said goes back by hand alone, when the partner says it', async () => {
    const made = await world.opened()
    await read(made, 'pending', { ...MISFIT, received: null })
    await world.decide(made.id, 'recordExternalRefund')
    await read(made, 'refunded', has('10000'))
    expect(await world.attention(made.id)).toEqual(['surplus 10000 EUR'])
    await expect(world.refund(made.id, {}, says('refunded', has('10000')))).rejects.toThrow('given back before')
    await world.decide(made.id, 'recordExternalRefund')
    expect(await world.attention(made.id)).toEqual([])
  })

  test('of a payment that has ended is not paid out when the partner corrects its order', async () => {
    const made = await world.opened()
    await perform(world.activities().closeUnpaid, { paymentId: made.id, as: 'expired', expiresAt: 0 })
    await read(made, 'pending', MISFIT)
    expect(await world.attention(made.id)).toEqual([LISTED])
    await world.decide(made.id, 'recordExternalRefund')
    for (const order of [MISFIT, has('10000')]) {
      await read(made, 'refunded', order)
      expect((await world.payment(made.id)).status).toBe('expired')
      expect(await back(made)).toMatchObject({ parts: ['10000 returned', '-10000 returned'], attention: [] })
    }
  })

  test('… nor what it has more than was paid out', async () => {
    const made = await world.settling()
    await world.settle(made.id)
    await read(made, 'pending', { ...MISFIT, received: eur('15000') })
    await world.decide(made.id, 'recordExternalRefund')
    await read(made, 'refunded', has('15000'))
    expect(await world.attention(made.id)).toEqual([])
    expect(await stateOf(made)).toEqual(['succeeded', null, 'confirmed'])
    expect(await world.parts(made.id)).toEqual(['10000 counted', '5000 returned', '-5000 returned'])
  })
})

test.each([
  ['is held by its partner', { status: 'on_hold', received: eur('10000') }],
  ['is being confirmed for too long', { status: 'confirming', received: null }],
] as const)('another amount of an order that %s: it can be given back', async (_, before) => {
  const made = await world.opened()
  await read(made, 'pending', before)
  if (before.status === 'confirming') await silentForTooLong(made)
  await read(made, 'pending', MISFIT)
  expect(await stateOf(made)).toEqual(['under_review', 'amount_mismatch', 'on_hold'])
  await world.refund(made.id, {}, says('refunded', MISFIT))
  expect(await stateOf(made)).toEqual(['refunded', null, 'refunded'])
})

test('an answer that was asked for before a refund was over opens no misfit after it', async () => {
  const made = await misfit()
  await world.read(made, world.says(MISFIT, { meanwhile: () => world.refund(made.id, {}, says('refunded', MISFIT)) }))
  expect(await stateOf(made)).toEqual(['refunded', null, 'refunded'])
  expect(await world.attention(made.id)).toEqual([])
})

async function silentForTooLong({ id }: Made): Promise<void> {
  const now = () => world.deps.context.now() + 72 * 3_600_000
  await perform(world.activities({ context: { ...world.deps.context, now } }).parkSilent, id)
}
