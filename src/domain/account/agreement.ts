import { atMost, type MicroUsdc, type Percent } from '../money.ts'
import type { ReserveTerms } from '../payment/reserve.ts'

/** The agreement of the operator with a merchant. */

export const MERCHANT_STATUSES = ['pending', 'approved', 'rejected', 'suspended'] as const
/**
 * Only an `approved` merchant takes payments. `pending` and `rejected`: it can set up everything else. `suspended`: its
 * links are closed, and its open payments without money are canceled.
 */
export type MerchantStatus = (typeof MERCHANT_STATUSES)[number]

export type OperatorAct = 'approve' | 'reject' | 'suspend' | 'resume'

const FROM: Readonly<Record<OperatorAct, readonly MerchantStatus[]>> = {
  approve: ['pending', 'rejected'],
  reject: ['pending'],
  // A suspended merchant can be suspended otherwise, for example with its payouts held back.
  suspend: ['approved', 'suspended'],
  resume: ['suspended'],
}
const TO: Readonly<Record<OperatorAct, MerchantStatus>> = {
  approve: 'approved',
  reject: 'rejected',
  suspend: 'suspended',
  resume: 'approved',
}

/** Returns the status after the act; null: the act does not fit the status. */
export const decideStatus = (status: MerchantStatus, act: OperatorAct): MerchantStatus | null =>
  FROM[act].includes(status) ? TO[act] : null

/** A new account waits for the operator where money is real. */
export const firstStatus = (livemode: boolean): MerchantStatus => (livemode ? 'pending' : 'approved')

/** An approved merchant can describe itself otherwise, and stays approved. */
export const canApply = (status: MerchantStatus): boolean => status !== 'suspended'

export const isWaiting = (status: MerchantStatus): boolean => status === 'pending' || status === 'rejected'

export type Agreement = {
  readonly status: MerchantStatus
  /** The operator's message to the merchant about it; null: there is none. */
  readonly statusMessage: string | null
  readonly statusSince: string
  /** True while the payouts of a suspended merchant wait for the operator. */
  readonly holdsPayouts: boolean
  /** The merchant's description of itself; null: it has not applied. */
  readonly application: Application | null
  readonly feePercent: Percent
  /** The reserve of new payments; 0 %: none. */
  readonly reserve: ReserveTerms
  readonly limits: MerchantLimits
}

/** Null: no limit. Amounts are those of payments at the rate of their creation, before the fee. */
export type MerchantLimits = {
  readonly paymentMicro: MicroUsdc | null
  /** For the payments that are created in a day of UTC, without those that end unpaid. */
  readonly dayMicro: MicroUsdc | null
  /** Payments that are `created` or `pending` at once. */
  readonly openPayments: number
}

/** Links leave half of a day to the merchant's own server. Null: no limit. */
export function getLinkLimit({ paymentMicro, dayMicro }: MerchantLimits): MicroUsdc | null {
  const half = dayMicro === null ? null : (BigInt(dayMicro) / 2n).toString()
  if (half === null || paymentMicro === null) return paymentMicro ?? half
  return atMost(half, paymentMicro)
}

/** How much of the limits is used now. */
export type UsedLimits = { readonly dayMicro: MicroUsdc; readonly openPayments: number }

export type Application = { readonly webAddress: string; readonly sells: string; readonly at: string }

/** The agreement of a merchant with which nothing else is agreed: the configuration of the deployment. */
export type StandardAgreement = Pick<Agreement, 'feePercent' | 'reserve' | 'limits'>

export const MOST_FEE_PERCENT = 50
export const MOST_RESERVE_PERCENT = 50
export const MOST_RESERVE_DAYS = 365

/** The people who can create an account. `invited`: those whose address the operator has invited, one account each. */
export const SIGN_UPS = ['open', 'invited', 'closed'] as const
export type SignUp = (typeof SIGN_UPS)[number]

/** Milliseconds for which an invitation of the operator can be used. */
export const MERCHANT_INVITED_MS = 14 * 86_400_000
