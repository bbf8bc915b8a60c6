import { describe, expect, test } from '@jest/globals'
import { newPayment } from '../../../scripts/test/new-payment.ts'
import {
  DECISIONS,
  effectOfDecision,
  type RecordedDecision,
  whyNoteRefused,
  whyRefused,
} from '../../../src/domain/payment/decision.ts'
import { createdPayment } from '../../../src/domain/payment/new-payment.ts'
import { canMove, PARK_REASONS, PAYMENT_STATUSES, type ParkReason } from '../../../src/domain/payment/payment.ts'
import type { Attempt, Payment } from '../../../src/domain/payment/payment-object.ts'
import { givenBack, refundable, whyNotRefundable } from '../../../src/domain/payment/refund.ts'
import { OPERATOR_DECISIONS } from '../../../src/domain/payment/requests.ts'
import { newPaymentSnapshot, type PaymentSnapshot } from '../../../src/domain/payment/snapshot.ts'

const note = { operator: 'ada', reason: 'looked at it' }
const fresh = newPaymentSnapshot('pay_1', 0)
const parkedFor = (parkReason: ParkReason): PaymentSnapshot => ({ ...fresh, status: 'under_review', parkReason })

const created = newPayment({ id: 'pay_1', createdAt: '2026-01-01T00:00:00.000Z' })
const payment = (fields: Partial<Payment>): Payment => ({
  ...createdPayment(created, { merchantId: 'mer_1', livemode: false }),
  ...fields,
})
const attempt = (fields: Partial<Attempt>): Attempt => ({
  id: 'att_1',
  paymentId: 'pay_1',
  provider: 'wallet_app',
  method: 'banking_app',
  status: 'confirmed',
  asked: { minor: '4999', currency: 'EUR' },
  partnerReference: null,
  redirectUrl: null,
  intentUri: null,
  receivedMinor: '4999',
  failureCode: null,
  createdAt: '',
  updatedAt: '',
  ...fields,
})
const usdc = { gross: '100', fee: '4', net: '96' }
const transfer = { txHash: '0x1', logIndex: 1, blockNumber: '1', finalizedAt: '' }

describe('a decision is refused', () => {
  test.each([undefined, {}, { operator: 'ada' }, { operator: ' ', reason: 'x' }, { operator: 'ada', reason: ' ' }])(
    'without a name and a reason: %j',
    (incomplete) => {
      expect(whyNoteRefused(incomplete as typeof note)).toContain('Give {"operator"')
    },
  )

  test.each(OPERATOR_DECISIONS.filter((decision) => decision !== 'hold'))(
    'where nobody is waited for: %s',
    (decision) => {
      expect(whyRefused(decision, note, fresh)).toBe('The payment is created and waits for no operator')
    },
  )

  test('when the reason for the waiting does not offer it, and allowed when it does', () => {
    for (const [reason, { decisions }] of Object.entries(PARK_REASONS) as [
      ParkReason,
      { decisions: readonly string[] },
    ][])
      for (const decision of OPERATOR_DECISIONS.filter((name) => name !== 'hold')) {
        const why = whyRefused(decision, note, parkedFor(reason))
        expect([reason, decision, why === null]).toEqual([reason, decision, decisions.includes(decision)])
        if (why !== null) expect(why).toContain(`decide with ${decisions.join(', ')}`)
      }
  })

  test.each(PAYMENT_STATUSES)('a hold of a payment that is %s: only once it has ended or is settling', (status) => {
    const ended = ['settling', 'succeeded', 'failed', 'expired', 'canceled', 'refunded'].includes(status)
    expect(whyRefused('hold', note, { ...fresh, status }) !== null).toBe(ended)
  })

  test('a release of what is not held; what is held is released in any state', () => {
    expect(whyRefused('release', note, { ...fresh, held: true, status: 'pending' })).toBeNull()
    expect(whyRefused('release', note, parkedFor('operator_hold'))).toBeNull()
    expect(whyRefused('release', note, parkedFor('underpaid'))).toContain('underpaid')
  })

  test('to let money go on that an operator holds, whatever else it waits for: release it first', () => {
    for (const [reason, decision] of [
      ['underpaid', 'approve'],
      ['money_after_failure', 'approve'],
      ['conversion', 'retry'],
      ['payout_held', 'retry'],
    ] as const) {
      expect(whyRefused(decision, note, { ...parkedFor(reason), held: true })).toBe(
        'An operator holds the payment: release it first',
      )
      expect(whyRefused('refund', note, { ...parkedFor('underpaid'), held: true })).toBeNull()
    }
    // Of what is proved on chain only the record is decided.
    const proved = { ...parkedFor('unexpected_settlement'), held: true, txHash: '0x1' }
    expect(whyRefused('approve', note, proved)).toBeNull()
  })

  test('each has a row for the runbook', () => {
    for (const decision of OPERATOR_DECISIONS) {
      expect(DECISIONS[decision].does).not.toBe('')
      expect(DECISIONS[decision].rule.when).not.toBe('')
    }
  })
})

