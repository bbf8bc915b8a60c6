import { describe, expect, test } from '@jest/globals'
import { NOTHING_TO_SETTLE, ORDER_UNCHANGED } from '../../../../src/domain/payment/decision.ts'
import {
  type DecisionEffect,
  effectOfDecision,
  type RecordedDecision,
} from '../../../../src/domain/payment/money/decided.ts'
import type { Incident } from '../../../../src/domain/payment/money/intents.ts'
import { PARK_REASONS, PAYMENT_STATUSES, type ParkReason } from '../../../../src/domain/payment/payment.ts'
import type { Payment, PaymentWithAttempts } from '../../../../src/domain/payment/payment-object.ts'
import { MISFIT_LEFT } from '../../../../src/domain/payment/refund.ts'
import { attempt, note, part, refund, stateOf, transfer, usdc } from '../decided-payment.ts'

/** What each decision writes, and who is told what of it. */

const who = { operator: 'ada', reason: 'looked at it' }
const GOES_ON = { statusReason: null, parkReason: null }
const nothing: DecisionEffect = {
  change: null,
  confirmedAttemptId: null,
  acknowledged: null,
  payout: null,
  closes: null,
  move: null,
}
const own = [attempt({})]
const decide = (decision: RecordedDecision, fields: Partial<Payment>, money: Partial<PaymentWithAttempts> = {}) =>
  effectOfDecision(decision, stateOf(fields, { attempts: own, ...money }), note)
const paid = { paidAttemptId: 'att_1' } as const
const waits = (parkReason: ParkReason, fields: Partial<Payment> = {}): Partial<Payment> => ({
  ...paid,
  status: 'under_review',
  parkReason,
  ...fields,
})
const move = (to: string, message: string, fields: object = GOES_ON) => ({
  to,
  reason: { actor: 'operator', message, data: who },
  fields,
})
const noted = (kind: string, message: string, data: object = {}) => ({
  kind,
  actor: 'operator',
  message,
  data: { ...who, ...data },
})

describe('a hold', () => {
  const change = { note: noted('payment.held', 'An operator holds the payment'), fields: { held: true } }
  const parks = { statusReason: 'operator_hold', parkReason: 'operator_hold' }

  test('keeps money that is there where it is, before its sale and before its payout', () => {
    expect(decide('hold', { ...paid, status: 'processing' })).toEqual({
      ...nothing,
      change,
      move: move('under_review', 'An operator holds it before the conversion', parks),
    })
    expect(decide('hold', { ...paid, status: 'settling', usdc })).toEqual({
      ...nothing,
      change,
      payout: 'hold',
      move: move('under_review', 'An operator holds it before the payout is signed', parks),
    })
  })

  test('is a mark alone where no money is there yet, or an operator decides already', () => {
    for (const fields of [{ status: 'processing' }, { status: 'pending' }, waits('underpaid')] as Partial<Payment>[])
      expect(decide('hold', fields)).toEqual({ ...nothing, change })
  })
})

describe('a release', () => {
  const lifted = (fields: object = {}) => ({
    note: noted('payment.released', 'An operator released the hold'),
    fields: { held: false, ...fields },
  })
  const held = (fields: Partial<Payment> = {}) => waits('operator_hold', { held: true, ...fields })

  test('lets the money go on to where it stood', () => {
    expect(decide('release', held())).toEqual({
      ...nothing,
      change: lifted(),
      move: move('processing', 'An operator released the hold'),
    })
    expect(decide('release', held({ usdc }))).toEqual({
      ...nothing,
      change: lifted(),
      payout: 'release',
      move: move('settling', 'An operator released the hold'),
    })
  })

  test('lifts the mark alone where the payment does not wait for it', () => {
    const elsewhere: Partial<Payment>[] = [
      { status: 'pending', held: true },
      { ...held(), status: 'refunded' },
      ...(Object.keys(PARK_REASONS) as ParkReason[])
        .filter((reason) => reason !== 'operator_hold')
        .map((reason) => waits(reason, { held: true })),
    ]
    for (const fields of elsewhere)
      for (const status of ['confirmed', 'underpaid'] as const)
        expect(decide('release', fields, { attempts: [attempt({ status })] })).toEqual({
          ...nothing,
          change: lifted(),
        })
  })

  test('leaves money that became too little meanwhile to another decision, as long as it is not sold', () => {
    const little = { attempts: [attempt({ id: 'att_0' }), attempt({ status: 'underpaid' })] }
    expect(decide('release', held(), little)).toEqual({
      ...nothing,
      change: lifted({ statusReason: 'underpaid', parkReason: 'underpaid' }),
    })
    expect(decide('release', held({ usdc }), little)).toMatchObject({ payout: 'release', move: { to: 'settling' } })
    // Another order's money was too little.
    const other = { attempts: [attempt({ id: 'att_0', status: 'underpaid' }), attempt({})] }
    expect(decide('release', held(), other)).toMatchObject({ move: { to: 'processing' } })
  })
})

describe('a retry', () => {
  test('is told as what is tried again', () => {
    expect(decide('retry', waits('conversion'))).toEqual({
      ...nothing,
      move: move('processing', 'The conversion is tried again'),
    })
    expect(decide('retry', waits('payout_held', { usdc }))).toEqual({
      ...nothing,
      payout: 'release',
      move: move('settling', 'The payout is tried again'),
    })
  })

  test.each(PAYMENT_STATUSES.filter((status) => status !== 'under_review'))(
    'of a payment that has moved on is none: %s',
    (status) => expect(decide('retry', { ...paid, status })).toEqual(nothing),
  )
})

