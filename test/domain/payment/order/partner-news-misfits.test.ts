import { describe, expect, test } from '@jest/globals'
import { nothing } from '../../../../src/domain/payment/money/effect.ts'
import type { Intent } from '../../../../src/domain/payment/money/intents.ts'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { fits, hasNothing, misfitOf } from '../../../../src/domain/payment/partner-news.ts'
import { context, effect, open, order, paidBy, paidOrder, part } from '../money/order-story.ts'

const eur = (minor: string) => ({ minor, currency: 'EUR' as const })
const someUsdc = part('2000', { key: 'a', asset: 'USDC', units: '20000000' })

describe('a report that does not fit', () => {
  const of = (fields: Partial<PartnerOrder>) => order({ status: 'canceled', ...fields })
  const parks = {
    ...nothing('on_hold'),
    incident: 'misfit',
    park: 'amount_mismatch',
    moves: [{ to: 'under_review', why: 'misfit' }],
  }

  test('says why, and what the partner said', () => {
    const usd = { minor: '5000', currency: 'USD' as const }
    for (const [why, fields] of [
      ['order', { attemptId: 'att_2', account: 'somebody', amount: usd }],
      ['account', { account: 'somebody', amount: usd }],
      ['currency', { amount: usd }],
      ['currency', { received: usd }],
      ['no_amount', { status: 'paid', amount: eur('9999') }],
      ['amount', { amount: eur('9999'), received: eur('9999') }],
      ['refused', { status: 'declined', received: eur('5000') }],
    ] as const) {
      const news = of(fields)
      const { status, amount, received } = news
      expect(misfitOf(open, news, context)).toEqual({ why, status, amount, received })
      expect(fits(open, news, context)).toBe(why === 'refused')
    }
  })

  test('fits where an operator has acknowledged the amount, and where it is the one that was asked for', () => {
    const known = { ...open, acknowledgedMinor: '6000' }
    const isFit = (minor: string) => fits(known, order({ amount: eur(minor) }), context)
    expect(['5000', '6000', '7000'].map(isFit)).toEqual([true, true, false])
    expect(effect({}, { acknowledgedMinor: '6000' }, { ...paidOrder('6000'), amount: eur('6000') })).toMatchObject({
      attempt: 'confirmed',
      money: 'take',
      incident: null,
    })
  })

  test('is nobody’s matter where it has no money: neither of another amount nor of something else', () => {
    const other = { amount: eur('9999') }
    expect(hasNothing(open, of({ ...other, status: 'refunded', received: eur('5000') }), context)).toBe(true)
    for (const status of ['open', 'verification_required', 'wrong_asset'] as const)
      for (const known of ['opening', 'open', 'confirming'] as const)
        expect(effect({}, { status: known }, of({ ...other, status }))).toEqual(nothing(known))
    expect(effect({}, {}, of({ account: 'somebody' }))).toEqual(nothing('open'))
  })

  test('parks a payment that waits for money, however it waits', () => {
    for (const status of ['pending', 'processing'] as const)
      expect(effect({ status }, { status: 'confirming' }, { ...paidOrder(), account: 'somebody' })).toEqual(parks)
    // A part of the price that is counted is still there.
    const more = of({ amount: eur('9999'), received: eur('9999') })
    expect(effect({ parts: [someUsdc] }, {}, more)).toEqual(parks)
  })

  test('is shown beside the money of another order, and moves nothing', () => {
    const paid = { status: 'processing', paidAttemptId: 'att_0' } as const
    const shown = { ...nothing('open'), incident: 'misfit' }
    expect(effect(paid, {}, { ...paidOrder(), account: 'somebody' })).toEqual(shown)
    const done = { status: 'succeeded', parkReason: 'amount_mismatch' } as const
    expect(effect(done, {}, { ...paidOrder(), account: 'somebody' })).toEqual(shown)
  })

  test('of another amount without the money that we count is shown; of another order it is none of ours', () => {
    const confirmed = { status: 'confirmed' } as const
    const none = { status: 'confirming', amount: eur('9999') } as const
    const isOpen = { status: 'open', amount: eur('9999') } as const
    for (const fields of [none, isOpen])
      expect(effect(paidBy(), confirmed, of(fields))).toEqual({ ...nothing('confirmed'), incident: 'misfit' })
    for (const fields of [{ account: 'somebody' }, { attemptId: 'att_2' }])
      expect(effect(paidBy(), confirmed, of(fields))).toEqual(nothing('confirmed'))
    // What is counted of a payment that has not taken it is ours as well.
    expect(effect({ parts: [someUsdc] }, {}, of(isOpen))).toEqual({
      ...nothing('open'),
      incident: 'misfit',
    })
  })

  test('is over with its refund, by which the money that did not fit went back', () => {
    const refund: Intent = {
      id: '1',
      key: 'k',
      kind: 'refund',
      attemptId: 'att_1',
      state: 'asked',
      operator: 'ada',
      reason: 'does not fit',
    }
    const waits = { status: 'under_review', parkReason: 'amount_mismatch', intents: [refund] } as const
    const back = of({ status: 'refunded', amount: eur('9999'), received: eur('9999') })
    expect(effect(waits, { status: 'on_hold' }, back)).toEqual({
      ...nothing('refunded'),
      moves: [{ to: 'refunded', why: 'refunded_through_partner' }],
    })
  })
})
