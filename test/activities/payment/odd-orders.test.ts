import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { perform } from './fixture.ts'
import { createMoneyFixture, eur, type Made, type MoneyFixture } from './money-fixture.ts'

let fixture: MoneyFixture
beforeAll(async () => {
  fixture = await createMoneyFixture()
})
afterAll(() => fixture.close())
beforeEach(() => fixture.clearFaults())

const read = (made: Made, order: Partial<PartnerOrder>, meanwhile?: () => Promise<unknown>) =>
  fixture.read(made, fixture.says(order, meanwhile === undefined ? {} : { meanwhile }))
const has = (minor: string): Partial<PartnerOrder> => ({ status: 'paid', received: eur(minor) })
/** An order of another amount than was requested, with as much money or less. */
const changed = (minor: string, received = minor) => ({ ...has(received), amount: eur(minor) })
/** The order is not the platform's: the partner's balance for it is unknown. */
const FOREIGN = { ...has('10000'), account: 'somebody else' }
const step = async ({ id }: Made) => (
  await fixture.decide(id, 'hold'), (await fixture.decide(id, 'release')).payment.next
)

async function opened(order: Partial<PartnerOrder>): Promise<Made> {
  const made = await fixture.opened()
  await read(made, order)
  expect(await fixture.standing(made.id)).toBe('under_review odd_order')
  return made
}

