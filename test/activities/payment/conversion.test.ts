import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { toSnapshot } from '../../../src/domain/payment/snapshot.ts'
import { PartnerError } from '../../../src/partners/provider.ts'
import { perform } from './fixture.ts'
import { createMoneyFixture, type Made, type MoneyFixture } from './money-fixture.ts'

let fixture: MoneyFixture
beforeAll(async () => {
  fixture = await createMoneyFixture()
})
afterAll(() => fixture.close())
beforeEach(() => fixture.clearFaults())

/** At 1.08 USDC for a euro, 100.00 EUR are 108 USDC, of which 4.86 are the fee. */
const AMOUNTS = { gross: '108000000', fee: '4860000', net: '103140000' }

const settle = (id: string, changes: Partial<PaymentDeps> = {}) => fixture.trySettle(id, changes)
const step = async (id: string) => toSnapshot(await fixture.state(id)).next
const atConverter = (id: string, fault: Record<string, unknown>) =>
  fixture.sandbox.fault('converter', { times: 1, attemptId: `${id}:convert`, ...fault })
/** The converter fills the first order with exactly as many micro-USDC. */
const fillWith = (id: string, minor: string) => atConverter(id, { fault: 'fill_off_rate', minor })
const LOST = { fault: 'timeout_after_effect', operation: 'convert' }

/** The payment's sales by its rows, as `number state units`. */
const sales = async (id: string): Promise<string[]> =>
  (await fixture.state(id)).sales.map(({ number, state, units }) => `${number} ${state} ${units}`)

/** Returns the converter's own books, as `key minor`. */
async function statement(id: string): Promise<{ sold: string[]; bought: bigint }> {
  const answer = await fetch(`${fixture.sandbox.url}/converter/sandbox/conversions`)
  const row = z.object({ key: z.string(), minor: z.string(), boughtMicroUsdc: z.string() })
  const rows = z
    .array(row)
    .parse(await answer.json())
    .filter(({ key }) => key.startsWith(id))
  return {
    sold: rows.map(({ key, minor }) => `${key.slice(id.length + 1)} ${minor}`),
    bought: rows.reduce((sum, { boughtMicroUsdc }) => sum + BigInt(boughtMicroUsdc), 0n),
  }
}

/** Whatever becomes of the payment, the books match the converter's sales, and suspense is empty. */
async function expectStatement(id: string): Promise<void> {
  const { sold, bought } = await statement(id)
  const books = await fixture.books(id)
  const minor = sold.reduce((sum, line) => sum + BigInt(line.split(' ')[1] ?? '0'), 0n)
  const fiat = books.filter((line) => line.startsWith('conversion ') && !line.includes('USDC'))
  expect(fiat.reduce((sum, line) => sum - BigInt(line.split(' ')[2] ?? '0'), 0n)).toBe(minor)
  expect(books.filter((line) => line.startsWith('conversion USDC'))).toEqual(
    bought === 0n ? [] : [`conversion USDC ${bought}`],
  )
  expect(books.filter((line) => line.startsWith('suspense'))).toEqual([])
}

async function giveBack(made: Made): Promise<void> {
  expect((await fixture.giveBack(made)).payment.status).toBe('refunded')
}

/** The partner takes the money back, and the buyer pays another sum by another order. */
async function paidAnew({ id, attemptId }: Made, minor: string): Promise<Made> {
  await fixture.act(attemptId, { action: 'reverse' })
  expect((await fixture.read({ id, attemptId })).payment.status).toBe('pending')
  const other = { id, attemptId: await fixture.open(id) }
  await fixture.act(other.attemptId, { action: 'pay', receivedMinor: minor })
  expect((await fixture.read(other)).payment.status).toBe('processing')
  return other
}

