import { describe, expect, test } from '@jest/globals'
import type { PaymentFields } from '../../../../src/domain/payment/changes.ts'
import { withConversion } from '../../../../src/domain/payment/money/conversion.ts'
import type { PaymentStatus } from '../../../../src/domain/payment/payment.ts'
import type { Payment } from '../../../../src/domain/payment/payment-object.ts'
import { newPaymentSnapshot, nextStep } from '../../../../src/domain/payment/snapshot.ts'
import { aPayment } from '../../../web/fixtures.ts'

const TAKEN: PaymentFields = { paidAttemptId: 'att_1', providerUsed: 'wallet_app', confirmedMinor: '100' }
const PAID: Partial<Payment> = { status: 'processing', paidAttemptId: 'att_1', providerUsed: 'wallet_app' }
const FILL = { micro: '1', expected: '1', reference: 'fill_1', accepted: false }

describe('the order at the converter is open', () => {
  test.each<[string, Partial<Payment>, PaymentStatus | null, PaymentFields, boolean]>([
    ['when the money is taken and is to be converted', { status: 'pending' }, 'processing', TAKEN, true],
    ['when what was being confirmed is confirmed', { status: 'processing' }, null, TAKEN, true],
    ['when an operator has it converted', { ...PAID, status: 'under_review' }, 'processing', {}, true],
    ['not while the money waits for an operator', { status: 'pending' }, 'under_review', TAKEN, false],
    ['not while the partner is confirming', { status: 'pending' }, 'processing', {}, false],
    ['not for USDC', { status: 'pending' }, 'processing', { ...TAKEN, providerUsed: 'crypto' }, false],
    ['not again when the fill is on record', { ...PAID, status: 'under_review', fill: FILL }, 'processing', {}, false],
    ['still when the money is held', { ...PAID, conversionOpen: true }, 'under_review', {}, true],
    ['still when the money is gone', { ...PAID, conversionOpen: true }, 'pending', { paidAttemptId: null }, true],
    ['still when it is refunded', { ...PAID, status: 'under_review', conversionOpen: true }, 'refunded', {}, true],
    ['no more when it is converted', { ...PAID, conversionOpen: true }, null, { grossMicro: '1' }, false],
    [
      'no more when its fill is set aside',
      { ...PAID, conversionOpen: true },
      'under_review',
      { fillMicro: '1' },
      false,
    ],
    ['no more when it is ended', { status: 'refunded', conversionOpen: true }, null, { conversionOpen: false }, false],
  ])('%s', (_when, before, to, fields, isOpen) => {
    const payment = aPayment(before)
    const written = withConversion(payment, to, fields)
    expect(written.conversionOpen ?? payment.conversionOpen).toBe(isOpen)
    expect({ ...written, conversionOpen: undefined }).toEqual({ ...fields, conversionOpen: undefined })
  })
})

describe('the order at the converter is of other money', () => {
  const asked: Partial<Payment> = { ...PAID, conversionOpen: true, confirmed: { minor: '100', currency: 'EUR' } }
  const gone: PaymentFields = { paidAttemptId: null, confirmedMinor: null, chargeCurrency: null }
  test.each<[string, Partial<Payment>, PaymentFields, 'changed' | 'gone' | null]>([
    ['when the amount changes', asked, { confirmedMinor: '60' }, 'changed'],
    ['when the partner has taken it back', asked, gone, 'gone'],
    ['also when its fill is on record', { ...asked, conversionOpen: false, fill: FILL }, gone, 'gone'],
    ['and stays so when other money comes', { ...asked, conversionStale: 'gone' }, { confirmedMinor: '60' }, 'gone'],
    ['not when the same amount is said again', asked, { confirmedMinor: '100' }, null],
    ['not for another rate: the key takes it', asked, { rate: '2' }, null],
    ['not when nothing was asked', { ...asked, conversionOpen: false }, gone, null],
    ['no more when it is ended', { ...asked, conversionStale: 'gone' }, { conversionStale: null }, null],
  ])('%s', (_when, before, fields, stale) => {
    const payment = aPayment(before)
    const { conversionStale = payment.conversionStale } = withConversion(payment, null, fields)
    expect(conversionStale).toBe(stale)
  })
})

describe('an order that is open is ended', () => {
  const at = (status: PaymentStatus, listenUntil: number | null, conversionOpen = true) =>
    nextStep({ ...newPaymentSnapshot('pay_1', 0), status, listenUntil, conversionOpen })

  test('as soon as the payment is refunded, also while other orders are listened for', () => {
    expect([at('refunded', null), at('refunded', 5), at('refunded', null, false)]).toEqual([
      'end_conversion',
      'end_conversion',
      'done',
    ])
  })

  test.each(['expired', 'canceled', 'failed'] as const)(
    'of a payment that is %s, when nothing is listened for',
    (status) => {
      expect([at(status, 5), at(status, null)]).toEqual(['listen', 'end_conversion'])
    },
  )

  test('never while the payment may take the fill', () => {
    for (const status of ['created', 'pending', 'processing', 'under_review', 'settling'] as const)
      expect(at(status, null)).not.toBe('end_conversion')
  })
})
