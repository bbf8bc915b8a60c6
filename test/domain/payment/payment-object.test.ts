import { describe, expect, test } from '@jest/globals'
import {
  checkoutUrl,
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
