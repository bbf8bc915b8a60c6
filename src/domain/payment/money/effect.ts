import type { Money } from '../../money.ts'
import type { MoveReason } from '../../timeline.ts'
import type { FailureCode, PartnerOrder } from '../partner.ts'
import type { AttemptStatus, ParkReason, PaymentException, PaymentStatus } from '../payment.ts'
import type { IncidentKind, Intent } from './intents.ts'
import type { Part } from './parts.ts'

/** What a partner's order leads to, and what must be known to say so. */

export type KnownPayment = {
  readonly status: PaymentStatus
  readonly parkReason: ParkReason | null
  readonly exception: PaymentException | null
  readonly paidAttemptId: string | null
  readonly converted: boolean
  /** What was counted when its money was taken; null: it has none. */
  readonly confirmed: Money | null
  readonly pinned: boolean
  readonly fallback: 'picker' | 'none'
  /** Late money is no longer expected. */
  readonly listenEnded: boolean
  /** Since when it was closed so, whatever has come since; null: it never was. */
  readonly canceledAt: string | null
  readonly failedAt: string | null
  readonly attempts: readonly { readonly id: string; readonly status: AttemptStatus }[]
  readonly parts: readonly Part[]
  readonly intents: readonly Intent[]
}

export type KnownAttempt = {
  readonly id: string
  readonly status: AttemptStatus
  readonly asked: Money
  /** Minor units of the changed amount that an operator has acknowledged. */
  readonly acknowledgedMinor: string | null
  /** Money of it that no book had was given back from elsewhere, and nobody has said how much. */
  readonly returnedByHand: boolean
}

export type NewsContext = { readonly account: string; readonly tolerancePercent: number }

/** Everything that a rule about an order may ask. */
export type Story = {
  readonly payment: KnownPayment
  readonly attempt: KnownAttempt
  readonly order: PartnerOrder
  readonly context: NewsContext
}

export type OrderEffect = {
  readonly attempt: AttemptStatus
  readonly failureCode: FailureCode | null
  /** The moves along the transition table, in order. */
  readonly moves: readonly { readonly to: PaymentStatus; readonly why: MoveReason }[]
  /** Null clears it; undefined leaves it. */
  readonly exception: PaymentException | null | undefined
  readonly park: ParkReason | null
  /** New facts about money, in order. */
  readonly parts: readonly Part[]
  /** What the parts of the attempt that were still here become. Null: they stay as they are. */
  readonly partsBecome: 'returned' | 'reversed' | null
  /** `take`: what is counted of the attempt becomes the payment's money. `give_back`: the payment has none any more. */
  readonly money: 'none' | 'take' | 'give_back'
  /** Attempts whose parts of the price are a second payment now: this order's money is the payment's. */
  readonly besides: readonly string[]
  /** The payout must not be paid: it is asked to be voided. */
  readonly voidsPayout: boolean
  readonly incident: IncidentKind | null
}

export function nothing(attempt: AttemptStatus): OrderEffect {
  return {
    attempt,
    failureCode: null,
    moves: [],
    exception: undefined,
    park: null,
    parts: [],
    partsBecome: null,
    money: 'none',
    besides: [],
    voidsPayout: false,
    incident: null,
  }
}

/** Money that was known is not there any more. An answer that may be older than what is known must not say so. */
export function takesAway(effect: OrderEffect): boolean {
  return effect.parts.some(({ kind }) => kind !== 'receipt')
}
