import { expect, test } from '@jest/globals'
import {
  ALWAYS_SENT,
  CHANNEL_KINDS,
  DEFAULT_NOTIFICATION_EVENTS,
  GIVEN_UP_AFTER_SECONDS,
  isChatOfOne,
  NOTIFICATION_EVENTS,
  NOTIFICATION_LANGUAGES,
  pauseSeconds,
  retrySeconds,
} from '../../../src/domain/notification/channel.ts'

test('the lists of a channel have the values that the API promises', () => {
  expect(CHANNEL_KINDS).toEqual(['email', 'telegram', 'discord', 'slack'])
  expect(NOTIFICATION_EVENTS).toEqual([
    'payment.succeeded',
    'payment.failed',
    'payment.expired',
    'payment.canceled',
    'payment.under_review',
    'payment.chargeback',
    'payment.refunded',
    'dispute.created',
    'dispute.closed',
    'dispute.evidence_due',
    'refund.created',
    'refund.succeeded',
    'refund.failed',
    'reserve.released',
    'payment_link.completed',
    'payment_link.stopped',
    'payment_link.resumed',
    'webhook_endpoint.disabled',
  ])
  expect(DEFAULT_NOTIFICATION_EVENTS).toEqual([
    'payment.succeeded',
    'payment.under_review',
    'payment.chargeback',
    'dispute.created',
    'dispute.closed',
    'dispute.evidence_due',
    'refund.created',
    'refund.failed',
    'reserve.released',
    'webhook_endpoint.disabled',
  ])
  expect(NOTIFICATION_LANGUAGES.join(' ')).toBe('en de fr es it nl pl pt ro hu sv el hi ar')
})

test('a message is tried again after 5 s, 30 s, 2, 10 and 30 minutes, then every hour, for three days', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 80].map(retrySeconds)).toEqual([5, 30, 120, 600, 1800, 3600, 3600, 3600])
  expect(GIVEN_UP_AFTER_SECONDS).toBe(259_200)
})

test.each([
  [null, 30],
  [Number.NaN, 30],
  [Number.POSITIVE_INFINITY, 30],
  [-5, 1],
  [0, 1],
  [0.2, 1],
  [1, 1],
  [1.01, 2],
  [86_399.5, 86_400],
  [86_400, 86_400],
  [1e12, 86_400],
])('a channel that asks for %s seconds gets no message for %i', (asked, seconds) => {
  expect(pauseSeconds(asked)).toBe(seconds)
})

test('an id of a Telegram chat is positive for one person, and negative for a group', () => {
  expect(['7001', '-1001234', '7001-1'].map(isChatOfOne)).toEqual([true, false, true])
})

test('people read which notifications they cannot switch off', () => {
  for (const subject of ['wallet', 'keys', 'channels', 'sign-in']) expect(ALWAYS_SENT).toContain(subject)
})
