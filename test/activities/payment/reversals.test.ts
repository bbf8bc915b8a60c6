import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { createMoneyFixture, eur, type Made, type MoneyFixture } from './money-fixture.ts'

/** 100.00 EUR were sold, and nothing is paid out. */
const SOLD_FOR_US = [
  'conversion EUR -10000',
  'conversion USDC 108000000',
  'exchange EUR 10000',
  'exchange USDC -108000000',
]
const UPI = { provider: 'local_partner', method: 'upi' } as const

let fixture: MoneyFixture
beforeAll(async () => {
  fixture = await createMoneyFixture()
})
afterAll(() => fixture.close())
beforeEach(() => fixture.clearFaults())

const says = (made: Made, order: Partial<PartnerOrder>) => fixture.read(made, fixture.says(order))
const paymentEvents = async ({ id }: Made) => (await fixture.events(id)).filter((type) => type.startsWith('payment.'))
const has = (minor: string): Partial<PartnerOrder> => ({ status: 'paid', received: eur(minor), failureCode: null })
/** As partners report a reversal: some name the sum that they had received, in every response. */
const REVERSED = { status: 'declined', received: eur('10000'), failureCode: 'reversed' } as const

describe('Money that is taken back', () => {
  test('a reversal before the payout voids it, and the payment ends as refunded', async () => {
    const made = await fixture.settling()
    const { id } = made
    await fixture.checkout.db.transaction((tx) =>
      fixture.hooks.onStopped(tx, { ownerId: id, reason: 'blacklisted', detail: 'on the list' }),
    )
    expect(await fixture.standing(id)).toBe('under_review payout_stopped')
    await says(made, REVERSED)
    expect([await fixture.standing(id), await fixture.payout(id)]).toEqual(['under_review voiding', 'voiding'])
    await expect(fixture.decide(id, 'settle')).rejects.toThrow('settle changes nothing')
    await fixture.voided(id)
    expect(await fixture.standing(id)).toBe('refunded')
    // The sale stays: the bought USDC belongs to the platform.
    expect(await fixture.books(id)).toEqual(SOLD_FOR_US)
    expect(await fixture.attention(id)).toEqual([])
    // The partner repeats its report: nothing has arrived.
    await says(made, REVERSED)
    expect([await fixture.held(id), await fixture.attention(id)]).toEqual([['declined 0'], []])
  })

  test('a reversal before the hand-over leaves the sale to the platform, and the buyer can pay again', async () => {
    const made = await fixture.paid()
    await fixture.convert(made.id)
    await says(made, REVERSED)
    expect([await fixture.standing(made.id), await fixture.payout(made.id)]).toEqual(['pending', null])
    expect(await fixture.books(made.id)).toEqual(SOLD_FOR_US)
  })

  test('a reversal after a transfer that was faster than the void is a loss', async () => {
    const made = await fixture.settling()
    await says(made, REVERSED)
    await fixture.settle(made.id)
    expect([await fixture.standing(made.id), await fixture.attention(made.id)]).toEqual(['succeeded', ['review loss']])
    expect(await fixture.events(made.id)).toContain('payment.chargeback')
    await fixture.decide(made.id, 'write_off')
    expect(await fixture.attention(made.id)).toEqual([])
    expect((await fixture.payment(made.id)).closedAt).not.toBeNull()
  })

  test('a reversal after the settlement is booked once as a loss, and the merchant reads the sum', async () => {
    const made = await fixture.settling()
    await fixture.settle(made.id)
    await says(made, has('4000'))
    for (let reading = 0; reading < 2; reading++) await says(made, has('1000'))
    expect(await fixture.payment(made.id)).toMatchObject({ status: 'succeeded', closedAt: null })
    const books = await fixture.books(made.id)
    expect(books).toEqual(
      expect.arrayContaining(['chargeback_loss EUR 9000', 'partner_receivable EUR 1000', 'treasury USDC -103140000']),
    )
    const { rows } = await fixture.checkout.db.query(
      `select convert_from(body, 'UTF8')::jsonb #> '{data,object,chargeback}' as chargeback from event
       where payment_id = $1 and type = 'payment.chargeback' order by sequence`,
      [made.id],
    )
    expect(rows.map(({ chargeback }) => chargeback)).toEqual([
      { attempt: made.attemptId, amount: '60.00', lost: '60.00', currency: 'EUR' },
      { attempt: made.attemptId, amount: '30.00', lost: '90.00', currency: 'EUR' },
    ])
  })

  test('a reversal after the void ends the payment', async () => {
    const made = await fixture.settling()
    await fixture.voided(made.id)
    expect(await fixture.standing(made.id)).toBe('under_review excess')
    await says(made, REVERSED)
    expect(await fixture.standing(made.id)).toBe('refunded')
    expect(await fixture.books(made.id)).toEqual(SOLD_FOR_US)
  })

  test('a reversal of a part leaves the rest to be settled, or too little', async () => {
    const made = await fixture.paid('15000')
    await says(made, has('10000'))
    expect(await fixture.payment(made.id)).toMatchObject({ status: 'processing', confirmed: { minor: '10000' } })
    await says(made, has('2000'))
    expect(await fixture.standing(made.id)).toBe('under_review too_little')
    expect(await fixture.books(made.id)).toEqual(['merchant_payable EUR -2000', 'partner_receivable EUR 2000'])
    await says(made, REVERSED)
    expect(await fixture.payment(made.id)).toMatchObject({ status: 'pending', exception: null, confirmed: null })
  })

  test('a reversal of a part of sold money voids the whole payout', async () => {
    const made = await fixture.settling()
    await says(made, has('9999'))
    expect([await fixture.standing(made.id), await fixture.payout(made.id)]).toEqual([
      'under_review voiding',
      'voiding',
    ])
    await fixture.voided(made.id)
    expect(await fixture.attention(made.id)).toEqual(['review excess'])
  })

  test('a reversal in an older answer does not count', async () => {
    const made = await fixture.paid('6000')
    const more = async () => {
      await fixture.act(made.attemptId, { action: 'top_up', receivedMinor: '10000' })
      await fixture.read(made)
    }
    const late = fixture.says(has('6000'), { meanwhile: more })
    await fixture.read(made, late)
    expect(await fixture.held(made.id)).toEqual(['paid 10000'])
  })

  test.each(['canceled', 'expired'] as const)('a reversal of late money leaves the payment %s', async (as) => {
    const made = await fixture.opened()
    await fixture.closeAs(made.id, as)
    await says(made, has('10000'))
    expect(await fixture.payment(made.id)).toMatchObject({ status: 'processing', exception: 'paid_late' })
    await says(made, REVERSED)
    expect(await fixture.payment(made.id)).toMatchObject({ status: as, exception: null })
    expect(await fixture.books(made.id)).toEqual([])
    expect((await paymentEvents(made)).slice(-3)).toEqual([`payment.${as}`, 'payment.processing', `payment.${as}`])
  })
})