describe('An order that differs from the request', () => {
  test('each new report of an odd order has its question, with the partner’s report', async () => {
    const made = await opened(changed('15000'))
    for (const minor of ['15000', '16000']) await read(made, changed(minor))
    const said = await fixture.checkout.timeline(made.id, 'payment.misfit')
    expect(said.map(({ data }) => data)).toMatchObject([{ misfit: { received: eur('16000') } }])
    expect((await fixture.payment(made.id)).reviews).toMatchObject([
      { text: expect.stringContaining('160.00 EUR asked for and 160.00 EUR received, where 100.00 EUR was asked for') },
    ])
    expect(await fixture.books(made.id)).toEqual(['partner_receivable EUR 16000', 'suspense EUR -16000'])
  })

  test('an accepted order is settled as it is, and has another question if it changes again', async () => {
    const made = await opened(changed('15000'))
    await fixture.decide(made.id, 'settle')
    await read(made, changed('15000'))
    expect(await fixture.payment(made.id)).toMatchObject({ status: 'processing', confirmed: { minor: '15000' } })
    await read(made, changed('16000', '15500'))
    expect([await fixture.standing(made.id), await step(made)]).toEqual(['under_review odd_order', 'end_sale'])
    await fixture.decide(made.id, 'settle')
    expect(await fixture.payment(made.id)).toMatchObject({ status: 'processing', confirmed: { minor: '15500' } })
  })

  test('an order that the partner corrects is the payment’s money', async () => {
    const made = await opened(changed('15000'))
    await read(made, { ...has('10000'), amount: eur('10000') })
    expect(await fixture.payment(made.id)).toMatchObject({ status: 'processing', paidAttemptId: made.attemptId })
  })

  test('an accepted order with less than was requested is settled as underpaid', async () => {
    const made = await opened(changed('15000', '4000'))
    await fixture.decide(made.id, 'settle')
    // The operator has read both at once.
    expect(await fixture.payment(made.id)).toMatchObject({
      status: 'processing',
      exception: 'underpaid',
      confirmed: { minor: '4000' },
    })
  })

  test('a refused order with money stays accepted while the partner repeats its report', async () => {
    const refused = { status: 'declined', received: eur('10000'), failureCode: 'declined' } as const
    const made = await opened(refused)
    await read(made, refused)
    await fixture.decide(made.id, 'settle')
    await read(made, refused)
    expect([await fixture.standing(made.id), await fixture.held(made.id)]).toEqual(['processing', ['paid 10000']])
  })

  test.each([
    ['of another account', FOREIGN],
    ['that is paid, without an amount', { status: 'paid', received: null } as const],
    ['in another currency', { ...has('10000'), amount: { minor: '10000', currency: 'USD' } } as const],
  ])('an order %s has no money that can be settled', async (_what, order) => {
    const made = await opened(order)
    await expect(fixture.decide(made.id, 'settle')).rejects.toThrow('settle changes nothing')
    expect(await fixture.books(made.id)).toEqual([])
    await fixture.decide(made.id, 'write_off')
    await read(made, order)
    expect([await fixture.standing(made.id), await fixture.attention(made.id)]).toEqual(['pending', []])
    await read(made, has('10000'))
    expect(await fixture.standing(made.id)).toBe('processing')
  })

  test('two odd orders go back separately, and the last one ends the payment', async () => {
    const { made, other } = await fixture.two()
    await read(made, changed('15000'))
    await fixture.read(other, fixture.says(changed('20000'), { partner: 'card_partner' }))
    expect(await fixture.attention(made.id)).toEqual(['review odd_order', 'review odd_order'])
    await expect(fixture.decide(made.id, 'give_back', { outside: true })).rejects.toThrow('Name the attempt')
    await fixture.gaveOutside(made)
    expect(await fixture.standing(made.id)).toBe('under_review odd_order')
    await fixture.gaveOutside(other)
    expect([await fixture.standing(made.id), await fixture.attention(made.id)]).toEqual(['refunded', []])
    await fixture.read(other, fixture.says(changed('20000'), { partner: 'card_partner' }))
    expect(await fixture.attention(made.id)).toEqual([])
  })

  test('an odd order does not keep the payment’s own money from being settled', async () => {
    const { made, other } = await fixture.two()
    await read(made, changed('15000'))
    await fixture.read(other, fixture.says(has('10000'), { partner: 'card_partner' }))
    expect(await fixture.payment(made.id)).toMatchObject({ status: 'processing', paidAttemptId: other.attemptId })
    await fixture.handOver(made.id)
    await fixture.settle(made.id)
    expect([await fixture.standing(made.id), await fixture.attention(made.id)]).toEqual([
      'succeeded',
      ['review odd_order'],
    ])
    expect((await fixture.giveBack(made, fixture.says({}, { refund: 'refunded' }))).payment.reviews).toEqual([])
    expect((await fixture.books(made.id)).filter((line) => line.startsWith('suspense'))).toEqual([])
  })

  test('the partner gives an odd order back, on request or not', async () => {
    const asked = await opened(changed('15000'))
    await fixture.giveBack(asked, fixture.says({}, { refund: 'refunded' }))
    const alone = await opened(changed('15000'))
    await read(alone, { status: 'refunded', received: null, amount: eur('15000') })
    for (const made of [asked, alone])
      expect([await fixture.standing(made.id), await fixture.attention(made.id), await fixture.books(made.id)]).toEqual(
        ['refunded', [], []],
      )
  })

  test('an order that was given back from elsewhere brings no money when the partner corrects it', async () => {
    for (const [order, status, waits] of [
      [changed('15000', '10000'), 'refunded', []],
      // No sum of the foreign one was reported: the partner's part of it goes back by hand too.
      [FOREIGN, 'pending', ['review excess']],
    ] as const) {
      const made = await opened(order)
      await fixture.gaveOutside(made)
      await read(made, order)
      expect([await fixture.standing(made.id), await fixture.attention(made.id)]).toEqual([status, []])
      await read(made, has('10000'))
      expect([(await fixture.payment(made.id)).status, await fixture.attention(made.id)]).toEqual([status, waits])
      await expect(fixture.decide(made.id, 'give_back', { attempt: made.attemptId })).rejects.toThrow()
    }
  })

  test('an odd order of an ended payment is listed, and an older decision does not end that', async () => {
    const made = await fixture.settling()
    await fixture.settle(made.id)
    await read(made, {}, () => read(made, FOREIGN))
    expect([await fixture.standing(made.id), await fixture.attention(made.id)]).toEqual([
      'succeeded',
      ['review odd_order'],
    ])
    await fixture.decide(made.id, 'write_off')
    await read(made, FOREIGN)
    expect(await fixture.attention(made.id)).toEqual([])
    expect((await fixture.payment(made.id)).closedAt).not.toBeNull()
    await read(made, { ...FOREIGN, received: eur('13000') })
    expect(await fixture.attention(made.id)).toEqual(['review odd_order'])
  })
})