describe('a rejection', () => {
  test('ends a payment that has no money', () => {
    expect(decide('reject', { status: 'under_review' })).toEqual({
      ...nothing,
      move: move('failed', 'An operator rejected it before any money arrived'),
    })
    expect(decide('reject', { status: 'failed' })).toEqual(nothing)
  })

  test('is refused with any money of any order, whether the payment has taken it or not', () => {
    const refused = { refused: 'Money was confirmed: refund it' }
    expect(decide('reject', waits('partner_hold'), { parts: [] })).toEqual(refused)
    for (const fields of [{}, { attemptId: 'att_2' }, { state: 'surplus' }] as const)
      expect(decide('reject', { status: 'under_review' }, { parts: [part(fields)] })).toEqual(refused)
    expect(decide('reject', { status: 'under_review' }, { parts: [part({ state: 'returned' })] })).toMatchObject({
      move: { to: 'failed' },
    })
  })
})

describe('an approval', () => {
  test('takes what is there as enough, where it was too little', () => {
    expect(decide('approve', waits('underpaid'), { attempts: [attempt({ status: 'underpaid' })] })).toEqual({
      ...nothing,
      confirmedAttemptId: 'att_1',
      move: move('processing', 'An operator approved it'),
    })
    expect(decide('approve', waits('money_after_failure'))).toEqual({
      ...nothing,
      move: move('processing', 'An operator approved it'),
    })
    // Only its own: that of another order stays what it is.
    const other = { attempts: [attempt({ id: 'att_0', status: 'underpaid' }), attempt({})] }
    expect(decide('approve', waits('money_after_failure'), other)).toMatchObject({ confirmedAttemptId: null })
  })

  test('of a transfer that is proved on chain is the record of it', () => {
    expect(decide('approve', waits('unexpected_settlement', { transfer, held: true }))).toEqual({
      ...nothing,
      move: move('succeeded', 'An operator approved it'),
    })
  })

  test('is refused without money, also where money that does not fit is still there', () => {
    const misfit = { attempts: [attempt({ status: 'on_hold' })] }
    const without = { status: 'under_review', parkReason: 'amount_mismatch' } as const
    expect(decide('approve', without, misfit)).toEqual({ refused: NOTHING_TO_SETTLE.why })
    const beside = { attempts: [...own, attempt({ id: 'att_2', status: 'on_hold' })] }
    expect(decide('approve', waits('amount_mismatch'), beside)).toEqual({ refused: MISFIT_LEFT.why })
    expect(decide('approve', waits('amount_mismatch'), misfit)).toMatchObject({ move: { to: 'processing' } })
  })

  test('of a payment that is over deals with what went wrong: one thing after the other', () => {
    const incidents: Incident[] = [
      { kind: 'chargeback', attemptId: 'att_1' },
      { kind: 'misfit', attemptId: 'att_2' },
    ]
    const over = { status: 'succeeded', usdc } as const
    expect(decide('approve', over, { incidents })).toEqual({
      ...nothing,
      closes: incidents[0],
      change: {
        note: noted('payment.incident_closed', 'An operator resolved it', {
          incident: 'chargeback',
          attempt_id: 'att_1',
        }),
        fields: {},
      },
    })
    expect(decide('approve', over)).toEqual(nothing)
  })
})

describe('an acknowledgement', () => {
  const misfit = {
    why: 'amount',
    status: 'paid',
    amount: { minor: '6000', currency: 'EUR' },
    received: { minor: '6000', currency: 'EUR' },
  } as const
  const changed: Incident = { kind: 'misfit', attemptId: 'att_1', misfit }
  const acknowledge = (money: Partial<PaymentWithAttempts>) =>
    decide('acknowledge', { ...paid, status: 'processing' }, money)

  test('takes the amount to which the partner has changed the order, whatever the payment waits for', () => {
    expect(acknowledge({ incidents: [{ kind: 'chargeback', attemptId: 'att_1' }, changed] })).toEqual({
      ...nothing,
      closes: changed,
      acknowledged: { attemptId: 'att_1', minor: '6000' },
      change: {
        note: noted('payment.order_acknowledged', 'The partner changed the order, and an operator acknowledged it', {
          attempt_id: 'att_1',
          amount: misfit.amount,
          received: misfit.received,
        }),
        fields: {},
      },
    })
    // Changed once more: the amount of now.
    const before = { attempts: [attempt({ acknowledgedMinor: '5500' })], incidents: [changed] }
    expect(acknowledge(before)).toMatchObject({ acknowledged: { minor: '6000' }, closes: changed })
  })

  test('is done already where it was, and refused where its order is the one that was asked for', () => {
    expect(acknowledge({ attempts: [attempt({ id: 'att_0' }), attempt({ acknowledgedMinor: '6000' })] })).toEqual(
      nothing,
    )
    const refused = { refused: ORDER_UNCHANGED.why }
    expect(acknowledge({})).toEqual(refused)
    expect(acknowledge({ attempts: [attempt({ id: 'att_0', acknowledgedMinor: '6000' }), ...own] })).toEqual(refused)
    expect(acknowledge({ incidents: [{ ...changed, attemptId: 'att_2' }] })).toEqual(refused)
    expect(decide('acknowledge', { status: 'pending' }, { attempts: [] })).toEqual(refused)
  })
})

test('a refund that is being carried out keeps the money where it is, and the hold is lifted all the same', () => {
  const held = waits('operator_hold', { held: true })
  expect(decide('release', held, { intents: [refund] })).toMatchObject({
    change: { fields: { held: false } },
    payout: null,
    move: null,
  })
})