describe('A payment that some partner has in full is settled, whatever arrived before it', () => {
  test('the second partner’s money settles a payment whose first partner reverses', async () => {
    const { made, other } = await fixture.two()
    await says(made, has('10000'))
    await fixture.read(other, fixture.says(has('10000'), { partner: 'card_partner' }))
    expect(await fixture.attention(made.id)).toEqual(['review excess'])
    await says(made, REVERSED)
    expect(await fixture.payment(made.id)).toMatchObject({
      status: 'processing',
      providerUsed: 'card_partner',
      paidAttemptId: other.attemptId,
      reviews: [],
    })
    for (let turn = 0; turn < 2; turn++) await fixture.convert(made.id)
    await fixture.handOver(made.id)
    expect((await fixture.payment(made.id)).status).toBe('settling')
  })

  test('the whole price settles a payment after half of it has arrived in another currency', async () => {
    const made = await fixture.opened()
    const upi = { id: made.id, attemptId: await fixture.open(made.id, UPI) }
    await fixture.sandbox.act('local_partner', upi.attemptId, { action: 'pay', receivedMinor: '100' })
    await fixture.read(upi)
    expect(await fixture.standing(made.id)).toBe('under_review too_little')
    await says(made, has('10000'))
    expect(await fixture.payment(made.id)).toMatchObject({
      status: 'processing',
      exception: 'duplicate_payment',
      paidAttemptId: made.attemptId,
    })
    for (let turn = 0; turn < 2; turn++) await fixture.convert(made.id)
    await fixture.handOver(made.id)
    await fixture.settle(made.id)
    expect([await fixture.standing(made.id), await fixture.attention(made.id)]).toEqual([
      'succeeded',
      ['review excess'],
    ])
    expect((await fixture.giveBack(upi)).payment.reviews).toEqual([])
    expect((await fixture.books(made.id)).filter((line) => /suspense|INR/.test(line))).toEqual([])
  })
})

