import { PROVIDERS } from '../methods.ts'
import { formatUsdc } from '../money.ts'
import { changedOrder, type IncidentKind } from './money/intents.ts'
import { attemptsWith, chargeSum } from './money/parts.ts'
import {
  type AttemptView,
  type ClosedStatus,
  isClosed,
  mayStillBePaid,
  PARK_REASONS,
  type ParkReason,
  type PaymentException,
  type PaymentStatus,
  waitsForPartner,
} from './payment.ts'
import type { Attempt, Payment, PaymentWithAttempts } from './payment-object.ts'
import type { OperatorDecision } from './requests.ts'

/** What the workflow knows of its payment: the row, as small as the story needs it. Every activity answers with one. */
export type PaymentSnapshot = {
  readonly id: string
  /** Grows with every change: of two snapshots the higher one is the newer truth. */
  readonly version: number
  readonly status: PaymentStatus
  readonly exception: PaymentException | null
  readonly parkReason: ParkReason | null
  readonly held: boolean
  /** The USDC amounts are fixed and booked. */
  readonly converted: boolean
  readonly attempts: readonly AttemptView[]
  /** The attempt whose money is settled. */
  readonly paidAttemptId: string | null
  /** Unix milliseconds. */
  readonly expiresAt: number
  /** Unix milliseconds until which the payment waits for money of an unfinished attempt; null if no money can arrive. */
  readonly listenUntil: number | null
  /** When the fiat money arrived, and the number of minutes after which the settlement counts as delayed. */
  readonly paidAt: number | null
  readonly delayedAfterMinutes: number
  /** Transfer proved on chain. */
  readonly txHash: string | null
  readonly netUsdc: string | null
  /** Attempts with money of a second payment, for which an operator must decide. */
  readonly surplus: readonly string[]
  /** Attempts with money that arrived after the payment had stopped listening. */
  readonly late: readonly string[]
  /** Attempts whose refund is being carried out. */
  readonly refunding: readonly string[]
  readonly incidents: readonly IncidentKind[]
  /** True if the partner has changed the amount of the paid order, and no operator has acknowledged the change. */
  readonly orderChanged: boolean
  /** True if a part of the price has arrived that is not the payment's money yet. */
  readonly partPaid: boolean
  /** Unix milliseconds from which a partner that is still confirming counts as silent; null if no partner is confirming. */
  readonly silentAt: number | null
  /** True if the converter may have the payment's order, and its answer is not on record. */
  readonly conversionOpen: boolean
}

export type NextStep =
  | 'await_buyer'
  | 'await_partner'
  | 'convert'
  | 'transfer'
  | 'await_operator'
  | 'end_conversion'
  | 'listen'
  | 'done'

/** The only rule for what a payment does next, for a new payment and for one that was found again after a disaster. */
export function nextStep(payment: PaymentSnapshot): NextStep {
  switch (payment.status) {
    case 'created':
    case 'pending':
      return 'await_buyer'
    case 'processing':
      if (payment.converted) return 'transfer'
      return payment.paidAttemptId === null ? 'await_partner' : 'convert'
    case 'settling':
      return 'transfer'
    case 'under_review':
      return 'await_operator'
    case 'succeeded':
    case 'failed':
    case 'expired':
    case 'canceled':
    case 'refunded':
      if (isConversionLeft(payment)) return 'end_conversion'
      if (needsOperator(payment) !== null || payment.refunding.length > 0) return 'await_operator'
      return payment.listenUntil === null ? 'done' : 'listen'
  }
}

/**
 * True if the converter may fill an order that the closed payment is not going to take, so that the order must be ended.
 * A payment that listens may still need its order, within days. A payment that waits for an operator may wait forever,
 * and what the converter has sold would stay unknown.
 */
function isConversionLeft(payment: PaymentSnapshot): boolean {
  const mayNeedOrder = payment.status !== 'refunded' && payment.listenUntil !== null && needsOperator(payment) === null
  return payment.conversionOpen && !mayNeedOrder
}

