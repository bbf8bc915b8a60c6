import type { ProviderUsed } from '../../src/domain/methods.ts'
import { type OfferQuery, offersFor, type RateTable } from '../../src/domain/offers.ts'
import { createAttempt, type NewAttempt } from '../../src/domain/payment/new-attempt.ts'
import { createdPayment } from '../../src/domain/payment/new-payment.ts'
import type { AttemptStatus } from '../../src/domain/payment/payment.ts'
import type { Attempt, Payment, StoredSale } from '../../src/domain/payment/payment-object.ts'
import type { Checkout, PartnerNames } from '../../src/web/checkout/checkout.ts'
import { createTestOffering } from '../support/offering.ts'
import { PLAIN_PLATFORM } from '../support/platforms.ts'

/** Payments as the pages read them, without a database. */

export const RATES: RateTable = { USD: '1', EUR: '1.08', INR: '0.0119' }

export const PARTNERS: PartnerNames = {
  wallet_app: { name: 'Velanto', statement: 'VELANTO' },
  card_partner: { name: 'Cardora', statement: 'CARDORA' },
  local_partner: { name: 'Indora', statement: 'INDORA' },
  crypto: { name: 'Polygon', statement: 'USDC' },
}

/** Half a minute after the order of the attempts below was opened. */
const NOW = '2026-11-20T12:01:30.000Z'
export const PAID_AT = '2026-11-20T12:03:00.000Z'
export const TX_HASH = `0x${'5e'.repeat(32)}`

export function aPayment(changes: Partial<Payment> = {}): Payment {
  const created = createdPayment(
    {
      id: 'pay_01hzy3v7t8e4a9v2b6q5r0c1d2',
      amountText: '49.99',
      amount: { minor: '4999', currency: 'EUR' },
      provider: null,
      fallback: 'picker',
      description: 'Two tickets for the night train to Vienna',
      reference: 'ORDER-1042',
      metadata: null,
      invoice: null,
      successUrl: 'https://shop.example/thanks',
      cancelUrl: 'https://shop.example/cart',
      checkoutToken: 'token-of-the-tests',
      paymentLink: null,
      tolerancePercent: 1,
      fillTolerancePercent: 2,
      feePercent: '4.5',
      reserve: null,
      destination: `0x${'70'.repeat(20)}`,
      chainId: 137,
      token: `0x${'3c'.repeat(20)}`,
      quote: { rate: '1.08', rateSource: 'test', netMicro: '51559686', expiresAt: '2026-11-20T12:15:00.000Z' },
      createdAt: '2026-11-20T12:00:00.000Z',
      expiresAt: '2026-11-21T12:00:00.000Z',
    },
    { merchantId: 'mer_01hzy3v7t8e4a9v2b6q5r0c1d2', livemode: true },
  )
  return { ...created, ...changes }
}

/** The fields of a payment whose money was sold. */
export const SOLD = {
  paidAttemptId: 'att_01hzy3v7t8e4a9v2b6q5r0c1d2',
  paidAt: PAID_AT,
  confirmed: { minor: '4999', currency: 'EUR' },
  takenSale: 1,
  usdc: { gross: '53989200', fee: '2429514', net: '51559686' },
} as const satisfies Partial<Payment>

/** A payment whose USDC is final on chain. */
export function aSucceededPayment(changes: Partial<Payment> = {}): Payment {
  return aPayment({
    status: 'succeeded',
    provider: 'wallet_app',
    providerUsed: 'wallet_app',
    methodUsed: 'banking_app',
    ...SOLD,
    payout: 'paid',
    paidMicro: SOLD.usdc.net,
    transfer: { txHash: TX_HASH, logIndex: 3, blockNumber: '70000001', finalizedAt: '2026-11-20T12:04:00.000Z' },
    succeededAt: '2026-11-20T12:04:00.000Z',
    ...changes,
  })
}

export function anAttempt(status: AttemptStatus, changes: Partial<Attempt> = {}): Attempt {
  const attempt: NewAttempt = {
    id: 'att_01hzy3v7t8e4a9v2b6q5r0c1d2',
    provider: 'wallet_app',
    method: 'banking_app',
    asked: { minor: '4999', currency: 'EUR' },
    ...changes,
  }
  return {
    ...createAttempt('pay_01hzy3v7t8e4a9v2b6q5r0c1d2', attempt, '2026-11-20T12:01:00.000Z'),
    status,
    held: (changes.status ?? status) === 'paid' ? attempt.asked.minor : '0',
    returned: status === 'refunded',
    partnerReference: 'partner-1',
    redirectUrl: 'https://partner.example/pay/1',
    ...changes,
  }
}

