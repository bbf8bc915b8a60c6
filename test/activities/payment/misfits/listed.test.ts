import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { offeredDecisions, snapshotOf } from '../../../../src/domain/payment/snapshot.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld, NOTE } from '../money-world.ts'
import type { Refunding } from '../partner-says.ts'
import { perform } from '../world.ts'

/** What of misfits stands before an operator, and what of it can be recorded as given back: once, and only what is there. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

const has = (minor: string): Partial<PartnerOrder> => ({ status: 'paid', received: eur(minor) })
const MISFIT = { ...has('10000'), amount: eur('15000') }
const OTHER_WORDS = { ...MISFIT, amount: eur('20000') }
const NOTHING = { status: 'refunded', received: null } as const
const GONE = { ...NOTHING, amount: eur('15000') }
const GIVEN_BEFORE = 'given back before'

const says = (refund: Refunding, order: Partial<PartnerOrder>) => world.says(order, { refund })
const read = (made: Made, ...said: Parameters<typeof says>) => world.read(made, says(...said))
const byHand = ({ id, attemptId }: Made) => world.decide(id, 'recordExternalRefund', { attempt: attemptId })
const close = ({ id }: Made, as: 'expired' | 'listening_ended') =>
  perform(world.activities().closeUnpaid, { paymentId: id, as, expiresAt: 0 })
const statusOf = async ({ id }: Made) => (await world.payment(id)).status

const readOther = (other: Made, order: Partial<PartnerOrder>) =>
  world.read(other, world.says(order, { partner: 'card_partner' }))
async function settle({ id }: Made): Promise<void> {
  await world.handOver(id)
  await world.settle(id)
}
/** The other order is paid, and this one came beside it, and was changed then. */
async function surplusOfChanged(): Promise<Made> {
  const { made, other } = await world.two()
  await readOther(other, has('10000'))
  await read(made, 'pending', has('10000'))
  await read(made, 'pending', MISFIT)
  return made
}

describe('the order of a second payment is changed, and has nothing more', () => {
  test('which is listed once', async () => {
    expect(await world.attention((await surplusOfChanged()).id)).toEqual(['surplus 10000 EUR'])
  })

  test('and by hand it goes back once', async () => {
    const made = await surplusOfChanged()
    await byHand(made)
    expect(await world.attention(made.id)).toEqual([])
  })

  test('and the partner gives it back: nothing is left to be given back by hand', async () => {
    const made = await surplusOfChanged()
    await read(made, 'pending', { ...MISFIT, received: eur('12500') })
    expect(await world.attention(made.id)).toEqual(['misfit asked for 15000 EUR, received 12500', 'surplus 10000 EUR'])
    await world.refund(made.id, { attempt: made.attemptId }, says('refunded', MISFIT))
    await settle(made)
    expect(await world.attention(made.id)).toEqual([])
    await expect(byHand(made)).rejects.toThrow('There is no money to give back')
  })

  test('… as late money', async () => {
    const made = await world.opened()
    await close(made, 'expired')
    await close(made, 'listening_ended')
    await read(made, 'pending', has('10000'))
    await read(made, 'pending', { ...MISFIT, received: eur('12500') })
    await world.refund(made.id, { attempt: made.attemptId }, says('refunded', MISFIT))
    expect(await world.attention(made.id)).toEqual([])
  })
})

test('the order of a settled payment is changed, and has no more than was paid out: nothing is to be given back', async () => {
  const made = await world.settling()
  await world.settle(made.id)
  await read(made, 'pending', MISFIT)
  expect(await world.attention(made.id)).toEqual([])
  await read(made, 'pending', { ...MISFIT, received: eur('4000') })
  expect(await world.attention(made.id)).toEqual(['misfit asked for 15000 EUR, received 4000'])
})

