import {
  answerWith,
  type Changed,
  changePayment,
  type PaymentWork,
  unchanged,
} from '../../db/payments/payment-changes.ts'
import { loadPayment, type PaymentWithNews } from '../../db/payments/payments.ts'
import { derive } from '../../domain/payment/derived.ts'
import { isBackAnyway, isWorth } from '../../domain/payment/funds/account.ts'
import { findOwnAccount } from '../../domain/payment/funds/funds.ts'
import { toAccount, toFunds } from '../../domain/payment/funds/stored-funds.ts'
import type { PartnerOrder } from '../../domain/payment/partner.ts'
import { isOpen, mayStillBePaid } from '../../domain/payment/payment.ts'
import type { Attempt, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { snapshotOf } from '../../domain/payment/snapshot.ts'
import { because, noteOf } from '../../domain/timeline.ts'
import { changeMoney } from './change-money.ts'
import { callRefund, recordRefund } from './give-back.ts'
import { askInTime, askQuietly, callSignal, newsOf, noAnswer, type OrderNews, toAsk } from './partner-calls.ts'
import { applyOrder } from './partner-news.ts'
import type { PaymentDeps } from './payment-deps.ts'

/** A running identity check keeps an expired payment open once, for this long. */
const POSTPONE_MS = 24 * 3_600_000

export type CloseAs = 'expired' | 'canceled' | 'listening_ended'

/** Reads an order and applies what it says. What is being carried out is carried on: a give-back, or a cancellation. */
export async function readPartnerOrder(
  deps: PaymentDeps,
  { paymentId, attemptId }: { paymentId: string; attemptId: string },
): Promise<Changed> {
  const before = await loadPayment(deps.db, paymentId)
  const attempt = before.attempts.find((candidate) => candidate.id === attemptId)
  if (attempt === undefined) return unchanged(before)
  const isAsked = attempt.back === 'asked' && !isBackAnyway(toAccount(attempt))
  const { refund, order } = await askInTime(async (signal) => ({
    refund: isAsked ? await callRefund(deps, attempt, signal).catch(noAnswer) : null,
    order: attempt.cancelAsked
      ? await callCancel(deps, attempt, signal)
      : await deps.partners[attempt.provider].readOrder({ attemptId }, signal),
  }))
  const news = await newsOf(deps, toAsk(before, attempt), order)
  const work = (work: PaymentWork) => {
    applyOrder(work, deps, news)
    if (refund !== null) recordRefund(work, attempt, refund)
  }
  return answerWith(await changeMoney(deps, { id: paymentId, work, known: before }))
}

/**
 * Has the partners take no money for these orders any more, and reads what is true afterwards. What is asked is stored
 * first: after a crash, or if a partner is silent, every later reading of the order carries it on.
 */
export async function cancelAndRead(
  deps: PaymentDeps,
  before: PaymentWithNews,
  { attempts, silence }: { readonly attempts: readonly Attempt[]; readonly silence: 'at once' | 'after some tries' },
): Promise<{ readonly state: PaymentWithAttempts; readonly news: readonly OrderNews[] }> {
  const cancelable = attempts.filter(({ provider }) => deps.partners[provider].cancelOrder !== undefined)
  const { state } = await changePayment(deps.db, deps.context, {
    id: before.payment.id,
    known: before,
    work: ({ state, setAttempt }) => {
      // One of them may have come to an end since it was read.
      for (const { id, status } of state.attempts)
        if (mayStillBePaid(status) && cancelable.some((one) => one.id === id)) setAttempt(id, { cancelAsked: true })
    },
  })
  const asked = state.attempts.filter(({ id }) => attempts.some((one) => one.id === id))
  const news = await Promise.all(
    asked.map(async (attempt) =>
      newsOf(deps, toAsk(before, attempt), await askQuietly(() => callCancel(deps, attempt, callSignal()), silence)),
    ),
  )
  return { state, news }
}

/** Asks the partner to cancel the order. A partner that cannot cancel is read. */
async function callCancel(deps: PaymentDeps, attempt: Attempt, signal: AbortSignal): Promise<PartnerOrder | null> {
  const [at, attemptId] = [deps.partners[attempt.provider], attempt.id]
  const order = await (at.cancelOrder?.({ attemptId }, signal) ?? at.readOrder({ attemptId }, signal))
  return order ?? (attempt.status === 'opening' ? neverReached(deps, attempt) : null)
}

/** The partner knows no order of the attempt, and its page was never shown to a buyer: no money can come. */
function neverReached({ accounts }: PaymentDeps, { id: attemptId, provider, asked }: Attempt): PartnerOrder {
  const order = { reference: '', status: 'canceled', received: null, failureCode: null } as const
  return { ...order, attemptId, account: accounts[provider], amount: asked }
}

/** `now`: by the clock of Temporal, in Unix milliseconds. */
export type ClosingOrder = { readonly paymentId: string; readonly as: CloseAs; readonly now: number }

/** Closes the payment, unless money has arrived: the open orders are canceled and read first. */
export async function closeUnpaid(deps: PaymentDeps, { paymentId, as, now }: ClosingOrder): Promise<Changed> {
  const before = await loadPayment(deps.db, paymentId)
  const attempts = before.attempts.filter((attempt) => mayStillBePaid(attempt.status))
  // The moment was moved, such as by a buyer who takes more time, and the workflow does not know it yet.
  const isMoved = (state: PaymentWithAttempts) => getClosingMoment(state, as) > now
  if (isMoved(before)) return unchanged(before)
  if (as === 'expired' && !before.payment.expiryPostponed && (await anyCheckRuns(deps, attempts)))
    return postponeExpiry(deps, paymentId)
  // A merchant waits for the answer.
  const silence = as === 'canceled' ? 'at once' : 'after some tries'
  const { state: known, news } = await cancelAndRead(deps, before, { attempts, silence })
  const work = (work: PaymentWork) => {
    for (const item of news) applyOrder(work, deps, item)
    // Money that this reading has found came in time.
    if (as === 'listening_ended' && !hasUnsold(work)) endListening(work)
    if (as !== 'listening_ended' && isOpen(derive(work.state, work.at).payment.status) && !isMoved(work.state))
      close(work, as)
  }
  return answerWith(await changeMoney(deps, { id: paymentId, work, known }))
}

/** When the payment is to be closed so (Unix milliseconds). */
function getClosingMoment(state: PaymentWithAttempts, as: CloseAs): number {
  const { expiresAt, listenUntil } = snapshotOf(state)
  if (as === 'canceled') return 0
  return as === 'expired' ? expiresAt : (listenUntil ?? 0)
}

function hasUnsold({ state }: PaymentWork): boolean {
  const funds = toFunds(state)
  return funds.taken === null && findOwnAccount(funds) !== null
}

/** Nobody listens to these orders any more: what has not been carried out will not be. */
function endListening(work: PaymentWork): void {
  work.set({ listenEnded: true })
  work.note(noteOf('payment.listening_ended'))
  for (const attempt of work.state.attempts)
    work.setAttempt(attempt.id, {
      cancelAsked: false,
      back: isBackAnyway(toAccount(attempt)) ? 'no' : attempt.back,
    })
}

/**
 * Money wins: it settles the payment, and a part of the price is too little. The merchant cannot cancel it away, and at the expiry
 * no more of it is waited for.
 */
function close(work: PaymentWork, as: 'expired' | 'canceled'): void {
  const parts = work.state.attempts.filter((attempt) => attempt.status === 'open' && isWorth(toAccount(attempt)))
  if (parts.length === 0) {
    work.set({ closedAs: as })
    work.because({ why: as, data: because(as).data ?? {} })
    return
  }
  if (as === 'canceled') return
  for (const { id } of parts) work.setAttempt(id, { status: 'paid', paidAt: work.at })
}

async function anyCheckRuns(deps: PaymentDeps, attempts: readonly Attempt[]): Promise<boolean> {
  const checked = attempts.filter((attempt) => attempt.status === 'verification_required')
  const orders = await Promise.all(
    checked.map((attempt) =>
      askQuietly(() => deps.partners[attempt.provider].readOrder({ attemptId: attempt.id }, callSignal())),
    ),
  )
  return orders.some((order) => order?.status === 'verification_required')
}

async function postponeExpiry(deps: PaymentDeps, paymentId: string): Promise<Changed> {
  const work = ({ state: { payment }, note, set }: PaymentWork) => {
    if (payment.expiryPostponed || !isOpen(payment.status)) return
    note(noteOf('payment.expiry_postponed'))
    set({ expiresAt: new Date(Date.parse(payment.expiresAt) + POSTPONE_MS).toISOString(), expiryPostponed: true })
  }
  return answerWith(await changePayment(deps.db, deps.context, { id: paymentId, work }))
}
