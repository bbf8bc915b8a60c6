import { describe, expect, test } from '@jest/globals'
import {
  checkoutUrl,
  countRefundable,
  explorerUrl,
  NO_MONEY_YET,
  type Payment,
  renderChargeback,
  renderPayment,
} from '../../../src/domain/payment/payment-object.ts'
import { attempt, payment, usdcAttempt } from './payment-story.ts'

const transfer = { txHash: '0x1', logIndex: 3, blockNumber: '70000000', finalizedAt: '2026-01-01T00:02:00.000Z' }
const render = (fields: Partial<Payment>, attempts: Parameters<typeof renderPayment>[1] = []) =>
  renderPayment(payment(fields), attempts, 'https://pay.example')

const NEW = {
  id: 'pay_1',
  object: 'payment',
  livemode: false,
  status: 'created',
  status_reason: null,
  exception: null,
  amount: 100,
  amount_decimal: '100.00',
  amount_minor: 10_000,
  currency: 'EUR',
  provider: 'wallet_app',
  provider_used: null,
  method_used: null,
  fallback: 'picker',
  description: null,
  reference: null,
  metadata: {},
  invoice_number: null,
  merchant_tax_id: null,
  items: [],
  success_url: null,
  cancel_url: null,
  checkout_url: 'https://pay.example/c/pay_1',
  quote: {
    rate: '1.08',
    rate_source: 'test',
    net_usdc_estimate: '0.000001',
    expires_at: '2026-01-01T00:00:00.000Z',
  },
  settlement: {
    confirmed: null,
    gross_usdc: null,
    fee_usdc: null,
    fee_percent: '4.5',
    net_usdc: null,
    reserve: null,
    deduction: null,
    rate: null,
    rate_from: null,
    rate_to: null,
    rate_source: null,
    rate_locked_at: null,
    chain: 'polygon',
    chain_id: 31_337,
    token: `0x${'3'.repeat(40)}`,
    destination: `0x${'7'.repeat(40)}`,
    tx_hash: null,
    log_index: null,
    block_number: null,
    finalized_at: null,
    explorer_url: null,
    delayed_since: null,
  },
  attempts: [],
  refunded_amount: '0.00',
  refundable_amount: '0.00',
  refunds_count: 0,
  payment_link: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-02T00:00:00.000Z',
  paid_at: null,
  succeeded_at: null,
  failed_at: null,
  canceled_at: null,
  version: 1,
}

describe('The object of a payment in the API', () => {
  test('names what its payout lacks, for which refund, and the release that pays it after all', () => {
    const deduction = { refundId: 're_1', micro: '1500000', releaseId: null }
    const shown = { usdc: '1.500000', refund: 're_1', release: null }
    expect(render({ deduction }).settlement.deduction).toEqual(shown)
    expect(render({ deduction: { ...deduction, releaseId: 'rel_1' } }).settlement.deduction).toEqual({
      ...shown,
      release: 'rel_1',
    })
  })

  test('a new payment has no values of a settlement', () => {
    expect(render({})).toEqual(NEW)
  })

  test('a settled payment names its amounts, rate and transfer', () => {
    const settled = render(
      {
        status: 'succeeded',
        metadata: { order: '7' },
        chainId: 137,
        confirmed: { minor: '10000', currency: 'EUR' },
        rate: { rate: '1.1', source: 'converter', lockedAt: '2026-01-01T00:01:00.000Z' },
        usdc: { gross: '110000000', fee: '4950000', net: '105050000' },
        transfer,
      },
      [attempt({ status: 'paid', partnerReference: 'ord-9', createdAt: '2026-01-01T00:00:30.000Z' })],
    )
    expect(settled).toEqual({
      ...NEW,
      status: 'succeeded',
      metadata: { order: '7' },
      settlement: {
        ...NEW.settlement,
        confirmed: { amount: '100.00', amount_minor: 10_000, currency: 'EUR' },
        gross_usdc: '110.000000',
        fee_usdc: '4.950000',
        net_usdc: '105.050000',
        rate: '1.1',
        rate_from: 'EUR',
        rate_to: 'USDC',
        rate_source: 'converter',
        rate_locked_at: '2026-01-01T00:01:00.000Z',
        chain_id: 137,
        tx_hash: '0x1',
        log_index: 3,
        block_number: 70_000_000,
        finalized_at: '2026-01-01T00:02:00.000Z',
        explorer_url: 'https://polygonscan.com/tx/0x1',
      },
      attempts: [
        {
          id: 'att_1',
          provider: 'wallet_app',
          status: 'paid',
          partner_reference: 'ord-9',
          failure_code: null,
          created_at: '2026-01-01T00:00:30.000Z',
        },
      ],
    })
  })

  test('a payment object names the rupees that UPI charged for a price in EUR, and the pair of their rate', () => {
    const paid = render({
      confirmed: { minor: '486240', currency: 'INR' },
      rate: { rate: '0.0119', source: 'converter', lockedAt: '2026-01-01T00:01:00.000Z' },
    })
    expect(paid).toMatchObject({
      amount_decimal: '100.00',
      currency: 'EUR',
      settlement: {
        confirmed: { amount: '4862.40', amount_minor: 486_240, currency: 'INR' },
        rate: '0.0119',
        rate_from: 'INR',
        rate_to: 'USDC',
      },
    })
  })

  test('a payment object names no fee and no receipt if the money went back to its buyer before the payout', () => {
    const usdc = { gross: '54989000', fee: '2474505', net: '52514495' }
    const renderSettlement = (fields: Partial<Payment>) => render({ usdc, ...fields }).settlement
    expect(renderSettlement({ payout: 'void' })).toMatchObject({ gross_usdc: null, fee_usdc: null, net_usdc: null })
    const charged = { gross_usdc: '54.989000', fee_usdc: '2.474505', net_usdc: '52.514495' }
    expect(renderSettlement({ payout: 'voiding' })).toMatchObject(charged)
    expect(renderSettlement({ payout: 'paid', transfer })).toMatchObject(charged)
  })

  test('a payment object has the time since which an open payment has been taking too long', () => {
    const delayedAt = '2026-01-01T01:00:00.000Z'
    const since = (status: Payment['status']) => render({ status, delayedAt }).settlement.delayed_since
    expect([since('settling'), since('succeeded')]).toEqual([delayedAt, null])
  })

  test('a payment object has the amount as the merchant wrote it, and exactly', () => {
    const yen = { amountText: '5e3', amount: { minor: '5000', currency: 'JPY' } } as const
    expect(render(yen)).toMatchObject({ amount: 5000, amount_decimal: '5000', amount_minor: 5000, currency: 'JPY' })
  })
})