describe('The fill of a sale', () => {
  // Two percent of 108 USDC are 2.16 USDC.
  test.each([
    ['exactly 2 % less', '105840000', '2160000'],
    ['exactly 2 % more', '110160000', '-2160000'],
  ])('a fill of %s is taken, and the platform bears the difference', async (_name, filled, exchange) => {
    const { id } = await fixture.paid()
    await fillWith(id, filled)
    expect(await settle(id)).toBe('handed over')
    expect(await fixture.payment(id)).toMatchObject({ status: 'settling', usdc: AMOUNTS, takenSale: 1 })
    expect(await fixture.books(id)).toEqual([
      'conversion EUR -10000',
      `conversion USDC ${filled}`,
      `exchange USDC ${exchange}`,
      'fee_revenue USDC -4860000',
      'merchant_payable USDC -103140000',
      'partner_receivable EUR 10000',
    ])
  })

  test.each([['1'], ['105839999'], ['110160001']])(
    'a fill of %s micro-USDC waits for an operator, and is booked as sold for the platform',
    async (filled) => {
      const { id } = await fixture.paid()
      await fillWith(id, filled)
      expect([await settle(id), await fixture.standing(id)]).toEqual(['review', 'under_review far_fill'])
      const first = await fixture.state(id)
      expect(await sales(id)).toEqual(['1 filled 10000'])
      expect(await fixture.books(id)).toEqual([
        'conversion EUR -10000',
        `conversion USDC ${filled}`,
        'exchange EUR 10000',
        `exchange USDC -${filled}`,
        'merchant_payable EUR -10000',
        'partner_receivable EUR 10000',
      ])
      // An activity that runs again changes nothing.
      await settle(id)
      expect(await fixture.state(id)).toEqual(first)
    },
  )

  test('a far fill that an operator accepts is paid out at the locked rate', async () => {
    const { id } = await fixture.paid()
    await fillWith(id, '1')
    await settle(id)
    await fixture.decide(id, 'settle')
    const dead = { ...fixture.deps.converter, convert: () => Promise.reject(new Error('asked again')) }
    expect(await settle(id, { converter: dead })).toBe('handed over')
    expect(await fixture.payment(id)).toMatchObject({ usdc: AMOUNTS })
    await expectStatement(id)
  })

  test('a far fill stays in the books when the buyer got the money back from elsewhere', async () => {
    const made = await fixture.paid()
    await fillWith(made.id, '50000000')
    await settle(made.id)
    expect((await fixture.gaveOutside(made)).payment.status).toBe('refunded')
    expect(await fixture.books(made.id)).toEqual([
      'conversion EUR -10000',
      'conversion USDC 50000000',
      'exchange USDC -50000000',
      'partner_receivable EUR 10000',
    ])
  })
})

test('the books equal the converter’s statement after a void and a refund', async () => {
  const made = await fixture.settling()
  await fixture.voided(made.id)
  expect((await fixture.giveBack(made)).payment.status).toBe('refunded')
  expect(await fixture.books(made.id)).toEqual([
    'conversion EUR -10000',
    'conversion USDC 108000000',
    'exchange EUR 10000',
    'exchange USDC -108000000',
  ])
  await expectStatement(made.id)
})

describe('the locked rate', () => {
  const NO_RATES: Pick<PaymentDeps, 'rates'> = {
    rates: { current: () => Promise.reject(new PartnerError('unknown', 'every rate is old')) },
  }
  let made: Made
  beforeEach(async () => {
    made = await fixture.opened()
    await fixture.act(made.attemptId, { action: 'pay', receivedMinor: '10000' })
    await fixture.read(made, NO_RATES)
    expect(await fixture.payment(made.id)).toMatchObject({ status: 'processing', rate: null })
  })

  test('the locked rate belongs to the currency that was paid, whatever currency the partner names by then', async () => {
    const yen = { minor: '10000', currency: 'JPY' } as const
    const inYen: Partial<PartnerOrder> = { amount: yen, received: yen }
    await settle(made.id, fixture.says(inYen))
    expect(await fixture.payment(made.id)).toMatchObject({ status: 'settling', rate: { rate: '1.08' } })
  })

  test('the locked rate needs no answer of the partner', async () => {
    const silent = {
      ...fixture.deps.partners.wallet_app,
      readOrder: () => Promise.reject(new PartnerError('unknown', 'no answer')),
    }
    await settle(made.id, { partners: { ...fixture.deps.partners, wallet_app: silent } })
    expect(await fixture.payment(made.id)).toMatchObject({ rate: { rate: '1.08' } })
  })
})

