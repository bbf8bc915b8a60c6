import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { ORDER_STATUSES, type PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { effectOfOrder, type KnownAttempt, type KnownPayment } from '../../../src/domain/payment/partner-news.ts'
import {
  ATTEMPT_STATUSES,
  canMove,
  PAYMENT_STATUSES,
  type PaymentStatus,
  sourcesOf,
  TRANSITIONS,
} from '../../../src/domain/payment/payment.ts'
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

const asked = { minor: '5000', currency: 'EUR' as const }
const account = 'pinrail'
const context = { account, tolerancePercent: 1 }
const order = (fields: Partial<PartnerOrder>): PartnerOrder => ({
  attemptId: 'att_1',
  reference: 'ref',
  account,
  status: 'open',
  amount: asked,
  received: null,
  failureCode: null,
  ...fields,
})
const paidOrder = (minor = '5000') => order({ status: 'paid', received: { minor, currency: 'EUR' } })
const pending: KnownPayment = {
  status: 'pending',
  parkReason: null,
  paidAttemptId: null,
  converted: false,
  pinned: true,
  fallback: 'picker',
}
const open: KnownAttempt = { id: 'att_1', status: 'open', asked }
const effect = (payment: Partial<KnownPayment>, attempt: Partial<KnownAttempt>, news: PartnerOrder) =>
  effectOfOrder({ ...pending, ...payment }, { ...open, ...attempt }, { order: news, context })
const statusesOf = (moves: readonly { to: PaymentStatus }[]) => moves.map((move) => move.to)

describe('what a partner says', () => {
  test('paid: the money is taken and the payment goes on', () => {
    expect(effect({}, {}, paidOrder())).toMatchObject({
      attempt: 'confirmed',
      money: 'take',
      receivedMinor: '5000',
      exception: null,
    })
    expect(statusesOf(effect({}, {}, paidOrder()).moves)).toEqual(['processing'])
  })

  test('paid again: nothing happens the second time', () => {
    const again = effect({ status: 'processing', paidAttemptId: 'att_1' }, { status: 'confirmed' }, paidOrder())
    expect(again).toMatchObject({ attempt: 'confirmed', money: 'none', moves: [], receivedMinor: null })
  })

  test('a second payment for the same payment is surplus, never settled', () => {
    const second = effect({ status: 'processing', paidAttemptId: 'att_0' }, {}, paidOrder())
    expect(second).toMatchObject({ attempt: 'surplus', money: 'suspend', moves: [], exception: 'duplicate_payment' })
  })

  test('too little parks the payment; a little less than the tolerance does not', () => {
    expect(effect({}, {}, paidOrder('4949'))).toMatchObject({
      attempt: 'underpaid',
      park: 'underpaid',
      exception: 'underpaid',
      money: 'take',
    })
    expect(effect({}, {}, paidOrder('4950'))).toMatchObject({ attempt: 'confirmed', park: null })
  })

  test('too much is settled as it arrived, and marked', () => {
    expect(effect({}, {}, paidOrder('6000'))).toMatchObject({
      attempt: 'confirmed',
      receivedMinor: '6000',
      exception: 'overpaid',
    })
  })

  test.each(['expired', 'canceled'] as const)('money after %s is taken and marked as late', (status) => {
    const late = effect({ status }, {}, paidOrder())
    expect(late).toMatchObject({ attempt: 'confirmed', money: 'take', exception: 'paid_late' })
    expect(statusesOf(late.moves)).toEqual(['processing'])
  })

  test('money after a failure waits for an operator', () => {
    const late = effect({ status: 'failed' }, {}, paidOrder())
    expect(late).toMatchObject({ money: 'take', park: 'money_after_failure' })
    expect(statusesOf(late.moves)).toEqual(['under_review'])
  })

  test.each([
    ['another amount', { amount: { minor: '1', currency: 'EUR' as const } }],
    ['another currency', { amount: { minor: '5000', currency: 'JPY' as const } }],
    ['another account', { account: 'somebody' }],
    ['another order', { attemptId: 'att_2' }],
    ['money in another currency', { received: { minor: '5000', currency: 'JPY' as const } }],
  ])('an authentic answer about %s moves no money', (_name, wrong) => {
    const odd = effect({}, {}, { ...paidOrder(), ...wrong })
    expect(odd).toMatchObject({ money: 'none', park: 'amount_mismatch' })
    expect(statusesOf(odd.moves)).toEqual(['under_review'])
  })

  test('a confirmation that is withdrawn brings the payment back to the buyer', () => {
    const back = effect(
      { status: 'processing', paidAttemptId: 'att_1' },
      { status: 'confirmed' },
      order({ status: 'declined', failureCode: 'reversed' }),
    )
    expect(back).toMatchObject({ attempt: 'declined', money: 'give_back' })
    expect(statusesOf(back.moves)).toEqual(['pending'])
  })

  test('money taken back after the conversion is a chargeback and changes no status', () => {
    const loss = effect(
      { status: 'succeeded', paidAttemptId: 'att_1', converted: true },
      { status: 'confirmed' },
      order({ status: 'refunded' }),
    )
    expect(loss).toMatchObject({ money: 'chargeback', moves: [] })
  })

  test('a declined attempt leaves the payment pending', () => {
    expect(effect({}, {}, order({ status: 'declined', failureCode: 'declined' }))).toMatchObject({
      attempt: 'declined',
      moves: [],
    })
  })

  test('a failed identity check without any alternative fails the payment', () => {
    const failed = effect({ fallback: 'none' }, {}, order({ status: 'declined', failureCode: 'verification_failed' }))
    expect(statusesOf(failed.moves)).toEqual(['failed'])
  })

  test('whatever it says, in whatever state: only moves of the table, and reading it twice changes nothing more', () => {
    fc.assert(
      fc.property(
        // The first attempt and `pending` are written together: a created payment has none.
        fc.constantFrom(...PAYMENT_STATUSES.filter((status) => status !== 'created')),
        fc.constantFrom(...ATTEMPT_STATUSES),
        fc.constantFrom(...ORDER_STATUSES),
        fc.record({
          mine: fc.boolean(),
          other: fc.boolean(),
          converted: fc.boolean(),
          received: fc.constantFrom('0', '4000', '5000', '9000'),
        }),
        (status, attemptStatus, orderStatus, facts) => {
          const paidAttemptId = facts.mine ? 'att_1' : facts.other ? 'att_0' : null
          const known: KnownPayment = {
            ...pending,
            status,
            paidAttemptId,
            converted: facts.converted && paidAttemptId !== null,
          }
          const news = order({
            status: orderStatus,
            received: orderStatus === 'paid' ? { minor: facts.received, currency: 'EUR' } : null,
          })
          const first = effectOfOrder(known, { ...open, status: attemptStatus }, { order: news, context })
          let at: PaymentStatus = status
          for (const move of first.moves) {
            expect([at, move.to, canMove(at, move.to)]).toEqual([at, move.to, true])
            at = move.to
          }
          const after: KnownPayment = {
            ...known,
            status: at,
            parkReason: first.park,
            paidAttemptId:
              first.money === 'take' ? 'att_1' : first.money === 'give_back' && facts.mine ? null : paidAttemptId,
          }
          const second = effectOfOrder(after, { ...open, status: first.attempt }, { order: news, context })
          if (second.money !== 'chargeback') expect(second.money).toBe('none')
          expect(second.moves).toEqual([])
          expect(second.attempt).toBe(first.attempt)
        },
      ),
      { numRuns: 5000 },
    )
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
