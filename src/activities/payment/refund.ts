import { Context } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import {
  type Changed,
  changePayment,
  closeMisfit,
  type PaymentWork,
  setBeside,
} from '../../db/payments/payment-changes.ts'
import { refundKey } from '../../domain/ids.ts'
import { NOT_PARKED, type PaymentFields, parked } from '../../domain/payment/changes.ts'
import {
  type Intent,
  isAllThere,
  isInDoubt,
  isMisfitBeside,
  misfitOfAttempt,
  openRefund,
} from '../../domain/payment/money/intents.ts'
import { givenUp, leftOf } from '../../domain/payment/order-changes.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import {
  endsWith,
  givenBack,
  givenBackBefore,
  isUncounted,
  mayGoBack,
  mayHaveNoPayout,
  PAYOUT_EXISTS,
  type Refundable,
  refundable,
  whyForgotten,
  whyNameIt,
  whyPartnerCannotRefund,
  whyRefundedBefore,
} from '../../domain/payment/refund.ts'
import type { OperatorNote } from '../../domain/payment/requests.ts'
import { attemptNote, noteOf } from '../../domain/timeline.ts'
import type { RefundResult } from '../../providers/provider.ts'
import { askQuietly, callSignal } from './partner-calls.ts'
import type { PaymentDeps, PayoutDesk } from './payment-deps.ts'

/** `unsure`: as in the answer to the operator. */
export type Decided = Changed & { readonly message: string; readonly refunded: boolean; readonly unsure?: true }

/** The attempt is named where it is not the payment's own: late money. */
export type RefundOrder = OperatorNote & { paymentId: string; attemptId?: string }

/**
 * Gives money back through the partner, with one key for life. What was decided is stored before the partner is asked,
 * so that a crash, a silent partner or a slow one leaves an open intent, beside which nothing else is done with the money.
 */
export function refundAttempt(deps: PaymentDeps, order: RefundOrder): Promise<Decided> {
  return voidingFirst(deps, order.paymentId, () => askAndRefund(deps, order))
}

async function askAndRefund(deps: PaymentDeps, order: RefundOrder): Promise<Decided> {
  const { changed: before, toAsk, isSure } = await askRefund(deps, order)
  if (!isSure) return { ...before, refunded: false, message: `refund: ${TRIED_BEFORE}`, unsure: true }
  if (toAsk === null) return { ...before, refunded: true, message: 'refunded' }
  const { attempt, intent } = toAsk
  // Each reading carries it on; waited for here, it would keep other decisions waiting, and money that is not given back.
  const result = await askQuietly(() => callRefund(deps, attempt), 'asked again')
  if (result === null) return { ...before, refunded: false, message: 'no answer yet: the partner is asked again' }
  let isAskedAgain = false
  let isGiven = false
  const changed = await changePayment(deps.db, deps.context, {
    id: order.paymentId,
    work: async (work) => {
      const isRecorded = await recordRefund(work, deps, { intent, result })
      isAskedAgain = !isRecorded && openRefund(work.state.intents, attempt.id) !== null
      isGiven = isRecorded || givenBackBefore(work.state, { named: attempt.id, through: 'partner' }) !== undefined
    },
  })
  // Of a refund that was asked for since, under the same key, the answer says nothing.
  if (result.kind === 'refused' && !isAskedAgain)
    throw decisionRefused(`The partner refused the refund: ${result.reason}`)
  const refunded = result.kind === 'refunded' && isGiven
  return { ...changed, refunded, message: refunded ? 'refunded' : 'the partner is working on the refund' }
}

/** Another try of a decision that may have been carried out, when its answer was lost. */
export const TRIED_BEFORE = 'tried before, and the payment has changed since: its timeline says whether it was recorded'

type RefundDeps = Pick<PaymentDeps, 'payouts' | 'tolerancePercent'>
type AskedRefund = { readonly attempt: Attempt; readonly intent: Intent }

/**
 * Stores the intent; repeated by the same operator for the same reason, it goes on with the one that is stored. `toAsk`:
 * the attempt whose partner is to be asked for it; null when it was carried out before.
 */
