import { readStatus } from '../../db/merchants/agreement.ts'
import { loadPayment, type PaymentWithCallbacks } from '../../db/payments/payments.ts'
import { derive } from '../../domain/payment/derived.ts'
import { isOwedToBuyer, mayReturnTwice } from '../../domain/payment/funds/account.ts'
import { findOwnAccount } from '../../domain/payment/funds/funds.ts'
import { toAccount, toFunds } from '../../domain/payment/funds/stored-funds.ts'
import type { PartnerOrder } from '../../domain/payment/partner.ts'
import { canStillBePaid, isOpen } from '../../domain/payment/payment.ts'
import type { Attempt, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { type ActivityAnswer, toSnapshot } from '../../domain/payment/snapshot.ts'
import { createNote } from '../../domain/timeline.ts'
import { type Change, changePayment } from '../../payments/change-payment.ts'
import type { PaymentDraft } from '../../payments/payment-draft.ts'
import { createAnswer } from './answer.ts'
import { applyOrder } from './apply-order.ts'
import { changeMoney } from './change-money.ts'
import { applyAnswers, callRefund } from './give-back.ts'
import {
  askInTime,
  askQuietly,
  callSignal,
  createReading,
  noAnswer,
  type OrderReading,
  toAsk,
  toOrderRef,
} from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

/** How long a running identity check keeps an expired payment open, once. */
const POSTPONE_MS = 24 * 3_600_000

export type CloseAs = 'expired' | 'canceled' | 'listening_ended'

export async function readPartnerOrder(
  deps: PaymentDeps,
  { paymentId, attemptId }: { paymentId: string; attemptId: string },
): Promise<ActivityAnswer> {
  const before = await loadPayment(deps.db, paymentId)
  const attempt = before.attempts.find((candidate) => candidate.id === attemptId)
  if (attempt === undefined) return createAnswer({ state: before, events: [] })
  const isAsked = attempt.back === 'asked' && !mayReturnTwice(toAccount(attempt))
  const { refund, order } = await askInTime(async (signal) => ({
    refund: isAsked ? await callRefund(deps, attempt, signal).catch(noAnswer) : null,
    order: attempt.cancelAsked
      ? await callCancel(deps, attempt, signal)
      : await deps.partners[attempt.provider].readOrder(toOrderRef(attempt), signal),
  }))
  const reading = await createReading(deps, toAsk(before, attempt), order)
  const change: Change = (draft) => applyAnswers(draft, deps, { refund, reading })
  return createAnswer(await changeMoney(deps, { id: paymentId, change, known: before }))
}

/**
 * The request is stored first: after a crash, or if a partner is silent, every later reading of the order continues it.
 */
export async function cancelAndRead(
  deps: PaymentDeps,
  before: PaymentWithCallbacks,
  { attempts, silence }: { readonly attempts: readonly Attempt[]; readonly silence: 'at once' | 'after some tries' },
): Promise<{ readonly state: PaymentWithAttempts; readonly readings: readonly OrderReading[] }> {
  const cancelable = attempts.filter(({ provider }) => deps.partners[provider].cancelOrder !== undefined)
  const { state } = await changePayment(deps.db, deps.context, {
    id: before.payment.id,
    known: before,
    change: ({ state, setAttempt }) => {
      // One of them might have ended since it was read.
      for (const { id, status } of state.attempts)
        if (canStillBePaid(status) && cancelable.some((one) => one.id === id)) setAttempt(id, { cancelAsked: true })
    },
  })
  const asked = state.attempts.filter(({ id }) => attempts.some((one) => one.id === id))
  const readings = await Promise.all(
    asked.map(async (attempt) =>
      createReading(
        deps,
        toAsk(before, attempt),
        await askQuietly(() => callCancel(deps, attempt, callSignal()), silence),
      ),
    ),
  )
  return { state, readings }
}

async function callCancel(deps: PaymentDeps, attempt: Attempt, signal: AbortSignal): Promise<PartnerOrder | null> {
  const [at, ref] = [deps.partners[attempt.provider], toOrderRef(attempt)]
  const order = await (at.cancelOrder?.(ref, signal) ?? at.readOrder(ref, signal))
  return order ?? (attempt.status === 'opening' ? describeUnreached(deps, attempt) : null)
}

/** The partner has no order of the attempt, and its page was never shown to a buyer, so no money can arrive. */
function describeUnreached({ accounts }: PaymentDeps, { id: attemptId, provider, asked }: Attempt): PartnerOrder {
  const order = { reference: '', status: 'canceled', received: null, failureCode: null } as const
  return { ...order, attemptId, account: accounts[provider], amount: asked }
}

/** `now`: by Temporal's clock, in Unix milliseconds. */
export type ClosingOrder = { readonly paymentId: string; readonly as: CloseAs; readonly now: number }

export async function closeUnpaid(deps: PaymentDeps, { paymentId, as, now }: ClosingOrder): Promise<ActivityAnswer> {
  const before = await loadPayment(deps.db, paymentId)
  const attempts = before.attempts.filter((attempt) => canStillBePaid(attempt.status))
  // The moment was moved, for example by a buyer who takes more time, and the workflow does not know it yet.
  const isMoved = (state: PaymentWithAttempts) => getClosingMoment(state, as) > now
  if (isMoved(before)) return createAnswer({ state: before, events: [] })
  if (as === 'expired' && !before.payment.expiryPostponed && (await isAnyCheckRunning(deps, attempts)))
    return postponeExpiry(deps, before)
  // A merchant waits for the answer.
  const silence = as === 'canceled' ? 'at once' : 'after some tries'
  const { state: known, readings } = await cancelAndRead(deps, before, { attempts, silence })
  const why = as === 'canceled' ? await whyCanceled(deps, before) : 'expired'
  const change: Change = (draft) => {
    for (const item of readings) applyOrder(draft, deps, item)
    // Money that this reading found is in time.
    if (as === 'listening_ended' && !hasUnsold(draft)) endListening(draft)
    if (as !== 'listening_ended' && isOpen(derive(draft.state, draft.at).payment.status) && !isMoved(draft.state))
      close(draft, as, why)
  }
  return createAnswer(await changeMoney(deps, { id: paymentId, change, known }))
}

type WhyClosed = 'expired' | 'canceled' | 'canceled_by_suspension'

async function whyCanceled({ db }: PaymentDeps, { payment }: PaymentWithAttempts): Promise<WhyClosed> {
  return (await readStatus(db, payment)) === 'suspended' ? 'canceled_by_suspension' : 'canceled'
}

function getClosingMoment(state: PaymentWithAttempts, as: CloseAs): number {
  const { expiresAt, listenUntil } = toSnapshot(state)
  if (as === 'canceled') return 0
  return as === 'expired' ? expiresAt : (listenUntil ?? 0)
}

function hasUnsold({ state }: PaymentDraft): boolean {
  const funds = toFunds(state)
  return funds.taken === null && findOwnAccount(funds) !== null
}

/** Requests to these orders that were not carried out are dropped. */
function endListening(draft: PaymentDraft): void {
  draft.setPayment({ listenEnded: true })
  draft.addNote(createNote('payment.listening_ended'))
  for (const attempt of draft.state.attempts)
    draft.setAttempt(attempt.id, {
      cancelAsked: false,
      back: mayReturnTwice(toAccount(attempt)) ? 'no' : attempt.back,
    })
}

/** A part of the price keeps the payment open: the merchant cannot cancel it. At the expiry it counts as underpaid. */
function close(draft: PaymentDraft, as: 'expired' | 'canceled', why: WhyClosed): void {
  const parts = draft.state.attempts.filter((attempt) => attempt.status === 'open' && isOwedToBuyer(toAccount(attempt)))
  if (parts.length === 0) {
    draft.setPayment({ closedAs: as })
    draft.setCause({ why, data: {} })
    return
  }
  if (as === 'canceled') return
  for (const { id } of parts) draft.setAttempt(id, { status: 'paid', paidAt: draft.at })
}

async function isAnyCheckRunning(deps: PaymentDeps, attempts: readonly Attempt[]): Promise<boolean> {
  const checked = attempts.filter((attempt) => attempt.status === 'verification_required')
  const orders = await Promise.all(
    checked.map((attempt) =>
      askQuietly(() => deps.partners[attempt.provider].readOrder(toOrderRef(attempt), callSignal())),
    ),
  )
  return orders.some((order) => order?.status === 'verification_required')
}

async function postponeExpiry(deps: PaymentDeps, known: PaymentWithAttempts): Promise<ActivityAnswer> {
  const change: Change = ({ state: { payment }, addNote, setPayment }) => {
    if (payment.expiryPostponed || !isOpen(payment.status)) return
    addNote(createNote('payment.expiry_postponed'))
    setPayment({
      expiresAt: new Date(Date.parse(payment.expiresAt) + POSTPONE_MS).toISOString(),
      expiryPostponed: true,
    })
  }
  return createAnswer(await changePayment(deps.db, deps.context, { id: known.payment.id, change, known }))
}
