import { z } from 'zod'
import { CURRENCIES, type Currency } from '../../domain/currencies.ts'
import { FAILURE_CODES, type FailureCode, ORDER_STATUSES, type OrderStatus } from '../../domain/payment/partner.ts'
import type { SimulatedAction } from '../../domain/simulation.ts'

/** An order as all simulated partners store it. Each shows it in its own words and units. */
export const orderSchema = z.object({
  /** The merchant's idempotency key. */
  attemptId: z.string(),
  reference: z.string(),
  account: z.string(),
  minor: z.string(),
  currency: z.enum(CURRENCIES as [Currency, ...Currency[]]),
  method: z.string(),
  description: z.string(),
  returnUrl: z.string(),
  /** Unix seconds. */
  expiresAt: z.number(),
  status: z.enum(ORDER_STATUSES),
  receivedMinor: z.string().nullable(),
  failureCode: z.enum(Object.keys(FAILURE_CODES) as [FailureCode, ...FailureCode[]]).nullable(),
  /** True if the opening was declined. A repeated opening is declined again. */
  declinedAtOpening: z.boolean(),
  buyer: z.string().nullable(),
  /** The amount that arrives when the identity check is passed or the delay is over. */
  expectedMinor: z.string().nullable(),
  /** Unix milliseconds at which the payment is confirmed; null: on request. */
  confirmAt: z.number().nullable(),
  /** In the order of their requests. `doneAt`: the Unix milliseconds at which the money leaves. */
  refunds: z.array(z.object({ key: z.string(), minor: z.string(), doneAt: z.number(), isDone: z.boolean() })),
  openedAt: z.number(),
  /** Null: nobody has disputed it. */
  dispute: z
    .object({
      status: z.enum(['needs_response', 'under_review', 'won', 'lost']),
      /** The key of the last evidence. */
      answer: z.string().nullable(),
      submissions: z.number(),
      /** The names of what was submitted. */
      evidence: z.array(z.string()),
    })
    .nullable(),
})
export type SandboxOrder = z.infer<typeof orderSchema>

export type OpenRequest = Pick<
  SandboxOrder,
  'attemptId' | 'account' | 'minor' | 'currency' | 'method' | 'description' | 'returnUrl' | 'expiresAt'
>

/** Closed orders that money can still reach by `late`, or if the fault `late_money` is set. */
export const LATE_FROM: readonly OrderStatus[] = ['canceled', 'expired', 'declined']

export const ACTION_FROM: Readonly<Record<SimulatedAction, readonly OrderStatus[]>> = {
  pay: ['open'],
  decline: ['open', 'verification_required', 'confirming'],
  cancel: ['open', 'verification_required'],
  require_verification: ['open'],
  verify: ['verification_required'],
  fail_verification: ['verification_required'],
  hold: ['open', 'confirming'],
  release: ['on_hold'],
  confirm: ['confirming'],
  top_up: ['paid'],
  reverse: ['confirming', 'on_hold', 'paid'],
  expire: ['open', 'verification_required'],
  under: ['open'],
  over: ['open'],
  late: LATE_FROM,
  partner_down: ['open', 'verification_required', 'confirming'],
}

/** Text of evidence by which a dispute is decided at once: Stripe's words for tests. */
const DECIDED_BY: Readonly<Record<string, 'won' | 'lost'>> = { winning_evidence: 'won', losing_evidence: 'lost' }

export type SandboxEvidence = {
  readonly key: string
  readonly submit: boolean
  readonly fields: readonly string[]
  readonly text: string
}

/** Returns the order with the evidence; null: its dispute takes none any more. */
export function withEvidence(order: SandboxOrder, { key, submit, fields, text }: SandboxEvidence): SandboxOrder | null {
  const { dispute } = order
  if (dispute?.status !== 'needs_response') return null
  const evidence = [...new Set([...dispute.evidence, ...fields])]
  if (!submit) return { ...order, dispute: { ...dispute, answer: key, evidence } }
  const status: 'won' | 'lost' | 'under_review' = DECIDED_BY[text] ?? 'under_review'
  const decided: SandboxOrder = {
    ...order,
    dispute: { status, answer: key, submissions: dispute.submissions + 1, evidence },
  }
  return status === 'won' ? { ...decided, status: 'paid', failureCode: null, receivedMinor: order.minor } : decided
}