describe('An order that is changed after it was paid', () => {
  test('a changed order is not converted before it is accepted or corrected', async () => {
    const made = await fixture.paid()
    await read(made, changed('15000', '4000'))
    expect([await fixture.standing(made.id), await step(made)]).toEqual(['under_review odd_order', 'end_sale'])
    await read(made, {})
    expect(await fixture.standing(made.id)).toBe('processing')
    await read(made, {}, () => read(made, changed('15000', '4000')))
    expect(await fixture.standing(made.id)).toBe('under_review odd_order')
  })

  test('a changed order is not paid out while it is in doubt', async () => {
    const made = await fixture.paid()
    await fixture.convert(made.id)
    await read(made, FOREIGN)
    expect([await fixture.standing(made.id), await fixture.held(made.id)]).toEqual([
      'under_review odd_order',
      ['paid 10000'],
    ])
    await fixture.trySettle(made.id)
    expect(await fixture.payout(made.id)).toBeNull()
    await fixture.decide(made.id, 'settle')
    await fixture.handOver(made.id)
    expect([await fixture.standing(made.id), await fixture.payout(made.id)]).toEqual(['settling', 'queued'])
  })

  test('a changed order with less has its payout voided, and with more its excess listed', async () => {
    const less = await fixture.settling()
    await read(less, changed('6000'))
    expect([await fixture.payout(less.id), (await fixture.payment(less.id)).payout]).toEqual(['voiding', 'voiding'])

    const more = await fixture.settling()
    await read(more, changed('15000'))
    await fixture.settle(more.id)
    expect(await fixture.attention(more.id)).toEqual(['review odd_order'])
    await fixture.gaveOutside(more)
    expect([await fixture.attention(more.id), await fixture.standing(more.id)]).toEqual([[], 'succeeded'])
    expect((await fixture.books(more.id)).filter((line) => line.startsWith('suspense'))).toEqual([])
  })

  test('the database frees none of the order’s money before it is accepted', async () => {
    const made = await fixture.paid()
    await fixture.convert(made.id)
    const handOver = () =>
      fixture.checkout.db.transaction(async (tx) => {
        await tx.query("update payment set payout = 'handed' where id = $1", [made.id])
        throw new Error('it is free')
      })
    await expect(handOver()).rejects.toThrow('it is free')
    await read(made, changed('15000', '10000'))
    await expect(handOver()).rejects.toThrow(`the money of payment ${made.id} is not free`)
    await fixture.decide(made.id, 'settle')
    await expect(handOver()).rejects.toThrow('it is free')
  })
})

describe('A partner that withholds the money', () => {
  const ON_HOLD = { status: 'on_hold', received: eur('10000') } as const

  async function withheld(receivedMinor = '10000'): Promise<Made> {
    const made = await fixture.opened()
    await fixture.act(made.attemptId, { action: 'hold', receivedMinor })
    await fixture.read(made)
    expect(await fixture.standing(made.id)).toBe('under_review withheld')
    return made
  }

  test('a payment continues when its partner releases the money', async () => {
    const made = await withheld()
    await fixture.act(made.attemptId, { action: 'release' })
    await fixture.read(made)
    expect(await fixture.standing(made.id)).toBe('processing')
    expect(await fixture.books(made.id)).toEqual(['merchant_payable EUR -10000', 'partner_receivable EUR 10000'])
  })

  test('a payment waits for an operator when its partner releases too little', async () => {
    const made = await withheld('6000')
    await fixture.act(made.attemptId, { action: 'release' })
    await fixture.read(made)
    expect(await fixture.standing(made.id)).toBe('under_review too_little')
  })

  test('a payment is open again, with empty books, if its partner does not release the money', async () => {
    const made = await withheld()
    await fixture.act(made.attemptId, { action: 'reverse' })
    await fixture.read(made)
    expect([await fixture.standing(made.id), await fixture.books(made.id), await fixture.attention(made.id)]).toEqual([
      'pending',
      [],
      [],
    ])
  })

  test('paid money that its partner withholds is neither sold nor handed over', async () => {
    const unsold = await fixture.paid()
    await read(unsold, ON_HOLD, async () => undefined)
    expect([await fixture.standing(unsold.id), await step(unsold)]).toEqual(['under_review withheld', 'end_sale'])
    await read(unsold, {}, () => read(unsold, { ...ON_HOLD, received: eur('12000') }))
    expect(await fixture.standing(unsold.id)).toBe('under_review withheld')
    await fixture.read(unsold)
    expect(await fixture.standing(unsold.id)).toBe('processing')

    const sold = await fixture.paid()
    await fixture.convert(sold.id)
    await read(sold, ON_HOLD)
    expect([await fixture.standing(sold.id), await step(sold)]).toEqual(['under_review withheld', 'await_partner'])

    const handed = await fixture.settling()
    await read(handed, ON_HOLD)
    expect([await fixture.standing(handed.id), await fixture.payout(handed.id)]).toEqual(['settling', 'queued'])
  })

  test('a partner that confirms for too long is silent until it reports something else', async () => {
    const made = await fixture.opened()
    await read(made, { status: 'confirming', received: null })
    const silent = (hours: number) => {
      const now = Date.now() + hours * 3_600_000
      return perform(fixture.activities().markPassedTime, { paymentId: made.id, now })
    }
    expect((await silent(1)).payment.status).toBe('processing')
    expect((await silent(72)).payment.reviews).toMatchObject([{ reason: 'silent' }])
    await read(made, { status: 'confirming', received: null })
    expect(await fixture.standing(made.id)).toBe('under_review silent')
    await read(made, has('10000'))
    expect(await fixture.standing(made.id)).toBe('processing')
  })
})