describe('what a decision leads to', () => {
  const effect = (decision: RecordedDecision, fields: Partial<Payment>, attempts: Attempt[] = []) =>
    effectOfDecision(decision, { payment: payment(fields), attempts }, note)

  test('every move is one of the transition table, from every state', () => {
    const decisions = OPERATOR_DECISIONS.filter((name) => name !== 'refund' && name !== 'recordExternalRefund')
    const rows: Partial<Payment>[] = [
      {},
      { paidAttemptId: 'att_1' },
      { usdc },
      { transfer },
      { parkReason: 'operator_hold' },
    ]
    const cases = decisions.flatMap((decision) =>
      PAYMENT_STATUSES.flatMap((status) => rows.map((row) => ({ decision, status, row: { ...row, status } }))),
    )
    // Rejecting is allowed only while the payment is parked, which the validator has asked.
    const allowed = cases.filter(({ decision, status }) => decision !== 'reject' || status === 'under_review')
    const moves = allowed.flatMap(({ decision, status, row }) => {
      const found = effect(decision, row, [attempt({})])
      return 'refused' in found || found.move === null ? [] : [{ decision, status, to: found.move.to }]
    })
    expect(moves.filter(({ status, to }) => !canMove(status, to))).toEqual([])
    expect(moves.length).toBeGreaterThan(10)
  })

  test('approve settles too little money as if it were enough, and refuses without any', () => {
    const underpaid = { status: 'under_review', parkReason: 'underpaid', paidAttemptId: 'att_1' } as const
    expect(effect('approve', underpaid, [attempt({ status: 'underpaid' })])).toMatchObject({
      confirmedAttemptId: 'att_1',
      move: { to: 'processing', fields: { parkReason: null } },
    })
    expect(effect('approve', { status: 'under_review' })).toMatchObject({
      refused: expect.stringContaining('No money'),
    })
  })

  test('approve accepts a fill only where the payment waits because of it', () => {
    const waits = { status: 'under_review', paidAttemptId: 'att_1' } as const
    const fieldsFor = (parkReason: ParkReason) => effect('approve', { ...waits, parkReason }, [attempt({})])
    expect(fieldsFor('fill_off_rate')).toMatchObject({
      move: { to: 'processing', fields: { parkReason: null, statusReason: null, fillAccepted: true } },
    })
    expect(fieldsFor('money_after_failure')).toMatchObject({
      move: { to: 'processing', fields: { parkReason: null, statusReason: null } },
    })
    expect(JSON.stringify(fieldsFor('money_after_failure'))).not.toContain('fillAccepted')
  })

  test('approve of a transfer that is proved on chain records the success', () => {
    expect(effect('approve', { status: 'under_review', transfer })).toMatchObject({ move: { to: 'succeeded' } })
  })

  test('retry goes back to where the payment stood: before the conversion, or to its payout', () => {
    expect(effect('retry', { status: 'under_review' })).toMatchObject({
      releasesPayout: false,
      move: { to: 'processing' },
    })
    expect(effect('retry', { status: 'under_review', usdc })).toMatchObject({
      releasesPayout: true,
      move: { to: 'settling' },
    })
  })

  test('a hold that came in between is not passed by', () => {
    const held = { status: 'under_review', held: true, paidAttemptId: 'att_1', usdc } as const
    for (const decision of ['approve', 'retry'] as const)
      expect(effect(decision, held, [attempt({})])).toEqual({ refused: expect.stringContaining('release it first') })
    expect(effect('release', { ...held, parkReason: 'underpaid' })).toMatchObject({
      change: { fields: { held: false } },
      move: null,
    })
  })

  test('a payment that has moved on meanwhile is left alone', () => {
    for (const decision of ['approve', 'retry'] as const)
      expect(effect(decision, { status: 'succeeded', usdc })).toMatchObject({ change: null, move: null })
  })

  test('reject is refused once money was confirmed', () => {
    expect(effect('reject', { status: 'under_review', paidAttemptId: 'att_1' })).toMatchObject({
      refused: 'Money was confirmed: refund it',
    })
  })
})

describe('money that goes back', () => {
  test('is that of the named attempt, else of the second payment, else the payment’s own, else what is on hold', () => {
    const attempts = [
      attempt({}),
      attempt({ id: 'att_2', status: 'surplus' }),
      attempt({ id: 'att_3', status: 'late' }),
    ]
    const state = { payment: payment({ paidAttemptId: 'att_1' }), attempts }
    expect(refundable(state, 'att_3')?.id).toBe('att_3')
    expect(refundable(state, undefined)?.id).toBe('att_2')
    expect(refundable({ ...state, attempts: [attempt({})] }, undefined)?.id).toBe('att_1')
    const held = { payment: payment({}), attempts: [attempt({ status: 'on_hold' })] }
    expect(refundable(held, undefined)?.id).toBe('att_1')
    expect(refundable({ payment: payment({}), attempts: [attempt({ status: 'declined' })] }, undefined)).toBeNull()
  })

  test('is refused beside a payout that is not voided', () => {
    expect(whyNotRefundable(payment({ usdc }), attempt({}))).toContain('void it first')
    expect(whyNotRefundable(payment({ usdc, parkReason: 'payout_voided' }), attempt({}))).toBeNull()
    expect(whyNotRefundable(payment({}), attempt({}))).toBeNull()
    expect(whyNotRefundable(payment({ usdc }), attempt({ status: 'surplus' }))).toBeNull()
  })

  test('ends the payment only when it was the payment’s own, or was never counted', () => {
    const how = { note, through: 'outside' } as const
    expect(givenBack(payment({ paidAttemptId: 'att_1' }), attempt({}), how).endsPayment).toBe(true)
    expect(givenBack(payment({ paidAttemptId: 'att_0' }), attempt({ status: 'surplus' }), how)).toMatchObject({
      endsPayment: false,
      booking: { lines: [{ account: 'suspense' }, { account: 'partner_receivable' }] },
    })
    const misfit = payment({ status: 'under_review', parkReason: 'amount_mismatch' })
    expect(givenBack(misfit, attempt({ status: 'on_hold' }), how).endsPayment).toBe(true)
  })
})
