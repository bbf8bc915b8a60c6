import type { Currency } from '../currencies.ts'
import type { MethodName, ProviderName, ProviderUsed } from '../methods.ts'
import { formatAmount, formatUsdc, type MicroUsdc, type Money, type Percent } from '../money.ts'
import type { GiveBack } from './funds/account.ts'
import type { PaymentPayout, Sale } from './funds/funds.ts'
import { type Invoice, type InvoiceFields, renderInvoice } from './invoice.ts'
import type { FailureCode } from './partner.ts'
import { type AttemptStatus, type ClosedAs, isClosed, type PaymentException, type PaymentStatus } from './payment.ts'
import { findDueDay, type ReserveTerms } from './reserve.ts'

/** Times are ISO 8601 UTC with milliseconds. The fields of `Derived` are computed again at each change. */
export type Payment = Derived & {
  readonly id: string
  readonly merchantId: string
  readonly livemode: boolean
  readonly held: boolean
  /** How it was closed before money arrived; null: it was not. */
  readonly closedAs: ClosedAs | null
  readonly payout: PaymentPayout
  /** Why the settlement engine has stopped the payout; null: it has not. */
  readonly stoppedFor: string | null
  /** The attempt whose sale the converter has refused, or has not answered for half an hour; null: none. */
  readonly stuck: string | null
  /** The amount as the merchant wrote it. */
  readonly amountText: string
  readonly amount: Money
  readonly provider: ProviderName | null
  readonly fallback: 'picker' | 'none'
  readonly description: string | null
  readonly reference: string | null
  readonly metadata: Readonly<Record<string, string>> | null
  /** Null: the merchant adds nothing to the receipt. */
  readonly invoice: Invoice | null
  readonly successUrl: string | null
  readonly cancelUrl: string | null
  readonly checkoutToken: string
  readonly paymentLink: string | null
  /** Whole percent of the asked amount that can be missing, and by which a fill can differ from the locked rate. */
  readonly tolerancePercent: number
  readonly fillTolerancePercent: number
  /** The fee that was agreed when it was created. */
  readonly feePercent: Percent
  /** The reserve that was agreed when it was created; null: none. */
  readonly reserve: ReserveTerms | null
  readonly reserveReleasedMicro: MicroUsdc
  /** The last release of its reserve; null: none. */
  readonly reserveReleaseId: string | null
  /** The part that the payout lacks because it pays for a refund of another payment of the merchant; null: nothing. */
  readonly deduction: Deduction | null
  readonly destination: string
  readonly chainId: number
  readonly token: string
  readonly quote: Quote
  /** The money that an operator has agreed to settle as it is, with its units; null if there is none. */
  readonly agreed: string | null
  /** The number of the sale whose USDC is paid out. */
  readonly takenSale: number | null
  readonly paidMicro: MicroUsdc | null
  readonly usdc: { readonly gross: MicroUsdc; readonly fee: MicroUsdc; readonly net: MicroUsdc } | null
  readonly transfer: {
    readonly txHash: string
    readonly logIndex: number
    readonly blockNumber: string
    readonly finalizedAt: string
  } | null
  /** Since when the settlement has been taking too long; null: it is not. */
  readonly delayedAt: string | null
  readonly expiryPostponed: boolean
  /** True if the buyer was given more time, which happens once. */
  readonly expiryExtended: boolean
  readonly listenEnded: boolean
  readonly createdAt: string
  readonly updatedAt: string
  readonly expiresAt: string
  readonly succeededAt: string | null
  readonly failedAt: string | null
  readonly canceledAt: string | null
  readonly closedAt: string | null
  /** Minor units of `confirmed` that refunds have taken or can still take, and the number of refunds: the database counts. */
  readonly refundsMinor: string
  readonly refundsCount: number
  readonly version: number
}

/** Micro-USDC that a payout lacks for a refund. `releaseId`: the release that pays them, as the refund has not taken them. */
export type Deduction = { readonly refundId: string; readonly micro: MicroUsdc; readonly releaseId: string | null }

export type LockedRate = { readonly rate: string; readonly source: string; readonly lockedAt: string }

export type Review = {
  readonly reason: string
  /** Null: it concerns the whole payment. */
  readonly attemptId: string | null
  /** For operators, with the amounts. */
  readonly text: string
}

