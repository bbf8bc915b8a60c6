import { describe, expect, test } from '@jest/globals'
import { MERCHANT_STATUSES, type MerchantStatus } from '../../../src/domain/account/agreement.ts'
import {
  findBounds,
  LINK_STATUSES,
  linkStatus,
  linkUrl,
  occupiesPlace,
  type PaymentLink,
  PREFILLS,
  renderLink,
  shownLinkStatus,
} from '../../../src/domain/link/link.ts'
import { REPORT_REASONS } from '../../../src/domain/link/report.ts'
import type { Money } from '../../../src/domain/money.ts'
import { PAYMENT_STATUSES } from '../../../src/domain/payment/payment.ts'

const NOW = '2026-11-01T12:00:00.000Z'
const BEFORE = '2026-11-01T11:59:59.999Z'
const AFTER = '2026-11-01T12:00:00.001Z'

const LINK: PaymentLink = {
  id: 'plink_1',
  merchantId: 'mer_1',
  livemode: false,
  code: 'k7Qm2x',
  active: true,
  price: { currency: 'EUR', amount: { minor: '4990', currency: 'EUR' }, min: null, max: null },
  provider: 'wallet_app',
  title: 'Coffee',
  description: null,
  reference: 'shop-window',
  metadata: null,
  invoice: null,
  successUrl: null,
  prefill: [],
  maxPayments: null,
  paymentsCount: 3,
  expiresAt: null,
  inactiveMessage: null,
  wallet: null,
  createdVia: 'api',
  anonymous: false,
  completedAt: null,
  stoppedAt: null,
  stoppedReason: null,
  createdAt: BEFORE,
  updatedAt: BEFORE,
}

test('the lists of a link have the values that the API promises', () => {
  expect({ PREFILLS, LINK_STATUSES, REPORT_REASONS }).toEqual({
    PREFILLS: ['amount', 'reference'],
    LINK_STATUSES: ['active', 'paused', 'sold_out', 'expired', 'stopped'],
    REPORT_REASONS: ['fraud', 'pretends', 'forbidden', 'other'],
  })
})

describe('a link is', () => {
  test.each([
    ['active', {}],
    ['active', { expiresAt: AFTER, maxPayments: 4 }],
    ['sold_out', { maxPayments: 3 }],
    ['sold_out', { maxPayments: 2 }],
    ['expired', { expiresAt: NOW }],
    ['expired', { expiresAt: BEFORE, maxPayments: 3 }],
    ['paused', { active: false, expiresAt: BEFORE, maxPayments: 3 }],
    ['stopped', { stoppedAt: BEFORE }],
    ['stopped', { stoppedAt: AFTER, active: false, expiresAt: BEFORE, maxPayments: 3 }],
  ] as const)('the state of a link is %s: %j', (status, fields) => {
    expect(linkStatus({ ...LINK, ...fields }, NOW)).toBe(status)
  })
})

describe('The status that buyers see', () => {
  const seen = (fields: Partial<PaymentLink>, merchant: MerchantStatus, linksWithoutAccount = true) =>
    shownLinkStatus({ ...LINK, ...fields }, { merchant, linksWithoutAccount }, NOW)

  test('the links of a merchant that takes no payments are closed, whatever their own status is', () => {
    const statuses = MERCHANT_STATUSES.map((merchant) => [
      merchant,
      seen({}, merchant),
      seen({ active: false }, merchant),
    ])
    expect(statuses).toEqual([
      ['pending', 'paused', 'paused'],
      ['approved', 'active', 'paused'],
      ['rejected', 'paused', 'paused'],
      ['suspended', 'stopped', 'stopped'],
    ])
  })

  test('a link without an account is stopped where such links are switched off', () => {
    const anonymous = { anonymous: true }
    expect([seen(anonymous, 'approved'), seen(anonymous, 'approved', false), seen({}, 'approved', false)]).toEqual([
      'active',
      'stopped',
      'active',
    ])
  })
})

describe('The object of a link in the API', () => {
  const render = (fields: Partial<PaymentLink>) =>
    renderLink({ ...LINK, ...fields }, { publicUrl: 'https://pay.example', now: NOW })

  test('the object of a link with a price has every field', () => {
    expect(render({})).toEqual({
      id: 'plink_1',
      object: 'payment_link',
      livemode: false,
      code: 'k7Qm2x',
      url: 'https://pay.example/l/k7Qm2x',
      active: true,
      status: 'active',
      amount: 49.9,
      min_amount: null,
      max_amount: null,
      currency: 'EUR',
      provider: 'wallet_app',
      title: 'Coffee',
      description: null,
      reference: 'shop-window',
      metadata: {},
      invoice_number: null,
      merchant_tax_id: null,
      items: [],
      success_url: null,
      prefill: [],
      max_payments: null,
      payments_count: 3,
      expires_at: null,
      inactive_message: null,
      wallet: null,
      created_via: 'api',
      completed_at: null,
      created_at: BEFORE,
      updated_at: BEFORE,
    })
  })

  test('the object of a link whose buyer sets the amount has every field', () => {
    const price = {
      currency: 'JPY',
      amount: null,
      min: { minor: '500', currency: 'JPY' },
      max: { minor: '90000', currency: 'JPY' },
    } as const
    expect(render({ price, prefill: ['amount'], metadata: { shelf: '3' } })).toMatchObject({
      amount: null,
      min_amount: 500,
      max_amount: 90_000,
      currency: 'JPY',
      prefill: ['amount'],
      metadata: { shelf: '3' },
    })
  })

  test('a link is not active after its owner has paused it or an operator has stopped it', () => {
    expect(render({ active: false })).toMatchObject({ active: false, status: 'paused' })
    expect(render({ stoppedAt: BEFORE })).toMatchObject({ active: false, status: 'stopped' })
  })

  test('the URL of a link is the URL of its page', () => {
    expect(linkUrl('http://127.0.0.1:4242', 'abc')).toBe('http://127.0.0.1:4242/l/abc')
  })
})

describe('A link whose buyer sets the amount', () => {
  const euros = (minor: string): Money => ({ minor, currency: 'EUR' })
  const bounds = (min: Money | null, max: Money | null) => {
    const link = { ...LINK, price: { currency: 'EUR', amount: null, min, max } } as const
    const { minimum, maximum } = findBounds(link, { EUR: '1.25', USD: '1' })
    return [minimum.minor, maximum.minor]
  }

  test('the limits of the method apply without bounds of the link', () => {
    expect(bounds(null, null)).toEqual(['600', '1000000'])
  })

  test('bounds of the link within the limits of the method apply', () => {
    expect(bounds(euros('1000'), euros('5000'))).toEqual(['1000', '5000'])
    expect(bounds(euros('1000'), null)).toEqual(['1000', '1000000'])
    expect(bounds(null, euros('5000'))).toEqual(['600', '5000'])
  })

  test('bounds of the link beyond the limits of the method do not apply', () => {
    expect(bounds(euros('100'), euros('2000000'))).toEqual(['600', '1000000'])
  })
})

test('a payment occupies a place of its link unless it has ended without money for the merchant', () => {
  expect(PAYMENT_STATUSES.filter(occupiesPlace)).toEqual([
    'created',
    'pending',
    'processing',
    'under_review',
    'settling',
    'succeeded',
  ])
})
