import { expect, test } from '@jest/globals'
import { isTooLate } from '../../../src/domain/payment/late-money.ts'
import { toSnapshot } from '../../../src/domain/payment/snapshot.ts'
import { AT, after, attempt, decides, opened, payment, pays, says, sets, setsAttempt } from './payment-story.ts'

const HOUR = 3_600_000
const before = (ms: number): string => new Date(new Date(AT).getTime() - ms).toISOString()
const upi = attempt({ id: 'att_2', provider: 'local_partner', method: 'upi' })
/** Closed two days before the money of the story arrives. */
const expired = after(opened(attempt(), upi), sets({ closedAs: 'expired', expiresAt: before(48 * HOUR) }))

test.each([
  ['a minute after a day: it came in time', before(24 * HOUR + 60_000), false],
  ['a moment later', before(24 * HOUR + 60_001), true],
])('money of a partner with a limit of a day is too late after it: %s', (_what, expiresAt, expected) => {
  const paid = attempt({ paidAt: AT })
  expect(isTooLate(payment({ closedAs: 'expired', expiresAt }), paid)).toBe(expected)
  expect(isTooLate(payment({ closedAs: 'canceled', canceledAt: expiresAt }), paid)).toBe(expected)
  expect(isTooLate(payment({ closedAs: 'failed', failedAt: expiresAt }), paid)).toBe(expected)
  expect(isTooLate(payment({ expiresAt }), paid)).toBe(false)
  expect(isTooLate(payment({ closedAs: 'expired', expiresAt }), attempt())).toBe(false)
})

test('money of one partner that is too late goes back, and leaves money of another in time', () => {
  const late = after(expired, pays())
  expect(late.payment).toMatchObject({ status: 'expired', paidAttemptId: null, reviews: [{ reason: 'excess' }] })
  const inTime = after(late, pays('3000', 'att_2'))
  expect(inTime.payment).toMatchObject({ status: 'under_review', paidAttemptId: 'att_2', statusReason: 'too_little' })
  expect(after(late, pays('10000', 'att_2')).payment).toMatchObject({ status: 'processing', paidAttemptId: 'att_2' })
})

test('an order that does not fit, and whose money is too late, cannot be settled', () => {
  const odd = says({ status: 'paid', received: '10000', amount: { minor: '20000', currency: 'EUR' } })
  const listSaid = (state: typeof expired) => toSnapshot(state).answers.map(({ say }) => say)
  expect(listSaid(after(expired, odd))).toEqual(['give_back', 'give_back'])
  const inTime = after(opened(attempt()), odd)
  expect(listSaid(inTime)).toContain('settle')
})

test('more money of an order that was paid in time is in time', () => {
  const more = after(expired, setsAttempt({ held: '3000', status: 'paid', paidAt: before(30 * HOUR) }), pays())
  expect(more.payment).toMatchObject({ status: 'processing', paidAttemptId: 'att_1' })
  expect(after(more, decides({ say: 'hold' })).payment.status).toBe('under_review')
})