/** A payment that was just created: what a first run knows without reading the row. */
export function newPaymentSnapshot(id: string, expiresAt: number): PaymentSnapshot {
  return {
    id,
    version: 1,
    status: 'created',
    exception: null,
    parkReason: null,
    held: false,
    converted: false,
    attempts: [],
    paidAttemptId: null,
    expiresAt,
    listenUntil: null,
    paidAt: null,
    delayedAfterMinutes: 0,
    txHash: null,
    netUsdc: null,
    surplus: [],
    late: [],
    refunding: [],
    incidents: [],
    orderChanged: false,
    partPaid: false,
    silentAt: null,
    conversionOpen: false,
  }
}

/** True if money of a second payment waits for an operator. */
function hasSurplus({ attempts, surplus }: PaymentSnapshot): boolean {
  return attempts.some((attempt) => attempt.status === 'surplus') || surplus.length > 0
}

/** The reason for which the payment is in the list of those that wait for a person; null if it does not wait. */
export function needsOperator(payment: PaymentSnapshot): ParkReason | null {
  if (payment.status === 'under_review') return payment.parkReason ?? 'operator_hold'
  if (hasSurplus(payment)) return 'surplus'
  return payment.incidents[0] ?? null
}

/**
 * What ends the waiting: the decisions that the reason offers, but for those that are refused whatever is there; one more
 * where the partner has changed the order, and one where a hold keeps it from going on, by a decision or by the partner's word.
 */
export function offeredDecisions(payment: PaymentSnapshot): readonly OperatorDecision[] {
  const reason = needsOperator(payment)
  const mayOffer: readonly OperatorDecision[] = reason === null ? [] : PARK_REASONS[reason].decisions
  const offered = mayOffer.filter((decision) => !isVain(decision, payment, reason))
  const goesOn = waitsForPartner(reason) || offered.some((decision) => decision === 'approve' || decision === 'retry')
  const isHeldToo = payment.held && payment.status === 'under_review' && payment.txHash === null && goesOn
  return [
    ...offered,
    ...(payment.orderChanged ? (['acknowledge'] as const) : []),
    ...(isHeldToo ? (['release'] as const) : []),
  ]
}

/** True if the decision is refused whatever the partner reports: confirmed money is given back, and unconfirmed money cannot be. */
function isVain(decision: string, payment: PaymentSnapshot, reason: ParkReason | null): boolean {
  const isBeside = hasSurplus(payment) || lateAttempts(payment).length > 0
  if (decision === 'reject') return hasMoney(payment) || isBeside || payment.refunding.length > 0
  if (payment.status !== 'under_review' || hasMoney(payment) || isBeside) return false
  return reason === 'amount_mismatch' ? decision === 'approve' : reason === 'partner_hold'
}

const hasMoney = ({ paidAttemptId, partPaid }: PaymentSnapshot): boolean => paidAttemptId !== null || partPaid

const ENDED: Readonly<Record<ClosedStatus, string>> = {
  succeeded: 'has already succeeded',
  failed: 'has already failed',
  expired: 'has already expired',
  canceled: 'is already canceled',
  refunded: 'has already been refunded',
}

/** The merchant may cancel only before any money is received or being confirmed. */
export function whyNotCancelable(payment: Pick<PaymentSnapshot, 'status' | 'partPaid'>): string | null {
  if (payment.partPaid) return 'a part of the price has arrived'
  if (payment.status === 'created' || payment.status === 'pending') return null
  if (isClosed(payment.status)) return `the payment ${ENDED[payment.status]}`
  return 'the buyer’s money has been received or is being confirmed'
}

/** Attempts whose partner orders must be canceled and read before the payment is closed or another is opened. */
export function unfinishedAttempts(payment: PaymentSnapshot): AttemptView[] {
  return payment.attempts.filter((attempt) => mayStillBePaid(attempt.status))
}

