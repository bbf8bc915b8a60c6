import { describe, expect, test } from '@jest/globals'
import { newPaymentSnapshot, type PaymentSnapshot, toSnapshot } from '../../../src/domain/payment/snapshot.ts'
import {
  decideWorkflowStep,
  findNextMoment,
  POLL_AFTER_MINUTES,
  type WorkflowStep,
} from '../../../src/domain/payment/workflow-step.ts'
import { AT, after, attempt, decides, handed, opened, pays, says, settled, sold } from './payment-story.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const T = Date.UTC(2026, 0, 1)
const EXPIRES = T + 24 * HOUR

/** A payment without due work and scheduled readings. */
const quiet: PaymentSnapshot = { ...newPaymentSnapshot('pay_1', EXPIRES), status: 'pending', next: 'await_buyer' }
const closed: PaymentSnapshot = { ...quiet, status: 'expired', next: 'await_partner', listenUntil: T + 48 * HOUR }
const processing: PaymentSnapshot = { ...quiet, status: 'processing', next: 'await_partner' }
const ORDER = { id: 'att_1', changedAt: T }
const watched = { watched: [ORDER] }

/** A clock at this moment, at which the orders were read too. */
const stepAt = (payment: PaymentSnapshot, now: number, polledAt = now): WorkflowStep =>
  decideWorkflowStep(payment, { now, polledAt })

describe('A moment is due from its own millisecond on', () => {
  test.each<[string, PaymentSnapshot, number, WorkflowStep]>([
    ['the expiry of an open payment', quiet, EXPIRES, { do: 'close', as: 'expired' }],
    ['the end of listening', closed, T + 48 * HOUR, { do: 'close', as: 'listening_ended' }],
    ['the silence of a partner', { ...processing, silentAt: T + HOUR }, T + HOUR, { do: 'mark' }],
    ['the delay of a settlement', { ...processing, delayedAt: T + HOUR }, T + HOUR, { do: 'mark' }],
    ['the reading of an order', { ...processing, ...watched }, T + MINUTE, { do: 'poll' }],
  ])('a step is due from its moment on: %s', (_what, payment, moment, step) => {
    const polledAt = T
    expect(decideWorkflowStep(payment, { now: moment - 1, polledAt })).toEqual({ do: 'wait' })
    expect(decideWorkflowStep(payment, { now: moment, polledAt })).toEqual(step)
    expect(findNextMoment(payment, polledAt)?.at).toBe(moment)
  })
})

describe('The next step of a payment', () => {
  test.each<[PaymentSnapshot['next'], WorkflowStep]>([
    ['sell', { do: 'settle' }],
    ['end_sale', { do: 'settle' }],
    ['hand_over', { do: 'settle' }],
    ['await_payout', { do: 'settle' }],
    ['await_buyer', { do: 'wait' }],
    ['await_partner', { do: 'wait' }],
    ['await_release', { do: 'wait' }],
    ['void', { do: 'wait' }],
    ['review', { do: 'wait' }],
    ['done', { do: 'done' }],
  ])('a payment takes the step for %s: %j', (next, step) => {
    expect(stepAt({ ...processing, next }, T)).toEqual(step)
  })

  test('a give-back names its attempt', () => {
    const back = toSnapshot(after(opened(attempt()), pays(), decides({ say: 'give_back', accountId: 'att_1' })))
    expect(stepAt(back, Date.parse(AT))).toEqual({ do: 'give_back', attemptId: 'att_1' })
  })

  test.each([
    ['money that is to be sold', after(opened(attempt()), pays()), 'settle'],
    ['money that was sold', sold, 'settle'],
    ['a payout on its way', handed, 'settle'],
    ['a payment that is settled', settled, 'done'],
    ['an order that its partner confirms', after(opened(attempt()), says({ status: 'confirming' })), 'wait'],
  ])('%s leads to its step if nothing else is due', (_what, state, step) => {
    expect(stepAt(toSnapshot(state), Date.parse(AT)).do).toBe(step)
  })
})

