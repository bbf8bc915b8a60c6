import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { many, sql } from '../../../../src/db/db.ts'
import { nextStep, snapshotOf } from '../../../../src/domain/payment/snapshot.ts'
import { createMoneyWorld, type Made, type MoneyWorld } from '../money-world.ts'
import { perform } from '../world.ts'

/** What is to be converted changes after the converter was asked: it gets another order, and is paid by one of them. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())
afterEach(() => world.clearFaults())

const convert = (id: string) => perform(world.activities().convertToUsdc, { paymentId: id, last: false })
const step = async (id: string) => nextStep(snapshotOf(await world.state(id)))
const atConverter = (id: string, fault: Record<string, unknown>) =>
  world.sandbox.fault('converter', { times: 1, attemptId: `${id}:convert`, ...fault })

/** In the step's own words, until it has no more to do at once. */
async function converted(id: string): Promise<void> {
  for (let tries = 0; tries < 5 && (await step(id)) === 'convert'; tries++) if ((await convert(id)).wait) return
}

/** What the converter itself has in its books: the order, what was sold, and what was bought. */
async function atBooks(id: string): Promise<string[]> {
  const answer = await fetch(`${world.sandbox.url}/converter/sandbox/conversions`)
  const row = z.object({ key: z.string(), minor: z.string() })
  return z
    .array(row)
    .parse(await answer.json())
    .filter(({ key }) => key.startsWith(id))
    .map(({ key, minor }) => `${key.slice(id.length + 1)} ${minor}`)
}

async function bought(id: string, order: string): Promise<string> {
  const answer = await fetch(`${world.sandbox.url}/converter/sandbox/conversions`)
  const row = z.object({ key: z.string(), boughtMicroUsdc: z.string() })
  const found = z
    .array(row)
    .parse(await answer.json())
    .find(({ key }) => key === `${id}:${order}`)
  return found?.boughtMicroUsdc ?? 'nothing'
}

async function lines(id: string): Promise<string[]> {
  const rows = await many(
    world.checkout.db,
    z.object({ line: z.string() }),
    sql`select t.kind || ' ' || e.account || ' ' || e.asset || ' ' || e.amount as line
        from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
        where t.payment_id = ${id} and e.asset = 'USDC' order by t.id, e.line`,
  )
  return rows.map(({ line }) => line)
}

/** The partner takes the money back, and the buyer pays another sum by another order. */
async function paidAnew({ id, attemptId }: Made, minor: string): Promise<Made> {
  await world.act(attemptId, { action: 'reverse' })
  expect((await world.read({ id, attemptId })).payment.status).toBe('pending')
  const other = { id, attemptId: await world.open(id) }
  await world.act(other.attemptId, { action: 'pay', receivedMinor: minor })
  expect((await world.read(other)).payment.status).toBe('processing')
  return other
}

