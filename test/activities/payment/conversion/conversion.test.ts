import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { many, sql } from '../../../../src/db/db.ts'
import { loadPayment } from '../../../../src/db/payments/payments.ts'
import { whyRefused } from '../../../../src/domain/payment/decision.ts'
import { newId } from '../../../../src/ids.ts'
import { counted } from '../counted.ts'
import { type ActivityWorld, createActivityWorld, perform } from '../world.ts'

let world: ActivityWorld
beforeAll(async () => {
  world = await createActivityWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  await fetch(`${world.sandbox.url}/converter/sandbox/faults`, { method: 'DELETE' })
})

const APP = { provider: 'wallet_app', method: 'banking_app' } as const
/** 100.00 EUR at the rate that `confirmed` locks. */
const RATE = '1.16'
const GROSS = '116000000'

/** A payment whose 100.00 EUR the partner has confirmed. */
async function confirmed(): Promise<string> {
  const { id } = await world.checkout.create({ amountText: '100.00', amount: { minor: '10000', currency: 'EUR' } })
  await world.checkout.change(id, (work) => confirm(work, newId('attempt')))
  return id
}

type Work = Parameters<Parameters<ActivityWorld['checkout']['change']>[1]>[0]

async function confirm(work: Work, attemptId: string): Promise<void> {
  const received = { minor: '10000', currency: 'EUR' } as const
  const paymentId = work.state.payment.id
  await work.addAttempt({ id: attemptId, ...APP, asked: received })
  await work.saveAttempt(attemptId, { status: 'confirmed' })
  await work.addPart(counted({ paymentId, attemptId }, received))
  await work.move('pending', { actor: 'buyer', message: 'opened' })
  await work.move(
    'processing',
    { actor: 'partner', message: 'confirmed' },
    {
      paidAttemptId: attemptId,
      chargeCurrency: received.currency,
      confirmedMinor: received.minor,
      rate: RATE,
      rateSource: 'test',
      rateLockedAt: work.at,
      paidAt: work.at,
    },
  )
}

/** The converter fills the order of the payment with exactly so many micro-USDC. */
async function fillWith(id: string, minor: string): Promise<void> {
  await world.sandbox.fault('converter', { fault: 'fill_off_rate', minor, times: 1, attemptId: `${id}:convert` })
}

const convert = (id: string, tolerance = 2) =>
  perform(world.activities({ conversionTolerancePercent: tolerance }).convertToUsdc, { paymentId: id, last: false })
const decide = async (id: string, decision: 'approve' | 'recordExternalRefund') => {
  const { version } = await read(id)
  return perform(world.activities().decide, {
    paymentId: id,
    decision,
    version,
    operator: 'ada',
    reason: 'looked at it',
  })
}
const approve = (id: string) => decide(id, 'approve')
const read = async (id: string) => (await loadPayment(world.checkout.db, id)).payment
const fills = async (id: string) => {
  const answer = await fetch(`${world.sandbox.url}/converter/sandbox/conversions`)
  const conversions = z.array(z.object({ key: z.string(), boughtMicroUsdc: z.string() })).parse(await answer.json())
  return conversions.filter(({ key }) => key === `${id}:convert`).map(({ boughtMicroUsdc }) => boughtMicroUsdc)
}

/** Every line that the payment booked, in order. */
async function lines(id: string): Promise<string[]> {
  const row = z.object({ kind: z.string(), account: z.string(), asset: z.string(), amount: z.string() })
  const found = await many(
    world.checkout.db,
    row,
    sql`select t.kind, e.account, e.asset, e.amount::text from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
        where t.payment_id = ${id} order by t.id, e.line`,
  )
  return found.map(({ kind, account, asset, amount }) => `${kind} ${account} ${asset} ${amount}`)
}

const CONFIRMED = ['fiat_confirmed partner_receivable EUR 10000', 'fiat_confirmed merchant_payable EUR -10000']
const CONVERTED = (filled: string, exchange: string) => [
  'converted merchant_payable EUR 10000',
  'converted conversion EUR -10000',
  `converted conversion USDC ${filled}`,
  'converted merchant_payable USDC -110780000',
  'converted fee_revenue USDC -5220000',
  `converted exchange USDC ${exchange}`,
]

describe('a fill within the tolerance', () => {
  // Two percent of 116 USDC are 2.32 USDC.
  test.each([
    ['exactly 2 % less', '113680000', '2320000'],
    ['exactly 2 % more', '118320000', '-2320000'],
  ])('%s is taken, and the difference is ours', async (_name, filled, exchange) => {
    const id = await confirmed()
    await fillWith(id, filled)
    expect((await convert(id)).payment).toMatchObject({ status: 'processing', converted: true })
    expect(await read(id)).toMatchObject({ fill: null, usdc: { gross: GROSS, fee: '5220000', net: '110780000' } })
    expect(await lines(id)).toEqual([...CONFIRMED, ...CONVERTED(filled, exchange)])
  })
})