/**
 * Money that a partner took back after the payout is a loss of the platform. If it returns, the loss is booked back.
 */
describe('A chargeback that is won', () => {
  let made: Made
  const seen = async () => ({
    books: (await fixture.books(made.id)).filter((line) => line.includes(' EUR ')),
    attention: await fixture.attention(made.id),
    exception: (await fixture.payment(made.id)).exception,
  })
  const PAID_OUT = { books: ['conversion EUR -10000', 'partner_receivable EUR 10000'], attention: [], exception: null }

  describe('A chargeback after the payout', () => {
    beforeEach(async () => {
      made = await fixture.settling()
      await fixture.settle(made.id)
    })

    test('a loss ends when the money is there again, and the merchant is notified of both', async () => {
      await says(made, REVERSED)
      expect(await seen()).toEqual({
        books: ['chargeback_loss EUR 10000', 'conversion EUR -10000'],
        attention: ['review loss'],
        exception: null,
      })
      for (let reading = 0; reading < 2; reading++) await says(made, has('10000'))
      expect(await seen()).toEqual(PAID_OUT)
      expect((await paymentEvents(made)).slice(-2)).toEqual(['payment.chargeback', 'payment.chargeback_won'])
    })

    test('a loss lasts until all of the money is there', async () => {
      await says(made, has('4000'))
      await says(made, has('7000'))
      expect(await seen()).toEqual({
        books: ['chargeback_loss EUR 3000', 'conversion EUR -10000', 'partner_receivable EUR 7000'],
        attention: ['review loss'],
        exception: null,
      })
      await says(made, has('10000'))
      expect(await seen()).toEqual(PAID_OUT)
    })

    test('returned money beyond the loss is excess', async () => {
      await says(made, has('4000'))
      await says(made, has('10500'))
      expect(await seen()).toEqual({
        books: ['conversion EUR -10000', 'partner_receivable EUR 10500', 'suspense EUR -500'],
        attention: ['review excess'],
        exception: 'duplicate_payment',
      })
    })

    test('a loss that was written off and won back has a question when it is lost again', async () => {
      await says(made, REVERSED)
      await fixture.decide(made.id, 'write_off')
      await says(made, has('10000'))
      expect(await seen()).toEqual(PAID_OUT)
      await says(made, REVERSED)
      expect(await seen()).toMatchObject({
        books: ['chargeback_loss EUR 10000', 'conversion EUR -10000'],
        attention: ['review loss'],
      })
    })
  })

  describe('Reversed money before its payout is paid or void', () => {
    beforeEach(async () => {
      made = await fixture.settling()
      await says(made, REVERSED)
      await says(made, has('10000'))
      expect(await fixture.standing(made.id)).toBe('under_review voiding')
    })

    test('money that returns before the transfer wins is no chargeback and no second payment', async () => {
      await fixture.settle(made.id)
      expect(await seen()).toEqual(PAID_OUT)
      expect(await fixture.events(made.id)).not.toContain('payment.chargeback')
    })

    test('money that returns before the void wins goes back by an operator’s decision', async () => {
      await fixture.voided(made.id)
      expect(await fixture.standing(made.id)).toBe('under_review excess')
      expect((await fixture.giveBack(made)).payment.status).toBe('refunded')
      expect([await fixture.books(made.id), await fixture.attention(made.id)]).toEqual([SOLD_FOR_US, []])
    })
  })
})
