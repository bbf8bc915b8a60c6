import { describe, expect, test } from '@jest/globals'
import { nothing, type OrderEffect } from '../../../../src/domain/payment/money/effect.ts'
import {
  changesOf,
  givenUp,
  lockedRate,
  mustBeHeld,
  type OrderNews,
} from '../../../../src/domain/payment/order-changes.ts'
import type { Attempt, Payment } from '../../../../src/domain/payment/payment-object.ts'
import { attempt, part, payment, usdc } from '../decided-payment.ts'

const AT = '2026-01-01T12:00:00.000Z'
const RATE = { rate: '1.17', source: 'market' }
const NO_ONE_WAITS = { statusReason: null, parkReason: null }

type Before = Partial<Payment> & { readonly attempt?: Partial<Attempt> }

/** What an effect changes of a payment whose attempt is open and has the reference of the partner. */
function changed(before: Before, effect: Partial<OrderEffect>, news: Partial<OrderNews> = {}) {
  const { attempt: known, ...fields } = before
  const own = attempt({ status: 'open', partnerReference: 'ref', ...known })
  return changesOf(payment(fields), own, {
    effect: { ...nothing(own.status), ...effect },
    reference: 'ref',
    rate: RATE,
    parts: [],
    at: AT,
    ...news,
  })
}

const fieldsOf = (before: Before, effect: Partial<OrderEffect>, news?: Partial<OrderNews>) =>
  changed(before, effect, news).change?.fields ?? {}
