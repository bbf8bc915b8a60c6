import type { ProviderUsed } from '../../src/domain/methods.ts'
import { type OfferQuery, offersFor, type RateTable } from '../../src/domain/offers.ts'
import type { Part, PartState } from '../../src/domain/payment/money/parts.ts'
import type { AttemptStatus } from '../../src/domain/payment/payment.ts'
import type { Attempt, Payment } from '../../src/domain/payment/payment-object.ts'
import type { Checkout, PartnerNames } from '../../src/web/checkout/checkout.ts'

/** Payments as the pages get them, without a database. */

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
    paymentLink: null,
    destination: `0x${'70'.repeat(20)}`,
    chainId: 137,
    token: `0x${'3c'.repeat(20)}`,
    quote: { rate: '1.08', rateSource: 'test', netMicro: '51559686', expiresAt: '2026-11-20T12:15:00.000Z' },
    paidAttemptId: null,
    confirmed: null,
    agreed: false,
    takenSale: null,
    paidMicro: null,
    rate: null,
    usdc: null,
    transfer: null,
    expiryPostponed: false,
    expiryExtended: false,
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
    paidAttemptId: 'att_01hzy3v7t8e4a9v2b6q5r0c1d2',
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
    acknowledgedMinor: null,
    returnedByHand: false,
    silentAfterHours: 24,
    failureCode: null,
    createdAt: '2026-11-20T12:01:00.000Z',
    updatedAt: '2026-11-20T12:01:00.000Z',
    ...changes,
  }
}

/** A receipt of an attempt in euros. */
export function aPart(attemptId: string, minor: string, state: PartState): Part {
  const amount = { units: minor, chargeMinor: minor, asset: 'EUR' }
  return { key: `${attemptId}:0:${minor}`, attemptId, kind: 'receipt', state, ...amount }
}

/** A transfer of USDC that is worth so much of the price of an attempt. */
export function aUsdcPart(
  attemptId: string,
  micro: string,
  { minor, state }: { minor: string; state: PartState },
): Part {
  return { ...aPart(attemptId, minor, state), asset: 'USDC', units: micro }
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
  return anAttempt('open', { provider: 'crypto', method: 'usdc', intentUri, redirectUrl, ...changes })
}

export type CheckoutChanges = {
  readonly payment?: Partial<Payment>
  readonly attempts?: readonly Attempt[]
  readonly parts?: Checkout['parts']
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
  /** Partners that are down. */
  readonly down?: readonly ProviderUsed[]
}

/** The money of a payment that was paid is there, unless its parts say otherwise. */
function withOwnMoney({ paidAttemptId, confirmed }: Payment, parts: Checkout['parts']): Checkout['parts'] {
  const isNamed = parts.some(({ attemptId }) => attemptId === paidAttemptId)
  if (paidAttemptId === null || confirmed === null || isNamed) return parts
  return [{ ...aPart(paidAttemptId, confirmed.minor, 'counted'), asset: confirmed.currency }, ...parts]
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
    parts: withOwnMoney(payment, changes.parts ?? []),
    received: changes.received ?? null,
    intents: [],
    shop: { name: 'Nightline Rail', brand: null, supportEmail: null, logo: null, ...changes.shop },
    partners: PARTNERS,
    offered: offersFor({
      amount,
      provider,
      fallback,
      country: country.code,
      rates,
      deviceWallet: null,
      crypto: changes.crypto ?? false,
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