describe('a payment that was withdrawn and is paid with another amount', () => {
  test('before the converter has heard of it: the order of the first is ended, and the second is converted', async () => {
    const made = await world.paid()
    await paidAnew(made, '15000')
    await converted(made.id)
    expect(await atBooks(made.id)).toEqual(['convert:2 15000'])
    expect(await world.payment(made.id)).toMatchObject({
      status: 'processing',
      conversionOrder: 2,
      conversionOpen: false,
    })
    expect((await world.payment(made.id)).usdc?.gross).toBe('162000000')
    const late = { key: `${made.id}:convert`, amount: { minor: '10000', currency: 'EUR' as const }, rate: '1.08' }
    const answer = await world.deps.converter.convert(late, AbortSignal.timeout(5000))
    expect(answer).toEqual({ kind: 'refused', reason: 'the order was canceled' })
  })

  test('while the converter fills the first order: nothing is asked until that is over, and each is filled once', async () => {
    const made = await world.paid()
    await atConverter(made.id, { fault: 'delay', seconds: 600 })
    await convert(made.id)
    await paidAnew(made, '15000')
    expect((await convert(made.id)).wait).toBeGreaterThan(0)
    expect(await atBooks(made.id)).toEqual(['convert 10000'])
    world.sandbox.advance(600)
    await converted(made.id)
    expect(await atBooks(made.id)).toEqual(['convert 10000', 'convert:2 15000'])
    const [first, second] = [await bought(made.id, 'convert'), await bought(made.id, 'convert:2')]
    const { usdc } = await world.payment(made.id)
    expect(await lines(made.id)).toEqual([
      `fill_suspended conversion USDC ${first}`,
      `fill_suspended suspense USDC -${first}`,
      `fill_kept suspense USDC ${first}`,
      `fill_kept exchange USDC -${first}`,
      `converted conversion USDC ${second}`,
      `converted merchant_payable USDC -${usdc?.net}`,
      `converted fee_revenue USDC -${usdc?.fee}`,
      `converted exchange USDC ${BigInt(usdc?.gross ?? '0') - BigInt(second)}`,
    ])
    await convert(made.id)
    expect(await lines(made.id)).toHaveLength(8)
  })

  test('when the first fill is on record: it is ours, and is not taken for other money', async () => {
    const made = await world.paid()
    const partnerTakesItBack = {
      ...world.deps.converter,
      convert: async (...order: Parameters<typeof world.deps.converter.convert>) => {
        const answer = await world.deps.converter.convert(...order)
        await world.act(made.attemptId, { action: 'reverse' })
        await world.read(made)
        return answer
      },
    }
    await perform(world.activities({ converter: partnerTakesItBack }).convertToUsdc, {
      paymentId: made.id,
      last: false,
    })
    expect(await world.payment(made.id)).toMatchObject({ status: 'pending', fill: { accepted: false } })
    const other = { id: made.id, attemptId: await world.open(made.id) }
    await world.act(other.attemptId, { action: 'pay', receivedMinor: '15000' })
    await world.read(other)
    await converted(made.id)
    expect(await atBooks(made.id)).toEqual(['convert 10000', 'convert:2 15000'])
    expect((await lines(made.id)).slice(2, 4)).toEqual([
      `fill_kept suspense USDC ${await bought(made.id, 'convert')}`,
      `fill_kept exchange USDC -${await bought(made.id, 'convert')}`,
    ])
    expect((await world.books(made.id)).filter((line) => line.startsWith('suspense'))).toEqual([])
    expect((await world.payment(made.id)).usdc?.gross).toBe('162000000')
  })

  test('near enough to the first: the fill of it is taken, and nothing is bought twice', async () => {
    const made = await world.paid()
    await atConverter(made.id, { fault: 'timeout_after_effect', operation: 'convert' })
    await convert(made.id)
    await paidAnew(made, '9950')
    await converted(made.id)
    expect(await atBooks(made.id)).toEqual(['convert 10000'])
    expect((await world.payment(made.id)).usdc?.gross).toBe('107460000')
    expect((await world.books(made.id)).filter((line) => line.startsWith('suspense'))).toEqual([])
    expect((await lines(made.id)).filter((line) => line.startsWith('converted conversion'))).toHaveLength(1)
  })

  // The fill was taken: what the payment had was never sold, and the books said that it was.
  test('in another currency: what the first order sold is not what the payment has, however near its fill', async () => {
    const made = await world.paid()
    await atConverter(made.id, { fault: 'timeout_after_effect', operation: 'convert' })
    await convert(made.id)
    await world.act(made.attemptId, { action: 'reverse' })
    await world.read(made)
    const other = { id: made.id, attemptId: await world.open(made.id, { provider: 'local_partner', method: 'upi' }) }
    await world.sandbox.act('local_partner', other.attemptId, { action: 'pay' })
    expect((await world.read(other)).payment.status).toBe('processing')
    await converted(made.id)
    const { confirmed } = await world.payment(made.id)
    expect(confirmed?.currency).toBe('INR')
    expect(await atBooks(made.id)).toEqual(['convert 10000', `convert:2 ${confirmed?.minor}`])
    expect((await lines(made.id)).slice(2, 4)).toEqual([
      `fill_kept suspense USDC ${await bought(made.id, 'convert')}`,
      `fill_kept exchange USDC -${await bought(made.id, 'convert')}`,
    ])
    expect(await world.books(made.id)).toContain(`conversion INR -${confirmed?.minor}`)
  })

  test('two tries at the same moment end the first order once, and convert once', async () => {
    const made = await world.paid()
    await atConverter(made.id, { fault: 'timeout_after_effect', operation: 'convert' })
    await convert(made.id)
    await paidAnew(made, '15000')
    for (let round = 0; round < 3; round++) await Promise.all([convert(made.id), convert(made.id)])
    expect(await atBooks(made.id)).toEqual(['convert 10000', 'convert:2 15000'])
    expect(await world.payment(made.id)).toMatchObject({ conversionOrder: 2 })
    expect((await lines(made.id)).filter((line) => line.startsWith('fill_kept suspense'))).toHaveLength(1)
    expect((await lines(made.id)).filter((line) => line.startsWith('converted conversion'))).toHaveLength(1)
  })

  test('a call for the first order that is answered only now books nothing for the second', async () => {
    const made = await world.paid()
    let other: Made = made
    const slow = {
      ...world.deps.converter,
      convert: async (...order: Parameters<typeof world.deps.converter.convert>) => {
        const answer = await world.deps.converter.convert(...order)
        other = await paidAnew(made, '15000')
        return answer
      },
    }
    await perform(world.activities({ converter: slow }).convertToUsdc, { paymentId: made.id, last: false })
    expect(await world.payment(made.id)).toMatchObject({ paidAttemptId: other.attemptId, usdc: null, parkReason: null })
    await converted(made.id)
    expect((await world.payment(made.id)).usdc?.gross).toBe('162000000')
    expect(await atBooks(made.id)).toEqual(['convert 10000', 'convert:2 15000'])
  })

  test('a call for the first order that is answered when the second is open books its fill for nobody again', async () => {
    const made = await world.paid()
    const slow = {
      ...world.deps.converter,
      convert: async (...order: Parameters<typeof world.deps.converter.convert>) => {
        const answer = await world.deps.converter.convert(...order)
        await paidAnew(made, '15000')
        // The first order is ended, and its fill is ours.
        await convert(made.id)
        return answer
      },
    }
    await perform(world.activities({ converter: slow }).convertToUsdc, { paymentId: made.id, last: false })
    expect(await world.payment(made.id)).toMatchObject({ conversionOrder: 2, fill: null, usdc: null, parkReason: null })
    await converted(made.id)
    expect((await world.payment(made.id)).usdc?.gross).toBe('162000000')
    expect((await world.books(made.id)).filter((line) => line.startsWith('suspense'))).toEqual([])
  })
})

