import { type OfferQuery, offersFor, type RateTable } from '../../src/domain/offers.ts'
import type { AttemptStatus, PaymentStatus } from '../../src/domain/payment/payment.ts'
import type { Attempt, Payment } from '../../src/domain/payment/payment-object.ts'
import type { Checkout } from '../../src/web/checkout/checkout.ts'

/** Payments as the pages get them, without a database. */

export const RATES: RateTable = { USD: '1', EUR: '1.08', INR: '0.0119' }

const PAID_AT = '2026-11-20T12:03:00.000Z'
export const TX_HASH = `0x${'5e'.repeat(32)}`

export function aPayment(changes: Partial<Payment> = {}): Payment {
  return {
    id: 'pay_01hzy3v7t8e4a9v2b6q5r0c1d2',
    merchantId: 'mer_01hzy3v7t8e4a9v2b6q5r0c1d2',
    livemode: true,
    status: 'created',
    statusReason: null,
    exception: null,
    parkReason: null,
    held: false,
    amountText: '49.99',
    amount: { minor: '4999', currency: 'EUR' },
    provider: null,
    providerUsed: null,
    methodUsed: null,
    fallback: 'picker',
    description: 'Two tickets for the night train to Vienna',
    reference: 'ORDER-1042',
    metadata: null,
    successUrl: 'https://shop.example/thanks',
    cancelUrl: 'https://shop.example/cart',
    checkoutToken: 'token-of-the-tests',
    destination: `0x${'70'.repeat(20)}`,
    chainId: 137,
    token: `0x${'3c'.repeat(20)}`,
    quote: { rate: '1.08', rateSource: 'test', netMicro: '51559686', expiresAt: '2026-11-20T12:15:00.000Z' },
    paidAttemptId: null,
    confirmed: null,
    fill: null,
    rate: null,
    usdc: null,
    transfer: null,
    expiryPostponed: false,
    listenEnded: false,
    createdAt: '2026-11-20T12:00:00.000Z',
    updatedAt: '2026-11-20T12:00:00.000Z',
    expiresAt: '2026-11-21T12:00:00.000Z',
    paidAt: null,
    succeededAt: null,
    failedAt: null,
    canceledAt: null,
    closedAt: null,
    version: 1,
    ...changes,
  }
}

/** A payment whose USDC is final on chain. */
export function aSucceededPayment(changes: Partial<Payment> = {}): Payment {
  return aPayment({
    status: 'succeeded',
    provider: 'wallet_app',
    providerUsed: 'wallet_app',
    methodUsed: 'banking_app',
    confirmed: { minor: '4999', currency: 'EUR' },
    transfer: { txHash: TX_HASH, logIndex: 3, blockNumber: '70000001', finalizedAt: '2026-11-20T12:04:00.000Z' },
    paidAt: PAID_AT,
    succeededAt: '2026-11-20T12:04:00.000Z',
    ...changes,
  })
}

export function anAttempt(status: AttemptStatus, changes: Partial<Attempt> = {}): Attempt {
  return {
    id: 'att_01hzy3v7t8e4a9v2b6q5r0c1d2',
    paymentId: 'pay_01hzy3v7t8e4a9v2b6q5r0c1d2',
    provider: 'wallet_app',
    method: 'banking_app',
    status,
    asked: { minor: '4999', currency: 'EUR' },
    partnerReference: 'partner-1',
    redirectUrl: 'https://partner.example/pay/1',
    intentUri: null,
    failureCode: null,
    createdAt: '2026-11-20T12:01:00.000Z',
    updatedAt: '2026-11-20T12:01:00.000Z',
    ...changes,
  }
}

export const UPI_INTENT = 'upi://pay?pa=pinrail@bank&pn=Pinrail&am=4536.76&cu=INR&tr=att_01hzy3v7t8e4a9v2b6q5r0c1d2'

export function aUpiAttempt(changes: Partial<Attempt> = {}): Attempt {
  const asked = { minor: '453676', currency: 'INR' } as const
  return anAttempt('open', { provider: 'local_partner', method: 'upi', asked, intentUri: UPI_INTENT, ...changes })
}

export const USDC_LINK =
  'ethereum:0x3c499c542cef5e3811e1192ce70d8cc03d5c3359@137/transfer?address=0x00000000000000000000000000000000000000a1&uint256=58300000'

export function aUsdcAttempt(changes: Partial<Attempt> = {}): Attempt {
  const intentUri = USDC_LINK
  const redirectUrl = 'https://pay.example/c/token-of-the-tests'
  return anAttempt('open', { provider: 'crypto', method: 'usdc', intentUri, redirectUrl, ...changes })
}

export type CheckoutChanges = {
  readonly payment?: Partial<Payment>
  readonly attempts?: readonly Attempt[]
  readonly country?: Checkout['country']
  readonly asked?: Partial<Checkout['asked']>
  readonly rates?: OfferQuery['rates']
  readonly merchantName?: string
}