/** The sale whose USDC the payment pays out, of all of its money. */
function createSales({ takenSale, paidAttemptId, confirmed, usdc }: Payment): StoredSale[] {
  if (takenSale === null || paidAttemptId === null || confirmed === null || usdc === null) return []
  const [units, gross] = [BigInt(confirmed.minor), BigInt(usdc.gross)]
  return [
    { number: takenSale, accountId: paidAttemptId, units, gross, fill: gross, state: 'filled', reference: 'fill_1' },
  ]
}

export const UPI_INTENT = 'upi://pay?pa=pinrail@bank&pn=Pinrail&am=4536.76&cu=INR&tr=att_01hzy3v7t8e4a9v2b6q5r0c1d2'

export function aUpiAttempt(changes: Partial<Attempt> = {}): Attempt {
  const asked = { minor: '453676', currency: 'INR' } as const
  return anAttempt('open', { provider: 'local_partner', method: 'upi', asked, intentUri: UPI_INTENT, ...changes })
}

const USDC_LINK =
  'ethereum:0x3c499c542cef5e3811e1192ce70d8cc03d5c3359@137/transfer?address=0x00000000000000000000000000000000000000a1&uint256=58300000'

export function aUsdcAttempt(changes: Partial<Attempt> = {}): Attempt {
  const intentUri = USDC_LINK
  const redirectUrl = 'https://pay.example/c/token-of-the-tests'
  const asked = { provider: 'crypto', method: 'usdc', askedMicro: '58300000', intentUri, redirectUrl } as const
  return anAttempt('open', { ...asked, ...changes })
}

export type CheckoutChanges = {
  readonly platform?: Checkout['platform']
  readonly payment?: Partial<Payment>
  readonly attempts?: readonly Attempt[]
  /** The refunds of the partners, in minor units, by attempt. */
  readonly givenBack?: Readonly<Record<string, bigint>>
  readonly refunds?: Checkout['refunds']
  readonly customerTaxId?: string
  readonly receiptMail?: Partial<Checkout['receiptMail']>
  readonly received?: Checkout['received']
  readonly country?: Checkout['country']
  readonly asked?: Partial<Checkout['asked']>
  readonly rates?: OfferQuery['rates']
  readonly shop?: Partial<Checkout['shop']>
  readonly device?: Checkout['device']
  readonly cameBackAt?: string
  readonly now?: string
  readonly crypto?: boolean
  readonly frame?: Checkout['frame']
  readonly sandbox?: Partial<Checkout['sandbox']>
  readonly down?: readonly ProviderUsed[]
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
    sales: createSales(payment),
    givenBack: new Map(Object.entries(changes.givenBack ?? {})),
    refunds: changes.refunds ?? [],
    customerTaxId: changes.customerTaxId ?? null,
    receiptMail: { to: null, isFixed: false, wrong: null, ...changes.receiptMail },
    received: changes.received ?? null,
    shop: { name: 'Nightline Rail', brand: null, supportEmail: null, logo: null, ...changes.shop },
    platform: changes.platform ?? PLAIN_PLATFORM,
    partners: PARTNERS,
    isAddressOld: false,
    offered: offersFor({
      amount,
      provider,
      fallback,
      country: country.code,
      rates,
      deviceWallet: null,
      offering: createTestOffering({}, { crypto: changes.crypto ?? false }),
      down: Object.fromEntries((changes.down ?? []).map((provider) => [provider, '2026-11-20T12:00:30.000Z'])),
    }),
    country,
    device: changes.device ?? 'desktop',
    sandbox:
      payment.livemode || changes.frame
        ? null
        : { open: false, note: null, device: null, isDown: false, walletUrl: null, ...changes.sandbox },
    asked: { step: null, choice: null, ...changes.asked },
    frame: changes.frame ?? null,
    cameBackAt: changes.cameBackAt ?? null,
    now: changes.now ?? NOW,
    url: 'https://pay.example/c/token-of-the-tests',
    path: '/c/token-of-the-tests',
  }
}
