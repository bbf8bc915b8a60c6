import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import { many, sql } from '../../../src/db/db.ts'
import { loadPayment } from '../../../src/db/payments/payments.ts'
import { whyRefused } from '../../../src/domain/payment/decision.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { needsOperator, nextStep, snapshotOf } from '../../../src/domain/payment/snapshot.ts'
import { newId } from '../../../src/ids.ts'
import { PartnerError } from '../../../src/providers/provider.ts'
import { counted } from './counted.ts'
import { createMoneyWorld, type Made, type MoneyWorld } from './money-world.ts'
import { perform } from './world.ts'

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())
beforeEach(() => world.clearFaults())

describe('the fill of a conversion', () => {
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

  type Work = Parameters<Parameters<MoneyWorld['checkout']['change']>[1]>[0]

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
})

describe('the locked rate', () => {
  /** Money came when there was no current rate: the conversion locks one, of the currency that the buyer was charged in. */
  const NO_RATES: Pick<PaymentDeps, 'rates'> = {
    rates: { current: () => Promise.reject(new PartnerError('unknown', 'every rate is old')) },
  }
  let made: Made
  beforeEach(async () => {
    made = await world.opened()
    await world.act(made.attemptId, { action: 'pay', receivedMinor: '10000' })
    await world.read(made, NO_RATES)
    expect(await world.payment(made.id)).toMatchObject({ status: 'processing', rate: null })
  })

  const convert = (changes: Partial<PaymentDeps>) =>
    perform(world.activities(changes).convertToUsdc, { paymentId: made.id, last: false })
  const yen = { minor: '10000', currency: 'JPY' } as const

  // One yen's rate was locked for euros. The converter refused it for ever, and near a fill it would have been paid out by.
  test('an order that the partner names in another currency by then is converted at the rate of what was paid', async () => {
    const told: Partial<PartnerOrder> = { amount: yen, received: yen }
    await convert(world.says(told))
    expect(await world.payment(made.id)).toMatchObject({ status: 'processing', rate: { rate: '1.08' } })
  })

  test('a partner that does not answer keeps no rate from being locked', async () => {
    const silent = {
      ...world.deps.partners.wallet_app,
      readOrder: () => Promise.reject(new PartnerError('unknown', 'no answer')),
    }
    await convert({ partners: { ...world.deps.partners, wallet_app: silent } })
    expect(await world.payment(made.id)).toMatchObject({ rate: { rate: '1.08' } })
  })
})