describe('The first rule of simultaneous ones counts', () => {
  const LATE = T + 100 * HOUR
  const all: PaymentSnapshot = { ...quiet, ...watched, silentAt: T, delayedAt: T, next: 'sell', listenUntil: T }
  test.each<[string, PaymentSnapshot, WorkflowStep]>([
    ['an open payment expires before all else', all, { do: 'close', as: 'expired' }],
    [
      'the end of listening comes before the marks',
      { ...all, status: 'expired', next: 'await_partner' },
      { do: 'close', as: 'listening_ended' },
    ],
    ['a mark comes before a reading', { ...all, status: 'processing' }, { do: 'mark' }],
    [
      'a reading comes before the money',
      { ...all, status: 'processing', silentAt: null, delayedAt: null },
      { do: 'poll' },
    ],
    [
      'the money comes when nothing is due',
      { ...all, status: 'processing', silentAt: null, delayedAt: null, watched: [] },
      { do: 'settle' },
    ],
  ])('the first of two due rules counts: %s', (_what, payment, step) => {
    expect(decideWorkflowStep(payment, { now: LATE, polledAt: T })).toEqual(step)
  })
})

describe('Conditions without a moment', () => {
  test.each<[string, PaymentSnapshot]>([
    ['the expiry of a payment that has money', processing],
    ['the expiry of a payment that is closed', { ...closed, listenUntil: null }],
    ['the end of listening of an open payment', { ...quiet, expiresAt: T + 1000 * HOUR, listenUntil: T }],
    ['the end of listening of a payment with late money', { ...processing, listenUntil: T }],
    ['the end of listening while a sale is open', { ...closed, next: 'review', listenUntil: T }],
  ])('a payment has no moment for: %s', (_what, payment) => {
    expect(stepAt(payment, T + 500 * HOUR)).toEqual({ do: 'wait' })
  })

  test('a payment without moments has no next one', () => {
    expect(findNextMoment({ ...closed, listenUntil: null }, T)).toBeNull()
  })
})

test('the next moment is the earliest one, and has its description', () => {
  const both = { ...quiet, delayedAt: T + 2 * HOUR, silentAt: T + 3 * HOUR }
  expect(findNextMoment(both, T)).toEqual({ at: T + 2 * HOUR, what: 'The settlement counts as delayed' })
  expect(findNextMoment({ ...both, ...watched }, T)).toEqual({ at: T + MINUTE, what: 'The open orders are read again' })
})

describe('The scheduled readings of an order', () => {
  const payment = { ...processing, ...watched }
  /** The times of the readings, in minutes after the order’s last change. */
  function listPolls(count: number, changedAt = T): number[] {
    const polls: number[] = []
    for (let polledAt = changedAt; polls.length < count; ) {
      polledAt = findNextMoment({ ...payment, watched: [{ id: 'att_1', changedAt }] }, polledAt)!.at
      polls.push((polledAt - changedAt) / MINUTE)
    }
    return polls
  }

  test('an order is read 1, 5, 15 and 60 minutes after its last change, and then every six hours', () => {
    expect(POLL_AFTER_MINUTES).toEqual([1, 5, 15, 60])
    expect(listPolls(8)).toEqual([1, 5, 15, 60, 360, 720, 1080, 1440])
  })

  test('the schedule of readings begins again when the order has changed', () => {
    expect(findNextMoment(payment, T + 10 * HOUR)?.at).toBe(T + 12 * HOUR)
    const changed = { ...payment, watched: [{ ...ORDER, changedAt: T + 10 * HOUR }] }
    expect(findNextMoment(changed, T + 10 * HOUR)?.at).toBe(T + 10 * HOUR + MINUTE)
  })

  test('missed readings are made once: the next one is after now', () => {
    const now = T + 20 * HOUR
    expect(decideWorkflowStep(payment, { now, polledAt: T })).toEqual({ do: 'poll' })
    expect(decideWorkflowStep(payment, { now, polledAt: now })).toEqual({ do: 'wait' })
    expect(findNextMoment(payment, now)?.at).toBe(T + 24 * HOUR)
  })

  test('the next reading is that of the order that is due first', () => {
    const two = { ...payment, watched: [ORDER, { id: 'att_2', changedAt: T + 50 * MINUTE }] }
    expect(findNextMoment(two, T + 50 * MINUTE)?.at).toBe(T + 51 * MINUTE)
    expect(findNextMoment(two, T + 55 * MINUTE)?.at).toBe(T + 60 * MINUTE)
  })

  test('a payment without an order that can bring or lose money has no readings', () => {
    expect(findNextMoment(processing, T)).toBeNull()
  })
})
