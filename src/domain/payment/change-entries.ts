import { isSame } from '../equality.ts'
import { attemptNote, because, createNote, type MoveReason, moveNote, type Note } from '../timeline.ts'
import { freeUnits } from './funds/account.ts'
import { type Funds, findOwnAccount, findSoldAccount, getLoss } from './funds/funds.ts'
import { toAccount, toFunds } from './funds/stored-funds.ts'
import { findPath, isOpen, type PaymentStatus } from './payment.ts'
import type { Attempt, PaymentWithAttempts } from './payment-object.ts'
import type { Say } from './requests.ts'

export type Cause =
  | { readonly why: MoveReason; readonly data: object }
  /** `refund`: the merchant's refund that the decision carries out; without one an operator decides. */
  | { readonly say: Say; readonly data: object & { readonly outside: boolean; readonly refund?: string } }

export type Move = { readonly from: PaymentStatus; readonly to: PaymentStatus; readonly note: Note }

export type ChangeEntries = { readonly moves: readonly Move[]; readonly notes: readonly Note[] }

export function describeChange(
  before: PaymentWithAttempts,
  after: PaymentWithAttempts,
  cause: Cause | null,
): ChangeEntries {
  const changes = after.attempts.flatMap((attempt) => describeAttempt(before, after, attempt) ?? [])
  const notes = [...noteSales(before, after), ...noteLosses(before, after)]
  const moves = listMoves({ before, after }, cause, changes[0]?.data ?? {})
  const decided = cause !== null && 'say' in cause && moves.length === 0 ? [decisionNote(cause)] : []
  // The entry of a move contains what its partner reported.
  const attempts = moves.length > 0 ? changes.slice(1) : changes
  return { moves, notes: [...decided, ...attempts.map(({ note }) => note), ...notes] }
}

type Pair = { readonly before: PaymentWithAttempts; readonly after: PaymentWithAttempts }

function listMoves({ before, after }: Pair, cause: Cause | null, reported: object): Move[] {
  const path = findPath(before.payment.status, after.payment.status)
  const funds = toFunds(after)
  return path.map((to, index) => {
    const from = path[index - 1] ?? before.payment.status
    const { why, data } = findReason({ from, to, funds, before, after }, cause)
    return { from, to, note: moveNote(to, because(why, { ...reported, ...data })) }
  })
}

type Moved = {
  readonly from: PaymentStatus
  readonly to: PaymentStatus
  readonly funds: Funds
  readonly before: PaymentWithAttempts
  readonly after: PaymentWithAttempts
}

function findReason(moved: Moved, cause: Cause | null): { readonly why: MoveReason; readonly data: object } {
  if (cause === null) return { why: computedWhy(moved), data: {} }
  return 'why' in cause ? cause : { why: decidedWhy(moved, cause), data: cause.data }
}

function decidedWhy({ to, before }: Moved, { say, data }: Extract<Cause, { say: Say }>): MoveReason {
  switch (say) {
    case 'hold':
      return 'held'
    case 'release':
      return 'resumed_after_hold'
    case 'settle':
      return before.payment.payout === 'stopped' ? 'payout_retried' : 'approved'
    case 'write_off':
      return to === 'failed' ? 'rejected' : 'written_off'
    case 'give_back':
      if (data.refund !== undefined) return 'refunded_by_merchant'
      return data.outside ? 'refunded_outside' : 'giving_back'
  }
}

function computedWhy({ from, to, funds, after }: Moved): MoveReason {
  switch (to) {
    case 'created':
    case 'pending':
      return from === 'created' ? 'opened' : 'withdrawn'
    case 'processing':
      return whyProcessing(from, funds)
    case 'under_review':
      return whyUnderReview(after, funds)
    case 'settling':
      return from === 'under_review' ? 'payout_resumed' : 'handed_to_settlement'
    case 'succeeded':
      return 'settled'
    case 'failed':
      return from === 'pending' ? 'check_failed' : 'reversed'
    case 'expired':
      return from === 'created' || from === 'pending' ? 'expired' : 'reversed'
    case 'canceled':
      return from === 'created' || from === 'pending' ? 'canceled' : 'canceled_before'
    case 'refunded':
      return funds.accounts.some(({ outside }) => outside > 0n) ? 'refunded_outside' : whyRefunded(after)
  }
}

function whyProcessing(from: PaymentStatus, funds: Funds): MoveReason {
  if (from === 'expired') return 'paid_after_expiry'
  if (from === 'canceled') return 'paid_after_cancellation'
  if (from === 'under_review') return 'released_by_partner'
  return findOwnAccount(funds) === null ? 'confirming' : 'confirmed'
}