/** What was asked of the converter is carried on to its end, whatever becomes of the payment. */
describe('an open conversion', () => {
  const REFUNDED = [
    'fiat_confirmed partner_receivable EUR 10000',
    'fiat_confirmed merchant_payable EUR -10000',
    'fiat_given_back merchant_payable EUR 10000',
    'fiat_given_back partner_receivable EUR -10000',
  ]
  const KEPT = (micro: string) => [
    `fill_suspended conversion USDC ${micro}`,
    `fill_suspended suspense USDC -${micro}`,
    `fill_kept suspense USDC ${micro}`,
    `fill_kept exchange USDC -${micro}`,
  ]

  const convert = (id: string) => perform(world.activities().convertToUsdc, { paymentId: id, last: false })
  const step = async (id: string) => nextStep(snapshotOf(await loadPayment(world.checkout.db, id)))
  const isOpen = async (id: string) => (await world.payment(id)).conversionOpen
  const conversion = (id: string, fault: Record<string, unknown>) =>
    world.sandbox.fault('converter', { times: 1, attemptId: `${id}:convert`, ...fault })

  /** What the converter itself has in its books. */
  async function bought(id: string): Promise<string[]> {
    const answer = await fetch(`${world.sandbox.url}/converter/sandbox/conversions`)
    const all = z.array(z.object({ key: z.string(), boughtMicroUsdc: z.string() })).parse(await answer.json())
    return all.filter(({ key }) => key === `${id}:convert`).map(({ boughtMicroUsdc }) => boughtMicroUsdc)
  }

  async function lines(id: string): Promise<string[]> {
    const row = z.object({ line: z.string() })
    const found = await many(
      world.checkout.db,
      row,
      sql`select t.kind || ' ' || e.account || ' ' || e.asset || ' ' || e.amount as line
        from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
        where t.payment_id = ${id} order by t.id, e.line`,
    )
    return found.map(({ line }) => line)
  }

  async function refundHeld(id: string): Promise<void> {
    await world.decide(id, 'hold')
    expect((await world.refund(id)).payment.status).toBe('refunded')
  }

  describe('a conversion that is open when its payment is refunded', () => {
    test('pending at the converter: it is asked until it has filled the order, and the USDC is ours', async () => {
      const { id } = await world.paid()
      await conversion(id, { fault: 'delay', seconds: 600 })
      expect((await convert(id)).wait).toBeGreaterThan(0)
      await refundHeld(id)
      expect(await step(id)).toBe('end_conversion')
      expect((await world.payment(id)).closedAt).toBeNull()
      expect((await convert(id)).wait).toBeGreaterThan(0)
      expect(await lines(id)).toEqual(REFUNDED)

      world.sandbox.advance(600)
      const { payment } = await convert(id)
      const [micro] = await bought(id)
      expect(payment.status).toBe('refunded')
      expect(await lines(id)).toEqual([...REFUNDED, ...KEPT(String(micro))])
      expect((await world.payment(id)).fill).toMatchObject({ micro })
      expect(await step(id)).toBe('done')
      expect((await world.payment(id)).closedAt).not.toBeNull()
      await convert(id)
      expect(await lines(id)).toHaveLength(8)
    })

    test('filled, and the answer lost: the fill is found and booked', async () => {
      const { id } = await world.paid()
      await conversion(id, { fault: 'timeout_after_effect', operation: 'convert' })
      expect((await convert(id)).wait).toBeGreaterThan(0)
      await refundHeld(id)
      await convert(id)
      const [micro] = await bought(id)
      expect(await lines(id)).toEqual([...REFUNDED, ...KEPT(String(micro))])
      expect(await step(id)).toBe('done')
    })

    test('never seen by the converter: no order is made, and a call that comes after it buys nothing', async () => {
      const { id } = await world.paid()
      const { payment } = await loadPayment(world.checkout.db, id)
      await refundHeld(id)
      await convert(id)
      expect(await bought(id)).toEqual([])
      expect(await step(id)).toBe('done')
      const late = { key: `${id}:convert`, amount: payment.amount, rate: '1.16' }
      const answer = await world.deps.converter.convert(late, AbortSignal.timeout(5000))
      expect(answer).toEqual({ kind: 'refused', reason: 'the order was canceled' })
      expect(await bought(id)).toEqual([])
      expect(await lines(id)).toEqual(REFUNDED)
    })

    // the converter was asked once an hour, for ever
    test('filled with nothing: the order is over, and nothing is booked', async () => {
      const { id } = await world.paid()
      await conversion(id, { fault: 'timeout_after_effect', operation: 'convert' })
      expect((await convert(id)).wait).toBeGreaterThan(0)
      await refundHeld(id)
      const cancel = async () => ({ kind: 'filled' as const, microUsdc: '0', reference: 'fill_of_nothing' })
      await perform(world.activities({ converter: { ...world.deps.converter, cancel } }).convertToUsdc, {
        paymentId: id,
        last: false,
      })
      expect([await isOpen(id), await step(id)]).toEqual([false, 'done'])
      expect(await lines(id)).toEqual(REFUNDED)
    })

    test('a converter that is silent leaves it open, and a person sees it after an hour', async () => {
      const { id } = await world.paid()
      await refundHeld(id)
      const silent = {
        ...world.deps.converter,
        cancel: () => Promise.reject(new PartnerError('unknown', 'converter: no answer')),
      }
      const changed = await perform(world.activities({ converter: silent }).convertToUsdc, {
        paymentId: id,
        last: false,
      })
      expect(changed.wait).toBe(5)
      expect([await isOpen(id), await step(id)]).toEqual([true, 'end_conversion'])
      expect(await world.attention(id)).toEqual([])
      await world.checkout.db.query("update payment set updated_at = now() - interval '61 minutes' where id = $1", [id])
      expect(await world.attention(id)).toEqual(['conversion_open'])
    })

    test('a fill of which a call that was cut off tells later is booked once', async () => {
      const { id } = await world.paid()
      const slow = {
        ...world.deps.converter,
        convert: async (...order: Parameters<typeof world.deps.converter.convert>) => {
          const answer = await world.deps.converter.convert(...order)
          await refundHeld(id)
          await convert(id)
          return answer
        },
      }
      await perform(world.activities({ converter: slow }).convertToUsdc, { paymentId: id, last: false })
      const [micro] = await bought(id)
      expect(await lines(id)).toEqual([...REFUNDED, ...KEPT(String(micro))])
    })
  })

  describe('whether the converter may have an order', () => {
    test('is on record before it is asked, and over when the payment has taken the fill', async () => {
      const { id } = await world.paid()
      expect(await isOpen(id)).toBe(true)
      await world.convert(id)
      expect(await isOpen(id)).toBe(false)
    })

    test('stays on record while the payment may be paid again, and is ended when it is over', async () => {
      const { id, attemptId } = await world.paid()
      await conversion(id, { fault: 'timeout_after_effect', operation: 'convert' })
      await convert(id)
      await world.act(attemptId, { action: 'reverse' })
      const { payment } = await world.read({ id, attemptId })
      expect([payment.status, await isOpen(id), await step(id)]).toEqual(['pending', true, 'await_buyer'])
      await convert(id)
      expect(await lines(id)).toHaveLength(4)
      await perform(world.activities().closeUnpaid, { paymentId: id, as: 'canceled', expiresAt: 0 })
      expect([(await world.payment(id)).status, await step(id)]).toEqual(['canceled', 'end_conversion'])
      await convert(id)
      const [micro] = await bought(id)
      expect((await lines(id)).slice(4)).toEqual(KEPT(String(micro)).slice(0, 2))
      expect(await world.attention(id)).toEqual([`suspense ${(Number(micro) / 1e6).toFixed(6)} USDC`])
      expect([await step(id), needsOperator(snapshotOf(await world.state(id)))]).toEqual([
        'await_operator',
        'fill_left',
      ])
      expect((await world.payment(id)).closedAt).toBeNull()

      // An operator books it: it is ours.
      await world.decide(id, 'approve')
      expect((await lines(id)).slice(4)).toEqual(KEPT(String(micro)))
      expect([await world.attention(id), await step(id)]).toEqual([[], 'done'])
      expect((await world.payment(id)).closedAt).not.toBeNull()
      await world.decide(id, 'approve')
      expect(await lines(id)).toHaveLength(8)
    })

    test('an order that was refused may be asked for again, so it stays open', async () => {
      const { id } = await world.paid()
      await conversion(id, { fault: 'conversion_refused' })
      expect((await convert(id)).payment.parkReason).toBe('conversion')
      expect(await isOpen(id)).toBe(true)
      await world.decide(id, 'retry')
      await world.convert(id)
      expect([await isOpen(id), (await world.payment(id)).usdc !== null]).toEqual([false, true])
    })
  })
})

/** What is to be converted changes after the converter was asked: it gets another order, and is paid by one of them. */
describe('a second conversion', () => {
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
      expect(await world.payment(made.id)).toMatchObject({
        paidAttemptId: other.attemptId,
        usdc: null,
        parkReason: null,
      })
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
      expect(await world.payment(made.id)).toMatchObject({
        conversionOrder: 2,
        fill: null,
        usdc: null,
        parkReason: null,
      })
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
})
