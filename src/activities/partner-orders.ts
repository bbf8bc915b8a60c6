import { Context } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import { type Changed, changePayment } from '../db/payment-changes.ts'
import { loadPayment, type PaymentWithAttempts, snapshotOf } from '../db/payments.ts'
import { chargeCurrencyOf } from '../domain/methods.ts'
import { convertCurrency, type Money } from '../domain/money.ts'
import type { PartnerOrder } from '../domain/partner.ts'
import { isOpen, isPaid, mayStillBePaid } from '../domain/payment.ts'
import { type Attempt, checkoutUrl, type Payment } from '../domain/payment-object.ts'
import type { OpenAttemptAnswer, OpenAttemptRequest } from '../domain/requests.ts'
import type { OpenedOrder } from '../providers/provider.ts'
import { isPartnerError } from './failure.ts'
import { applyOrder, type OrderNews } from './partner-news.ts'
import { CALL_TIMEOUT_MS, type PaymentDeps } from './payment-deps.ts'

/** How often a partner that does not answer is asked before a payment is closed without its word. */
const TRIES_BEFORE_CLOSING = 4

/** A running identity check keeps an expired payment open once, for this long. */
const POSTPONE_MS = 24 * 3_600_000

export type OrderActivities = {
  openPartnerOrder(
    request: OpenAttemptRequest & { paymentId: string },
  ): Promise<Changed & { answer: OpenAttemptAnswer }>
  readPartnerOrder(which: { paymentId: string; attemptId: string }): Promise<Changed>
  closeUnpaid(close: { paymentId: string; as: CloseAs }): Promise<Changed>
}

export type CloseAs = 'expired' | 'canceled' | 'listening_ended'

