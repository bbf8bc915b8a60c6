import { markApplied } from '../../db/payments/partner-events.ts'
import { closeMisfit, type PaymentWork, setBeside } from '../../db/payments/payment-changes.ts'
import { type KnownPayment, type OrderEffect, takesAway } from '../../domain/payment/money/effect.ts'
import { findElected, takeElected } from '../../domain/payment/money/election.ts'
import {
  isAllThere,
  isInDoubt,
  isToldWhole,
  type Misfit,
  misfitOfAttempt,
  openRefund,
} from '../../domain/payment/money/intents.ts'
import { STILL_HERE } from '../../domain/payment/money/parts.ts'
import { changesOf, givenUp, isWonBack } from '../../domain/payment/order-changes.ts'
import {
  effectOfOrder,
  fits,
  hasNothing,
  misfitOf,
  tellsOfMoney,
  tellsWhatIsKnown,
} from '../../domain/payment/partner-news.ts'
import { isDead, waitsForPartner } from '../../domain/payment/payment.ts'
import type { Attempt, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { attemptNote, noteOf } from '../../domain/timeline.ts'
import { recordCancel } from './cancel-order.ts'
import { type AskedAttempt, type OrderNews, partCount } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'
import { stopIfHeld, stopOrGoOn, voidPayout } from './void-payout.ts'

/**
 * `understood`: the partner answered about this order, and the answer is true now. If there was no answer, or it is about
 * another order, account or amount, or may be older than what is known, it is not understood, and the news stays unread.
 * `whole`: only the amount of the order does not fit, and all of the payment's own money is there.
 */
export type Heard = { readonly understood: boolean; readonly whole: boolean }

export const UNHEARD: Heard = { understood: false, whole: false }

/** Applies what the partner said to the locked payment. Reading the same order again writes nothing. */
export async function applyOrder(work: PaymentWork, deps: PaymentDeps, news: OrderNews): Promise<Heard> {
  const { order, asked } = news
  const attempt = work.state.attempts.find(({ id }) => id === asked.attempt.id)
  if (attempt === undefined || order === null) return UNHEARD
  const context = { account: deps.accounts[attempt.provider], tolerancePercent: deps.tolerancePercent }
  const story = { payment: known(work.state), attempt, order, context }
  const effect = effectOfOrder(story.payment, attempt, story)
  const understood = fits(attempt, order, context)
  const isClear = understood || hasNothing(attempt, order, context) || tellsWhatIsKnown(story)
  const mayEnd = isClear && tellsOfMoney(work.state.parts, order)
  const ends = endsMisfit(effect, { attempt, state: work.state, mayEnd })
  const misfit = effect.incident === 'misfit' ? misfitOf(attempt, order, context) : null
  // Since it was asked for, a doubt may have been stored, been dealt with, or have gone and come again in the same words.
  const isChanged = work.state.payment.version !== asked.version
  const isOwn = attempt.id === work.state.payment.paidAttemptId
  const mayGoOn = misfit === null ? fitsAgain(effect, ends) : isWholeAfterAll(work.state, misfit)
  if (isChanged && isOwn && mayGoOn) return UNHEARD
  if (isOutdated(effect, { asked, attempt, state: work.state, ends })) return UNHEARD
  // A misfit that an operator has before them is answered, and one without any money; any other one is asked about again.
  const isSeen = work.state.payment.parkReason === 'amount_mismatch' && attempt.status === 'on_hold'
  const isTold = effect.park !== null || effect.incident !== null
  const isAnswered = isClear || isSeen || isTold
  if (isAnswered && asked.unread !== null) await markApplied(work.tx, attempt.id, asked.unread)
  await apply(work, attempt, { effect, reference: order.reference, rate: news.rate })
  if (ends) await closeMisfit(work, attempt.id, 'gone')
  if (misfit !== null) await openMisfit(work, attempt.id, misfit)
  else if (effect.incident !== null) await work.openIncident({ kind: effect.incident, attemptId: attempt.id })
  if (effect.parts.some(({ kind }) => kind === 'reversal_outside')) {
    await work.openIncident({ kind: 'outside_reversed', attemptId: attempt.id })
    // What an operator has dealt with has gone since: in the same words it is new.
    await work.closeIncident({ kind: 'misfit', attemptId: attempt.id }, 'gone')
  }
  await recordCancel(work, attempt.id, { isMisfit: misfit !== null })
  await elect(work, deps)
  if (effect.voidsPayout) await voidPayout(work, deps.payouts)
  if (misfit !== null) await stopOrGoOn(work, deps.payouts, { attemptId: attempt.id, misfit })
  await stopIfHeld(work)
  return { understood, whole: misfit !== null && isToldWhole(work.state, order) }
}

function known({ payment, ...money }: PaymentWithAttempts): KnownPayment {
  return { ...payment, ...money, pinned: payment.provider !== null, converted: payment.usdc !== null }
}

/** Whether what did not fit is not there any more, or fits now and says what is there. */
function endsMisfit(
  effect: OrderEffect,
  { attempt, state, mayEnd }: { attempt: Attempt; state: PaymentWithAttempts; mayEnd: boolean },
): boolean {
  if (attempt.status === 'on_hold') return effect.attempt !== 'on_hold'
  return mayEnd && effect.incident !== 'misfit' && misfitOfAttempt(state.incidents, attempt.id) !== null
}

/** Whether the payment's own money, of which something did not fit or that waits for its partner's word, may go on: it fits. */
function fitsAgain(effect: OrderEffect, ends: boolean): boolean {
  return ends || effect.moves.some(({ why }) => why === 'released_by_partner')
}

/** … may go on although its order is of another amount: by the partner's word all of the money is there. */
function isWholeAfterAll({ payment, incidents }: PaymentWithAttempts, misfit: Misfit): boolean {
  const isStopped = waitsForPartner(payment.parkReason) || isInDoubt(incidents, payment)
  return isStopped && !isInDoubt([{ kind: 'misfit', attemptId: payment.paidAttemptId, misfit }], payment)
}

/**
 * The answer may be older than what was written about the attempt since the partner was asked: money that it does not
 * tell of may have come meanwhile, in the right amount or not, and money that it tells of may have gone.
 */
function isOutdated(
  effect: OrderEffect,
  { asked, attempt, state, ends }: { asked: AskedAttempt; attempt: Attempt; state: PaymentWithAttempts; ends: boolean },
): boolean {
  const now = partCount(state, attempt.id)
  const { status, updatedAt } = asked.attempt
  // An order that has ended since, or of which money has gone: what this answer tells of may be gone with it.
  const isGone = now.gone !== asked.gone || (isDead(attempt.status) && attempt.status !== status)
  if ((effect.parts.length > 0 || effect.incident === 'misfit') && isGone) return true
  const isChanged = now.parts !== asked.parts || attempt.status !== status || attempt.updatedAt !== updatedAt
  const isOther = JSON.stringify(misfitOfAttempt(state.incidents, attempt.id)) !== JSON.stringify(asked.misfit)
  return (takesAway(effect) && isChanged) || (ends && (isChanged || isOther))
}

/** Another attempt may have the whole price, where the payment's own money is missing, too little, withheld or in doubt. */
async function elect(work: PaymentWork, deps: PaymentDeps): Promise<void> {
  const elected = findElected(work.state, deps.tolerancePercent)
  if (elected === null) return
  const { payment, attempts } = work.state
  const own = attempts.find(({ id }) => id === payment.paidAttemptId)
  if (own !== undefined) {
    await setBeside(work, own.id)
    await work.change(attemptNote('surplus', { attempt_id: own.id, provider: own.provider }), givenUp(payment))
  }
  await work.restate(elected.id, { from: ['surplus'], to: 'counted' })
  const context = { account: deps.accounts[elected.provider], tolerancePercent: deps.tolerancePercent }
  const effect = takeElected(known(work.state), elected, context)
  await apply(work, elected, { effect, reference: elected.partnerReference ?? '', rate: null })
}

async function apply(
  work: PaymentWork,
  attempt: Attempt,
  news: { readonly effect: OrderEffect; readonly reference: string; readonly rate: OrderNews['rate'] },
): Promise<void> {
  const { effect } = news
  const refund = openRefund(work.state.intents, attempt.id)
  const changes = changesOf(work.state.payment, attempt, { ...news, parts: work.state.parts, at: work.at })
  if (changes.attempt !== null) await work.saveAttempt(attempt.id, changes.attempt)
  if (effect.partsBecome !== null) await work.restate(attempt.id, { from: STILL_HERE, to: effect.partsBecome })
  for (const part of changes.parts) await work.addPart(part)
  if (isWonBack(work.state.payment, changes.parts) && isAllThere(work.state))
    await work.closeIncident({ kind: 'chargeback', attemptId: attempt.id }, 'gone')
  for (const id of effect.besides) await setBeside(work, id)
  // Money that is gone needs no refund any more, whoever sent it back.
  if (refund !== null && (effect.partsBecome !== null || effect.attempt === 'refunded'))
    await work.settleIntent(refund, 'done')
  if (changes.change !== null) await work.change(changes.change.note, changes.change.fields)
  for (const { to, reason, fields } of changes.moves) await work.move(to, reason, fields)
}

/** A misfit that an operator has dealt with, and that the partner only says again, stays closed where it stops nothing. */
async function openMisfit(work: PaymentWork, attemptId: string, misfit: Misfit): Promise<void> {
  const before = work.state.incidents
  await work.openIncident({ kind: 'misfit', attemptId, misfit })
  if (work.state.incidents !== before) await work.note(noteOf('payment.misfit', { attempt_id: attemptId, ...misfit }))
}