export type Derived = {
  /** The reserve that is held back now, in micro-USDC, without what chargebacks have taken. */
  readonly reservedMicro: MicroUsdc
  readonly status: PaymentStatus
  readonly statusReason: string | null
  readonly exception: PaymentException | null
  readonly paidAttemptId: string | null
  readonly providerUsed: ProviderUsed | null
  readonly methodUsed: MethodName | null
  /** The payment's money, in the currency of its attempt's `asked`. */
  readonly confirmed: Money | null
  readonly rate: LockedRate | null
  readonly paidAt: string | null
  /** Why the payment waits for an operator; empty if it does not wait. */
  readonly reviews: readonly Review[]
  /** Since when the payment has waited for an operator; null: it does not. */
  readonly reviewSince: string | null
  /** When a conversion became the next step; null if it is not the next step. */
  readonly convertingSince: string | null
  /** Minor units of `confirmed` that the partner took back after the payout, and no refund accounts for. */
  readonly lostMinor: string
}

/** A sale with the converter's id of its fill; null: it is not filled. */
export type StoredSale = Sale & { readonly reference: string | null }

/** The indicative rate at creation; USDC for one major unit of the payment's currency. */
export type Quote = {
  readonly rate: string
  readonly rateSource: string
  readonly netMicro: MicroUsdc
  readonly expiresAt: string
}

/** Why an order does not fit its attempt: what differs, or that a refused order has money. */
export const MISFITS = ['order', 'account', 'currency', 'no_amount', 'amount', 'refused', 'token'] as const

export type Misfit = {
  readonly why: (typeof MISFITS)[number]
  /** The partner's status, mapped to the platform's words. */
  readonly status: string
  /** The requested and the received sum, as the partner names them; null: it names none. */
  readonly amount: { readonly minor: string; readonly currency: string }
  readonly received: { readonly minor: string; readonly currency: string } | null
}

/** The buyer's order at a partner, as its partner last reported it, with the decisions about it. */
export type Attempt = {
  readonly id: string
  readonly paymentId: string
  readonly provider: ProviderUsed
  readonly method: MethodName
  readonly status: AttemptStatus
  readonly asked: Money
  /** The USDC requested at an address of the platform, exactly `asked`; null for other providers. */
  readonly askedMicro: MicroUsdc | null
  /** The units of the buyer's money at the partner, or on chain: minor units of `asked`'s currency, or micro-USDC. */
  readonly held: string
  readonly outside: string
  /** The loss that was written off, in the same unit. */
  readonly writtenOff: string
  /** Units of the paid-out money that refunds have given to the buyer, and that funded refunds might have given. */
  readonly refunded: string
  readonly refunding: string
  /** The reading that contradicts the order; null: there is none. */
  readonly misfit: Misfit | null
  /** The operator's answer to the misfit. `accepted`: it can be settled. `dismissed`: there is nothing to do. */
  readonly misfitAnswer: 'none' | 'accepted' | 'dismissed'
  readonly back: GiveBack
  readonly returned: boolean
  /** How often its partner has refused to give the money back: each request has the next key. */
  readonly refusals: number
  /** True if its cancellation at the partner was requested, or is to be. */
  readonly cancelAsked: boolean
  /** True if its partner has been confirming for longer than it is allowed to. */
  readonly silent: boolean
  /** The rate of its money, locked when its first money arrived. */
  readonly rate: LockedRate | null
  /** When its money arrived; null: it has none. */
  readonly paidAt: string | null
  /** When its partner last confirmed that the money is there. Money moves only if it is at most a minute old. */
  readonly confirmedAt: string | null
  readonly partnerReference: string | null
  /** The partner's ids of payments for the order: a dispute might name nothing else. */
  readonly partnerPayments: readonly string[]
  /** The partner's ids of disputes about these payments. The sweep of disputes writes them, and no reading does. */
  readonly partnerDisputes: readonly string[]
  readonly redirectUrl: string | null
  readonly intentUri: string | null
  readonly failureCode: FailureCode | null
  /** Hours for which its partner can be confirming before that counts as silence. */
  readonly silentAfterHours: number
  /** Counts the writes to the attempt: a partner's answer refers to the revision at which it was asked. */
  readonly revision: number
  readonly createdAt: string
  readonly updatedAt: string
}

export type PaymentWithAttempts = {
  readonly payment: Payment
  readonly attempts: readonly Attempt[]
  readonly sales: readonly StoredSale[]
}

export const NO_MONEY_YET: Omit<PaymentWithAttempts, 'payment'> = { attempts: [], sales: [] }

/** Explorers by chain; a local chain has none. */
const EXPLORERS: Readonly<Record<number, string>> = {
  137: 'https://polygonscan.com/tx/',
  80002: 'https://amoy.polygonscan.com/tx/',
}

