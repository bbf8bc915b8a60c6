import { lateMoneyWorkflowId } from '../../../src/domain/ids.ts'
import { attemptsWith, heldOf } from '../../../src/domain/payment/money/parts.ts'
import { attemptsOf } from '../world/books.ts'
import type { Shop } from '../world/shop.ts'
import type { Told } from './steps.ts'

/** What an operator sees of a payment, and decides about it. */

export type Seen = {
  readonly version: number
  /** What waits for a decision, with all that is said about it. */
  readonly waits: string
  /** What each attempt holds. */
  readonly money: string
  /** How often money was booked as returned from elsewhere, and how often an operator has placed a hold. */
  readonly returns: number
  readonly holds: number
  /** Something is there that a refund could be about. */
  readonly isLeft: boolean
}

export async function see(shop: Shop): Promise<Seen> {
  const { payment, attempts, parts } = await shop.system.loadPayment(shop.db, shop.paymentId)
  const { rows } = await shop.db.query(
    `select id, misfit, (select count(*) from deposit_log l join deposit d using (payment_id)
       where d.attempt_id = i.attempt_id and l.token <> d.token) as tokens
     from incident i where payment_id = $1 and closed_at is null order by id`,
    [shop.paymentId],
  )
  const holds = await shop.db.query(
    `select count(*)::int as holds from timeline_entry where payment_id = $1 and kind = 'payment.held'`,
    [shop.paymentId],
  )
  const { version, parkReason, agreed } = payment
  const isUnbooked = parkReason === 'amount_mismatch' && attempts.some(({ status }) => status === 'on_hold')
  return {
    version,
    waits: JSON.stringify({ parkReason, agreed, incidents: rows }),
    money: JSON.stringify(attempts.map(({ id }) => heldOf(parts, id))),
    returns: parts.filter(({ kind }) => kind === 'return_outside').length,
    holds: (holds.rows[0] as { holds: number }).holds,
    isLeft: isUnbooked || attemptsWith(parts, ['surplus', 'late']).length > 0,
  }
}

type Decide = Extract<Told, { do: 'decide' }>

/** `looked`: what was there at the last look. */
export async function decide(shop: Shop, step: Decide, looked: Seen | null): Promise<void> {
  const attempt = step.of === null ? undefined : (await attemptsOf(shop))[step.of]?.id
  const now = await see(shop)
  const seen = step.before === true ? (looked ?? now) : now
  const note = { operator: 'ada', reason: 'looked at it', version: seen.version }
  const argument = { ...note, ...(attempt === undefined ? {} : { attempt }) }
  const workflowId = step.late && attempt !== undefined ? lateMoneyWorkflowId(attempt) : shop.paymentId
  const mayBe = attempt === undefined && GIVES_BACK.includes(step.decision) ? await refundable(shop) : []
  shop.ask(step.decision, step.decision, { argument, who: 'operator', workflowId })
  if (step.together === true) return
  const isUnseen =
    (ACCEPTS.includes(step.decision) && now.waits !== seen.waits) ||
    (step.decision === 'release' && now.holds !== seen.holds)
  const isMore = step.decision === 'recordExternalRefund' && now.money !== seen.money
  const mayDoNothing = now.isLeft && attempt === undefined && GIVES_BACK.includes(step.decision)
  if (mayBe.length < 2 && !isUnseen && !isMore && !mayDoNothing) return
  await shop.timeline.settle()
  if (isUnseen && shop.asks.at(-1)?.answer?.endsWith(': recorded"}') === true)
    shop.wrong.push('an operator accepted what nobody had looked at')
  if (isMore && (await see(shop)).returns > now.returns)
    shop.wrong.push('money that came after the operator had looked was booked as returned')
  const answer = shop.asks.at(-1)?.answer ?? ''
  const isDone = answer.endsWith('"refunded"}') || answer.endsWith(': recorded"}')
  if (mayDoNothing && isDone && (await see(shop)).version === now.version)
    shop.wrong.push('a refund was called done, and nothing was given back')
  const left = await refundable(shop)
  if (left.length < mayBe.length && mayBe.length > 1)
    shop.wrong.push('a refund that could be of two attempts was of one that nobody named')
}

const ACCEPTS: readonly string[] = ['approve', 'acknowledge']
const GIVES_BACK: readonly string[] = ['refund', 'recordExternalRefund']

/** Attempts whose money an operator may give back now: the payment's own only where nothing was handed to the engine. */
async function refundable(shop: Shop): Promise<string[]> {
  const { payment, parts } = await shop.system.loadPayment(shop.db, shop.paymentId)
  const { rows } = await shop.db.query('select 1 from payout where payment_id = $1', [payment.id])
  const isFree = payment.status === 'under_review' && rows.length === 0
  return attemptsWith(parts, isFree ? ['surplus', 'late', 'counted'] : ['surplus', 'late'])
}