describe('what news of an order writes', () => {
  test('is nothing where it is no news', () => {
    for (const before of [
      {},
      { status: 'under_review', parkReason: 'underpaid', exception: 'underpaid', usdc } as const,
      { status: 'pending', exception: 'verification_required' } as const,
    ])
      expect(changed(before, {})).toEqual({ attempt: null, parts: [], moves: [], change: null })
    const same = { status: 'under_review', parkReason: 'underpaid', exception: 'underpaid' } as const
    expect(changed(same, { park: 'underpaid', exception: 'underpaid' }).change).toBeNull()
  })

  test('of the attempt is its state, a code of the partner that is new, and the id of the order once it is known', () => {
    const of = (known: Partial<Attempt>, effect: Partial<OrderEffect>) => changed({ attempt: known }, effect).attempt
    expect(of({}, { attempt: 'declined', failureCode: 'declined' })).toEqual({
      status: 'declined',
      failureCode: 'declined',
    })
    expect(of({ status: 'declined', failureCode: 'declined' }, { failureCode: 'declined' })).toBeNull()
    expect(of({ failureCode: 'declined' }, {})).toBeNull()
    expect(of({ failureCode: 'declined' }, { failureCode: 'reversed' })).toEqual({ failureCode: 'reversed' })
    expect(of({ partnerReference: null }, {})).toEqual({ partnerReference: 'ref' })
    expect(of({ partnerReference: 'other' }, { attempt: 'confirming' })).toEqual({ status: 'confirming' })
  })

  test('is told by the state that the attempt has now, with who and why', () => {
    const ids = { attempt_id: 'att_1', provider: 'wallet_app' }
    expect(changed({}, { attempt: 'declined', failureCode: 'declined' }).change).toEqual({
      fields: {},
      note: {
        kind: 'attempt.declined',
        actor: 'partner',
        message: 'The attempt was declined; the buyer may try again',
        data: { ...ids, failure_code: 'declined' },
      },
    })
    const told = changed({ status: 'pending' }, { exception: 'paid_late' }).change
    expect(told).toEqual({
      fields: { exception: 'paid_late' },
      note: { kind: 'attempt.open', actor: 'partner', message: 'The partner reports: open', data: ids },
    })
    expect(Object.keys(told?.note.data ?? {})).toEqual(['attempt_id', 'provider'])
  })

  test('is told as money that came or went where only that is new, and as a chargeback where it is one', () => {
    const more = part({ key: 'more', units: '500', chargeMinor: '500' })
    const less = part({ key: 'less', kind: 'reversal', units: '-500', chargeMinor: '-500' })
    const kindOf = (effect: Partial<OrderEffect>) => changed({}, effect).change?.note.kind
    expect(kindOf({ parts: [more] })).toBe('payment.money_came')
    expect(kindOf({ parts: [less] })).toBe('payment.money_went')
    expect(kindOf({ parts: [less, more] })).toBe('payment.money_came')
    expect(kindOf({ parts: [less], incident: 'chargeback' })).toBe('payment.chargeback')
    expect(kindOf({ parts: [less], incident: 'misfit' })).toBe('payment.money_went')
    const sold = { usdc: { gross: '1', fee: '0', net: '1' }, paidAttemptId: 'att_1' }
    const nobodys = part({ key: 'nobody’s', state: 'surplus' })
    expect(changed(sold, { parts: [more, nobodys] }).change?.note.kind).toBe('payment.chargeback_won')
    expect(kindOf({ parts: [part({ asset: 'USDC' })] })).toBe('payment.money_came')
    expect(kindOf({ parts: [less], incident: 'chargeback', attempt: 'refunded' })).toBe('attempt.refunded')
    expect(kindOf({ incident: 'chargeback', exception: 'underpaid' })).toBe('attempt.open')
    expect(changed({}, { parts: [more, less] }).change?.note.data).toEqual({
      attempt_id: 'att_1',
      provider: 'wallet_app',
      parts: [
        { asset: 'EUR', units: '500' },
        { asset: 'EUR', units: '-500' },
      ],
    })
  })

  test('of a move says where to and why; what else changes is written with it', () => {
    const { moves, change } = changed(
      { status: 'pending' },
      { attempt: 'confirming', exception: 'paid_late', moves: [{ to: 'processing', why: 'confirming' }] },
    )
    expect(change).toBeNull()
    expect(moves).toEqual([
      {
        to: 'processing',
        reason: {
          actor: 'partner',
          message: 'The partner is confirming the payment',
          data: { attempt_id: 'att_1', provider: 'wallet_app' },
        },
        fields: { exception: 'paid_late' },
      },
    ])
  })

  test('of two moves: what changes goes with the first, what is waited for with the second', () => {
    const twice = (park: OrderEffect['park']) =>
      changed(
        { status: 'expired' },
        {
          attempt: 'underpaid',
          exception: 'underpaid',
          park,
          moves: [
            { to: 'processing', why: 'paid_after_expiry' },
            { to: 'under_review', why: 'underpaid' },
          ],
        },
      ).moves.map(({ to, fields }) => ({ to, fields }))
    expect(twice('underpaid')).toEqual([
      { to: 'processing', fields: { exception: 'underpaid' } },
      { to: 'under_review', fields: { parkReason: 'underpaid', statusReason: 'underpaid' } },
    ])
    expect(twice(null)[1]).toEqual({ to: 'under_review', fields: NO_ONE_WAITS })
  })
})

describe('for what a payment waits', () => {
  test('is written with the move that parks it', () => {
    const { moves } = changed(
      { status: 'processing' },
      { attempt: 'on_hold', park: 'partner_hold', moves: [{ to: 'under_review', why: 'held_by_partner' }] },
    )
    expect(moves[0]?.fields).toEqual({ parkReason: 'partner_hold', statusReason: 'partner_hold' })
  })

  test('is another thing where the payment is parked already, and stays where nothing is said of it', () => {
    const parked = { status: 'under_review', parkReason: 'partner_hold' } as const
    expect(fieldsOf(parked, { park: 'underpaid' })).toEqual({ parkReason: 'underpaid', statusReason: 'underpaid' })
    expect(fieldsOf(parked, { exception: 'paid_late' })).toEqual({ exception: 'paid_late' })
  })

  test('is over with the move that leaves the review, and with none of another state', () => {
    const moves = [{ to: 'processing', why: 'released_by_partner' }] as const
    const parked = { status: 'under_review', parkReason: 'partner_hold' } as const
    expect(changed(parked, { moves }).moves[0]?.fields).toEqual(NO_ONE_WAITS)
    expect(changed({ status: 'expired' }, { moves }).moves[0]?.fields).toEqual({})
  })
})

