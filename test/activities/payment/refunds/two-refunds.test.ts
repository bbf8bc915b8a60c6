import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { createMoneyWorld, eur, type MoneyWorld, NOTE } from '../money-world.ts'
import { partnerSays, type Refunding } from '../partner-says.ts'
import { perform } from '../world.ts'

/** Two orders have money that goes back, one after the other, and the second refund names none of them. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

type Two = { readonly id: string; readonly a: string; readonly b: string }
const PAID = { status: 'paid', received: eur('10000') } as const

/** What both partners say of their orders, and how they answer a refund. */
function says(order: Partial<PartnerOrder>, refund: Refunding) {
  const first = partnerSays(world.deps, order, { refund })
  return partnerSays({ ...world.deps, ...first }, order, { refund, partner: 'card_partner' })
}

async function two(order: Partial<PartnerOrder>): Promise<Two> {
  const { made, other } = await world.two()
  for (const one of [made, other]) await world.read(one, says(order, 'pending'))
  return { id: made.id, a: made.attemptId, b: other.attemptId }
}
/** Two orders of other amounts than were asked for. */
const misfits = () => two({ ...PAID, amount: eur('15000') })
const refund = ({ id }: Two, attempt: string | undefined, answer: Refunding, attempts = 1) =>
  perform(
    world.activities(says(PAID, answer)).refundAttempt,
    { paymentId: id, ...NOTE, ...(attempt === undefined ? {} : { attempt }) },
    { attempt: attempts },
  )
const statuses = async ({ id }: Two) => (await world.state(id)).attempts.map(({ status }) => status)

test('after one of them has gone back, an unnamed refund is of the other one', async () => {
  const made = await misfits()
  await expect(refund(made, undefined, 'refunded')).rejects.toThrow('Name the attempt')
  await refund(made, made.a, 'refunded')
  expect(await statuses(made)).toEqual(['refunded', 'on_hold'])
  // It was called done, and neither the partner nor a row had heard of it.
  expect(await refund(made, undefined, 'refunded')).toMatchObject({ refunded: true })
  expect(await statuses(made)).toEqual(['refunded', 'refunded'])
  expect(await world.payment(made.id)).toMatchObject({ status: 'refunded' })
  expect(await refund(made, undefined, 'refunded')).toMatchObject({ refunded: true })
})

test('… and so is an unnamed refund from elsewhere, of what the operator has looked at', async () => {
  const made = await misfits()
  await refund(made, made.a, 'refunded')
  const { version } = await world.payment(made.id)
  const order = { paymentId: made.id, decision: 'recordExternalRefund', ...NOTE } as const
  const stale = perform(world.activities().decide, { ...order, version: version - 1 })
  await expect(stale).rejects.toThrow('The payment has changed since you looked at it')
  const recorded = await perform(world.activities().decide, { ...order, version })
  expect(recorded).toMatchObject({ refunded: true, payment: { status: 'refunded' } })
  expect(await statuses(made)).toEqual(['refunded', 'refunded'])
})

test('another try of an unnamed refund, whose answer was lost, gives nothing else back', async () => {
  const made = await misfits()
  await refund(made, made.a, 'refunded')
  const before = await world.state(made.id)
  expect(await refund(made, undefined, 'refunded', 2)).toMatchObject({ refunded: false, unsure: true })
  expect(await world.state(made.id)).toEqual(before)
})

test('while one of them is being carried out, an unnamed refund in the same words must name its own', async () => {
  const made = await two(PAID)
  await world.decide(made.id, 'hold')
  await refund(made, made.a, 'pending')
  await expect(refund(made, undefined, 'pending')).rejects.toThrow(`${made.a} or ${made.b}`)
  const asked = async () => (await world.state(made.id)).intents.map(({ attemptId }) => attemptId)
  expect(await asked()).toEqual([made.a])
  // The same decision changes nothing more, whatever came meanwhile: what it has stored is carried out by the polls.
  expect(await refund(made, undefined, 'pending', 2)).toMatchObject({ refunded: false, unsure: true })
  expect(await asked()).toEqual([made.a])
  await refund(made, made.b, 'pending')
  expect(await asked()).toEqual([made.a, made.b])
})

test('another try in the words of a refund that is being carried out may have meant the other money: nobody is told that it is done', async () => {
  const made = await misfits()
  await refund(made, made.a, 'pending')
  await expect(refund(made, undefined, 'refunded')).rejects.toThrow('Name the attempt')
  expect(await refund(made, undefined, 'refunded', 2)).toMatchObject({ refunded: false, unsure: true })
  expect(await statuses(made)).toEqual(['on_hold', 'on_hold'])
})