async function askRefund(
  deps: PaymentDeps,
  order: RefundOrder,
): Promise<{ readonly changed: Changed; readonly toAsk: AskedRefund | null; readonly isSure: boolean }> {
  const { operator, reason } = order
  let toAsk: AskedRefund | null = null
  let isSure = true
  const changed = await changePayment(deps.db, deps.context, {
    id: order.paymentId,
    work: async (work) => {
      const before = repeated(work, order)
      isSure = before !== 'unsure'
      if (before === 'unsure') return
      toAsk = before
      if (toAsk !== null) return
      if (givenBackBefore(work.state, { named: nameIn(order), through: 'partner' }) !== undefined) return
      isSure = !mayBeDone(work, order)
      if (!isSure) return
      const claim = await claimRefund(work, deps.payouts, { order, through: 'partner' })
      const { attempt } = claim
      if (deps.partners[attempt.provider].refundOrder === undefined)
        throw decisionRefused(whyPartnerCannotRefund(attempt.provider))
      const key = refundKey(attempt.id)
      const intent = await work.ask({ key, kind: 'refund', attemptId: attempt.id, operator, reason })
      if (intent === null) throw decisionRefused(whyRefundedBefore(attempt.provider))
      toAsk = { attempt, intent }
      await work.restate(attempt.id, { from: claim.states, to: 'returning' })
      await work.change(noteOf('refund.requested', { operator, reason, attempt_id: attempt.id }), {})
    },
  })
  return { changed, toAsk, isSure }
}

/**
 * The activity was cut off after the intent had been stored, and runs again; or the operator says again what was decided,
 * where the same words cannot be about other money. `unsure`: an earlier try may have meant other money, and was cut off before it
 * could store that.
 */
function repeated({ state }: PaymentWork, order: RefundOrder): AskedRefund | 'unsure' | null {
  const named = nameIn(order)
  const mine = state.intents.find(
    ({ kind, operator, reason, attemptId }) =>
      kind === 'refund' &&
      operator === order.operator &&
      reason === order.reason &&
      (named === undefined || attemptId === named),
  )
  const attempt = state.attempts.find(({ id }) => id === mine?.attemptId)
  if (mine === undefined || attempt === undefined) return null
  const others = named === undefined ? mayGoBack(state, { named, through: 'partner' }) : []
  if (others.length > 0 && isTriedAgain()) return 'unsure'
  if (others.length > 0) throw decisionRefused(whyNameIt([attempt.id, ...others.map((other) => other.attempt.id)]))
  return { attempt, intent: mine }
}

/** Of a decision that names no attempt: what an earlier try has given back may have been all that was meant. */
const mayBeDone = ({ state }: PaymentWork, order: RefundOrder): boolean =>
  isTriedAgain() && nameIn(order) === undefined && state.attempts.some(({ status }) => status === 'refunded')

export const isTriedAgain = (): boolean => Context.current().info.attempt > 1

export const nameIn = ({ attemptId, attempt }: RefundOrder): string | undefined => attemptId ?? attempt

/** Asks the partner about a refund that is stored; the same key always means the same refund. */
export async function callRefund(deps: PaymentDeps, attempt: Attempt): Promise<RefundResult> {
  const partner = deps.partners[attempt.provider]
  if (partner.refundOrder === undefined) throw decisionRefused(whyPartnerCannotRefund(attempt.provider))
  return partner.refundOrder({ attemptId: attempt.id, key: refundKey(attempt.id) }, callSignal())
}

/**
 * Carries a refund on by what the partner says of it now. Nothing is said of one that was asked for since, under the same key:
 * it is asked about again. False when nothing was recorded.
 */
export async function recordRefund(
  work: PaymentWork,
  deps: RefundDeps,
  { intent: { id, attemptId }, result }: { readonly intent: Intent; readonly result: RefundResult },
): Promise<boolean> {
  const attempt = work.state.attempts.find((candidate) => candidate.id === attemptId)
  const intent = openRefund(work.state.intents, attemptId)
  if (attempt === undefined || intent?.id !== id) return false
  if (result.kind === 'pending') {
    if (intent.state === 'asked') await work.settleIntent(intent, 'pending')
  } else if (result.kind === 'refused') await takeBack(work, deps, { attempt, intent, why: result.reason })
  else {
    await work.settleIntent(intent, 'done')
    const claim = { attempt, states: [], endsPayment: endsWith(work.state, attempt.id) }
    await giveBack(work, claim, { note: intent, through: 'partner' })
  }
  return true
}

