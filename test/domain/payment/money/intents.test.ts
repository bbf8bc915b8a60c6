import { describe, expect, test } from '@jest/globals'
import {
  changedOrder,
  type Incident,
  type Intent,
  isMisfitBeside,
  isUnbooked,
  openCancel,
  openRefund,
  stateOfCancel,
  whyNotFree,
} from '../../../../src/domain/payment/money/intents.ts'
import { ATTEMPT_STATUSES, PARK_REASONS, type ParkReason } from '../../../../src/domain/payment/payment.ts'
import { part, refund, stateOf } from '../decided-payment.ts'

const paid = { status: 'processing', paidAttemptId: 'att_1' } as const
const asked = (kind: Intent['kind'], attemptId: string | null): Intent => ({ ...refund, kind, attemptId })

describe('money may move on', () => {
  test('when all that was counted at the confirmation is there, and nothing else', () => {
    expect(whyNotFree(stateOf(paid))).toBeNull()
    expect(whyNotFree(stateOf(paid, { parts: [] }))).toBe('changed')
    expect(whyNotFree(stateOf(paid, { parts: [part({}), part({ units: '1', chargeMinor: '1' })] }))).toBe('changed')
    expect(whyNotFree(stateOf(paid, { parts: [part({ state: 'returning' })] }))).toBe('changed')
    expect(whyNotFree(stateOf(paid, { parts: [part({ attemptId: 'att_2' })] }))).toBe('changed')
    const beside = [part({}), part({ state: 'surplus' }), part({ attemptId: 'att_2', state: 'late' })]
    expect(whyNotFree(stateOf(paid, { parts: beside }))).toBeNull()
  })

  test('when money was confirmed', () => {
    expect(whyNotFree(stateOf({ status: 'processing' }))).toBe('nothing')
    expect(whyNotFree(stateOf({ ...paid, confirmed: null }))).toBe('nothing')
    // What was confirmed of an order that has gone is no money.
    const gone = { status: 'processing', paidAttemptId: null, confirmed: { minor: '4999', currency: 'EUR' } } as const
    expect(whyNotFree(stateOf(gone, { parts: [part({})] }))).toBe('nothing')
  })

  test.each([
    ['amount', 'paid', '4999', null],
    ['amount', 'paid', '9999', null],
    ['amount', 'paid', '4998', 'in_doubt'],
    ['amount', 'paid', null, 'in_doubt'],
    ['amount', 'on_hold', '4999', 'in_doubt'],
    ['currency', 'paid', '4999', 'in_doubt'],
    ['no_amount', 'paid', null, 'in_doubt'],
  ] as const)('when no report about its order leaves it in doubt: %s, %s, %s', (why, status, minor, free) => {
    const received = minor === null ? null : { minor, currency: 'EUR' as const }
    const misfit = { why, status, amount: { minor: '49990', currency: 'EUR' }, received } as const
    const of = (attemptId: string): Incident => ({ kind: 'misfit', attemptId, misfit })
    expect(whyNotFree(stateOf(paid, { incidents: [of('att_1')] }))).toBe(free)
    expect(whyNotFree(stateOf(paid, { incidents: [of('att_2')] }))).toBeNull()
    // Another token is at its address, which says nothing about it.
    expect(whyNotFree(stateOf(paid, { incidents: [{ ...of('att_1'), misfit: null }] }))).toBeNull()
  })

  test('when nobody holds it: that is said first', () => {
    expect(whyNotFree(stateOf({ ...paid, held: true }, { intents: [refund], parts: [] }))).toBe('held')
  })

  test.each([
    ['a refund of it', asked('refund', 'att_1'), 'decided'],
    ['a refund of another attempt', asked('refund', 'att_2'), null],
    ['a void', asked('void', null), 'decided'],
    ['the cancellation of its order', asked('cancel', 'att_1'), null],
    ['the cancellation of another order', asked('cancel', 'att_2'), null],
  ] as const)('while %s is being carried out: %s', (_what, intent, why) => {
    expect(whyNotFree(stateOf(paid, { intents: [intent] }))).toBe(why)
  })
})

test('an intent is found by its kind and its attempt', () => {
  const all = [asked('cancel', 'att_1'), asked('refund', 'att_2'), asked('void', null)]
  expect([openRefund(all, 'att_1'), openRefund(all, 'att_2')]).toEqual([null, all[1]])
  expect([openCancel(all, 'att_1'), openCancel(all, 'att_2')]).toEqual([all[0], null])
})

test('a cancellation is over when the order is dead, or when its money came or is coming', () => {
  const by = (state: string) => ATTEMPT_STATUSES.filter((status) => stateOfCancel(status) === state)
  expect(by('pending')).toEqual(['opening', 'open', 'verification_required'])
  expect(by('done')).toEqual(['declined', 'canceled', 'expired', 'refunded'])
  expect(by('refused')).toEqual(['confirming', 'on_hold', 'confirmed', 'underpaid', 'surplus', 'late'])
})

describe('money that does not fit', () => {
  const about = (attemptId: string | null, why: NonNullable<Incident['misfit']>['why'] | null): Incident => {
    const sum = { minor: '1', currency: 'EUR' } as const
    const misfit = why === null ? null : { why, status: 'paid', amount: sum, received: null }
    return { kind: 'misfit', attemptId, misfit }
  }

  test('is a changed order where the partner has changed the amount of what the payment was paid with', () => {
    const changed = about('att_1', 'amount')
    const paid = { id: 'att_1', acknowledgedMinor: '2' }
    expect(changedOrder([about('att_2', 'amount'), about('att_1', 'order'), changed], paid)).toEqual(changed)
    for (const other of [about('att_2', 'amount'), about('att_1', 'currency'), about('att_1', null)])
      expect(changedOrder([other], paid)).toBeNull()
    // Nothing was paid, so no order is the payment's own.
    expect(changedOrder([about(null, 'amount'), changed], undefined)).toBeNull()
    expect(changedOrder([], paid)).toBeNull()
    // Somebody has said already that the amount is right.
    expect(changedOrder([changed], { ...paid, acknowledgedMinor: '1' })).toBeNull()
  })

  test('is there while the payment waits because of it', () => {
    const unbooked = (Object.keys(PARK_REASONS) as ParkReason[]).filter((parkReason) => isUnbooked({ parkReason }))
    expect(unbooked.toSorted()).toEqual(['amount_mismatch', 'wrong_asset'])
    expect(isUnbooked({ parkReason: null })).toBe(false)
  })

  test('is beside other money while an order of another attempt has it', () => {
    const orders = [
      { id: 'att_1', status: 'on_hold' },
      { id: 'att_2', status: 'open' },
    ] as const
    const beside = (attemptId: string | null, parkReason: ParkReason | null = 'wrong_asset') =>
      isMisfitBeside({ parkReason, attempts: orders }, attemptId)
    expect([beside('att_1'), beside('att_2'), beside(null)]).toEqual([false, true, true])
    expect([beside('att_2', 'underpaid'), beside('att_2', null)]).toEqual([false, false])
  })
})
