import type { Invoice } from '../../src/domain/payment/invoice.ts'
import type { AttemptStatus, PaymentStatus } from '../../src/domain/payment/payment.ts'
import type { Attempt } from '../../src/domain/payment/payment-object.ts'
import type { BuyerRefund } from '../../src/web/checkout/checkout.ts'
import { anAttempt, aUpiAttempt, aUsdcAttempt, type CheckoutChanges, PAID_AT, SOLD } from './fixtures.ts'

/** Every page, by the situation in which a buyer reads it. */

const INDIA = { code: 'IN', source: 'header' } as const
const BRAZIL = { code: 'BR', source: 'buyer' } as const

/** The fields of a payment whose money the partner has confirmed. */
const CONFIRMED = {
  paidAt: PAID_AT,
  paidAttemptId: 'att_01hzy3v7t8e4a9v2b6q5r0c1d2',
  confirmed: { minor: '4999', currency: 'EUR' },
} as const

const aCardAttempt = (status: AttemptStatus, changes: Partial<Attempt> = {}): Attempt =>
  anAttempt(status, { id: 'att_2', provider: 'card_partner', method: 'card', ...changes })

const aRefund = (state: BuyerRefund['state'], minor: string): BuyerRefund => ({
  state,
  amount: { minor, currency: 'EUR' },
  at: '2026-11-24T09:12:00.000Z',
})

const INVOICE: Invoice = {
  number: 'R-2026-118',
  taxId: 'DE129273398',
  items: [
    { name: 'Ticket to Vienna, second class', quantity: 2, unitMinor: '2500', taxPercent: '7' },
    { name: 'Seat reservation', quantity: 1, unitMinor: '499', taxPercent: '19' },
    { name: 'Discount', quantity: 1, unitMinor: '-500', taxPercent: null },
  ],
}

/** The buyer came back a moment ago. */
const CAME_BACK_AT = '2026-11-20T12:01:28.000Z'

/** One checkout for each state, in its most frequent situation. */
export const BY_STATUS: Readonly<Record<PaymentStatus, CheckoutChanges>> = {
  created: {},
  pending: { payment: { status: 'pending' }, attempts: [anAttempt('open')] },
  processing: { payment: { status: 'processing', ...CONFIRMED }, attempts: [anAttempt('paid')] },
  under_review: {
    payment: { status: 'under_review', statusReason: 'withheld' },
    attempts: [anAttempt('on_hold')],
  },
  settling: { payment: { status: 'settling', payout: 'handed', ...SOLD }, attempts: [anAttempt('paid')] },
  succeeded: { payment: { status: 'succeeded' }, attempts: [anAttempt('paid')] },
  failed: { payment: { status: 'failed' }, attempts: [anAttempt('declined')] },
  expired: { payment: { status: 'expired' } },
  canceled: { payment: { status: 'canceled' } },
  refunded: { payment: { status: 'refunded', payout: 'void' }, attempts: [anAttempt('refunded')] },
}

