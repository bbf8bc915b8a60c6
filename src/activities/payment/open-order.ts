import { ApplicationFailure } from '@temporalio/common'
import { answerWith, changePayment, unchanged, type Work, type Written } from '../../db/payments/payment-changes.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { getChargeCurrency } from '../../domain/methods.ts'
import { convertCurrency, type Money } from '../../domain/money.ts'
import { derive } from '../../domain/payment/derived.ts'
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
import { changeMoney } from './change-money.ts'
import { callSignal } from './partner-calls.ts'
import { applyOrder } from './partner-news.ts'
import { cancelAndRead } from './partner-orders.ts'
import type { PaymentDeps } from './payment-deps.ts'

export async function openPartnerOrder(
  deps: PaymentDeps,
  request: OpenAttemptRequest & { paymentId: string },
): Promise<ActivityAnswer & { answer: OpenAttemptAnswer }> {
  const before = await loadPayment(deps.db, request.paymentId)
  const ready = readyToReuse(before, request)
  if (ready !== null) return { ...unchanged(before), answer: redirect(ready.id, ready.redirectUrl) }
  const plan = planOpening(before, request)
  // This check comes before open orders are canceled: one of them might be the buyer's last.
  if (plan.kind === 'too_many_attempts') return { ...unchanged(before), answer: { kind: plan.kind } }

  const reused = plan.kind === 'reuse' ? plan.attempt : null
  const others = before.attempts.filter((attempt) => canStillBePaid(attempt.status) && attempt.id !== reused?.id)
  const { state: known, news } = await cancelAndRead(deps, before, { attempts: others, silence: 'at once' })
  const attemptId = reused?.id ?? request.attemptId
  const asked = reused?.asked ?? (await amountToCharge(deps, before.payment, request))
  let isOneTooMany = false
  const begin: Work = (work) => {
    for (const item of news) applyOrder(work, deps, item)
    const { payment, attempts } = derive(work.state, work.at)
    if (!isOpen(payment.status)) return
    const isStored = attempts.some(({ id }) => id === attemptId)
    // Another run of the payment might have opened orders since they were counted above.
    isOneTooMany = !isStored && planOpening(work.state, request).kind === 'too_many_attempts'
    if (isOneTooMany || isStored) return
    const { provider, method } = request
    work.addAttempt({ id: attemptId, provider, method, asked })
    work.because({ why: 'opened', data: { attempt_id: attemptId, provider, method } })
  }
  const begun = await changeMoney(deps, { id: request.paymentId, work: begin, known })
  const { status } = begun.state.payment
  if (!isOpen(status)) return { ...answerWith(begun), answer: { kind: 'not_payable', status } }
  if (isOneTooMany) return { ...answerWith(begun), answer: { kind: 'too_many_attempts' } }

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
    begun: Written
  },
): Promise<ActivityAnswer & { answer: OpenAttemptAnswer }> {
  const { attemptId, opened, begun } = result
  const written = await changePayment(deps.db, deps.context, {
    id: result.paymentId,
    known: begun.state,
    work: (work) => {
      const attempt = work.state.attempts.find((candidate) => candidate.id === attemptId)
      // A callback might have been faster than the answer: then its status is the newer one.
      const early = attempt?.status === 'opening'
      if (opened.kind === 'declined') {
        if (early) work.setAttempt(attemptId, { status: 'declined', failureCode: opened.failureCode })
        work.note(createNote('attempt.refused', { attempt_id: attemptId, failure_code: opened.failureCode }))
        return
      }
      // Another try of this opening was recorded first, and the buyer might have its page.
      if (attempt !== undefined && attempt.redirectUrl !== null) return
      const { reference, redirectUrl, intentUri } = opened
      work.setAttempt(attemptId, {
        ...(early ? { status: 'open' as const } : {}),
        partnerReference: reference,
        redirectUrl,
        intentUri,
      })
      work.note(createNote('attempt.sent', { attempt_id: attemptId, partner_reference: reference }))
    },
  })
  const page = written.state.attempts.find(({ id }) => id === attemptId)?.redirectUrl
  const answer: OpenAttemptAnswer =
    opened.kind === 'opened'
      ? redirect(attemptId, page ?? opened.redirectUrl)
      : { kind: 'declined', failureCode: opened.failureCode }
  return { ...answerWith({ ...written, events: [...begun.events, ...written.events] }), answer }
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