describe('what was given back from elsewhere', () => {
  test('of an order that its partner held, and that fitted, does not go back through the partner', async () => {
    const { made, other } = await world.two()
    await read(made, 'pending', { status: 'on_hold', received: eur('10000') })
    await readOther(other, MISFIT)
    await byHand(made)
    await read(made, 'pending', has('10000'))
    const refund = world.refund(made.id, { attempt: made.attemptId }, says('refunded', has('10000')))
    await expect(refund).rejects.toThrow(GIVEN_BEFORE)
  })

  test('… of one that was told of another account: the same', async () => {
    const made = await world.opened()
    await read(made, 'pending', { ...has('10000'), account: 'somebody_else' })
    await byHand(made)
    await read(made, 'pending', has('10000'))
    expect(await world.attention(made.id)).toEqual(['surplus 10000 EUR'])
    await expect(world.refund(made.id, {}, says('refunded', has('10000')))).rejects.toThrow(GIVEN_BEFORE)
  })

  test('is not listed in other words, and not recorded once more', async () => {
    const made = await world.opened()
    await read(made, 'pending', MISFIT)
    await byHand(made)
    await read(made, 'pending', OTHER_WORDS)
    expect(await world.attention(made.id)).toEqual([])
    await expect(byHand(made)).rejects.toThrow('There is no money to give back')
  })

  test('and the partner sent back and has again, in the same words, is listed', async () => {
    const made = await world.opened()
    await read(made, 'pending', MISFIT)
    await byHand(made)
    await read(made, 'pending', GONE)
    expect(await world.attention(made.id)).toEqual(['outside_reversed 10000 EUR'])
    await world.decide(made.id, 'approve')
    await read(made, 'pending', MISFIT)
    expect(await world.attention(made.id)).toEqual(['misfit asked for 15000 EUR, received 10000'])
  })

  test('of a declined order that has money all the same was not taken back when that is said again', async () => {
    const made = await world.opened()
    const declined = { status: 'declined', received: eur('10000'), failureCode: 'declined' } as const
    await read(made, 'pending', declined)
    await byHand(made)
    for (const order of [declined, { ...declined, status: 'canceled' } as const]) {
      await read(made, 'pending', order)
      expect(await world.attention(made.id)).toEqual([])
    }
  })

  test('with the payment’s own money is all that its order has', async () => {
    const made = await world.paid()
    await world.decide(made.id, 'hold')
    await read(made, 'pending', { ...has('15000'), amount: eur('15000') })
    await byHand(made)
    await read(made, 'pending', has('15000'))
    expect(await statusOf(made)).toBe('refunded')
    expect(await world.attention(made.id)).toEqual([])
    expect(await world.books(made.id)).toEqual(['exchange EUR -15000', 'partner_receivable EUR 15000'])
  })

  test('beside a payment that goes on can be recorded, as is offered', async () => {
    const { made, other } = await world.two()
    await readOther(other, has('10000'))
    await read(made, 'pending', MISFIT)
    expect(offeredDecisions(snapshotOf(await world.state(made.id)))).toContain('recordExternalRefund')
    await byHand(made)
    await read(made, 'pending', has('10000'))
    expect(await world.attention(made.id)).toEqual([])
    expect(await world.parts(made.id)).toEqual(['10000 counted', '10000 returned', '-10000 returned'])
  })

  test('by another operator, who had looked before the partner gave it back, is refused', async () => {
    const made = await world.opened()
    await close(made, 'expired')
    await close(made, 'listening_ended')
    await read(made, 'pending', has('10000'))
    const { version } = await world.payment(made.id)
    await world.refund(made.id, { attempt: made.attemptId }, says('refunded', has('10000')))
    const order = { paymentId: made.id, decision: 'recordExternalRefund', ...NOTE, version } as const
    await expect(perform(world.activities().decide, order)).rejects.toThrow('has changed since you looked')
    // Another try of what was recorded.
    expect(await perform(world.activities().decide, order, { attempt: 2 })).toMatchObject({ refunded: true })
  })

  test('is not what the merchant was paid for, and the partner has again', async () => {
    const made = await world.settling()
    await world.settle(made.id)
    await read(made, 'pending', has('6000'))
    await world.decide(made.id, 'approve')
    await read(made, 'pending', MISFIT)
    await expect(byHand(made)).rejects.toThrow('The payout exists')
  })
})

test('what is shown first of two incidents is what an approval deals with, though it was said anew', async () => {
  const { made, other } = await world.two()
  await readOther(other, has('10000'))
  await settle(made)
  await read(made, 'pending', MISFIT)
  await readOther(other, NOTHING)
  const { payment } = await read(made, 'pending', OTHER_WORDS)
  expect(payment.incidents).toEqual(['misfit', 'chargeback'])
  await world.decide(made.id, 'approve')
  expect(await world.attention(made.id)).toEqual(['chargeback'])
})

describe('what does not fit goes back by the partner', () => {
  test('who refuses our refund of it, since it has been carried out: the payment is refunded', async () => {
    const made = await world.opened()
    await read(made, 'pending', MISFIT)
    await world.refund(made.id, {}, says('pending', MISFIT))
    await read(made, 'refused', GONE)
    expect(await statusOf(made)).toBe('refunded')
  })

  test('by itself: the same', async () => {
    const made = await world.opened()
    await read(made, 'pending', MISFIT)
    await read(made, 'pending', GONE)
    expect(await statusOf(made)).toBe('refunded')
    expect(await world.attention(made.id)).toEqual([])
  })
})

test('paid money of which the order says in another currency that it is not there is in doubt', async () => {
  const made = await world.paid()
  await read(made, 'pending', { ...NOTHING, amount: { minor: '10000', currency: 'USD' } })
  expect(await world.payment(made.id)).toMatchObject({ status: 'under_review', parkReason: 'order_changed' })
})