describe('A sale that is open', () => {
  test('a sale is stored before the converter is asked', async () => {
    const made = await fixture.paid()
    const { id } = made
    expect(await sales(id)).toEqual(['1 asked 10000'])
    await fixture.convert(id)
    expect(await sales(id)).toEqual(['1 filled 10000'])
  })

  test('a sale that is filled after its payment was refunded belongs to the platform', async () => {
    const made = await fixture.paid()
    const { id } = made
    await atConverter(id, { fault: 'delay', seconds: 600 })
    expect(await settle(id)).toBe('not yet')
    await giveBack(made)
    expect([await step(id), (await fixture.payment(id)).closedAt]).toEqual(['end_sale', null])
    expect(await settle(id)).toBe('not yet')
    fixture.sandbox.advance(600)
    expect([await settle(id), await fixture.standing(id)]).toEqual(['done', 'refunded'])
    await expectStatement(id)
    expect(await step(id)).toBe('done')
    expect((await fixture.payment(id)).closedAt).not.toBeNull()
  })

  test('a sale is booked although the response of the converter was lost', async () => {
    const made = await fixture.paid()
    const { id } = made
    await atConverter(id, LOST)
    expect(await settle(id)).toBe('not yet')
    await giveBack(made)
    await settle(id)
    expect((await statement(id)).sold).toEqual(['convert 10000'])
    await expectStatement(id)
  })

  test('a sale that the converter does not know is ended, and a later call sells nothing', async () => {
    const made = await fixture.paid()
    const { id } = made
    const { payment } = await fixture.state(id)
    await giveBack(made)
    await settle(id)
    expect([await sales(id), await step(id)]).toEqual([['1 ended 10000'], 'done'])
    const late = { key: `${id}:convert`, amount: payment.amount, rate: '1.08' }
    const answer = await fixture.deps.converter.convert(late, AbortSignal.timeout(5000))
    expect(answer).toEqual({ kind: 'refused', reason: 'the order was canceled' })
    await expectStatement(id)
  })

  test('a sale that was filled with nothing is over', async () => {
    const made = await fixture.paid()
    const { id } = made
    await giveBack(made)
    const cancel = async () => ({ kind: 'filled' as const, microUsdc: '0', reference: 'fill_of_nothing' })
    await settle(id, { converter: { ...fixture.deps.converter, cancel } })
    expect([await sales(id), await step(id)]).toEqual([['1 filled 10000'], 'done'])
  })

  test('a sale stays open while the converter is silent, and is listed after an hour', async () => {
    const made = await fixture.paid()
    const { id } = made
    await giveBack(made)
    const silence = () => Promise.reject(new PartnerError('unknown', 'converter: no answer'))
    const trying = perform(fixture.activities({ converter: { ...fixture.deps.converter, cancel: silence } }).settle, id)
    await expect(trying).rejects.toMatchObject({ type: 'NotYet', nextRetryDelay: 5000 })
    expect(await step(id)).toBe('end_sale')
    expect(await fixture.attention(id)).toEqual([])
    await fixture.checkout.db.query("update payment set updated_at = now() - interval '61 minutes' where id = $1", [id])
    await fixture.checkout.db.query("update sale set asked_at = now() - interval '61 minutes' where payment_id = $1", [
      id,
    ])
    expect(await fixture.attention(id)).toEqual(['conversion_open'])
  })

  test('a fill is booked once, whoever reads it first', async () => {
    const made = await fixture.paid()
    const { id } = made
    const slow = {
      ...fixture.deps.converter,
      convert: async (...order: Parameters<typeof fixture.deps.converter.convert>) => {
        const answer = await fixture.deps.converter.convert(...order)
        await giveBack(made)
        await settle(id)
        return answer
      },
    }
    await settle(id, { converter: slow })
    await expectStatement(id)
  })

  test('a sale is ended when its money has gone', async () => {
    const { id, attemptId } = await fixture.paid()
    await atConverter(id, LOST)
    await settle(id)
    await fixture.act(attemptId, { action: 'reverse' })
    expect((await fixture.read({ id, attemptId })).payment.status).toBe('pending')
    expect([await sales(id), await step(id)]).toEqual([['1 asked 10000'], 'end_sale'])
    await settle(id)
    await expectStatement(id)
    expect([await fixture.attention(id), await step(id)]).toEqual([[], 'await_buyer'])
  })

  test('a sale that the converter refuses is ended, and `settle` requests another one', async () => {
    const made = await fixture.paid()
    const { id } = made
    await atConverter(id, { fault: 'conversion_refused' })
    expect(await settle(id)).toBe('review')
    expect((await fixture.payment(id)).reviews).toMatchObject([{ reason: 'sale_stuck' }])
    expect(await sales(id)).toEqual(['1 ended 10000'])
    await fixture.decide(id, 'settle')
    await settle(id)
    expect(await sales(id)).toEqual(['1 ended 10000', '2 filled 10000'])
    expect((await fixture.payment(id)).usdc).not.toBeNull()
  })
})