export function createOrderActivities(deps: PaymentDeps): OrderActivities {
  const { db, context, partners } = deps

  return { openPartnerOrder, readPartnerOrder, closeUnpaid }

  async function openPartnerOrder(
    request: OpenAttemptRequest & { paymentId: string },
  ): Promise<Changed & { answer: OpenAttemptAnswer }> {
    const before = await loadPayment(db, request.paymentId)
    const reusable = reusableAttempt(before.attempts, request)
    if (reusable?.redirectUrl) return { ...unchanged(before), answer: redirect(reusable.id, reusable.redirectUrl) }

    const others = before.attempts.filter((attempt) => mayStillBePaid(attempt.status) && attempt.id !== reusable?.id)
    const news = await Promise.all(others.map((attempt) => cancelAndRead(attempt, 'must answer')))
    const attemptId = reusable?.id ?? request.attemptId
    const asked = reusable?.asked ?? (await amountToCharge(before.payment, request))
    const begun = await changePayment(db, context, {
      id: request.paymentId,
      work: async (work) => {
        for (const item of news) await applyOrder(work, deps, item)
        if (!isOpen(work.state.payment.status)) return
        await work.addAttempt({ id: attemptId, provider: request.provider, method: request.method, asked })
        if (work.state.payment.status === 'created')
          await work.move('pending', {
            kind: 'payment.pending',
            actor: 'buyer',
            message: 'The buyer opened a partner order',
            data: { attempt_id: attemptId, provider: request.provider, method: request.method },
          })
      },
    })
    if (!isOpen(begun.payment.status))
      return { ...begun, answer: { kind: 'not_payable', status: begun.payment.status } }

    const { payment } = before
    const opened = await partners[request.provider].openOrder(
      {
        attemptId,
        amount: asked,
        method: request.method,
        description: (payment.description ?? payment.reference ?? payment.id).slice(0, 200),
        returnUrl: checkoutUrl(context.publicUrl, payment.checkoutToken),
        expiresAt: Math.floor(Date.parse(payment.expiresAt) / 1000),
      },
      signal(),
    )
    return recordOpened({ paymentId: payment.id, attemptId, opened, begun })
  }

  async function recordOpened(result: {
    paymentId: string
    attemptId: string
    opened: OpenedOrder
    begun: Changed
  }): Promise<Changed & { answer: OpenAttemptAnswer }> {
    const { attemptId, opened } = result
    const changed = await changePayment(db, context, {
      id: result.paymentId,
      work: async (work) => {
        const attempt = work.state.attempts.find((candidate) => candidate.id === attemptId)
        // A callback may have been faster than the answer: then its status is the newer one.
        const early = attempt?.status === 'opening'
        if (opened.kind === 'declined') {
          if (early) await work.saveAttempt(attemptId, { status: 'declined', failureCode: opened.failureCode })
          await work.change(
            {
              kind: 'attempt.declined',
              actor: 'partner',
              message: 'The partner declined the order',
              data: { attempt_id: attemptId, failure_code: opened.failureCode },
            },
            {},
          )
          return
        }
        const { reference, redirectUrl, intentUri } = opened
        await work.saveAttempt(attemptId, {
          ...(early ? { status: 'open' } : {}),
          partnerReference: reference,
          redirectUrl,
          intentUri,
        })
        await work.change(
          {
            kind: 'attempt.open',
            actor: 'buyer',
            message: 'The buyer was sent to the partner',
            data: { attempt_id: attemptId, partner_reference: reference },
          },
          {},
        )
      },
    })
    const answer: OpenAttemptAnswer =
      opened.kind === 'opened'
        ? redirect(attemptId, opened.redirectUrl)
        : { kind: 'declined', failureCode: opened.failureCode }
    return { payment: changed.payment, events: [...result.begun.events, ...changed.events], answer }
  }

  async function readPartnerOrder({
    paymentId,
    attemptId,
  }: {
    paymentId: string
    attemptId: string
  }): Promise<Changed> {
    const before = await loadPayment(db, paymentId)
    const attempt = before.attempts.find((candidate) => candidate.id === attemptId)
    if (attempt === undefined) return unchanged(before)
    const order = await partners[attempt.provider].readOrder({ attemptId }, signal())
    const news = await withRate(attempt, order)
    return changePayment(db, context, { id: paymentId, work: (work) => applyOrder(work, deps, news) })
  }

  async function closeUnpaid({ paymentId, as }: { paymentId: string; as: CloseAs }): Promise<Changed> {
    const before = await loadPayment(db, paymentId)
    const unfinished = before.attempts.filter((attempt) => mayStillBePaid(attempt.status))
    if (as === 'expired' && !before.payment.expiryPostponed && (await anyCheckRuns(unfinished)))
      return postponeExpiry(paymentId)
    const news = await Promise.all(unfinished.map((attempt) => cancelAndRead(attempt, 'may be silent')))
    return changePayment(db, context, {
      id: paymentId,
      work: async (work) => {
        for (const item of news) await applyOrder(work, deps, item)
        const { status } = work.state.payment
        if (as === 'listening_ended')
          await work.change(
            { kind: 'payment.listening_ended', actor: 'system', message: 'Late money is not waited for any more' },
            { listenEnded: true },
          )
        else if (isOpen(status))
          await work.move(as, {
            kind: `payment.${as}`,
            actor: as === 'canceled' ? 'merchant' : 'system',
            message: as === 'canceled' ? 'The merchant canceled the payment' : 'Nothing was paid in time',
          })
      },
    })
  }

  async function anyCheckRuns(attempts: readonly Attempt[]): Promise<boolean> {
    const checked = attempts.filter((attempt) => attempt.status === 'verification_required')
    const orders = await Promise.all(
      checked.map((attempt) =>
        askQuietly(() => partners[attempt.provider].readOrder({ attemptId: attempt.id }, signal())),
      ),
    )
    return orders.some((order) => order?.status === 'verification_required')
  }

  function postponeExpiry(paymentId: string): Promise<Changed> {
    return changePayment(db, context, {
      id: paymentId,
      work: async (work) => {
        const { payment } = work.state
        if (payment.expiryPostponed || !isOpen(payment.status)) return
        const expiresAt = new Date(Date.parse(payment.expiresAt) + POSTPONE_MS).toISOString()
        await work.change(
          {
            kind: 'payment.expiry_postponed',
            actor: 'system',
            message: 'An identity check is running: the expiry was moved by 24 hours',
          },
          { expiresAt, expiryPostponed: true },
        )
      },
    })
  }

  /** Asks the partner to take no money any more and reads what is true afterwards. A partner that cannot cancel is read. */
  async function cancelAndRead(attempt: Attempt, partner: 'must answer' | 'may be silent'): Promise<OrderNews> {
    const { cancelOrder, readOrder } = partners[attempt.provider]
    const ask = () => (cancelOrder ?? readOrder)({ attemptId: attempt.id }, signal())
    const order = partner === 'must answer' ? await ask() : await askQuietly(ask)
    return withRate(attempt, order)
  }

  /** After a few tries silence is accepted: the attempt stays unproved, and the payment goes on listening for its money. */
  async function askQuietly(ask: () => Promise<PartnerOrder | null>): Promise<PartnerOrder | null> {
    try {
      return await ask()
    } catch (error) {
      if (isPartnerError(error) && Context.current().info.attempt >= TRIES_BEFORE_CLOSING) return null
      throw error
    }
  }

  async function withRate(attempt: Attempt, order: PartnerOrder | null): Promise<OrderNews> {
    const takes = order?.status === 'paid' && !isPaid(attempt.status)
    return { attemptId: attempt.id, order, rate: takes ? await deps.rates.current(attempt.asked.currency) : null }
  }

  /** The price, or what it is in the currency in which the partner charges. */
  async function amountToCharge(payment: Payment, request: OpenAttemptRequest): Promise<Money> {
    const pinned = payment.provider !== null && payment.fallback === 'none' && payment.provider !== request.provider
    if (pinned)
      throw ApplicationFailure.nonRetryable(`${payment.id} is pinned to ${payment.provider}`, 'MethodNotAllowed')
    const currency = chargeCurrencyOf(request.provider, payment.amount.currency)
    if (currency === payment.amount.currency) return payment.amount
    const [from, to] = await Promise.all([deps.rates.current(payment.amount.currency), deps.rates.current(currency)])
    return convertCurrency(payment.amount, currency, { from: from.rate, to: to.rate })
  }
}

/** A double click, or a return to the checkout, gets the order that is open already. */
function reusableAttempt(attempts: readonly Attempt[], request: OpenAttemptRequest): Attempt | undefined {
  return attempts.find(
    (attempt) =>
      attempt.provider === request.provider &&
      attempt.method === request.method &&
      (attempt.status === 'opening' || attempt.status === 'open' || attempt.status === 'verification_required'),
  )
}

function redirect(attemptId: string, url: string): OpenAttemptAnswer {
  return { kind: 'redirect', attemptId, url }
}

function unchanged(state: PaymentWithAttempts): Changed {
  return { payment: snapshotOf(state), events: [] }
}

function signal(): AbortSignal {
  return AbortSignal.any([AbortSignal.timeout(CALL_TIMEOUT_MS), Context.current().cancellationSignal])
}