/** Attempts whose orders are to be read again until their end: they may bring money, or give it back. */
export function watchedAttempts(payment: PaymentSnapshot): string[] {
  return [...unfinishedAttempts(payment).map(({ id }) => id), ...payment.refunding]
}

/** Attempts whose money arrived after the payment had stopped listening: each has its own workflow. */
export function lateAttempts({ attempts, late }: PaymentSnapshot): string[] {
  const byStatus = attempts.filter(({ status }) => status === 'late').map(({ id }) => id)
  return [...new Set([...byStatus, ...late])]
}

/** The row as the workflow sees it. */
export function snapshotOf(state: PaymentWithAttempts): PaymentSnapshot {
  const { payment, attempts } = state
  const paid = attempts.find((attempt) => attempt.id === payment.paidAttemptId)
  return {
    id: payment.id,
    version: payment.version,
    status: payment.status,
    exception: payment.exception,
    parkReason: payment.parkReason,
    held: payment.held,
    converted: payment.usdc !== null,
    attempts: attempts.map(({ id, provider, method, status }) => ({ id, provider, method, status })),
    paidAttemptId: payment.paidAttemptId,
    expiresAt: unixMs(payment.expiresAt),
    listenUntil: listenUntil(payment, attempts),
    paidAt: payment.paidAt === null ? null : unixMs(payment.paidAt),
    delayedAfterMinutes: PROVIDERS[paid?.provider ?? 'card_partner'].delayedAfterMinutes,
    txHash: payment.transfer?.txHash ?? null,
    netUsdc: payment.usdc === null ? null : formatUsdc(payment.usdc.net),
    ...moneyOf(state),
    silentAt: silentAt(payment, attempts),
    conversionOpen: state.sales.some(({ state }) => state === 'asked'),
  }
}

function moneyOf({ payment, attempts, parts, intents, incidents }: PaymentWithAttempts) {
  const paid = attempts.find(({ id }) => id === payment.paidAttemptId)
  const isCounted = chargeSum(parts, { states: ['counted'] }) !== '0'
  return {
    surplus: attemptsWith(parts, ['surplus']),
    late: attemptsWith(parts, ['late']),
    refunding: intents.flatMap(({ kind, attemptId }) => (kind === 'refund' && attemptId !== null ? [attemptId] : [])),
    incidents: incidents.map(({ kind }) => kind),
    orderChanged: changedOrder(incidents, paid) !== null,
    partPaid: payment.paidAttemptId === null && isCounted,
  }
}

/** A partner that confirms for longer than the payment would wait for its late money counts as silent. */
function silentAt(payment: Payment, attempts: readonly Attempt[]): number | null {
  if (payment.status !== 'processing' || payment.paidAttemptId !== null) return null
  const confirming = attempts.filter(({ status }) => status === 'confirming')
  const ends = confirming.map(({ updatedAt, silentAfterHours }) => unixMs(updatedAt) + silentAfterHours * 3_600_000)
  return ends.length === 0 ? unixMs(payment.updatedAt) : Math.max(...ends)
}

/** Hours after the end of the payment, by the slowest partner whose attempt is not proved dead. */
function listenUntil(payment: Payment, attempts: readonly Attempt[]): number | null {
  const unfinished = attempts.filter((attempt) => mayStillBePaid(attempt.status))
  if (payment.listenEnded || unfinished.length === 0) return null
  const ended = payment.succeededAt ?? payment.failedAt ?? payment.canceledAt ?? payment.expiresAt
  const hours = Math.max(...unfinished.map((attempt) => PROVIDERS[attempt.provider].listenHours))
  return unixMs(ended) + hours * 3_600_000
}

/** Unix milliseconds of an ISO 8601 time. */
// oxlint-disable-next-line no-restricted-globals -- reads what it is given, not the clock
const unixMs = (time: string): number => Date.parse(time)