/** Returns the transfer's page at a public explorer; null before the transfer, and on a chain without an explorer. */
export function explorerUrl({
  chainId,
  transfer,
}: {
  readonly chainId: number
  readonly transfer: Pick<NonNullable<Payment['transfer']>, 'txHash'> | null
}): string | null {
  const explorer = EXPLORERS[chainId]
  return transfer === null || explorer === undefined ? null : `${explorer}${transfer.txHash}`
}

export function checkoutUrl(publicUrl: string, checkoutToken: string): string {
  return `${publicUrl}/c/${checkoutToken}`
}

export function renderPayment(payment: Payment, attempts: readonly Attempt[], publicUrl: string): PaymentObject {
  return {
    id: payment.id,
    object: 'payment',
    livemode: payment.livemode,
    status: payment.status,
    status_reason: payment.statusReason,
    exception: payment.exception,
    // At most 15 digits, so the number prints as it was sent.
    amount: Number(payment.amountText),
    amount_decimal: formatAmount(payment.amount),
    amount_minor: Number(payment.amount.minor),
    currency: payment.amount.currency,
    provider: payment.provider,
    provider_used: payment.providerUsed,
    method_used: payment.methodUsed,
    fallback: payment.fallback,
    description: payment.description,
    reference: payment.reference,
    metadata: payment.metadata ?? {},
    ...renderInvoice(payment.invoice, payment.amount.currency),
    success_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
    checkout_url: checkoutUrl(publicUrl, payment.checkoutToken),
    quote: {
      rate: payment.quote.rate,
      rate_source: payment.quote.rateSource,
      net_usdc_estimate: formatUsdc(payment.quote.netMicro),
      expires_at: payment.quote.expiresAt,
    },
    settlement: renderSettlement(payment),
    attempts: attempts.map(renderAttempt),
    ...renderRefunds(payment, attempts),
    payment_link: payment.paymentLink,
    created_at: payment.createdAt,
    updated_at: payment.updatedAt,
    expires_at: payment.expiresAt,
    paid_at: payment.paidAt,
    succeeded_at: payment.succeededAt,
    failed_at: payment.failedAt,
    canceled_at: payment.canceledAt,
    version: payment.version,
  }
}

/** Returns the USDC that the merchant receives and is charged. Null for a payment whose payout is void. */
export function merchantUsdc({ payout, usdc }: Pick<Payment, 'payout' | 'usdc'>): Payment['usdc'] {
  return payout === 'void' ? null : usdc
}

function renderSettlement(payment: Payment): SettlementObject {
  const { confirmed, rate, transfer } = payment
  const usdc = merchantUsdc(payment)
  return {
    confirmed: confirmed && {
      amount: formatAmount(confirmed),
      amount_minor: Number(confirmed.minor),
      currency: confirmed.currency,
    },
    gross_usdc: usdc === null ? null : formatUsdc(usdc.gross),
    fee_usdc: usdc === null ? null : formatUsdc(usdc.fee),
    fee_percent: payment.feePercent,
    net_usdc: usdc === null ? null : formatUsdc(usdc.net),
    reserve: renderReserve(payment),
    deduction: renderDeduction(payment),
    rate: rate?.rate ?? null,
    rate_from: rate && confirmed && confirmed.currency,
    rate_to: rate && 'USDC',
    rate_source: rate?.source ?? null,
    rate_locked_at: rate?.lockedAt ?? null,
    chain: 'polygon',
    chain_id: payment.chainId,
    token: payment.token,
    destination: payment.destination,
    tx_hash: transfer?.txHash ?? null,
    log_index: transfer?.logIndex ?? null,
    block_number: transfer === null ? null : Number(transfer.blockNumber),
    finalized_at: transfer?.finalizedAt ?? null,
    explorer_url: explorerUrl(payment),
    delayed_since: isClosed(payment.status) ? null : payment.delayedAt,
  }
}

/** Minor units that a new refund can be of. USDC from a buyer is not refunded: who sent it might not own the address. */
export function countRefundable(payment: Payment): string {
  const { payout, confirmed, providerUsed, lostMinor, refundsMinor } = payment
  if (payout !== 'paid' || confirmed === null || providerUsed === 'crypto') return '0'
  const left = BigInt(confirmed.minor) - BigInt(lostMinor) - BigInt(refundsMinor)
  return left > 0n ? left.toString() : '0'
}

