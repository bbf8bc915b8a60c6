import type { NewPayment } from '../../src/domain/payment/new-payment.ts'

/** A payment of 49.99 EUR pinned to the banking app, to be inserted by a test that is about something else. */
export function newPayment(fields: Partial<NewPayment> & Pick<NewPayment, 'id' | 'createdAt'>): NewPayment {
  return {
    amountText: '49.99',
    amount: { minor: '4999', currency: 'EUR' },
    provider: 'wallet_app',
    fallback: 'picker',
    description: null,
    reference: null,
    metadata: null,
    invoice: null,
    successUrl: null,
    cancelUrl: null,
    checkoutToken: fields.id,
    paymentLink: null,
    tolerancePercent: 1,
    fillTolerancePercent: 2,
    feePercent: '4.5',
    reserve: null,
    destination: `0x${'7'.repeat(40)}`,
    chainId: 31337,
    token: `0x${'3'.repeat(40)}`,
    quote: { rate: '1.08', rateSource: 'test', netMicro: '1', expiresAt: fields.createdAt },
    expiresAt: new Date(Date.parse(fields.createdAt) + 86_400_000).toISOString(),
    ...fields,
  }
}