describe('money that changes after the converter was asked', () => {
  test('changed money has a separate sale, and the first order is ended', async () => {
    const made = await fixture.paid()
    await paidAnew(made, '15000')
    await settle(made.id)
    expect((await statement(made.id)).sold).toEqual(['convert:2 15000'])
    expect(await fixture.payment(made.id)).toMatchObject({ takenSale: 2, usdc: { gross: '162000000' } })
    await expectStatement(made.id)
  })

  test('changed money is not sold before the first order is over', async () => {
    const made = await fixture.paid()
    await atConverter(made.id, { fault: 'delay', seconds: 600 })
    await settle(made.id)
    await paidAnew(made, '15000')
    expect(await settle(made.id)).toBe('not yet')
    expect((await statement(made.id)).sold).toEqual(['convert 10000'])
    fixture.sandbox.advance(600)
    await settle(made.id)
    expect((await statement(made.id)).sold).toEqual(['convert 10000', 'convert:2 15000'])
    await expectStatement(made.id)
  })

  test('money in another currency is sold by another order', async () => {
    const made = await fixture.paid()
    await atConverter(made.id, LOST)
    await settle(made.id)
    await fixture.act(made.attemptId, { action: 'reverse' })
    await fixture.read(made)
    const other = { id: made.id, attemptId: await fixture.open(made.id, { provider: 'local_partner', method: 'upi' }) }
    await fixture.sandbox.act('local_partner', other.attemptId, { action: 'pay' })
    expect((await fixture.read(other)).payment.status).toBe('processing')
    await settle(made.id)
    const { confirmed } = await fixture.payment(made.id)
    expect((await statement(made.id)).sold).toEqual(['convert 10000', `convert:2 ${confirmed?.minor}`])
    expect(await fixture.books(made.id)).toContain('conversion EUR -10000')
    expect(await fixture.books(made.id)).toContain(`conversion INR -${confirmed?.minor}`)
  })

  test('changed money is sold once by two tries at the same moment', async () => {
    const made = await fixture.paid()
    await atConverter(made.id, LOST)
    await settle(made.id)
    await paidAnew(made, '15000')
    for (let round = 0; round < 3; round++) await Promise.all([settle(made.id), settle(made.id)])
    expect((await statement(made.id)).sold).toEqual(['convert 10000', 'convert:2 15000'])
    expect(await fixture.payment(made.id)).toMatchObject({ takenSale: 2 })
    await expectStatement(made.id)
  })

  test.each([
    ['before the first order is ended', false],
    ['after the first order was ended', true],
  ])('changed money is not settled by a response for the first order that arrives %s', async (_when, isEnded) => {
    const made = await fixture.paid()
    const slow = {
      ...fixture.deps.converter,
      convert: async (...order: Parameters<typeof fixture.deps.converter.convert>) => {
        const answer = await fixture.deps.converter.convert(...order)
        if (!order[0].key.endsWith(':convert')) return answer
        await paidAnew(made, '15000')
        if (isEnded) await settle(made.id)
        return answer
      },
    }
    expect(await settle(made.id, { converter: slow })).toBe('handed over')
    expect(await fixture.payment(made.id)).toMatchObject({ takenSale: 2, usdc: { gross: '162000000' }, reviews: [] })
    expect((await statement(made.id)).sold).toEqual(['convert 10000', 'convert:2 15000'])
    await expectStatement(made.id)
  })

  test.each([
    ['was never filled', { fault: 'timeout_before_effect', operation: 'convert' }, ['convert:2 6000']],
    ['was filled', LOST, ['convert 10000', 'convert:2 6000']],
  ])(
    'money that changes in part leaves a rest with a separate sale, if the first order %s',
    async (_what, fault, sold) => {
      const made = await fixture.paid()
      await atConverter(made.id, fault)
      await settle(made.id)
      await fixture.act(made.attemptId, { action: 'reverse', receivedMinor: '6000' })
      expect((await fixture.read(made)).payment.reviews).toMatchObject([{ reason: 'too_little' }])
      await fixture.decide(made.id, 'settle')
      await settle(made.id)
      expect((await statement(made.id)).sold).toEqual(sold)
      expect((await fixture.payment(made.id)).usdc?.gross).toBe('64800000')
      await expectStatement(made.id)
    },
  )

  test('money that arrives after the end of an expired payment has a separate sale', async () => {
    const made = await fixture.paid()
    await atConverter(made.id, LOST)
    await settle(made.id)
    await fixture.act(made.attemptId, { action: 'reverse' })
    await fixture.read(made)
    await fixture.closeAs(made.id, 'expired')
    await settle(made.id)
    expect(await step(made.id)).toBe('done')
    await fixture.sandbox.fault('wallet_app', { fault: 'late_money', attemptId: made.attemptId, times: 1 })
    await fixture.act(made.attemptId, { action: 'pay' })
    expect((await fixture.read(made)).payment.status).toBe('processing')
    await settle(made.id)
    await expectStatement(made.id)
    expect((await fixture.payment(made.id)).usdc).toEqual(AMOUNTS)
  })
})

