import type { MethodName, ProviderUsed } from '../methods.ts'
import type { FailureCode } from './partner.ts'
import type { AttemptStatus, ParkReason, PaymentException } from './payment.ts'

/** What a change writes to a payment beside its status. Absent means unchanged. */
export type PaymentFields = {
  statusReason?: string | null
  exception?: PaymentException | null
  parkReason?: ParkReason | null
  held?: boolean
  expiryPostponed?: boolean
  expiryExtended?: boolean
  listenEnded?: boolean
  providerUsed?: ProviderUsed | null
  methodUsed?: MethodName | null
  paidAttemptId?: string | null
  chargeCurrency?: string | null
  /** Minor units of the charge currency. */
  confirmedMinor?: string | null
  rate?: string | null
  rateSource?: string | null
  rateLockedAt?: string | null
  agreed?: boolean
  takenSale?: number
  grossMicro?: string
  feeMicro?: string
  netMicro?: string
  txHash?: string
  logIndex?: number
  blockNumber?: string
  finalizedAt?: string
  /** Micro-USDC. */
  paidMicro?: string
  expiresAt?: string
  paidAt?: string | null
}

/** What is said of the payment's own money. Once that has gone, it is said no more. */
const OF_ITS_MONEY: readonly (PaymentException | null)[] = ['underpaid', 'overpaid', 'paid_late', 'settlement_delayed']

export const exceptionWithoutMoney = (exception: PaymentException | null): PaymentException | null =>
  OF_ITS_MONEY.includes(exception) ? null : exception

/** Once the payment is over its settlement is not delayed any more. */
export const exceptionAtEnd = (exception: PaymentException | null): PaymentException | null =>
  exception === 'settlement_delayed' ? null : exception

/** What a change writes to an attempt. Absent means unchanged. */
export type AttemptFields = {
  status?: AttemptStatus
  partnerReference?: string
  redirectUrl?: string | null
  intentUri?: string | null
  failureCode?: FailureCode | null
  acknowledgedMinor?: string
  returnedByHand?: true
}

/** The payment waits for an operator, for this reason. */
export const parked = (reason: ParkReason): PaymentFields => ({ statusReason: reason, parkReason: reason })

/** The payment goes on. */
export const NOT_PARKED: PaymentFields = { statusReason: null, parkReason: null }
