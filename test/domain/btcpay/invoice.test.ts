import { describe, expect, test } from '@jest/globals'
import { INVOICE_EVENTS, isMapped } from '../../../src/domain/btcpay/events.ts'
import {
  getInvoiceState,
  getPaidPart,
  INVOICE_STATES,
  listPaymentStatuses,
} from '../../../src/domain/btcpay/invoice.ts'
import { PAYMENT_STATUSES, type PaymentException, type PaymentStatus } from '../../../src/domain/payment/payment.ts'
import { GUIDES } from '../../../src/web/docs/guides.ts'

/** Each status of a payment by each exception that it can have, as BTCPay's words. */
const EXPECTED: Readonly<Record<PaymentStatus, Partial<Record<PaymentException | 'none', string>>>> = {
  created: { none: 'New None' },
  pending: { none: 'New None', underpaid: 'New PaidPartial', verification_required: 'New None' },
  processing: {
    none: 'Processing None',
    overpaid: 'Processing PaidOver',
    paid_late: 'Processing None',
    duplicate_payment: 'Processing PaidOver',
    settlement_delayed: 'Processing None',
  },
  under_review: {
    none: 'Processing None',
    underpaid: 'Processing PaidPartial',
    overpaid: 'Processing PaidOver',
    paid_late: 'Processing None',
    wrong_asset: 'Processing None',
  },
  settling: {
    none: 'Processing None',
    underpaid: 'Processing PaidPartial',
    paid_late: 'Processing None',
    overpaid: 'Processing PaidOver',
  },
  succeeded: {
    none: 'Settled None',
    overpaid: 'Settled PaidOver',
    paid_late: 'Settled PaidLate',
    underpaid: 'Settled PaidPartial',
  },
  failed: { none: 'Invalid None', underpaid: 'Invalid PaidPartial' },
  expired: { none: 'Expired None', underpaid: 'Expired PaidPartial', paid_late: 'Expired None' },
  canceled: { none: 'Invalid Marked', underpaid: 'Invalid Marked' },
  refunded: { none: 'Invalid None' },
}

describe('A payment as an invoice of BTCPay', () => {
  test.each(PAYMENT_STATUSES)('the status %s has one status and additional status for each exception', (status) => {
    const seen = Object.keys(EXPECTED[status]).map((name) => {
      const exception = name === 'none' ? null : (name as PaymentException)
      const state = getInvoiceState({ status, exception })
      return [name, `${state.status} ${state.additionalStatus}`]
    })
    expect(Object.fromEntries(seen)).toEqual(EXPECTED[status])
  })

  test('no client calls an invoice settled whose payment has not succeeded', () => {
    const exceptions = ['underpaid', 'overpaid', 'paid_late', 'duplicate_payment', 'wrong_asset', null] as const
    for (const status of PAYMENT_STATUSES)
      for (const exception of exceptions) {
        const { status: shown, additionalStatus } = getInvoiceState({ status, exception })
        // As `isSettled` of BTCPay's client for PHP decides.
        expect(shown === 'Settled' || additionalStatus === 'PaidLate').toBe(status === 'succeeded')
      }
  })

  test('the guide has the same table', () => {
    const rows = PAYMENT_STATUSES.map((status) => {
      const type = `payment.${status}`
      const event = isMapped(type) ? ` \`${INVOICE_EVENTS[type]}\`` : ''
      return `| \`${status}\` | \`${INVOICE_STATES[status].status}\` |${event} |`
    })
    const table = (GUIDES['btcpay'] ?? '').split('\n').filter((line) => /^\| `\w+` \| `/.test(line))
    expect(table).toEqual(rows)
  })

  const EUR = (minor: string) => ({ minor, currency: 'EUR' as const })
  const INR = (minor: string) => ({ minor, currency: 'INR' as const })
  test.each([
    ['nothing', null, null, { paid: '0', due: '49.90' }],
    ['the whole price', EUR('4990'), EUR('4990'), { paid: '49.90', due: '0' }],
    ['a part', EUR('1000'), EUR('4990'), { paid: '10.00', due: '39.90' }],
    ['half of what was asked in another currency', INR('224550'), INR('449100'), { paid: '24.95', due: '24.95' }],
    ['a part that is rounded down', INR('149699'), INR('449100'), { paid: '16.63', due: '33.27' }],
    ['too much', EUR('5990'), EUR('4990'), { paid: '59.90', due: '0' }],
  ])('the paid part of the price is that of what was asked: %s', (_what, confirmed, asked, expected) => {
    expect(getPaidPart({ price: EUR('4990'), confirmed, asked })).toEqual(expected)
  })

  test('a filter by a status of invoices finds the payments that are shown with it', () => {
    expect(listPaymentStatuses(['Processing'])).toEqual(['processing', 'under_review', 'settling'])
    expect(listPaymentStatuses(['New', 'Settled'])).toEqual(['created', 'pending', 'succeeded'])
    expect(listPaymentStatuses(['Paid'])).toEqual([])
  })
})