export function aCheckout(changes: CheckoutChanges = {}): Checkout {
  const payment =
    changes.payment?.status === 'succeeded' ? aSucceededPayment(changes.payment) : aPayment(changes.payment)
  const country = changes.country ?? { code: 'DE', source: 'header' }
  const { amount, provider, fallback } = payment
  const rates = changes.rates === undefined ? RATES : changes.rates
  return {
    payment,
    attempts: changes.attempts ?? [],
    merchantName: changes.merchantName ?? 'Nightline Rail',
    offered: offersFor({ amount, provider, fallback, country: country.code, rates, deviceWallet: null }),
    country,
    asked: { picker: false, choice: null, ...changes.asked },
    url: 'https://pay.example/c/token-of-the-tests',
    path: '/c/token-of-the-tests',
  }
}

const INDIA = { code: 'IN', source: 'header' } as const

/** One checkout for each state, in the situation in which it is met most. */
export const BY_STATUS: Readonly<Record<PaymentStatus, CheckoutChanges>> = {
  created: {},
  pending: { payment: { status: 'pending' }, attempts: [anAttempt('open')] },
  processing: { payment: { status: 'processing', paidAt: PAID_AT }, attempts: [anAttempt('confirmed')] },
  under_review: {
    payment: { status: 'under_review', parkReason: 'partner_hold' },
    attempts: [anAttempt('on_hold')],
  },
  settling: { payment: { status: 'settling', paidAt: PAID_AT }, attempts: [anAttempt('confirmed')] },
  succeeded: { payment: { status: 'succeeded' }, attempts: [anAttempt('confirmed')] },
  failed: { payment: { status: 'failed' }, attempts: [anAttempt('declined')] },
  expired: { payment: { status: 'expired' } },
  canceled: { payment: { status: 'canceled' } },
  refunded: { payment: { status: 'refunded' }, attempts: [anAttempt('refunded')] },
}

/** What the states do not show by themselves. */
export const SITUATIONS = {
  'pinned to the banking app': { payment: { provider: 'wallet_app' } },
  'pinned to UPI': { payment: { provider: 'local_partner' }, country: INDIA },
  'pinned to UPI without rates': { payment: { provider: 'local_partner' }, country: INDIA, rates: null },
  'a pin that is not offered': { payment: { provider: 'wallet_app' }, country: { code: 'BR', source: 'buyer' } },
  'a pin that is not offered, without a fallback': {
    payment: { provider: 'card_partner', fallback: 'none' },
    country: { code: 'BR', source: 'header' },
  },
  'a pin with too small an amount': { payment: { provider: 'wallet_app', amount: { minor: '300', currency: 'EUR' } } },
  'a country unknown': { country: { code: null, source: 'unknown' } },
  'nothing at all': { payment: { amount: { minor: '5000', currency: 'JPY' } }, country: INDIA, rates: null },
  'the picker in India': { payment: { amount: { minor: '500000', currency: 'INR' } }, country: INDIA },
  'another method while one is open': {
    payment: { status: 'pending', provider: 'wallet_app' },
    attempts: [anAttempt('open')],
    asked: { picker: true },
  },
  'a method chosen': { asked: { choice: { provider: 'card_partner', method: 'card' } } },
  'a declined attempt': {
    payment: { status: 'pending', provider: 'wallet_app' },
    attempts: [anAttempt('declined', { failureCode: 'insufficient_funds' })],
  },
  'an identity check': {
    payment: { status: 'pending', exception: 'verification_required' },
    attempts: [anAttempt('verification_required')],
  },
  'an address for USDC': { payment: { status: 'pending', provider: null }, attempts: [aUsdcAttempt()] },
  'a UPI code': {
    payment: { status: 'pending', provider: 'local_partner', amount: { minor: '4999', currency: 'EUR' } },
    attempts: [aUpiAttempt()],
    country: INDIA,
  },
  'being confirmed': { payment: { status: 'processing' }, attempts: [anAttempt('confirming')] },
  'a delayed settlement': {
    payment: { status: 'settling', paidAt: PAID_AT, exception: 'settlement_delayed' },
    attempts: [anAttempt('confirmed')],
  },
  'too little money': {
    payment: { status: 'under_review', parkReason: 'underpaid' },
    attempts: [anAttempt('underpaid')],
  },
  'expired with an order open': { payment: { status: 'expired' }, attempts: [anAttempt('open')] },
  'paid late and twice': {
    payment: { status: 'succeeded', exception: 'paid_late', chainId: 31337 },
    attempts: [anAttempt('confirmed'), anAttempt('surplus', { id: 'att_2' })],
  },
  'started too many times': {
    payment: { status: 'pending', provider: 'wallet_app' },
    attempts: Array.from({ length: 20 }, (_attempt, index) => anAttempt('declined', { id: `att_${index}` })),
  },
  'started too many times, one order open': {
    payment: { status: 'pending', provider: null },
    attempts: Array.from({ length: 20 }, (_attempt, index) =>
      anAttempt(index === 19 ? 'open' : 'canceled', { id: `att_${index}` }),
    ),
    asked: { choice: { provider: 'card_partner', method: 'card' } },
  },
  'test mode': { payment: { livemode: false } },
} as const satisfies Readonly<Record<string, CheckoutChanges>>
