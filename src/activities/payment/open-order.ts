import { ApplicationFailure } from '@temporalio/common'
import { readStatus } from '../../db/merchants/agreement.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { getChargeCurrency } from '../../domain/methods.ts'
import { convertCurrency, type Money } from '../../domain/money.ts'
import { derive } from '../../domain/payment/derived.ts'
import { hasMoney } from '../../domain/payment/funds/stored-funds.ts'
import { fitExpiry } from '../../domain/payment/partner.ts'
import { canStillBePaid, isOpen } from '../../domain/payment/payment.ts'
import { type Attempt, checkoutUrl, type Payment } from '../../domain/payment/payment-object.ts'
import {
  type OpenAttemptAnswer,
  type OpenAttemptRequest,
  planOpening,
  readyToReuse,
} from '../../domain/payment/requests.ts'
import type { ActivityAnswer } from '../../domain/payment/snapshot.ts'
import { createNote } from '../../domain/timeline.ts'
import type { OpenedOrder } from '../../partners/provider.ts'
import { type Change, type ChangedPayment, changePayment } from '../../payments/change-payment.ts'
import { createAnswer } from './answer.ts'
import { applyOrder } from './apply-order.ts'
import { changeMoney } from './change-money.ts'
import { callSignal } from './partner-calls.ts'
import { cancelAndRead, closeUnpaid } from './partner-orders.ts'
import type { PaymentDeps } from './payment-deps.ts'

export async function openPartnerOrder(
  deps: PaymentDeps,
  request: OpenAttemptRequest & { paymentId: string },
): Promise<ActivityAnswer & { answer: OpenAttemptAnswer }> {
  let before = await loadPayment(deps.db, request.paymentId)
  // The workers cancel the payments of a suspended merchant one after the other. A part of the price keeps one open.
  if ((await readStatus(deps.db, before.payment)) === 'suspended' && !hasMoney(before)) {
    const closed = await closeUnpaid(deps, { paymentId: request.paymentId, as: 'canceled', now: deps.context.now() })
    const { status } = closed.payment
    if (!isOpen(status)) return { ...closed, answer: { kind: 'not_payable', status } }
    before = await loadPayment(deps.db, request.paymentId)
  }
  const unchanged = createAnswer({ state: before, events: [] })
  const ready = readyToReuse(before, request)
  if (ready !== null) return { ...unchanged, answer: redirect(ready.id, ready.redirectUrl) }
  const plan = planOpening(before, request)
  // This check comes before open orders are canceled: one of them might be the buyer's last.
  if (plan.kind === 'too_many_attempts') return { ...unchanged, answer: { kind: plan.kind } }

  const reused = plan.kind === 'reuse' ? plan.attempt : null
  const others = before.attempts.filter((attempt) => canStillBePaid(attempt.status) && attempt.id !== reused?.id)
  const { state: known, readings } = await cancelAndRead(deps, before, { attempts: others, silence: 'at once' })
  const attemptId = reused?.id ?? request.attemptId
  const asked = reused?.asked ?? (await amountToCharge(deps, before.payment, request))
  let isOneTooMany = false
  const addAttempt: Change = (draft) => {
    for (const item of readings) applyOrder(draft, deps, item)
    const { payment, attempts } = derive(draft.state, draft.at)
    if (!isOpen(payment.status)) return
    const isStored = attempts.some(({ id }) => id === attemptId)
    // Another run of the payment might have opened orders since they were counted above.
    isOneTooMany = !isStored && planOpening(draft.state, request).kind === 'too_many_attempts'
    if (isOneTooMany || isStored) return
    const { provider, method } = request
    draft.addAttempt({ id: attemptId, provider, method, asked })
    draft.setCause({ why: 'opened', data: { attempt_id: attemptId, provider, method } })
  }
  const begun = await changeMoney(deps, { id: request.paymentId, change: addAttempt, known })
  const { status } = begun.state.payment
  if (!isOpen(status)) return { ...createAnswer(begun), answer: { kind: 'not_payable', status } }
  if (isOneTooMany) return { ...createAnswer(begun), answer: { kind: 'too_many_attempts' } }

  const { payment } = begun.state
  // Another try of this opening might have stored another amount.
  const { asked: amount } = begun.state.attempts.find(({ id }) => id === attemptId) as Attempt
  const partner = deps.partners[request.provider]
  const opened = await partner.openOrder(
    {
      attemptId,
      amount,
      method: request.method,
      description: payment.description ?? payment.reference ?? payment.id,
      returnUrl: checkoutUrl(deps.context.publicUrl, payment.checkoutToken),
      expiresAt: fitExpiry(toSeconds(Date.parse(payment.expiresAt)), partner.lifetime, toSeconds(deps.context.now())),
    },
    callSignal(),
  )
  return recordOpened(deps, { paymentId: payment.id, attemptId, opened, begun })
}

async function recordOpened(
  deps: PaymentDeps,
  result: {
    paymentId: string
    attemptId: string
    opened: OpenedOrder
    begun: ChangedPayment
  },
): Promise<ActivityAnswer & { answer: OpenAttemptAnswer }> {
  const { attemptId, opened, begun } = result
  const recorded = await changePayment(deps.db, deps.context, {
    id: result.paymentId,
    known: begun.state,
    change: (draft) => {
      const attempt = draft.state.attempts.find((candidate) => candidate.id === attemptId)
      // A callback might have been faster than the answer: then its status is the newer one.
      const early = attempt?.status === 'opening'
      if (opened.kind === 'declined') {
        if (early) draft.setAttempt(attemptId, { status: 'declined', failureCode: opened.failureCode })
        draft.addNote(createNote('attempt.refused', { attempt_id: attemptId, failure_code: opened.failureCode }))
        return
      }
      // Another try of this opening was recorded first, and the buyer might have its page.
      if (attempt !== undefined && attempt.redirectUrl !== null) return
      const { reference, redirectUrl, intentUri } = opened
      draft.setAttempt(attemptId, {
        ...(early ? { status: 'open' as const } : {}),
        partnerReference: reference,
        redirectUrl,
        intentUri,
      })
      draft.addNote(createNote('attempt.sent', { attempt_id: attemptId, partner_reference: reference }))
    },
  })
  const page = recorded.state.attempts.find(({ id }) => id === attemptId)?.redirectUrl
  const answer: OpenAttemptAnswer =
    opened.kind === 'opened'
      ? redirect(attemptId, page ?? opened.redirectUrl)
      : { kind: 'declined', failureCode: opened.failureCode }
  return { ...createAnswer({ ...recorded, events: [...begun.events, ...recorded.events] }), answer }
}

async function amountToCharge(deps: PaymentDeps, payment: Payment, request: OpenAttemptRequest): Promise<Money> {
  const pinned = payment.provider !== null && payment.fallback === 'none' && payment.provider !== request.provider
  if (pinned)
    throw ApplicationFailure.nonRetryable(`${payment.id} is pinned to ${payment.provider}`, 'MethodNotAllowed')
  const currency = getChargeCurrency(request.provider, payment.amount.currency)
  if (currency === payment.amount.currency) return payment.amount
  const [from, to] = await Promise.all([deps.rates.current(payment.amount.currency), deps.rates.current(currency)])
  return convertCurrency(payment.amount, currency, { from: from.rate, to: to.rate })
}

const toSeconds = (milliseconds: number): number => Math.floor(milliseconds / 1000)

function redirect(attemptId: string, url: string): OpenAttemptAnswer {
  return { kind: 'redirect', attemptId, url }
}
