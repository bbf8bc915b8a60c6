import { describe, expect, test } from '@jest/globals'
import {
  canApply,
  decideStatus,
  firstStatus,
  getLinkLimit,
  isWaiting,
  MERCHANT_INVITED_MS,
  MERCHANT_STATUSES,
  type OperatorAct,
} from '../../../src/domain/account/agreement.ts'

test.each([
  [null, null, null],
  ['500', null, '500'],
  [null, '500', '250'],
  ['500', '600', '300'],
  ['500', '5000', '500'],
])('with %j for a payment and %j for a day, a payment by a link can be worth %j', (paymentMicro, dayMicro, most) => {
  expect(getLinkLimit({ paymentMicro, dayMicro, openPayments: 2 })).toBe(most)
})

test('an invitation of the operator can be used for two weeks', () => {
  expect(MERCHANT_INVITED_MS).toBe(1_209_600_000)
})

describe('The status of a merchant', () => {
  test.each<[OperatorAct, Record<string, string>]>([
    ['approve', { pending: 'approved', rejected: 'approved' }],
    ['reject', { pending: 'rejected' }],
    ['suspend', { approved: 'suspended', suspended: 'suspended' }],
    ['resume', { suspended: 'approved' }],
  ])('to %s leads only from these statuses to these', (act, moves) => {
    const found = MERCHANT_STATUSES.flatMap((status) => {
      const after = decideStatus(status, act)
      return after === null ? [] : [[status, after]]
    })
    expect(Object.fromEntries(found)).toEqual(moves)
  })

  test('a new account waits for the operator only in live mode', () => {
    expect([firstStatus(true), firstStatus(false)]).toEqual(['pending', 'approved'])
  })

  test('a merchant that is not suspended can describe what it sells, and waits for the operator until it is approved', () => {
    expect(MERCHANT_STATUSES.filter(canApply)).toEqual(['pending', 'approved', 'rejected'])
    expect(MERCHANT_STATUSES.filter(isWaiting)).toEqual(['pending', 'rejected'])
  })
})
