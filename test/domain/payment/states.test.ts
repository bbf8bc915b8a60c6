import { describe, expect, test } from '@jest/globals'
import { FAILURE_CODES, ORDER_STATUSES } from '../../../src/domain/payment/partner.ts'
import {
  ATTEMPT_STATUSES,
  canMove,
  isClosed,
  isOpen,
  isPaid,
  isSettled,
  mayStillBePaid,
  PARK_REASONS,
  PAYMENT_STATUSES,
  sourcesOf,
} from '../../../src/domain/payment/payment.ts'
import { OPERATOR_DECISIONS } from '../../../src/domain/payment/requests.ts'

/** The contract's table of states, read backwards: whence each state may be entered. Merchants build on it. */
const ENTERED_FROM = {
  created: '',
  pending: 'created processing',
  processing: 'pending under_review expired canceled',
  under_review: 'pending processing settling failed',
  settling: 'processing under_review',
  succeeded: 'under_review settling',
  failed: 'pending processing under_review',
  expired: 'created pending',
  canceled: 'created pending',
  refunded: 'under_review',
}

describe('the states of a payment', () => {
  test('are those of the contract', () => {
    expect(PAYMENT_STATUSES).toEqual(Object.keys(ENTERED_FROM))
  })

  test.each(PAYMENT_STATUSES)('%s is entered only from where the contract says', (status) => {
    expect(sourcesOf(status).join(' ')).toBe(ENTERED_FROM[status])
  })

  test.each(PAYMENT_STATUSES)('%s can be left only to where the contract says', (from) => {
    for (const to of PAYMENT_STATUSES)
      expect([to, canMove(from, to)]).toEqual([to, ENTERED_FROM[to].split(' ').includes(from)])
  })

  test('a buyer may pay, and a merchant cancel, in two of them; five are ends', () => {
    expect(PAYMENT_STATUSES.filter(isOpen)).toEqual(['created', 'pending'])
    expect(PAYMENT_STATUSES.filter(isClosed)).toEqual(['succeeded', 'failed', 'expired', 'canceled', 'refunded'])
  })
})

describe('the states of an attempt', () => {
  test('money came, or may come, or cannot: each state is one of the three', () => {
    expect(ATTEMPT_STATUSES.filter(isPaid)).toEqual(['confirmed', 'underpaid', 'surplus', 'late'])
    expect(ATTEMPT_STATUSES.filter(mayStillBePaid)).toEqual([
      'opening',
      'open',
      'verification_required',
      'confirming',
      'on_hold',
    ])
    const dead = ATTEMPT_STATUSES.filter((status) => !isPaid(status) && !mayStillBePaid(status))
    expect(dead).toEqual(['declined', 'canceled', 'expired', 'refunded'])
  })

  test('money that came stays known as such when it has gone back', () => {
    expect(ATTEMPT_STATUSES.filter(isSettled)).toEqual(['confirmed', 'underpaid', 'surplus', 'late', 'refunded'])
  })

  test('what a partner may say is a closed list', () => {
    expect(ORDER_STATUSES.join(' ')).toBe(
      'open verification_required confirming on_hold paid declined canceled expired refunded',
    )
  })

  test('each failure is a sentence for people', () => {
    expect(Object.keys(FAILURE_CODES).join(' ')).toBe(
      'declined insufficient_funds verification_failed abandoned reversed partner_unavailable',
    )
    for (const sentence of Object.values(FAILURE_CODES)) expect(sentence).toMatch(/^The(re)? .{10,}\.$/)
  })
})

describe('a payment that waits for an operator', () => {
  test.each(Object.entries(PARK_REASONS))(
    'because of %s says so to operators and to its merchant, and offers a way out',
    (reason, { text, merchant, decisions }) => {
      for (const sentences of [text, merchant]) expect(sentences).toMatch(/^[A-Z].{10,}\.$/)
      // Commands and the platform's own books are no matter of a merchant.
      expect(merchant).not.toMatch(/`|operator|approve|retry|suspense|treasury|incident/i)
      // Money that was reversed is followed to its end without anybody: the void is proved, or the transfer was faster.
      expect(decisions.length > 0).toBe(reason !== 'funds_reversed')
      expect(decisions.filter((decision) => !OPERATOR_DECISIONS.includes(decision))).toEqual([])
    },
  )

  test('may be decided in eight ways', () => {
    expect(OPERATOR_DECISIONS.join(' ')).toBe(
      'approve reject refund recordExternalRefund hold release retry acknowledge',
    )
  })
})
