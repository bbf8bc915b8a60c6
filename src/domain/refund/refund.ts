import type { Hex } from '../hex.ts'
import type { MicroUsdc, Money } from '../money.ts'

/**
 * A refund of a settled payment: the merchant pays for it in USDC, and the payment's partner gives the money back. Before
 * the settlement the payment's own money goes back, whole, by a decision on the payment whose author is the merchant.
 */

/**
 * `wallet`: the merchant pays in USDC. `next_payouts`: the USDC is deducted from the merchant's next payouts. `payment`: the
 * payment is not settled, and its own money goes back.
 */
export const FUND_SOURCES = ['wallet', 'next_payouts', 'payment'] as const
export type FundSource = (typeof FUND_SOURCES)[number]

export const REFUND_STATUSES = [
  'awaiting_funds',
  'funded',
  'pending',
  'succeeded',
  'failed',
  'canceled',
  'expired',
] as const
export type RefundStatus = (typeof REFUND_STATUSES)[number]

/** From, to, and why the move exists. A move that is not listed is refused. */
export const REFUND_TRANSITIONS = [
  [
    'awaiting_funds',
    'funded',
    'the required USDC is final at the address of the refund, or payouts that are final lack it',
  ],
  ['awaiting_funds', 'canceled', 'the merchant canceled before the USDC was there'],
  ['awaiting_funds', 'expired', 'the USDC was not there in time'],
  ['awaiting_funds', 'failed', 'no address for the USDC can be made'],
  ['funded', 'pending', 'the partner is asked, under a key that is stored before'],
  ['funded', 'failed', 'the partner no longer has the money, or the merchant has the USDC'],
  ['pending', 'succeeded', 'the partner has given the money back'],
  ['pending', 'failed', 'the partner refused, or the merchant has the USDC'],
] as const satisfies readonly (readonly [RefundStatus, RefundStatus, string])[]

export const canMoveRefund = (from: RefundStatus, to: RefundStatus): boolean =>
  REFUND_TRANSITIONS.some(([source, target]) => source === from && target === to)

const ENDS: readonly RefundStatus[] = ['succeeded', 'failed', 'canceled', 'expired']

/** True if nothing about the refund changes any more, except that USDC goes back to the merchant. */
export const isRefundOver = (status: RefundStatus): boolean => ENDS.includes(status)

/**
 * True if the partner may give back money that was paid out: from the USDC on, as a restored backup may have forgotten
 * that it did.
 */
export const isWithPartner = ({ status, fundFrom }: Pick<Refund, 'status' | 'fundFrom'>): boolean =>
  fundFrom !== 'payment' && (status === 'funded' || status === 'pending')

/** Why a refund has failed. */
export const REFUND_FAILURES = {
  money_gone: 'The partner no longer has the money: it was charged back, or given back otherwise.',
  refused: 'The partner refused the refund.',
  payment_changed: 'The payment was settled, or its money changed, before the money could go back.',
  usdc_returned: 'The USDC had gone back to the merchant before the partner was asked.',
  wallet_not_allowed: 'The USDC could not go back to the wallet of the payment.',
  no_addresses: 'No address can be made: the deployment has no DEPOSIT_SEED.',
} as const
export type RefundFailure = keyof typeof REFUND_FAILURES

/** Why the token would refuse the transfer that the merchant's wallet has signed. */
export const FUNDING_REFUSALS = {
  insufficient_balance: 'The wallet has less USDC than the refund requires.',
  invalid_signature: 'The signature is not the wallet’s, or is not of exactly this transfer.',
  expired: 'The time in which the signature is valid is over.',
  nonce_used: 'The wallet has used or canceled the nonce of the transfer.',
  blocked: 'The issuer of USDC has blocked the wallet.',
  paused: 'The issuer of USDC has stopped all transfers.',
  other: 'The token refuses the transfer for another reason.',
} as const
export type FundingRefusal = keyof typeof FUNDING_REFUSALS

/** The words of FiatTokenV2.2, whose functions `transferWithAuthorization` revert with them. */
const TOKEN_WORDS: readonly (readonly [string, FundingRefusal])[] = [
  ['exceeds balance', 'insufficient_balance'],
  ['invalid signature', 'invalid_signature'],
  ['authorization is expired', 'expired'],
  ['authorization is used or canceled', 'nonce_used'],
  ['account is blacklisted', 'blocked'],
  ['Pausable: paused', 'paused'],
]

export const readFundingRefusal = (reason: string): FundingRefusal =>
  TOKEN_WORDS.find(([words]) => reason.includes(words))?.[1] ?? 'other'

/** Times are ISO 8601 UTC with milliseconds. */
export type Refund = {
  readonly id: string
  readonly paymentId: string
  /** The attempt whose money is the payment's. */
  readonly attemptId: string
  readonly merchantId: string
  readonly livemode: boolean
  /** Counted from 1 for each payment. */
  readonly number: number
  /** In the currency that the buyer was charged in. */
  readonly amount: Money
  readonly reason: string | null
  readonly metadata: Readonly<Record<string, string>> | null
  readonly fundFrom: FundSource
  readonly status: RefundStatus
  readonly statusReason: RefundFailure | null
  /** USDC for one major unit, locked when the refund was created. A refund of the payment's own money requires no USDC. */
  readonly rate: string
  readonly rateSource: string
  readonly requiredMicro: MicroUsdc
  /** All USDC that is final at the address, or that payouts which are final lack. */
  readonly receivedMicro: MicroUsdc
  readonly chainId: number
  readonly token: Hex
  /** The payment's wallet. USDC that the refund does not take goes back to it. */
  readonly wallet: Hex
  readonly place: RefundPlace | null
  /** When the merchant's wallet signed a transfer to the address; null: it has not. */
  readonly signedAt: string | null
  /** Why that transfer cannot be sent now; null: it can, as far as known, or is not signed. */
  readonly fundingRefusal: FundingRefusal | null
  /** The last transfer to the address. */
  readonly fundingTxHash: Hex | null
  readonly returnedTxHash: Hex | null
  /** The key of the request to the partner: the refund's id, or the give-back's key; null: it was not asked. */
  readonly partnerKey: string | null
  /** When the merchant could pay for it, or payouts could be deducted; null: not yet, or the payment's own money goes back. */
  readonly openedAt: string | null
  readonly createdAt: string
  readonly updatedAt: string
  /** Until when the USDC must be final. */
  readonly expiresAt: string
  readonly fundedAt: string | null
  readonly askedAt: string | null
  readonly succeededAt: string | null
  readonly failedAt: string | null
  readonly version: number
}

/** The address for the USDC, with the token's name (EIP-712) and the nonce (EIP-3009) of a wallet's signature. */
export type RefundPlace = { readonly address: Hex; readonly nonce: Hex; readonly tokenName: string }

/** Milliseconds for which the rate is locked: the time that a merchant has to pay for the refund. */
export const REFUND_FUNDING_MS = 60 * 60_000

/** Milliseconds after the expiry for which a transfer that was sent in time can become final. */
export const REFUND_FINALITY_MS = 5 * 60_000

/** A payment has at most as many refunds, however they end: the address of each is watched for weeks. */
export const MAX_REFUNDS = 50

/** Returns the treasury's part of the USDC at the address when the refund is over. Everything else goes back. */
export const treasuryShare = ({ status, requiredMicro }: Pick<Refund, 'status' | 'requiredMicro'>): MicroUsdc =>
  status === 'succeeded' ? requiredMicro : '0'
