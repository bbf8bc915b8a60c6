import { describe, expect, test } from '@jest/globals'
import { type ChangedFacts, computePayment, decideChange } from '../../../src/domain/payment/change.ts'
import { createAttempt } from '../../../src/domain/payment/new-attempt.ts'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import { createNote } from '../../../src/domain/timeline.ts'
import { AT, attempt, handed, newState, opened, pays, paysOut, sets, setsAttempt, settled } from './payment-story.ts'

const LATER = '2026-01-01T00:20:00.000Z'

const decide = (before: PaymentWithAttempts, facts: Partial<ChangedFacts> = {}) =>
  decideChange(
    before,
    { state: before, cause: null, notes: [], ...facts },
    { at: LATER, publicUrl: 'https://pay.example' },
  )

/** The payment as its last change has stored it. */
const stored = (state: PaymentWithAttempts): PaymentWithAttempts => computePayment(state, AT)
const one = stored(opened(attempt()))

describe('A change', () => {
  test('facts that are the same change nothing', () => {
    expect(decide(one)).toBeNull()
    expect(decide(one, { state: { ...one, attempts: one.attempts.map((known) => ({ ...known })) } })).toBeNull()
  })

  test('a change of the payment alone raises its version, and no revision', () => {
    const change = decide(one, { state: sets({ expiryExtended: true })(one) })
    expect(change?.after.payment).toMatchObject({ version: one.payment.version + 1, updatedAt: LATER })
    expect([change?.attempts, change?.after.attempts]).toEqual([[], one.attempts])
  })

  test('a change of an attempt raises its revision and the payment’s version', () => {
    const change = decide(one, { state: setsAttempt({ redirectUrl: 'https://partner.example' })(one) })
    expect(change?.attempts).toMatchObject([{ id: 'att_1', revision: 2, updatedAt: LATER }])
    expect(change?.after.attempts).toEqual(change?.attempts)
    expect(change?.after.payment.version).toBe(one.payment.version + 1)
  })

  test('a new attempt has its first revision, however often the draft sets it', () => {
    const added = createAttempt('pay_1', { ...attempt(), id: 'att_2' }, LATER)
    const change = decide(one, { state: { ...one, attempts: [...one.attempts, { ...added, held: '1' }] } })
    expect(change?.attempts).toEqual([expect.objectContaining({ id: 'att_2', held: '1', revision: 1 })])
  })

  test('a change of one attempt leaves the revision of another one', () => {
    const two = stored(opened(attempt(), attempt({ id: 'att_2' })))
    const change = decide(two, { state: setsAttempt({ redirectUrl: 'https://partner.example' }, 'att_2')(two) })
    expect(change?.attempts).toMatchObject([{ id: 'att_2', revision: 2 }])
    expect(change?.after.attempts).toEqual([two.attempts[0], change?.attempts[0]])
  })

  test('only the sales that have changed are written', () => {
    const paid = stored(pays()(one))
    const note = createNote('payment.silent')
    expect(decide(paid, { notes: [note] })?.sales).toEqual([])
    const asked = { ...paid, sales: paid.sales.map((sale) => ({ ...sale, reference: 'order-7' })) }
    expect(decide(paid, { state: asked })?.sales).toMatchObject([{ number: 1, reference: 'order-7' }])
  })

  test('computed notes of another kind stay next to a note of the change', () => {
    const sale = stored(pays()(one))
    const sold = { ...sale, sales: sale.sales.map((each) => ({ ...each, state: 'ended' as const })) }
    const kinds = decide(sale, { state: sold, notes: [createNote('payment.silent')] })?.entries.notes.map(
      ({ kind }) => kind,
    )
    expect(kinds).toEqual(['payment.silent', 'payment.conversion_ended'])
  })

  test('a note alone is a change, and replaces a computed note of its kind', () => {
    const note = { ...createNote('payment.silent'), data: { by: 'hand' } }
    expect(decide(one, { notes: [note] })).toMatchObject({ entries: { moves: [], notes: [note] }, booking: null })
    const sale = stored(pays()(one))
    const sold = { ...sale, sales: sale.sales.map((each) => ({ ...each, state: 'ended' as const })) }
    const own = { ...createNote('payment.conversion_ended'), data: { by: 'hand' } }
    expect(decide(sale, { state: sold, notes: [own] })?.entries.notes).toEqual([own])
  })

  test('money that arrives is booked under the new version, and named by the last move', () => {
    const change = decide(one, { state: pays()(one) })
    expect(change?.booking).toMatchObject({ kind: 'payment.processing', reference: `pay_1:${one.payment.version + 1}` })
    expect(change?.sales).toMatchObject([{ number: 1, state: 'asked' }])
    expect(change?.events).toMatchObject([{ type: 'payment.processing', object: { status: 'processing' } }])
  })
})

describe('The fields that follow from the facts', () => {
  test('a payment that waits for nothing is closed once, and opened by late money', () => {
    const done = computePayment({ ...newState, payment: { ...newState.payment, closedAs: 'canceled' } }, AT)
    expect(done.payment).toMatchObject({ status: 'canceled', canceledAt: AT, closedAt: AT })
    expect(computePayment(done, LATER).payment.closedAt).toBe(AT)
    expect(computePayment({ ...done, attempts: [attempt()] }, LATER).payment.closedAt).toBeNull()
  })

  test.each([
    ['succeeded', paysOut()(handed), { succeededAt: LATER }],
    ['failed', sets({ closedAs: 'failed' })(one), { failedAt: LATER }],
    ['expired', sets({ closedAs: 'expired' })(one), { failedAt: null, canceledAt: null }],
  ])('a payment that is %s has the time of that status', (status, changed, times) => {
    const before = { ...changed, payment: { ...changed.payment, status: 'pending' as const } }
    expect(computePayment(before, LATER).payment).toMatchObject({ status, ...times })
  })
})

test('a payment keeps the time of its status as long as it stays in it', () => {
  const settledAt = computePayment({ ...settled, payment: { ...settled.payment, succeededAt: AT } }, LATER)
  expect(settledAt.payment.succeededAt).toBe(AT)
})

describe('The events of a change', () => {
  test('a status without an event announces nothing', () => {
    const added = { ...stored(newState), attempts: [attempt()] }
    expect(decide(stored(newState), { state: added })).toMatchObject({
      events: [],
      entries: { moves: [{ from: 'created', to: 'pending' }] },
    })
  })

  test('a change has the event of the status that it leads to', () => {
    const events = decide(one, { state: { ...pays()(one), payment: { ...pays()(one).payment, held: true } } })?.events
    expect(events).toMatchObject([{ type: 'payment.under_review', object: { status: 'under_review' } }])
    const canceled = decide(one, { state: sets({ closedAs: 'canceled' })(one) })
    expect(canceled?.events).toMatchObject([{ type: 'payment.canceled', object: { status: 'canceled' } }])
  })

  test('money that is lost after the payout, and won back, is an event for the merchant', () => {
    const before = stored(settled)
    const lost = decide(before, { state: setsAttempt({ held: '4000' })(before) })
    expect(lost?.events).toMatchObject([
      { type: 'payment.chargeback', object: { chargeback: { amount: '60.00', lost: '60.00' } } },
    ])
    const after = lost?.after as PaymentWithAttempts
    expect(decide(after, { state: setsAttempt({ held: '10000' })(after) })?.events).toMatchObject([
      { type: 'payment.chargeback_won', object: { chargeback: { amount: '60.00', lost: '0.00' } } },
    ])
  })
})