describe('a fill outside of the tolerance', () => {
  test.each([
    ['one micro-USDC', '1'],
    ['a micro-USDC below 2 % less', '113679999'],
    ['a micro-USDC above 2 % more', '118320001'],
  ])('%s waits for an operator, with the fill on record', async (_name, filled) => {
    const id = await confirmed()
    await fillWith(id, filled)
    expect((await convert(id)).payment).toMatchObject({
      status: 'under_review',
      parkReason: 'fill_off_rate',
      converted: false,
    })
    expect(await read(id)).toMatchObject({
      usdc: null,
      fill: { micro: filled, expected: GROSS, reference: expect.stringMatching(/^fill_/), accepted: false },
    })
    expect(await lines(id)).toEqual([
      ...CONFIRMED,
      `fill_suspended conversion USDC ${filled}`,
      `fill_suspended suspense USDC -${filled}`,
    ])
  })

  test('approved, it settles at the locked rate: what is missing is our loss, and nothing stays in suspense', async () => {
    const id = await confirmed()
    await fillWith(id, '1')
    await convert(id)
    expect((await approve(id)).payment).toMatchObject({ status: 'processing', parkReason: null, converted: false })
    expect((await convert(id)).payment).toMatchObject({ status: 'processing', converted: true })
    expect((await read(id)).usdc).toEqual({ gross: GROSS, fee: '5220000', net: '110780000' })
    expect(await lines(id)).toEqual([
      ...CONFIRMED,
      'fill_suspended conversion USDC 1',
      'fill_suspended suspense USDC -1',
      'fill_used suspense USDC 1',
      'fill_used conversion USDC -1',
      ...CONVERTED('1', '115999999'),
    ])
    expect(await fills(id)).toEqual(['1'])
  })

  test('is not sold a second time: the converter is not even asked again', async () => {
    const id = await confirmed()
    await fillWith(id, '1')
    await convert(id)
    await approve(id)
    const dead = { ...world.deps.converter, convert: () => Promise.reject(new Error('asked again')) }
    const changed = await perform(world.activities({ converter: dead }).convertToUsdc, { paymentId: id, last: false })
    expect(changed.payment.converted).toBe(true)
  })

  test('an activity that is run again after it parked changes nothing', async () => {
    const id = await confirmed()
    await fillWith(id, '1')
    const first = await convert(id)
    expect((await convert(id)).payment).toEqual(first.payment)
    expect(await lines(id)).toHaveLength(4)
  })

  test('retry is refused, because the same fill would come', async () => {
    const id = await confirmed()
    await fillWith(id, '1')
    await convert(id)
    const { payment } = await convert(id)
    expect(whyRefused('retry', { operator: 'ada', reason: 'again' }, payment)).toBe(
      'Parked for fill_off_rate: decide with approve, refund, recordExternalRefund',
    )
  })

  test('refunded outside: the money of the buyer is gone from the books, and the USDC that was bought is ours', async () => {
    const id = await confirmed()
    await fillWith(id, '50000000')
    await convert(id)
    const { payment } = await decide(id, 'recordExternalRefund')
    expect(payment).toMatchObject({ status: 'refunded', parkReason: null })
    expect(await lines(id)).toEqual([
      ...CONFIRMED,
      'fill_suspended conversion USDC 50000000',
      'fill_suspended suspense USDC -50000000',
      'fiat_given_back merchant_payable EUR 10000',
      'fiat_given_back exchange EUR -10000',
      'fill_kept suspense USDC 50000000',
      'fill_kept exchange USDC -50000000',
    ])
  })

  test('accepted for one expected amount, it is not accepted for another', async () => {
    const id = await confirmed()
    await fillWith(id, '50000000')
    await convert(id)
    await approve(id)
    await world.checkout.change(id, (work) =>
      work.change({ kind: 'test', actor: 'partner', message: 'another rate was locked' }, { rate: '2' }),
    )
    expect((await convert(id)).payment).toMatchObject({ status: 'under_review', parkReason: 'fill_off_rate' })
    expect((await read(id)).fill).toMatchObject({ micro: '50000000', expected: '200000000', accepted: false })
    expect(await lines(id)).toHaveLength(4)
  })

  test('with a tolerance of zero any difference waits, and none does not', async () => {
    const [exact, off] = [await confirmed(), await confirmed()]
    await fillWith(exact, GROSS)
    await fillWith(off, '115999999')
    expect((await convert(exact, 0)).payment.converted).toBe(true)
    expect((await convert(off, 0)).payment.parkReason).toBe('fill_off_rate')
  })
})
