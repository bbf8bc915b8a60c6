import { describe, expect, test } from '@jest/globals'
import { ATTEMPT_STATUSES, PAYMENT_STATUSES } from '../../../src/domain/payment/payment.ts'
import type { Attempt } from '../../../src/domain/payment/payment-object.ts'
import {
  EXTENDABLE_MS,
  EXTENSION_MS,
  MAX_ATTEMPTS,
  mayBeExtended,
  planOpening,
  readyToReuse,
} from '../../../src/domain/payment/requests.ts'
import { anAttempt, aPayment } from '../../web/fixtures.ts'

const APP = { provider: 'wallet_app', method: 'banking_app' } as const
const CARD = { provider: 'card_partner', method: 'card' } as const
const declined = (count: number): Attempt[] =>
  Array.from({ length: count }, (_, index) => anAttempt('declined', { id: `att_${index}` }))
const plan = (attempts: Attempt[], choice: typeof APP | typeof CARD) => planOpening({ attempts }, choice)

describe('another order', () => {
  test('is opened up to the twentieth, and then no more', () => {
    expect(MAX_ATTEMPTS).toBe(20)
    expect(plan(declined(0), APP)).toEqual({ kind: 'new' })
    expect(plan(declined(19), APP)).toEqual({ kind: 'new' })
    expect(plan(declined(20), APP)).toEqual({ kind: 'too_many_attempts' })
    expect(plan(declined(21), APP)).toEqual({ kind: 'too_many_attempts' })
  })

  test('is not needed where one is open: the limit does not count a reused one', () => {
    const open = anAttempt('open', { id: 'att_open' })
    expect(plan([...declined(19), open], APP)).toEqual({ kind: 'reuse', attempt: open })
    expect(plan([...declined(19), open], CARD)).toEqual({ kind: 'too_many_attempts' })
  })

  test('is needed at another provider, also for the same method', () => {
    expect(plan([anAttempt('open', { method: 'card' })], CARD)).toEqual({ kind: 'new' })
  })

  test('is opened where the one that is open is being canceled: nobody is sent to that one again', () => {
    const canceled = anAttempt('open', { id: 'att_1', cancelAsked: true })
    const state = { payment: aPayment({ status: 'pending' }), attempts: [canceled] }
    expect(planOpening(state, APP)).toEqual({ kind: 'new' })
    expect(readyToReuse(state, APP)).toBeNull()
  })

  test.each(ATTEMPT_STATUSES)('an attempt that is %s is reused only while the buyer can still pay it', (status) => {
    const { kind } = plan([anAttempt(status)], APP)
    expect(kind).toBe(['opening', 'open', 'verification_required'].includes(status) ? 'reuse' : 'new')
  })
})

describe('an order that is open is answered from the row', () => {
  const ready = (attempts: Attempt[], choice: typeof APP | typeof CARD = APP) =>
    readyToReuse({ payment: aPayment({ status: 'pending' }), attempts }, choice)?.id ?? null

  test.each(ATTEMPT_STATUSES)('%s', (status) => {
    const isReady = status === 'open' || status === 'verification_required'
    expect(ready([anAttempt(status, { id: 'att_1' })])).toBe(isReady ? 'att_1' : null)
  })

  test('only for the same provider and method, and with a page to go to', () => {
    expect(ready([anAttempt('open')], CARD)).toBeNull()
    expect(ready([anAttempt('open', { method: 'card' })])).toBeNull()
    expect(ready([anAttempt('open', { redirectUrl: null })])).toBeNull()
  })

  test('not while a newer order may still be paid: that one must be canceled first', () => {
    const app = anAttempt('open', { id: 'att_1' })
    const card = (status: Attempt['status']) => anAttempt(status, { ...CARD, id: 'att_2' })
    expect(ready([app, card('open')])).toBeNull()
    expect(ready([app, card('opening')])).toBeNull()
    expect(ready([app, card('canceled')])).toBe('att_1')
    expect(ready([app, card('open')], CARD)).toBe('att_2')
  })

  test.each(PAYMENT_STATUSES)('of a payment that is %s only while it is open', (status) => {
    const found = readyToReuse({ payment: aPayment({ status }), attempts: [anAttempt('open')] }, APP)
    expect(found !== null).toBe(status === 'created' || status === 'pending')
  })
})

describe('more time', () => {
  const END = Date.UTC(2026, 0, 2)
  const may = (msBefore: number, fields: Parameters<typeof aPayment>[0] = {}) =>
    mayBeExtended(
      aPayment({ status: 'pending', expiresAt: new Date(END).toISOString(), expiryExtended: false, ...fields }),
      END - msBefore,
    )

  test('is a quarter of an hour, asked for in the last five minutes', () => {
    expect([EXTENSION_MS, EXTENDABLE_MS]).toEqual([900_000, 300_000])
    expect([300_001, 300_000, 1, 0, -1].map((left) => may(left))).toEqual([false, true, true, false, false])
  })

  test('is given once', () => {
    expect(may(60_000, { expiryExtended: true })).toBe(false)
  })

  test.each(PAYMENT_STATUSES)('is given to a payment that is %s only while it is open', (status) => {
    expect(may(60_000, { status })).toBe(status === 'created' || status === 'pending')
  })
})