/** Situations that the states alone do not show. */
export const SITUATIONS = {
  'pinned to the banking app': { payment: { provider: 'wallet_app' } },
  'pinned to UPI': { payment: { provider: 'local_partner' }, country: INDIA },
  'pinned to UPI without rates': { payment: { provider: 'local_partner' }, country: INDIA, rates: null },
  'a pin that is not offered': { payment: { provider: 'wallet_app' }, country: BRAZIL, crypto: true },
  'a pin that is not offered, without a fallback': {
    payment: { provider: 'card_partner', fallback: 'none' },
    country: { code: 'BR', source: 'header' },
  },
  'a pin whose partner is down': { payment: { provider: 'wallet_app' }, down: ['wallet_app'] },
  'a pin whose partner is down, without a fallback': {
    payment: { provider: 'card_partner', fallback: 'none' },
    down: ['card_partner'],
  },
  'the picker while a partner is down': { down: ['card_partner'] },
  'a pin with too small an amount': { payment: { provider: 'wallet_app', amount: { minor: '300', currency: 'EUR' } } },
  'a country unknown': { country: { code: null, source: 'unknown' } },
  'nothing at all': { payment: { amount: { minor: '5000', currency: 'JPY' } }, country: INDIA, rates: null },
  'the picker in India': { payment: { amount: { minor: '500000', currency: 'INR' } }, country: INDIA },
  'another method while one is open': {
    payment: { status: 'pending', provider: 'wallet_app' },
    attempts: [anAttempt('open')],
    asked: { step: 'pick' },
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
  'an address for the rest of the USDC': {
    payment: { status: 'pending', provider: null },
    attempts: [aUsdcAttempt()],
    received: '8300000',
  },
  'a UPI code': {
    payment: { status: 'pending', provider: 'local_partner', amount: { minor: '4999', currency: 'EUR' } },
    attempts: [aUpiAttempt()],
    country: INDIA,
  },
  'being confirmed': { payment: { status: 'processing' }, attempts: [anAttempt('confirming')] },
  'a delayed settlement': {
    payment: { status: 'settling', payout: 'handed', ...SOLD, delayedAt: PAID_AT },
    attempts: [anAttempt('paid')],
  },
  'too little money': {
    payment: { status: 'under_review', statusReason: 'too_little' },
    attempts: [anAttempt('paid', { held: '2500' })],
  },
  'expired with an order open': { payment: { status: 'expired' }, attempts: [anAttempt('open')] },
  'expired, and late money is no longer expected': {
    payment: { status: 'expired', listenEnded: true },
    attempts: [anAttempt('open')],
  },
  'expired, and late money is held': {
    payment: { status: 'expired', listenEnded: true, exception: 'paid_late' },
    attempts: [anAttempt('paid')],
  },
  'paid late and twice': {
    payment: { status: 'succeeded', exception: 'paid_late', chainId: 31337 },
    attempts: [anAttempt('paid'), aCardAttempt('paid')],
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
  'the test bar': {
    payment: { livemode: false, provider: 'wallet_app' },
    down: ['wallet_app'],
    sandbox: { open: true, isDown: true, note: 'The order at the partner is paid: decline is not possible.' },
  },
  'USDC too': { crypto: true },
  'the country to be corrected': {
    payment: { provider: 'wallet_app' },
    asked: { step: 'country', choice: { provider: 'card_partner', method: 'card' } },
  },
  'back from the partner unpaid': {
    payment: { status: 'pending', provider: 'wallet_app' },
    attempts: [anAttempt('canceled')],
  },
  'another method chosen while one is open': {
    payment: { status: 'pending' },
    attempts: [anAttempt('open')],
    asked: { choice: { provider: 'card_partner', method: 'card' } },
  },
  'back from the partner': {
    payment: { status: 'pending', provider: 'wallet_app' },
    attempts: [anAttempt('open')],
    cameBackAt: CAME_BACK_AT,
  },
  'back from the partner for a while': {
    payment: { status: 'pending', provider: 'wallet_app' },
    attempts: [anAttempt('open')],
    cameBackAt: CAME_BACK_AT,
    now: '2026-11-20T12:01:40.000Z',
  },
  'in a frame of the shop': {
    frame: { path: '/c/token-of-the-tests/frame', origins: ['https://shop.example'] },
  },
  'five minutes left': { payment: { provider: 'card_partner' }, now: '2026-11-21T11:55:30.000Z' },
  'a UPI code on Android': {
    payment: { status: 'pending', provider: 'local_partner' },
    attempts: [aUpiAttempt()],
    country: INDIA,
    device: 'android',
  },
  'a UPI code on an iPhone': {
    payment: { status: 'pending', provider: 'local_partner' },
    attempts: [aUpiAttempt()],
    country: INDIA,
    device: 'ios',
  },
  'more than the price': {
    payment: { status: 'succeeded', exception: 'overpaid', confirmed: { minor: '7485', currency: 'EUR' } },
    attempts: [anAttempt('paid', { held: '7485' })],
  },
  'a refund on its way': {
    payment: { status: 'succeeded' },
    attempts: [anAttempt('paid')],
    refunds: [aRefund('done', '1000'), aRefund('coming', '1200')],
  },
  'a part refunded': {
    payment: { status: 'succeeded' },
    attempts: [anAttempt('paid')],
    refunds: [aRefund('done', '1200')],
  },
  'refunded in full': {
    payment: { status: 'succeeded' },
    attempts: [anAttempt('paid')],
    refunds: [aRefund('done', '4999')],
  },
  'a refund that failed': {
    payment: { status: 'succeeded' },
    attempts: [anAttempt('paid')],
    refunds: [aRefund('failed', '1200')],
    shop: { supportEmail: 'hello@veena.example' },
  },
  'paid in rupees': {
    payment: { status: 'succeeded', methodUsed: 'upi', confirmed: { minor: '453676', currency: 'INR' } },
    attempts: [aUpiAttempt({ status: 'paid' })],
    country: INDIA,
  },
  'paid in test mode': { payment: { status: 'succeeded', livemode: false }, attempts: [anAttempt('paid')] },
  'items to be paid': { payment: { provider: 'wallet_app', invoice: INVOICE } },
  'items and tax ids on the receipt': {
    payment: { status: 'succeeded', invoice: INVOICE },
    attempts: [anAttempt('paid')],
    customerTaxId: 'ATU99999999',
  },
  'the receipt goes to the address of the merchant': {
    payment: { provider: 'wallet_app' },
    receiptMail: { to: 'a…@mail.example', isFixed: true },
  },
  'an address that the buyer typed': {
    payment: { status: 'succeeded' },
    attempts: [anAttempt('paid')],
    receiptMail: { to: 'a…@mail.example' },
  },
  'a wrong address for the receipt': { payment: { provider: 'wallet_app' }, receiptMail: { wrong: 'anna@' } },
  'the rest at the partner': {
    payment: { status: 'pending', provider: 'wallet_app' },
    attempts: [anAttempt('open', { held: '2500' })],
  },
  'the rest of a UPI order without a page of the partner': {
    payment: { status: 'pending', provider: 'local_partner' },
    attempts: [aUpiAttempt({ held: '200000', redirectUrl: 'https://pay.example/c/token-of-the-tests' })],
    country: INDIA,
  },
  'the rest of the USDC after the end': {
    payment: { status: 'under_review', statusReason: 'too_little', paidAttemptId: 'att_01hzy3v7t8e4a9v2b6q5r0c1d2' },
    attempts: [aUsdcAttempt({ status: 'paid', held: '8300000' })],
  },
  'a shop with its own color': {
    payment: { provider: 'card_partner' },
    shop: { name: 'Veena Music School', brand: '#b5520a', supportEmail: 'hello@veena.example' },
  },
} as const satisfies Readonly<Record<string, CheckoutChanges>>