/** Null: it has no dispute that can be accepted. */
export const withDisputeAccepted = (order: SandboxOrder): SandboxOrder | null =>
  order.dispute?.status === 'needs_response' ? { ...order, dispute: { ...order.dispute, status: 'lost' } } : null

/** A running identity check keeps an order payable for this long after its expiry, in seconds. */
const VERIFICATION_GRACE_SECONDS = 24 * 3600

export function declined(order: SandboxOrder, failureCode: FailureCode): SandboxOrder {
  return { ...order, status: 'declined', failureCode, receivedMinor: null, expectedMinor: null, confirmAt: null }
}

export function received(order: SandboxOrder, status: 'paid' | 'on_hold', minor: string): SandboxOrder {
  return { ...order, status, receivedMinor: minor, failureCode: null, expectedMinor: null, confirmAt: null }
}

export function confirming(order: SandboxOrder, minor: string, confirmAt: number | null): SandboxOrder {
  return { ...order, status: 'confirming', failureCode: null, expectedMinor: minor, confirmAt }
}

/** Returns the order after what time alone has changed; null if nothing. `now` is in Unix milliseconds. */
export function dueChange(order: SandboxOrder, now: number): SandboxOrder | null {
  const seconds = now / 1000
  if (order.status === 'confirming' && order.confirmAt !== null && order.confirmAt <= now)
    return received(order, 'paid', order.expectedMinor ?? order.minor)
  if (order.status === 'open' && order.expiresAt <= seconds) return { ...order, status: 'expired' }
  if (order.status === 'verification_required' && order.expiresAt + VERIFICATION_GRACE_SECONDS <= seconds)
    return { ...order, status: 'expired' }
  const due = isRefundable(order) ? order.refunds.find(({ isDone, doneAt }) => !isDone && doneAt <= now) : undefined
  return due === undefined ? null : withRefund(order, { ...due, isDone: true })
}

export type SandboxRefund = SandboxOrder['refunds'][number]

const sum = (refunds: readonly SandboxRefund[]): bigint =>
  refunds.reduce((total, { minor }) => total + BigInt(minor), 0n)

/** Returns the order with a new refund, or with a known one as it is now. A refunded order still names its last sum. */
export function withRefund(order: SandboxOrder, refund: SandboxRefund): SandboxOrder {
  const isKnown = order.refunds.some(({ key }) => key === refund.key)
  const refunds = isKnown
    ? order.refunds.map((one) => (one.key === refund.key ? refund : one))
    : [...order.refunds, refund]
  if (!refund.isDone) return { ...order, refunds }
  const left = BigInt(order.receivedMinor ?? order.minor) - BigInt(refund.minor)
  if (left <= 0n) return { ...order, refunds, status: 'refunded' }
  return { ...order, refunds, receivedMinor: left.toString() }
}

/** Minor units that no refund has taken or is to take. */
export function countRefundable({ refunds, receivedMinor, minor, status }: SandboxOrder): bigint {
  const waiting = refunds.filter(({ isDone }) => !isDone)
  return status === 'refunded' ? 0n : BigInt(receivedMinor ?? minor) - sum(waiting)
}

/** Minor units that the buyer has paid, including those that refunds have taken. */
export function countPaid({ refunds, receivedMinor, minor, status }: SandboxOrder): bigint {
  const taken = sum(refunds.filter(({ isDone }) => isDone))
  return status === 'refunded' && taken > 0n ? taken : BigInt(receivedMinor ?? minor) + taken
}

export function isRefundable(order: SandboxOrder): boolean {
  return order.status === 'paid' || order.status === 'on_hold'
}

/** Returns true if time can still change the order. */
export function isLive(order: SandboxOrder): boolean {
  return (
    order.status === 'open' ||
    order.status === 'verification_required' ||
    order.confirmAt !== null ||
    (isRefundable(order) && order.refunds.some(({ isDone }) => !isDone))
  )
}

export function isSameRequest(order: SandboxOrder, request: OpenRequest): boolean {
  return (
    order.account === request.account &&
    order.minor === request.minor &&
    order.currency === request.currency &&
    order.method === request.method
  )
}