/** The partner refused: the money is where it was, and what is left of it may go where it was going. */
async function takeBack(
  work: PaymentWork,
  { payouts, tolerancePercent }: RefundDeps,
  { attempt, intent, why }: { readonly attempt: Attempt; readonly intent: Intent; readonly why: string },
): Promise<void> {
  await work.settleIntent(intent, 'refused')
  await work.putBack(attempt.id)
  await besidePaid(work, attempt)
  const again = await parkedAgain(work, payouts, attempt.id)
  const { payment, parts } = work.state
  const waiting = { payment: { ...payment, parkReason: again.parkReason ?? payment.parkReason }, parts }
  const left = leftOf(waiting, attempt, { tolerancePercent, at: work.at })
  const data = { attempt_id: attempt.id }
  await work.change(noteOf('refund.refused', { ...data, reason: why }), { ...again, ...left?.fields })
  if (left === null || left.status === attempt.status) return
  await work.saveAttempt(attempt.id, { status: left.status })
  await work.note(attemptNote(left.status, { ...data, provider: attempt.provider }))
}

/** It would be the payment's, which has money of another attempt by now. */
async function besidePaid(work: PaymentWork, { id, provider }: Attempt): Promise<void> {
  const { paidAttemptId } = work.state.payment
  if (paidAttemptId === null || paidAttemptId === id || !isKept(work, id)) return
  await setBeside(work, id)
  await work.change(attemptNote('surplus', { attempt_id: id, provider }), { exception: 'duplicate_payment' })
}

/**
 * What was stopped before its payout was handed over may get it after all. It waits for the partner's word, which the polls
 * ask for: what else had stopped it, a doubt or a hold, is not known any more once it is sold, and a hold that is still
 * there takes effect with that word. What is not sold stays held, unless it is in doubt or held no longer.
 */
async function parkedAgain({ state, tx }: PaymentWork, payouts: PayoutDesk, attemptId: string): Promise<PaymentFields> {
  const { payment, incidents } = state
  const { id, parkReason, held, usdc, paidAttemptId } = payment
  if (attemptId !== paidAttemptId) return {}
  const isHeld = held && !isInDoubt(incidents, payment)
  if (usdc === null) return parkReason === 'operator_hold' && !isHeld ? parked('order_changed') : {}
  const mayBePaid = parkReason === 'payout_voided' && isAllThere(state) && !(await payouts.exists(tx, id))
  return mayBePaid ? parked('order_changed') : {}
}

/** Books the money as given back and, when it was the payment's own, moves the payment to refunded. */
export async function giveBack(
  work: PaymentWork,
  claim: Refundable,
  how: { readonly note: OperatorNote; readonly through: 'partner' | 'outside' },
): Promise<void> {
  const given = givenBack(work.state, claim, how)
  const { attempt, states, endsPayment } = claim
  await work.restate(attempt.id, { from: [...states, 'returning'], to: 'returned' })
  for (const part of given.parts) await work.addPart(part)
  if (how.through === 'outside' && isUncounted(work.state, claim))
    await work.saveAttempt(attempt.id, { returnedByHand: true })
  // The right token may still come to an address at which another one was.
  const isToken = attempt.provider === 'crypto' && states.length === 0 && !endsPayment
  if (!isToken && !isKept(work, attempt.id)) await work.saveAttempt(attempt.id, { status: 'refunded' })
  // A partner gives back a whole order. From elsewhere what came goes without what does not fit, as USDC beside another token.
  const isAll = endsPayment || states.length === 0
  const wasInDoubt = endsPayment && misfitOfAttempt(work.state.incidents, attempt.id) !== null
  if (how.through === 'partner') await closeMisfit(work, attempt.id, 'gone')
  else if ((attempt.status === 'on_hold' && isAll) || wasInDoubt || states.length === 0)
    await closeMisfit(work, attempt.id)
  // The merchant has it too.
  const isPaidOut = attempt.id === work.state.payment.paidAttemptId && work.state.payment.transfer !== null
  if (isPaidOut && !isAllThere(work.state)) await work.openIncident({ kind: 'chargeback', attemptId: attempt.id })
  if (endsPayment) await work.move('refunded', given.reason, NOT_PARKED)
  else await work.change({ ...given.reason, kind: 'attempt.refunded' }, leftWithout(work, attempt.id))
}