describe('the mark of what is unusual', () => {
  test('is set, is cleared, and is left alone where nothing is said of it', () => {
    expect(fieldsOf({}, { exception: 'overpaid' })).toEqual({ exception: 'overpaid' })
    expect(fieldsOf({ exception: 'underpaid' }, { exception: null })).toEqual({ exception: null })
    expect(fieldsOf({ exception: 'underpaid' }, { attempt: 'declined' })).toEqual({})
  })

  test('of an identity check is gone with the next state of the attempt, unless another one takes its place', () => {
    const asked = { exception: 'verification_required', attempt: { status: 'verification_required' } } as const
    expect(fieldsOf(asked, { attempt: 'declined' })).toEqual({ exception: null })
    expect(fieldsOf(asked, { attempt: 'underpaid', exception: 'underpaid' })).toEqual({ exception: 'underpaid' })
    expect(fieldsOf(asked, { parts: [part({})] })).toEqual({})
  })
})

describe('the money of a payment', () => {
  test('is what is counted of the attempt, what came just now with it, at the rate of the moment', () => {
    const known = [
      part({ key: 'a', chargeMinor: '3000' }),
      part({ key: 'b', chargeMinor: '70', state: 'surplus' }),
      part({ key: 'c', chargeMinor: '5', attemptId: 'att_2' }),
    ]
    const taken = { money: 'take', parts: [part({ key: 'd', chargeMinor: '1999' })] } as const
    expect(fieldsOf({}, taken, { parts: known })).toEqual({
      paidAttemptId: 'att_1',
      providerUsed: 'wallet_app',
      methodUsed: 'banking_app',
      chargeCurrency: 'EUR',
      confirmedMinor: '4999',
      rate: '1.17',
      rateSource: 'market',
      rateLockedAt: AT,
      paidAt: AT,
    })
  })

  test('is taken without a rate where there is none, and came when its first part came', () => {
    const fields = fieldsOf(
      { paidAt: '2026-01-01T08:00:00.000Z' },
      { money: 'take' },
      { rate: null, parts: [part({})] },
    )
    expect(fields).toEqual({
      paidAttemptId: 'att_1',
      providerUsed: 'wallet_app',
      methodUsed: 'banking_app',
      chargeCurrency: 'EUR',
      confirmedMinor: '4999',
      paidAt: '2026-01-01T08:00:00.000Z',
    })
    expect(lockedRate(RATE, AT)).toEqual({ rate: '1.17', rateSource: 'market', rateLockedAt: AT })
  })

  test('that is given back leaves nothing of it: no attempt, no amount, no rate, no time', () => {
    const none = {
      paidAttemptId: null,
      confirmedMinor: null,
      chargeCurrency: null,
      rate: null,
      rateSource: null,
      rateLockedAt: null,
      paidAt: null,
    }
    expect(givenUp({ exception: null })).toEqual(none)
    expect(fieldsOf({ paidAttemptId: 'att_1' }, { money: 'give_back' })).toEqual(none)
  })

  test.each(['underpaid', 'overpaid', 'paid_late', 'settlement_delayed'] as const)(
    'is not said to be %s any more, once it has gone',
    (exception) => {
      expect(fieldsOf({ paidAttemptId: 'att_1', exception }, { money: 'give_back' })).toMatchObject({ exception: null })
      expect(givenUp({ exception })).toMatchObject({ exception: null })
    },
  )

  test('leaves what is said of other money, and what is said now', () => {
    for (const exception of ['duplicate_payment', 'wrong_asset', 'verification_required'] as const)
      expect(givenUp({ exception })).not.toHaveProperty('exception')
    const said = { money: 'give_back', exception: 'duplicate_payment' } as const
    expect(fieldsOf({ exception: 'overpaid' }, said)).toMatchObject({ exception: 'duplicate_payment' })
  })

  test('is held as soon as it is there, where an operator had placed the hold before', () => {
    const held = { held: true, status: 'processing', paidAttemptId: 'att_1' } as const
    expect(mustBeHeld(held)).toBe(true)
    expect(mustBeHeld({ ...held, held: false })).toBe(false)
    expect(mustBeHeld({ ...held, status: 'settling' })).toBe(false)
    expect(mustBeHeld({ ...held, paidAttemptId: null })).toBe(false)
  })
})