/** Money that waited can be reversed: a callback is lost, or arrives late. */
describe('Money that its partner has confirmed more than a minute ago', () => {
  type Partners = PaymentDeps['partners']
  type Read = Partners['wallet_app']['readOrder']

  /** As if this number of milliseconds had passed; `readings` counts how often the partner was asked. */
  function after(ms: number, readOrder?: Read) {
    const readings: number[] = []
    const { partners, context } = fixture.deps
    const counting: Read = (...asked) => {
      readings.push(1)
      return readOrder === undefined ? partners.wallet_app.readOrder(...asked) : readOrder(...asked)
    }
    const changes: Partial<PaymentDeps> = {
      partners: { ...partners, wallet_app: { ...partners.wallet_app, readOrder: counting } },
      context: { ...context, now: () => Date.now() + ms },
    }
    return { changes, readings: () => readings.length }
  }
  const MINUTE = 60_000
  const sold = async (): Promise<Made> => {
    const made = await fixture.paid()
    await fixture.convert(made.id)
    expect([await fixture.standing(made.id), await step(made.id)]).toEqual(['processing', 'hand_over'])
    return made
  }

  test('old money is read again once before it is sold and handed over, and fresh money is not', async () => {
    for (const [ms, readings] of [
      [MINUTE / 2, 0],
      [MINUTE, 1],
    ] as const) {
      const { id } = await fixture.paid()
      const later = after(ms)
      expect(await settle(id, later.changes)).toBe('handed over')
      expect([later.readings(), await sales(id), await fixture.payout(id)]).toEqual([
        readings,
        ['1 filled 10000'],
        'queued',
      ])
    }
  })

  test('old money is not sold when its partner took it back', async () => {
    const made = await fixture.paid()
    await fixture.act(made.attemptId, { action: 'reverse' })
    expect(await settle(made.id, after(MINUTE).changes)).toBe('await_buyer')
    expect((await statement(made.id)).sold).toEqual([])
    expect([await fixture.standing(made.id), await fixture.held(made.id), await fixture.payout(made.id)]).toEqual([
      'pending',
      ['declined 0'],
      null,
    ])
    await expectStatement(made.id)
  })

  test('old money is read again before it is handed over', async () => {
    const { id } = await sold()
    const later = after(MINUTE)
    expect(await settle(id, later.changes)).toBe('handed over')
    expect([later.readings(), await fixture.payout(id)]).toEqual([1, 'queued'])
  })

  test('old money is not handed over if its partner took it back, and the sale belongs to the platform', async () => {
    const made = await sold()
    await fixture.act(made.attemptId, { action: 'reverse' })
    expect(await settle(made.id, after(MINUTE).changes)).toBe('await_buyer')
    expect([await fixture.standing(made.id), await fixture.payout(made.id)]).toEqual(['pending', null])
    expect((await fixture.books(made.id)).filter((line) => /payable|fee/.test(line))).toEqual([])
    await expectStatement(made.id)
  })

  test('old money is not handed over if its partner has less of it', async () => {
    const made = await sold()
    await fixture.act(made.attemptId, { action: 'reverse', receivedMinor: '6000' })
    expect(await settle(made.id, after(MINUTE).changes)).toBe('review')
    expect([await fixture.standing(made.id), await fixture.payout(made.id)]).toEqual(['under_review too_little', null])
  })

  test.each<[string, Read, object]>([
    [
      'gives no answer',
      () => Promise.reject(new PartnerError('unknown', 'no answer')),
      { type: 'Partner.unknown', message: 'no answer' },
    ],
    ['does not know the order', async () => null, { type: 'NotYet', nextRetryDelay: MINUTE }],
  ])('old money is neither sold nor handed over while its partner %s', async (_what, readOrder, failure) => {
    for (const { id } of [await fixture.paid(), await sold()]) {
      const before = await fixture.state(id)
      const trying = perform(fixture.activities(after(MINUTE, readOrder).changes).settle, id)
      await expect(trying).rejects.toMatchObject(failure)
      expect([await fixture.state(id), await fixture.payout(id)]).toEqual([before, null])
    }
  })

  test('money is read again when its partner refused to give it back', async () => {
    const made = await fixture.paid()
    await fixture.decide(made.id, 'hold')
    await fixture.giveBack(made, fixture.says({}, { refund: 'refused' }))
    await fixture.decide(made.id, 'release')
    await fixture.act(made.attemptId, { action: 'reverse' })
    expect(await settle(made.id)).toBe('await_buyer')
    expect((await statement(made.id)).sold).toEqual([])
  })
})