test.each([
  [137, 'https://polygonscan.com/tx/0x1'],
  [80_002, 'https://amoy.polygonscan.com/tx/0x1'],
  [31_337, null],
])('on chain %i a transfer is shown at %s', (chainId, url) => {
  expect(explorerUrl({ chainId, transfer })).toBe(url)
  expect(explorerUrl({ chainId, transfer: null })).toBeNull()
})

describe('The refunds of a payment', () => {
  const paidOut: Partial<Payment> = {
    payout: 'paid',
    status: 'succeeded',
    providerUsed: 'wallet_app',
    confirmed: { minor: '10000', currency: 'EUR' },
  }

  test('a paid payment can be refunded by what was neither lost nor refunded', () => {
    const refundable = (fields: Partial<Payment>) => countRefundable(payment({ ...paidOut, ...fields }))
    expect(refundable({})).toBe('10000')
    expect(refundable({ lostMinor: '3000', refundsMinor: '2500' })).toBe('4500')
    expect(refundable({ lostMinor: '7500', refundsMinor: '2500' })).toBe('0')
    expect(refundable({ lostMinor: '10000', refundsMinor: '2500' })).toBe('0')
  })

  test('a payment that is not paid out, has no money or was paid in USDC cannot be refunded', () => {
    const refundable = (fields: Partial<Payment>) => countRefundable(payment({ ...paidOut, ...fields }))
    expect(refundable({ payout: 'handed' })).toBe('0')
    expect(refundable({ confirmed: null })).toBe('0')
    expect(refundable({ providerUsed: 'crypto' })).toBe('0')
  })

  test('the object names the refunded and the refundable amount in the currency of the charge', () => {
    const rupees = {
      ...paidOut,
      confirmed: { minor: '486240', currency: 'INR' },
      refundsMinor: '86240',
      refundsCount: 2,
    }
    expect(
      render(rupees as Partial<Payment>, [attempt({ refunded: '40000' }), attempt({ refunded: '240' })]),
    ).toMatchObject({
      refunded_amount: '402.40',
      refundable_amount: '4000.00',
      refunds_count: 2,
    })
  })

  test('a payment whose money went back before the payout is refunded as a whole', () => {
    expect(render({ status: 'refunded', confirmed: { minor: '10000', currency: 'EUR' } }).refunded_amount).toBe(
      '100.00',
    )
    expect(render({ status: 'refunded' }).refunded_amount).toBe('0.00')
  })
})

test('a payment with a reserve names its share, its day and what was released', () => {
  const reserve = { percent: '10', days: 90 }
  const fields = { reserve, reservedMicro: '10505000', reserveReleasedMicro: '500000', reserveReleaseId: 'rel_1' }
  const named = { percent: '10', days: 90, held_usdc: '10.505000', released_usdc: '0.500000', release: 'rel_1' }
  expect(render(fields).settlement.reserve).toEqual({ ...named, due_on: null })
  expect(render({ ...fields, transfer }).settlement.reserve).toEqual({ ...named, due_on: '2026-04-02' })
})

test('a payment with money that has no rate yet names no pair of currencies', () => {
  const { settlement } = render({ confirmed: { minor: '10000', currency: 'EUR' } })
  expect([settlement.rate, settlement.rate_from, settlement.rate_to]).toEqual([null, null, null])
})

test('a chargeback names the attempt, the amount that was reversed or won back, and the total loss', () => {
  const change = { attempt: attempt(), units: -2500n, lost: 7500n }
  expect(renderChargeback(change)).toEqual({ attempt: 'att_1', amount: '25.00', lost: '75.00', currency: 'EUR' })
  expect(renderChargeback({ ...change, attempt: usdcAttempt(), units: 1n })).toEqual({
    attempt: 'att_1',
    amount: '0.000001',
    lost: '0.007500',
    currency: 'USDC',
  })
})

test('a payment without money has neither attempts nor sales', () => {
  expect(NO_MONEY_YET).toEqual({ attempts: [], sales: [] })
  expect(checkoutUrl('https://pay.example', 'tok')).toBe('https://pay.example/c/tok')
})
