import { isSame } from '../equality.ts'
import { isZero } from '../money.ts'
import { NOTHING_YET } from './new-attempt.ts'
import type { PartnerOrder } from './partner.ts'
import type { AttemptStatus } from './payment.ts'
import type { Attempt, LockedRate, Misfit } from './payment-object.ts'

/** Reads a partner's report of an order into the attempt. Reading the same order again changes nothing. */

export type Reading = {
  readonly order: PartnerOrder
  /** The platform's account at the partner. */
  readonly account: string
  /** The rate to lock if money has arrived; null: there is none now. */
  readonly rate: Omit<LockedRate, 'lockedAt'> | null
  /** ISO 8601. */
  readonly at: string
}

export function withReading(attempt: Attempt, reading: Reading): Attempt {
  const { order } = reading
  const misfit = findMisfit(attempt, reading)
  const read = misfit === null || IS_ABOUT_THIS_ORDER[misfit.why] ? withMoney(attempt, reading) : attempt
  // Another token stays at the address, whatever arrives after it.
  const foundMisfit = misfit ?? (attempt.misfit?.why === 'token' ? attempt.misfit : null)
  return {
    ...read,
    askedMicro: attempt.askedMicro ?? order.usdc?.askedMicro ?? null,
    partnerReference: attempt.partnerReference ?? (order.reference === '' ? null : order.reference),
    failureCode: order.failureCode ?? read.failureCode,
    misfit: foundMisfit,
    misfitAnswer: isSame(foundMisfit, attempt.misfit) ? attempt.misfitAnswer : 'none',
    silent: attempt.silent && read.status === attempt.status,
    cancelAsked: attempt.cancelAsked && isCancelable(read.status) && foundMisfit === null,
  }
}

/** True if the partner's last report says something new: then it is stored. `before` is null for a new attempt. */
export function hasNewReading(before: Attempt | null, after: Attempt): boolean {
  const known = before ?? NOTHING_YET
  return after.status !== known.status || after.held !== known.held || !isSame(after.misfit, known.misfit)
}

/**
 * Returns the reading's misfit if it concerns money; null: the order matches, or it has no money and waits for none.
 */
function findMisfit(attempt: Attempt, { order, account }: Reading): Misfit | null {
  const why = whyMisfit(attempt, order, account)
  const isEmpty = !isMoney(order) && !isOverdrawn(order)
  if (why === null || (why !== 'token' && isEmpty && isZero(attempt.held))) return null
  if (why === 'amount' && isEmpty && isOver(order)) return null
  const { status, amount, received } = order
  if (why === 'token') return attempt.misfit?.why === 'token' ? attempt.misfit : OTHER_TOKEN
  return { why, status, amount, received }
}

/** Names no sum: the deposits show it. */
export const OTHER_TOKEN: Misfit = {
  why: 'token',
  status: 'wrong_asset',
  amount: { minor: '0', currency: 'USDC' },
  received: null,
}

function whyMisfit(attempt: Attempt, order: PartnerOrder, account: string): Misfit['why'] | null {
  const { asked } = attempt
  if (order.attemptId !== attempt.id) return 'order'
  if (order.account !== account) return 'account'
  if (order.amount.currency !== asked.currency) return 'currency'
  if (order.received !== null && order.received.currency !== asked.currency) return 'currency'
  if (order.status === 'wrong_asset') return 'token'
  if (isOverdrawn(order)) return 'amount'
  if (order.status === 'paid' && !hasReceived(order)) return 'no_amount'
  if (order.status === 'declined' && hasReceived(order) && !wasPaid(attempt)) return 'refused'
  return order.amount.minor === asked.minor ? null : 'amount'
}

/** True if a misfit of this kind is about this order, so that its money counts. */
const IS_ABOUT_THIS_ORDER: Readonly<Record<Misfit['why'], boolean>> = {
  order: false,
  account: false,
  currency: false,
  no_amount: false,
  amount: true,
  refused: true,
  token: true,
}

const hasReceived = ({ received }: PartnerOrder): boolean => received !== null && BigInt(received.minor) > 0n

/** A dispute can cost more than was received: its fee, and its rate. An operator must see the rest. */
const isOverdrawn = ({ received }: PartnerOrder): boolean => received !== null && BigInt(received.minor) < 0n

/** A refunded order has no money, although its partner still names the received sum. */
const isMoney = (order: PartnerOrder): boolean =>
  order.status !== 'refunded' && (order.status === 'paid' || order.status === 'confirming' || hasReceived(order))

const END: readonly PartnerOrder['status'][] = ['declined', 'canceled', 'expired', 'refunded']

export const isOver = (order: PartnerOrder): boolean => END.includes(order.status) && !isMoney(order)

function withMoney(attempt: Attempt, { order, rate, at }: Reading): Attempt {
  const { payments = [] } = order
  const held = readHeld(attempt, order)
  const status = readStatus(order, { held, before: attempt.status })
  const isGone = isZero(held) && !isZero(attempt.held)
  const isBack = isGone && (attempt.back === 'asked' || order.status === 'refunded')
  const isPaid = status === 'paid' && !isZero(held)
  return {
    ...attempt,
    held,
    status,
    paidAt: isPaid ? (attempt.paidAt ?? at) : null,
    confirmedAt: isPaid ? at : null,
    rate: attempt.rate ?? (isPaid && rate !== null ? { rate: rate.rate, source: rate.source, lockedAt: at } : null),
    back: isGone ? 'no' : attempt.back,
    returned: attempt.returned || isBack,
    partnerPayments: [...new Set([...attempt.partnerPayments, ...payments])],
  }
}

/**
 * A partner that waits for money, confirms it or withholds it might report less than it has. For USDC the chain always
 * shows all of it. Money of an order that was declined after it had been paid is gone.
 */
function readHeld(attempt: Attempt, order: PartnerOrder): string {
  if (order.usdc !== undefined)
    return order.usdc.receipts.reduce((sum, { micro }) => sum + BigInt(micro), 0n).toString()
  const received = hasReceived(order) ? (order.received?.minor ?? '0') : '0'
  switch (order.status) {
    case 'refunded':
      return '0'
    case 'declined':
      return wasPaid(attempt) ? '0' : received
    case 'paid':
    case 'canceled':
    case 'expired':
      return received
    default:
      return BigInt(received) > BigInt(attempt.held) ? received : attempt.held
  }
}

/** True if the order was paid before its partner declined it. The partner might still name the received sum. */
const wasPaid = ({ rate, misfit }: Attempt): boolean => rate !== null && misfit?.why !== 'refused'

/** An order that has money is no longer open, whatever its partner reports: it is paid, or being confirmed. */
function readStatus(
  { status, usdc }: PartnerOrder,
  { held, before }: { readonly held: string; readonly before: AttemptStatus },
): AttemptStatus {
  if (status === 'wrong_asset') return before === 'opening' ? 'open' : before
  const hasMoney = !isZero(held)
  if (hasMoney && (status === 'canceled' || status === 'expired' || status === 'declined')) return 'paid'
  const isWaiting = status === 'open' || status === 'verification_required'
  return hasMoney && isWaiting && usdc === undefined ? 'confirming' : status
}

/** Money wins over a cancellation, and an operator decides about an order that differs. */
const isCancelable = (status: AttemptStatus): boolean => status === 'open' || status === 'verification_required'
