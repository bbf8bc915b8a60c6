import { type Changed, changePayment, unchanged } from '../../db/payments/payment-changes.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { isOpen, mayStillBePaid } from '../../domain/payment/payment.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import { because, noteOf } from '../../domain/timeline.ts'
import { askQuietly, callSignal, cancelAndRead, newsOf, toAsk } from './partner-calls.ts'
import { applyOrder } from './partner-news.ts'
import type { PaymentDeps } from './payment-deps.ts'

/** A running identity check keeps an expired payment open once, for this long. */
const POSTPONE_MS = 24 * 3_600_000

export type CloseAs = 'expired' | 'canceled' | 'listening_ended'

/** `understood`: the partner answered about this order; what it said is what is true now. */
export type OrderRead = Changed & { readonly understood: boolean }

export async function readPartnerOrder(
  deps: PaymentDeps,
  { paymentId, attemptId }: { paymentId: string; attemptId: string },
): Promise<OrderRead> {
  const before = await loadPayment(deps.db, paymentId)
  const attempt = before.attempts.find((candidate) => candidate.id === attemptId)
  if (attempt === undefined) return { ...unchanged(before), understood: false }
  const order = await deps.partners[attempt.provider].readOrder({ attemptId }, callSignal())
  const news = await newsOf(deps, toAsk(before, attempt), order)
  let understood = false
  const changed = await changePayment(deps.db, deps.context, {
    id: paymentId,
    work: async (work) => {
      understood = await applyOrder(work, deps, news)
    },
  })
  return { ...changed, understood }
}

export async function closeUnpaid(
  deps: PaymentDeps,
  { paymentId, as }: { paymentId: string; as: CloseAs },
): Promise<Changed> {
  const before = await loadPayment(deps.db, paymentId)
  const unfinished = before.attempts.filter((attempt) => mayStillBePaid(attempt.status))
  if (as === 'expired' && !before.payment.expiryPostponed && (await anyCheckRuns(deps, unfinished)))
    return postponeExpiry(deps, paymentId)
  const news = await Promise.all(
    unfinished.map((attempt) => cancelAndRead(deps, toAsk(before, attempt), 'may be silent')),
  )
  return changePayment(deps.db, deps.context, {
    id: paymentId,
    work: async (work) => {
      for (const item of news) await applyOrder(work, deps, item)
      const { status } = work.state.payment
      if (as === 'listening_ended') await work.change(noteOf('payment.listening_ended'), { listenEnded: true })
      else if (isOpen(status)) await work.move(as, because(as))
    },
  })
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

function postponeExpiry(deps: PaymentDeps, paymentId: string): Promise<Changed> {
  return changePayment(deps.db, deps.context, {
    id: paymentId,
    work: async (work) => {
      const { payment } = work.state
      if (payment.expiryPostponed || !isOpen(payment.status)) return
      const expiresAt = new Date(Date.parse(payment.expiresAt) + POSTPONE_MS).toISOString()
      await work.change(noteOf('payment.expiry_postponed'), { expiresAt, expiryPostponed: true })
    },
  })
}