/** Returns the minor units that the buyer has got back, in the currency of the confirmed amount. */
export function countRefunded({ status, confirmed }: Payment, attempts: readonly Attempt[]): string {
  if (status === 'refunded') return confirmed?.minor ?? '0'
  return attempts.reduce((sum, { refunded }) => sum + BigInt(refunded), 0n).toString()
}

function renderRefunds(payment: Payment, attempts: readonly Attempt[]) {
  const { currency } = payment.confirmed ?? payment.amount
  return {
    refunded_amount: formatAmount({ minor: countRefunded(payment, attempts), currency }),
    refundable_amount: formatAmount({ minor: countRefundable(payment), currency }),
    refunds_count: payment.refundsCount,
  }
}

function renderReserve(payment: Payment): SettlementObject['reserve'] {
  const { reserve, reservedMicro, reserveReleasedMicro, reserveReleaseId, transfer } = payment
  if (reserve === null) return null
  return {
    percent: reserve.percent,
    days: reserve.days,
    held_usdc: formatUsdc(reservedMicro),
    due_on: transfer === null ? null : findDueDay(transfer.finalizedAt, reserve),
    released_usdc: formatUsdc(reserveReleasedMicro),
    release: reserveReleaseId,
  }
}

function renderDeduction({ deduction }: Payment): SettlementObject['deduction'] {
  if (deduction === null) return null
  return { usdc: formatUsdc(deduction.micro), refund: deduction.refundId, release: deduction.releaseId }
}

export function renderChargeback(change: { readonly attempt: Attempt; readonly units: bigint; readonly lost: bigint }) {
  const { attempt, units, lost } = change
  const isUsdc = attempt.provider === 'crypto'
  const text = (amount: bigint): string => {
    const minor = (amount < 0n ? -amount : amount).toString()
    return isUsdc ? formatUsdc(minor) : formatAmount({ minor, currency: attempt.asked.currency })
  }
  return {
    attempt: attempt.id,
    amount: text(units),
    lost: text(lost),
    currency: isUsdc ? 'USDC' : attempt.asked.currency,
  }
}

function renderAttempt(attempt: Attempt): AttemptObject {
  return {
    id: attempt.id,
    provider: attempt.provider,
    status: attempt.status,
    partner_reference: attempt.partnerReference,
    failure_code: attempt.failureCode,
    created_at: attempt.createdAt,
  }
}

export type AttemptObject = {
  id: string
  provider: ProviderUsed
  status: AttemptStatus
  partner_reference: string | null
  failure_code: FailureCode | null
  created_at: string
}

export type SettlementObject = {
  /** The buyer's money as the partner confirmed it, in the currency that the partner charged. */
  confirmed: { amount: string; amount_minor: number; currency: Currency } | null
  gross_usdc: string | null
  fee_usdc: string | null
  fee_percent: string
  net_usdc: string | null
  /** Null: nothing is held back. */
  reserve: {
    percent: string
    days: number
    held_usdc: string
    due_on: string | null
    released_usdc: string
    release: string | null
  } | null
  /** Null: nothing is deducted for a refund of another payment. */
  deduction: { usdc: string; refund: string; release: string | null } | null
  rate: string | null
  rate_from: Currency | null
  rate_to: 'USDC' | null
  rate_source: string | null
  rate_locked_at: string | null
  chain: 'polygon'
  chain_id: number
  token: string
  destination: string
  tx_hash: string | null
  log_index: number | null
  block_number: number | null
  finalized_at: string | null
  explorer_url: string | null
  /** Since when the settlement has been taking too long; null: it is not. */
  delayed_since: string | null
}

export type PaymentObject = InvoiceFields & {
  id: string
  object: 'payment'
  livemode: boolean
  status: PaymentStatus
  status_reason: string | null
  exception: PaymentException | null
  amount: number
  amount_decimal: string
  amount_minor: number
  currency: Currency
  provider: ProviderName | null
  provider_used: ProviderUsed | null
  method_used: MethodName | null
  fallback: 'picker' | 'none'
  description: string | null
  reference: string | null
  metadata: Readonly<Record<string, string>>
  success_url: string | null
  cancel_url: string | null
  checkout_url: string
  quote: { rate: string; rate_source: string; net_usdc_estimate: string; expires_at: string }
  settlement: SettlementObject
  attempts: AttemptObject[]
  /** In the currency of `settlement.confirmed`. */
  refunded_amount: string
  refundable_amount: string
  refunds_count: number
  payment_link: string | null
  created_at: string
  updated_at: string
  expires_at: string
  paid_at: string | null
  succeeded_at: string | null
  failed_at: string | null
  canceled_at: string | null
  version: number
}