describe('a part of the money goes while it is converted, and the rest is approved', () => {
  async function partGone(fault: Record<string, unknown>): Promise<Made> {
    const made = await world.paid()
    await atConverter(made.id, fault)
    await convert(made.id)
    await world.act(made.attemptId, { action: 'reverse', receivedMinor: '6000' })
    expect((await world.read(made)).payment.parkReason).toBe('underpaid')
    await world.decide(made.id, 'approve')
    return made
  }

  test('an order that was never filled is ended, and the rest has one of its own', async () => {
    const made = await partGone({ fault: 'timeout_before_effect', operation: 'convert' })
    await converted(made.id)
    expect(await atBooks(made.id)).toEqual(['convert:2 6000'])
    expect((await world.payment(made.id)).usdc?.gross).toBe('64800000')
  })

  test('a fill is of the same money: nothing is sold twice, and an operator decides about the fill', async () => {
    const made = await partGone({ fault: 'delay', seconds: 600 })
    expect((await convert(made.id)).wait).toBeGreaterThan(0)
    world.sandbox.advance(600)
    await converted(made.id)
    const filled = await bought(made.id, 'convert')
    expect(await world.payment(made.id)).toMatchObject({ parkReason: 'fill_off_rate', fill: { micro: filled } })
    await world.decide(made.id, 'approve')
    await converted(made.id)
    expect(await atBooks(made.id)).toEqual(['convert 10000'])
    const { usdc } = await world.payment(made.id)
    expect(usdc?.gross).toBe('64800000')
    expect(await lines(made.id)).toEqual([
      `fill_suspended conversion USDC ${filled}`,
      `fill_suspended suspense USDC -${filled}`,
      `fill_used suspense USDC ${filled}`,
      `fill_used conversion USDC -${filled}`,
      `converted conversion USDC ${filled}`,
      `converted merchant_payable USDC -${usdc?.net}`,
      `converted fee_revenue USDC -${usdc?.fee}`,
      `converted exchange USDC ${64_800_000n - BigInt(filled)}`,
    ])
  })
})

test('money that comes when the fill of an expired payment is booked as ours has an order of its own', async () => {
  const made = await world.paid()
  await atConverter(made.id, { fault: 'timeout_after_effect', operation: 'convert' })
  await convert(made.id)
  await world.act(made.attemptId, { action: 'reverse' })
  await world.read(made)
  await perform(world.activities().closeUnpaid, { paymentId: made.id, as: 'expired', expiresAt: 0 })
  await convert(made.id)
  await world.decide(made.id, 'approve')
  expect(await step(made.id)).toBe('done')
  await world.sandbox.fault('wallet_app', { fault: 'late_money', attemptId: made.attemptId, times: 1 })
  await world.act(made.attemptId, { action: 'pay' })
  expect((await world.read(made)).payment.status).toBe('processing')
  await converted(made.id)
  expect(await atBooks(made.id)).toEqual(['convert 10000', 'convert:2 10000'])
  expect((await world.books(made.id)).filter((line) => line.startsWith('suspense'))).toEqual([])
})

// The first approval was of the fill for what had been confirmed before, and it parked again at once.
test('a fill far off the rate, of which less is confirmed by now, is approved once', async () => {
  const made = await world.paid()
  await atConverter(made.id, { fault: 'fill_off_rate', minor: '90000000' })
  await converted(made.id)
  const less = { received: { minor: '4000', currency: 'EUR' } } as const
  await world.refund(made.id, {}, world.says({}, { refund: 'pending' }))
  await world.read(made, world.says(less, { refund: 'refused' }))
  expect(await world.payment(made.id)).toMatchObject({ parkReason: 'fill_off_rate', confirmed: { minor: '4000' } })
  await world.decide(made.id, 'approve')
  await converted(made.id)
  expect(await world.payment(made.id)).toMatchObject({ status: 'processing', usdc: { gross: '43200000' } })
})
