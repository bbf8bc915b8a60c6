import { describe, expect, test } from '@jest/globals'
import { canMove, PAYMENT_STATUSES, sourcesOf, TRANSITIONS } from '../../../src/domain/payment/payment.ts'
import { newPaymentSnapshot, nextStep, type PaymentSnapshot } from '../../../src/domain/payment/snapshot.ts'

describe('the transition table', () => {
  test('lists each move once, with a reason', () => {
    const moves = TRANSITIONS.map(([from, to]) => `${from}>${to}`)
    expect(new Set(moves).size).toBe(moves.length)
    for (const [, , reason] of TRANSITIONS) expect(reason.length).toBeGreaterThan(10)
  })

  test('all pairs: canMove and sourcesOf say the same', () => {
    for (const from of PAYMENT_STATUSES)
      for (const to of PAYMENT_STATUSES) expect(sourcesOf(to).includes(from)).toBe(canMove(from, to))
  })

  test('nothing leaves succeeded or refunded', () => {
    for (const to of PAYMENT_STATUSES) {
      expect(canMove('succeeded', to)).toBe(false)
      expect(canMove('refunded', to)).toBe(false)
    }
  })

  test('a payment that settles can only succeed or be reviewed: never failed or refunded while a payout exists', () => {
    expect(PAYMENT_STATUSES.filter((to) => canMove('settling', to))).toEqual(['under_review', 'succeeded'])
  })

  test('success is reached only from where a payout exists', () => {
    expect(sourcesOf('succeeded')).toEqual(['under_review', 'settling'])
  })
})

describe('what a payment does next', () => {
  const at = (fields: Partial<PaymentSnapshot>): PaymentSnapshot => ({ ...newPaymentSnapshot('pay_1', 0), ...fields })
  const attempt = (status: PaymentSnapshot['attempts'][number]['status']) => ({
    id: 'att_1',
    provider: 'wallet_app' as const,
    method: 'banking_app' as const,
    status,
  })

  test.each([
    ['waits for the buyer', at({}), 'await_buyer'],
    ['waits for the partner', at({ status: 'processing' }), 'await_partner'],
    ['converts confirmed money', at({ status: 'processing', paidAttemptId: 'att_1' }), 'convert'],
    ['transfers converted money', at({ status: 'processing', paidAttemptId: 'att_1', converted: true }), 'transfer'],
    ['goes on waiting for the transfer', at({ status: 'settling', converted: true }), 'transfer'],
    ['waits for an operator', at({ status: 'under_review' }), 'await_operator'],
    ['ends', at({ status: 'succeeded' }), 'done'],
    ['listens for late money', at({ status: 'expired', attempts: [attempt('open')], listenUntil: 1 }), 'listen'],
    ['stops listening', at({ status: 'expired', attempts: [attempt('open')] }), 'done'],
    [
      'keeps a second payment for an operator',
      at({ status: 'succeeded', attempts: [attempt('surplus')] }),
      'await_operator',
    ],
  ])('%s', (_name, payment, step) => {
    expect(nextStep(payment)).toBe(step)
  })
})