/** Where the payment's own money is gone, and it stays open for money of another attempt that does not fit. */
function leftWithout({ state }: PaymentWork, attemptId: string): PaymentFields {
  const { payment, attempts } = state
  const isMisfit = isMisfitBeside({ parkReason: payment.parkReason, attempts }, attemptId)
  return isMisfit && payment.paidAttemptId === attemptId ? givenUp(payment) : {}
}

/** Something of the attempt is still the payment's. */
function isKept({ state }: PaymentWork, attemptId: string): boolean {
  return state.parts.some((part) => part.attemptId === attemptId && part.state === 'counted')
}

/** Whose money goes back. What is refused leaves the payment as it was: the transaction ends with it. */
export async function claimRefund(
  work: PaymentWork,
  payouts: PayoutDesk,
  { order, through }: { readonly order: RefundOrder; readonly through: 'partner' | 'outside' },
): Promise<Refundable> {
  const isEnded = await endUnpaid(work, order, payouts)
  const claim = refundable(work.state, { named: nameIn(order), through })
  if ('refused' in claim) throw decisionRefused(claim.refused)
  const own = work.state.payment.paidAttemptId
  // The payment would never be paid out, and its own money stay.
  if (isEnded && claim.attempt.id !== own) throw decisionRefused(whyNameIt([claim.attempt.id, own]))
  if (claim.endsPayment) await refuseOpen(work, payouts)
  return claim
}

/**
 * Of a payment that was stopped between its conversion and its payout nothing was handed over, and while it is locked
 * nobody hands it over: with its refund nothing can be paid out any more, as after a void. False: it is none of these.
 */
async function endUnpaid(work: PaymentWork, order: RefundOrder, payouts: PayoutDesk): Promise<boolean> {
  const { id } = work.state.payment
  if (!mayHaveNoPayout(work.state, nameIn(order)) || (await payouts.exists(work.tx, id))) return false
  await refuseOpen(work, payouts)
  await work.change(noteOf('payment.payout_never_made'), parked('payout_voided'))
  return true
}

/** A payout that a restored backup may have forgotten must be voided before money goes back. */
class VoidFirst extends Error {
  override readonly name = 'VoidFirst'
}

/** The money does not go back while a payout can be paid, or if one that this database does not know was. */
async function refuseOpen(work: PaymentWork, payouts: PayoutDesk): Promise<void> {
  const open = await payouts.open(work.tx, work.state.payment.id)
  if (open?.kind === 'unsure') throw new VoidFirst()
  if (open !== null) throw decisionRefused(open.kind === 'paid' ? whyForgotten(open) : PAYOUT_EXISTS.why)
}

/**
 * Carries out a decision that gives money back. If a payout of the payment may be forgotten, the payout is canceled on chain
 * instead, and the operator decides again: the cancellation uses its nonce, so either that wins or the payment is settled.
 */
export async function voidingFirst(
  { db, context, payouts }: PaymentDeps,
  paymentId: string,
  decide: () => Promise<Decided>,
): Promise<Decided> {
  try {
    return await decide()
  } catch (error) {
    if (!(error instanceof VoidFirst)) throw error
    const changed = await changePayment(db, context, {
      id: paymentId,
      work: async (work) => {
        await payouts.void(work.tx, paymentId)
        await work.note(noteOf('payment.void_asked'))
      },
    })
    return { ...changed, refunded: false, message: whyForgotten({ kind: 'unsure' }) }
  }
}

/** What the operator reads as the answer to the update; nothing is tried again. */
export function decisionRefused(why: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(why, 'DecisionRefused')
}