const REVIEWED: Readonly<Record<string, MoveReason>> = {
  too_little: 'underpaid',
  after_failure: 'paid_after_failure',
  sale_stuck: 'conversion_stuck',
  far_fill: 'fill_off_rate',
  payout_stopped: 'payout_stopped',
  odd_order: 'misfit',
  other_token: 'wrong_asset',
  withheld: 'held_by_partner',
  silent: 'partner_silent',
  // Excess stops no payment, so an operator holds it.
  excess: 'held_money',
  held: 'held_money',
  voiding: 'funds_reversed',
  giving_back: 'giving_back',
}

function whyUnderReview({ payment: { statusReason } }: PaymentWithAttempts, funds: Funds): MoveReason {
  if (funds.payout === 'void') return 'payout_voided'
  const isGoingBack = (findSoldAccount(funds)?.back ?? 'no') !== 'no'
  if (statusReason === 'voiding' && isGoingBack) return 'giving_back'
  return REVIEWED[statusReason ?? ''] ?? 'misfit'
}

const whyRefunded = ({ attempts }: PaymentWithAttempts): MoveReason =>
  attempts.some(({ returned, status }) => returned && status === 'refunded')
    ? 'given_back_by_partner'
    : 'refunded_through_partner'

function decisionNote({ say, data }: Extract<Cause, { say: Say }>): Note {
  if (data.refund !== undefined) return createNote('decision.give_back_by_merchant', data)
  return createNote(data.outside ? 'decision.give_back_outside' : `decision.${say}`, data)
}

type AttemptChange = { readonly note: Note; readonly data: object }

/** Null: nothing has changed that a person looks for. */
function describeAttempt(
  before: PaymentWithAttempts,
  after: PaymentWithAttempts,
  attempt: Attempt,
): AttemptChange | null {
  const known = before.attempts.find(({ id }) => id === attempt.id)
  if (known === undefined) return null
  const { id, provider, status, held, misfit, failureCode } = attempt
  const account = toAccount(attempt)
  const units = account.held - BigInt(known.held)
  const data = {
    attempt_id: id,
    provider,
    ...(failureCode !== null && failureCode !== known.failureCode && { failure_code: failureCode }),
    ...(units !== 0n && { asset: account.asset, units: units.toString(), held, free: freeUnits(account).toString() }),
    ...(misfit !== null && { misfit }),
  }
  if (attempt.back !== known.back && attempt.back === 'asked')
    return { note: createNote('refund.requested', data), data }
  if (status !== known.status) return { note: attemptNote(status, isOpen(after.payment.status), data), data }
  if (!isSame(misfit, known.misfit) && misfit !== null) return { note: createNote('payment.misfit', data), data }
  // A refund has its own entry.
  if (units === 0n || (units < 0n && BigInt(known.refunding) >= -units)) return null
  return { note: createNote(units > 0n ? 'payment.money_came' : 'payment.money_went', data), data }
}

function noteSales(before: PaymentWithAttempts, after: PaymentWithAttempts): Note[] {
  const { takenSale, usdc } = after.payment
  const taken =
    takenSale === before.payment.takenSale ? undefined : after.sales.find(({ number }) => number === takenSale)
  const ended = after.sales.filter(({ number, state }) => {
    const known = before.sales.find((sale) => sale.number === number)
    return state !== 'asked' && known?.state !== state && number !== taken?.number
  })
  return [
    ...ended.map(({ state, reference, fill }) =>
      state === 'ended'
        ? createNote('payment.conversion_ended')
        : createNote('payment.sold', { reference, filled_micro: fill?.toString() }),
    ),
    // The fill is in the sale. The timeline is for the merchant, and shows the merchant's figure.
    ...(taken === undefined || usdc === null
      ? []
      : [createNote('payment.converted', { gross_micro: usdc.gross, reference: taken.reference })]),
  ]
}

/** Money that the partner took back after the payout, or that it has again. */
export type LossChange = {
  readonly attempt: Attempt
  /** In the unit of the attempt: newly lost, or won back if negative; `lost` is the total. */
  readonly units: bigint
  readonly lost: bigint
}

export function listLossChanges(before: PaymentWithAttempts, after: PaymentWithAttempts): LossChange[] {
  const [fundsBefore, fundsAfter] = [toFunds(before), toFunds(after)]
  return after.attempts.flatMap((attempt) => {
    const known = fundsBefore.accounts.find(({ id }) => id === attempt.id)
    const lost = getLoss(fundsAfter, toAccount(attempt))
    const units = lost - (known === undefined ? 0n : getLoss(fundsBefore, known))
    return units === 0n ? [] : [{ attempt, units, lost }]
  })
}

const noteLosses = (before: PaymentWithAttempts, after: PaymentWithAttempts): Note[] =>
  listLossChanges(before, after).map(({ attempt, units, lost }) =>
    createNote(units > 0n ? 'payment.chargeback' : 'payment.chargeback_won', {
      attempt_id: attempt.id,
      asset: toAccount(attempt).asset,
      units: (units > 0n ? units : -units).toString(),
      lost: lost.toString(),
    }),
  )
