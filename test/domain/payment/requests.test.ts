import { describe, expect, test } from '@jest/globals'
import { ATTEMPT_STATUSES, PAYMENT_STATUSES } from '../../../src/domain/payment/payment.ts'
import type { Attempt } from '../../../src/domain/payment/payment-object.ts'
import {
  canBeExtended,
  EXTENDABLE_MS,
  EXTENSION_MS,
  MAX_ATTEMPTS,
  planOpening,
  readyToReuse,
} from '../../../src/domain/payment/requests.ts'
import { anAttempt, aPayment } from '../../web/fixtures.ts'

const APP = { provider: 'wallet_app', method: 'banking_app' } as const
const CARD = { provider: 'card_partner', method: 'card' } as const
const declined = (count: number): Attempt[] =>
  Array.from({ length: count }, (_, index) => anAttempt('declined', { id: `att_${index}` }))
const plan = (attempts: Attempt[], choice: typeof APP | typeof CARD) => planOpening({ attempts }, choice)

describe('The order for a buyer’s request', () => {
  test('a payment opens orders up to the twentieth, and no more', () => {
    expect(MAX_ATTEMPTS).toBe(20)
    expect(plan(declined(0), APP)).toEqual({ kind: 'new' })
    expect(plan(declined(19), APP)).toEqual({ kind: 'new' })
    expect(plan(declined(20), APP)).toEqual({ kind: 'too_many_attempts' })
    expect(plan(declined(21), APP)).toEqual({ kind: 'too_many_attempts' })
  })

  test('a payment with an open order needs no new one: the limit does not count a reused order', () => {
    const open = anAttempt('open', { id: 'att_open' })
    expect(plan([...declined(19), open], APP)).toEqual({ kind: 'reuse', attempt: open })
    expect(plan([...declined(19), open], CARD)).toEqual({ kind: 'too_many_attempts' })
  })

  test('another provider needs a new order, also for the same method', () => {
    expect(plan([anAttempt('open', { method: 'card' })], CARD)).toEqual({ kind: 'new' })
  })

  test('a new order is opened if the open one is being canceled: no buyer is sent to that one again', () => {
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

describe('An open order is answered from the row', () => {
  const ready = (attempts: Attempt[], choice: typeof APP | typeof CARD = APP) =>
    readyToReuse({ payment: aPayment({ status: 'pending' }), attempts }, choice)?.id ?? null

  test.each(ATTEMPT_STATUSES)('an open order is answered from the row: %s', (status) => {
    const isReady = status === 'open' || status === 'verification_required'
    expect(ready([anAttempt(status, { id: 'att_1' })])).toBe(isReady ? 'att_1' : null)
  })

  test('an open order is reused only for the same provider and method, and if it has a page', () => {
    expect(ready([anAttempt('open')], CARD)).toBeNull()
    expect(ready([anAttempt('open', { method: 'card' })])).toBeNull()
    expect(ready([anAttempt('open', { redirectUrl: null })])).toBeNull()
  })

  test('an open order is not reused while a newer one can still be paid: that one must be canceled first', () => {
    const app = anAttempt('open', { id: 'att_1' })
    const card = (status: Attempt['status']) => anAttempt(status, { ...CARD, id: 'att_2' })
    expect(ready([app, card('open')])).toBeNull()
    expect(ready([app, card('opening')])).toBeNull()
    expect(ready([app, card('canceled')])).toBe('att_1')
    expect(ready([app, card('open')], CARD)).toBe('att_2')
  })

  test.each(PAYMENT_STATUSES)(
    'the open order of a payment that is %s is reused only while the payment is open',
    (status) => {
      const found = readyToReuse({ payment: aPayment({ status }), attempts: [anAttempt('open')] }, APP)
      expect(found !== null).toBe(status === 'created' || status === 'pending')
    },
  )
})

describe('More time', () => {
  const END = Date.UTC(2026, 0, 2)
  const may = (msBefore: number, fields: Parameters<typeof aPayment>[0] = {}) =>
    canBeExtended(
      aPayment({ status: 'pending', expiresAt: new Date(END).toISOString(), expiryExtended: false, ...fields }),
      END - msBefore,
    )

  test('more time is a quarter of an hour, requested in the last five minutes', () => {
    expect([EXTENSION_MS, EXTENDABLE_MS]).toEqual([900_000, 300_000])
    expect([300_001, 300_000, 1, 0, -1].map((left) => may(left))).toEqual([false, true, true, false, false])
  })

  test('more time is given once', () => {
    expect(may(60_000, { expiryExtended: true })).toBe(false)
  })

  test.each(PAYMENT_STATUSES)('more time is given to a payment that is %s only while it is open', (status) => {
    expect(may(60_000, { status })).toBe(status === 'created' || status === 'pending')
  })
})