describe('a settlement that is tried again', () => {
  const listPayouts = async (id: string) =>
    (await fixture.checkout.db.query('select micro_usdc::text as micro from payout where payment_id = $1', [id])).rows
  const unasked = () => {
    const never = () => Promise.reject(new Error('the converter was asked again'))
    return { converter: { ...fixture.deps.converter, convert: never, cancel: never } }
  }

  test('a settlement that was cut off after the fill was stored is continued by the next try, and handed over once', async () => {
    const { id } = await fixture.paid()
    await fixture.convert(id)
    expect([await sales(id), await listPayouts(id)]).toEqual([['1 filled 10000'], []])
    expect(await settle(id, unasked())).toBe('handed over')
    const handed = await fixture.state(id)
    // The response may be lost: then Temporal tries again.
    for (const changes of [unasked(), {}]) expect(await settle(id, changes)).toBe('handed over')
    expect(await fixture.state(id)).toEqual(handed)
    expect(await listPayouts(id)).toEqual([{ micro: AMOUNTS.net }])
    expect((await statement(id)).sold).toEqual(['convert 10000'])
  })

  test('a settlement cut off before the fill was stored asks the converter for the same order', async () => {
    const { id } = await fixture.paid()
    await fillWith(id, '108000000')
    const getTreasury = () => {
      throw new Error('the process was killed here')
    }
    const killed = settle(id, { payouts: { ...fixture.payouts, getTreasury } })
    await expect(killed).rejects.toThrow('killed here')
    expect([await sales(id), await listPayouts(id)]).toEqual([['1 asked 10000'], []])
    expect(await settle(id)).toBe('handed over')
    expect([(await statement(id)).sold, await listPayouts(id)]).toEqual([['convert 10000'], [{ micro: AMOUNTS.net }]])
    await expectStatement(id)
  })

  test('a settlement that is tried twice at the same moment hands the payout over once', async () => {
    for (let round = 0; round < 3; round++) {
      const { id } = await fixture.paid()
      await fillWith(id, '108000000')
      expect(await Promise.all([settle(id), settle(id)])).toEqual(['handed over', 'handed over'])
      expect([await sales(id), await listPayouts(id)]).toEqual([['1 filled 10000'], [{ micro: AMOUNTS.net }]])
      expect(await fixture.checkout.timeline(id, 'payment.settling')).toHaveLength(1)
      await expectStatement(id)
    }
  })
})

describe('a conversion that lasts', () => {
  const PENDING = { kind: 'pending' as const, retryAfterSeconds: 5 }
  const MINUTE = 60_000
  const tryAfter = (id: string, ms: number) => {
    const context = { ...fixture.deps.context, now: () => Date.now() + ms }
    const pending = async () => PENDING
    return perform(
      fixture.activities({ context, converter: { ...fixture.deps.converter, convert: pending, cancel: pending } })
        .settle,
      id,
    )
  }

  test('a conversion is tried less often the longer it lasts, and at least once a minute', async () => {
    const { id } = await fixture.paid()
    const waits: number[] = []
    for (const ms of [0, 20_000, MINUTE, 20 * MINUTE])
      await tryAfter(id, ms).catch(({ nextRetryDelay }) => waits.push(Math.floor(nextRetryDelay / 1000)))
    expect(waits).toEqual([5, 20, 60, 60])
  })

  test('a conversion waits for an operator after half an hour, and for the converter if the operator says so', async () => {
    const { id } = await fixture.paid()
    await expect(tryAfter(id, 29 * MINUTE)).rejects.toMatchObject({ type: 'NotYet' })
    expect((await tryAfter(id, 30 * MINUTE)).payment.reviews).toMatchObject([{ reason: 'sale_stuck' }])
    expect([await fixture.standing(id), await sales(id)]).toEqual(['under_review sale_stuck', ['1 asked 10000']])
    await fixture.decide(id, 'settle')
    expect(await settle(id)).toBe('handed over')
    await expectStatement(id)
  })
})
