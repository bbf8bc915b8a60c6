import { describe, expect, test } from '@jest/globals'
import type { AttemptStatus } from '../../../src/domain/payment/payment.ts'
import type { Payment, PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import {
  lateAttempts,
  type NextStep,
  needsOperator,
  newPaymentSnapshot,
  nextStep,
  offeredDecisions,
  type PaymentSnapshot,
  snapshotOf,
  unfinishedAttempts,
  watchedAttempts,
  whyNotCancelable,
} from '../../../src/domain/payment/snapshot.ts'
import { attempt, parkedFor, part, refund, stateOf, transfer, usdc } from './decided-payment.ts'

const HOUR = 3_600_000
const CREATED = Date.UTC(2026, 0, 1)
const iso = (ms: number): string => new Date(ms).toISOString()

const at = (fields: Partial<PaymentSnapshot>): PaymentSnapshot => ({ ...newPaymentSnapshot('pay_1', 0), ...fields })
const view = (status: AttemptStatus, id = 'att_1') =>
  ({ id, provider: 'wallet_app', method: 'banking_app', status }) as const
const snapshot = (fields: Partial<Payment>, money: Partial<PaymentWithAttempts> = {}) =>
  snapshotOf(stateOf(fields, money))

describe('the snapshot of a row', () => {
  test('a new payment’s snapshot is the one of a first run with the delay of its provider', () => {
    expect(snapshot({})).toEqual({
      ...newPaymentSnapshot('pay_1', CREATED + 24 * HOUR),
      delayedAfterMinutes: 15,
    })
  })

  test('the snapshot of a settled UPI payment names its attempts, its transfer and the delay of UPI', () => {
    const paid = snapshot(
      { status: 'succeeded', paidAttemptId: 'att_1', paidAt: iso(CREATED), usdc, transfer, version: 9, held: true },
      {
        attempts: [attempt({ provider: 'local_partner', method: 'upi' }), attempt({ id: 'att_2', status: 'declined' })],
      },
    )
    expect(paid).toMatchObject({
      version: 9,
      status: 'succeeded',
      held: true,
      converted: true,
      attempts: [
        { id: 'att_1', provider: 'local_partner', method: 'upi', status: 'confirmed' },
        { id: 'att_2', provider: 'wallet_app', method: 'banking_app', status: 'declined' },
      ],
      paidAttemptId: 'att_1',
      paidAt: CREATED,
      delayedAfterMinutes: 60,
      txHash: '0x1',
      netUsdc: '0.000096',
      partPaid: false,
    })
    const attempts = [attempt({ status: 'declined' }), attempt({ id: 'att_2', provider: 'local_partner' })]
    expect(snapshot({ paidAttemptId: 'att_2' }, { attempts }).delayedAfterMinutes).toBe(60)
  })

  test('the snapshot names the attempts with extra money, the open refunds and the incidents', () => {
    const parts = [
      part({ state: 'surplus', attemptId: 'att_2' }),
      part({ state: 'late', attemptId: 'att_3' }),
      part({ state: 'late', attemptId: 'att_3', key: 'more' }),
    ]
    const intents = [
      { ...refund, attemptId: 'att_2' },
      { ...refund, attemptId: null },
      { ...refund, kind: 'cancel', attemptId: 'att_4' } as const,
    ]
    const incidents = [
      { kind: 'chargeback', attemptId: null },
      { kind: 'misfit', attemptId: 'att_2' },
    ] as const
    expect(snapshot({}, { parts, intents, incidents })).toMatchObject({
      surplus: ['att_2'],
      late: ['att_3'],
      refunding: ['att_2'],
      incidents: ['chargeback', 'misfit'],
    })
  })

  test('the snapshot says that the partner has changed the paid order', () => {
    const amount = { minor: '5000', currency: 'EUR' }
    const misfit = { why: 'amount', status: 'paid', amount, received: amount } as const
    const changed = (attemptId: string) =>
      snapshot(
        { paidAttemptId: 'att_1' },
        { attempts: [attempt({})], incidents: [{ kind: 'misfit', attemptId, misfit }] },
      ).orderChanged
    expect([changed('att_1'), changed('att_2')]).toEqual([true, false])
  })

  test('a counted part of the price is partial payment until the payment has its money', () => {
    expect(snapshot({ status: 'pending' }, { parts: [part({})] }).partPaid).toBe(true)
    expect(snapshot({ status: 'pending' }, { parts: [part({ state: 'returned' })] }).partPaid).toBe(false)
    expect(snapshot({ status: 'pending' }, { parts: [part({ state: 'surplus' })] }).partPaid).toBe(false)
    expect(snapshot({ status: 'processing', paidAttemptId: 'att_1' }).partPaid).toBe(false)
  })

  const open = [attempt({ status: 'open' })]
  const onHold = [attempt({ status: 'on_hold' })]
  const misfit = { kind: 'misfit', attemptId: 'att_1' } as const

  test.each<[string, Partial<Payment>, Partial<PaymentWithAttempts>, boolean]>([
    ['is ended for a payment that is closed', { status: 'expired' }, {}, true],
    ['is ended for a refunded payment that listens', { status: 'refunded' }, { attempts: open }, true],
    ['stays for an expired payment that listens', { status: 'expired' }, { attempts: open }, false],
    [
      'is ended for an expired payment that listens and waits for an operator',
      { status: 'expired' },
      { attempts: onHold, incidents: [misfit] },
      true,
    ],
    ['stays for a payment that is under review', { status: 'under_review' }, {}, false],
  ])('an order at the converter %s', (_what, fields, money, isEnded) => {
    const step = (state: 'asked' | 'ended') => {
      const sale = { number: 1, accountId: 'att_1', units: 1n, gross: 1n, fill: null, reference: null, state }
      return nextStep(snapshot(fields, { ...money, sales: [sale] }))
    }
    expect(step('asked') === 'end_conversion').toBe(isEnded)
    expect(step('ended')).not.toBe('end_conversion')
  })
})

describe('a partner that is confirming', () => {
  const confirming = (hoursAgo: number, silentAfterHours: number, id = 'att_1') =>
    attempt({ id, status: 'confirming', updatedAt: iso(CREATED - hoursAgo * HOUR), silentAfterHours })
  const silent = (fields: Partial<Payment>, attempts: PaymentWithAttempts['attempts']) =>
    snapshot({ status: 'processing', ...fields }, { attempts }).silentAt

  test('a confirming partner counts as silent after its time, and the latest of several decides', () => {
    expect(silent({}, [confirming(2, 24)])).toBe(CREATED + 22 * HOUR)
    expect(silent({}, [confirming(2, 24), confirming(3, 72, 'att_2')])).toBe(CREATED + 69 * HOUR)
    expect(silent({}, [confirming(2, 24), attempt({ id: 'att_2', status: 'open', updatedAt: iso(CREATED) })])).toBe(
      CREATED + 22 * HOUR,
    )
  })

  test('a processing payment without a confirming attempt is silent since its last change', () => {
    expect(silent({ updatedAt: iso(CREATED + HOUR) }, [attempt({ status: 'declined' })])).toBe(CREATED + HOUR)
  })

  test('no partner is silent for a payment that has its money, or waits for its buyer', () => {
    expect(silent({ paidAttemptId: 'att_1' }, [confirming(2, 24)])).toBeNull()
    expect(silent({ status: 'pending' }, [confirming(2, 24)])).toBeNull()
  })
})

describe('listening for late money', () => {
  const listens = (
    fields: Partial<Payment>,
    attempts: PaymentWithAttempts['attempts'] = [attempt({ status: 'open' })],
  ) => snapshot({ expiresAt: iso(CREATED), ...fields }, { attempts }).listenUntil

  test.each([
    ['the end of its time', {}, 0],
    ['its success', { succeededAt: iso(CREATED + HOUR) }, 1],
    ['its failure', { failedAt: iso(CREATED + 2 * HOUR) }, 2],
    ['its cancellation', { canceledAt: iso(CREATED + 3 * HOUR) }, 3],
  ])('a payment listens for a day from %s', (_what, fields, hours) => {
    expect(listens(fields)).toBe(CREATED + (24 + hours) * HOUR)
  })

  test('a payment listens as long as the slowest partner with an unfinished order takes', () => {
    const upi = attempt({ id: 'att_2', provider: 'local_partner', status: 'confirming' })
    expect(listens({}, [attempt({ status: 'open' }), upi])).toBe(CREATED + 72 * HOUR)
    expect(listens({}, [attempt({ status: 'open' }), { ...upi, status: 'declined' }])).toBe(CREATED + 24 * HOUR)
  })

  test('a payment without unfinished orders does not listen, nor one that has stopped listening', () => {
    expect(listens({}, [attempt({ status: 'declined' }), attempt({ id: 'att_2' })])).toBeNull()
    expect(listens({ listenEnded: true })).toBeNull()
  })
})

describe('the next step of a payment', () => {
  test.each(['succeeded', 'failed', 'expired', 'canceled', 'refunded'] as const)(
    'a payment that is %s ends its conversion, waits for an operator, listens, or is done',
    (status) => {
      expect(nextStep(at({ status }))).toBe('done')
      expect(nextStep(at({ status, listenUntil: 5 }))).toBe('listen')
      expect(nextStep(at({ status, listenUntil: 5, surplus: ['att_2'] }))).toBe('await_operator')
      expect(nextStep(at({ status, refunding: ['att_2'] }))).toBe('await_operator')
      expect(nextStep(at({ status, conversionOpen: true }))).toBe('end_conversion')
      expect(nextStep(at({ status, conversionOpen: true, listenUntil: 5 }))).toBe(
        status === 'refunded' ? 'end_conversion' : 'listen',
      )
      expect(nextStep(at({ status, conversionOpen: true, listenUntil: 5, incidents: ['misfit'] }))).toBe(
        'end_conversion',
      )
    },
  )

  test('an open payment waits for its buyer', () => {
    expect([nextStep(at({})), nextStep(at({ status: 'pending' }))]).toEqual(['await_buyer', 'await_buyer'])
  })

  test.each<[NextStep, Partial<PaymentSnapshot>]>([
    ['await_partner', { status: 'processing' }],
    ['convert', { status: 'processing', paidAttemptId: 'att_1' }],
    ['transfer', { status: 'processing', paidAttemptId: 'att_1', converted: true }],
    ['transfer', { status: 'settling', paidAttemptId: 'att_1', converted: true }],
    ['await_operator', { status: 'under_review' }],
    // Its order at the converter is ended when it is over.
    ['await_operator', { status: 'under_review', conversionOpen: true }],
  ])('the next step is %s for %j', (step, fields) => {
    expect(nextStep(at(fields))).toBe(step)
  })
})

describe('an operator is needed', () => {
  test.each([
    ['an operator is needed for the reason of the park', parkedFor('underpaid'), 'underpaid'],
    ['an operator is needed for a hold if no reason is known', at({ status: 'under_review' }), 'operator_hold'],
    ['an operator is needed for a second payment', at({ status: 'succeeded', attempts: [view('surplus')] }), 'surplus'],
    ['an operator is needed for too much money', at({ status: 'succeeded', surplus: ['att_1'] }), 'surplus'],
    ['an operator is needed for incidents, the oldest first', at({ incidents: ['misfit', 'chargeback'] }), 'misfit'],
    ['an operator is needed for money before incidents', at({ surplus: ['att_1'], incidents: ['misfit'] }), 'surplus'],
    ['no operator is needed for an ordinary payment', at({ status: 'settling', attempts: [view('confirmed')] }), null],
  ])('%s', (_why, payment, reason) => {
    expect(needsOperator(payment)).toBe(reason)
  })

  test('an operator is offered the decisions of the reason, and acknowledge for a changed order', () => {
    expect(offeredDecisions(at({}))).toEqual([])
    expect(offeredDecisions(at({ orderChanged: true }))).toEqual(['acknowledge'])
    expect(offeredDecisions(parkedFor('payout_held'))).toEqual(['retry'])
    expect(offeredDecisions({ ...parkedFor('payout_held'), orderChanged: true })).toEqual(['retry', 'acknowledge'])
  })

  test('an operator is offered release for a held payment that could go on without the hold', () => {
    const refund = ['refund', 'recordExternalRefund']
    expect(offeredDecisions(parkedFor('order_changed'))).toEqual(refund)
    expect(offeredDecisions({ ...parkedFor('order_changed'), held: true })).toEqual([...refund, 'release'])
    expect(offeredDecisions({ ...parkedFor('underpaid'), held: true })).toContain('release')
    expect(offeredDecisions({ ...parkedFor('payout_held'), held: true })).toEqual(['retry', 'release'])
    expect(offeredDecisions({ ...parkedFor('payout_voided'), held: true })).toEqual(refund)
    // What is proved on chain is decided beside a hold, and what is over is held by nobody.
    const proved = { ...parkedFor('unexpected_settlement'), txHash: '0x1', held: true }
    expect(offeredDecisions(proved)).toEqual(['approve'])
    expect(offeredDecisions(at({ status: 'succeeded', incidents: ['chargeback'], held: true }))).toEqual(['approve'])
  })

  test('an operator is not offered a decision that is refused whatever the partner reports', () => {
    const refund = ['refund', 'recordExternalRefund']
    expect(offeredDecisions(parkedFor('partner_hold'))).toEqual(['reject'])
    expect(offeredDecisions(parkedFor('amount_mismatch'))).toEqual([...refund, 'reject'])
    expect(offeredDecisions({ ...parkedFor('amount_mismatch'), refunding: ['att_1'] })).toEqual(refund)
    // A second payment cannot be rejected either.
    expect(offeredDecisions({ ...parkedFor('partner_hold'), surplus: ['att_1'] })).toEqual(refund)
    for (const fields of [{ paidAttemptId: 'att_1' }, { partPaid: true }]) {
      expect(offeredDecisions({ ...parkedFor('partner_hold'), ...fields })).toEqual(refund)
      expect(offeredDecisions({ ...parkedFor('amount_mismatch'), ...fields })).toEqual([...refund, 'approve'])
    }
  })
})

test.each<[Partial<PaymentSnapshot>, string | null]>([
  [{ status: 'created' }, null],
  [{ status: 'pending' }, null],
  [{ status: 'pending', partPaid: true }, 'a part of the price has arrived'],
  [{ status: 'processing' }, 'the buyer’s money has been received or is being confirmed'],
  [{ status: 'settling' }, 'the buyer’s money has been received or is being confirmed'],
  [{ status: 'under_review' }, 'the buyer’s money has been received or is being confirmed'],
  [{ status: 'succeeded' }, 'the payment has already succeeded'],
  [{ status: 'canceled' }, 'the payment is already canceled'],
])('a cancellation of %j is refused because: %s', (fields, why) => {
  expect(whyNotCancelable(at(fields))).toBe(why)
})

describe('the attempts of a payment', () => {
  const attempts = [view('declined', 'a'), view('open', 'b'), view('confirmed', 'c'), view('late', 'd')]

  test('attempts that may bring money are canceled and read, and attempts with an open refund are read', () => {
    expect(unfinishedAttempts(at({ attempts })).map(({ id }) => id)).toEqual(['b'])
    expect(watchedAttempts(at({ attempts, refunding: ['c'] }))).toEqual(['b', 'c'])
    expect(watchedAttempts(at({ attempts }))).toEqual(['b'])
  })

  test('each attempt with late money is named once', () => {
    expect(lateAttempts(at({ attempts, late: ['d', 'e'] }))).toEqual(['d', 'e'])
    expect(lateAttempts(at({ attempts }))).toEqual(['d'])
  })
})
