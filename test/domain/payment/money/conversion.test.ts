import { describe, expect, test } from '@jest/globals'
import type { PaymentFields } from '../../../../src/domain/payment/changes.ts'
import { isFillLeft, withConversion, withoutOrder } from '../../../../src/domain/payment/money/conversion.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../../../src/domain/payment/payment.ts'
import type { Payment } from '../../../../src/domain/payment/payment-object.ts'
import { newPaymentSnapshot, nextStep } from '../../../../src/domain/payment/snapshot.ts'
import { aPayment } from '../../../web/fixtures.ts'

const TAKEN: PaymentFields = { paidAttemptId: 'att_1', providerUsed: 'wallet_app', confirmedMinor: '100' }
const PAID: Partial<Payment> = { status: 'processing', paidAttemptId: 'att_1', providerUsed: 'wallet_app' }
const PAID_BACK: Partial<Payment> = { status: 'refunded' }
const CLOSED: PaymentFields = { conversionOpen: false }
const USDC = { gross: '100', fee: '4', net: '96' }
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
    ['not again when it was converted', { ...PAID, status: 'under_review', usdc: USDC }, 'processing', {}, false],
    ['not for USDC that came before', { ...PAID, providerUsed: 'crypto' }, 'processing', {}, false],
    ['again when its fill is put away', { ...PAID, fill: FILL }, 'processing', { fillMicro: null }, true],
    ['no more when that is said, whatever it was', { ...PAID_BACK, conversionOpen: true }, null, CLOSED, false],
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
    // What does not change is not written.
    if (fields.conversionOpen === undefined) expect('conversionOpen' in written).toBe(isOpen !== payment.conversionOpen)
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
    ['not when it is ended with the amount', asked, { confirmedMinor: '60', conversionStale: null }, null],
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

test('a payment that takes neither its order nor the fill gets the next order, with nothing of the last', () => {
  expect(withoutOrder({ conversionOrder: 3 })).toEqual({
    conversionOrder: 4,
    conversionStale: null,
    fillMicro: null,
    fillExpectedMicro: null,
    fillReference: null,
    fillAccepted: false,
  })
})

test('USDC that was bought is left over when the payment has ended without taking it', () => {
  const left = PAYMENT_STATUSES.filter((status) => isFillLeft({ status, fill: FILL, usdc: null }))
  expect(left.toSorted()).toEqual(['canceled', 'expired', 'failed'])
  expect(isFillLeft({ status: 'failed', fill: null, usdc: null })).toBe(false)
  expect(isFillLeft({ status: 'failed', fill: FILL, usdc: USDC })).toBe(false)
})
