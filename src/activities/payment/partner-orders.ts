import { type Changed, changePayment, type PaymentWork, unchanged } from '../../db/payments/payment-changes.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { openCancel, openRefund } from '../../domain/payment/money/intents.ts'
import { partOfPrice } from '../../domain/payment/order-changes.ts'
import { isOver, isWithheld } from '../../domain/payment/partner-news.ts'
import { isOpen, mayStillBePaid } from '../../domain/payment/payment.ts'
import type { Attempt, Payment, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { because, noteOf } from '../../domain/timeline.ts'
import { type Cancellation, callCancel, cancelAndRead, giveUpCancels } from './cancel-order.ts'
import { type AskedAttempt, askInTime, askQuietly, callSignal, newsOf, toAsk } from './partner-calls.ts'
import { applyOrder, type Heard, UNHEARD } from './partner-news.ts'
import { CLOCKS_DIFFER_MS, type PaymentDeps } from './payment-deps.ts'
import { callRefund, recordRefund } from './refund.ts'

/** A running identity check keeps an expired payment open once, for this long. */
const POSTPONE_MS = 24 * 3_600_000

export type CloseAs = 'expired' | 'canceled' | 'listening_ended'

/** For each way to close a payment: who cancels its open orders, why, and how long a silent partner is asked. */
const CLOSINGS: Readonly<Record<CloseAs, Pick<Cancellation, 'note' | 'silence'>>> = {
  expired: { note: { operator: 'system', reason: 'the payment has expired' }, silence: 'after some tries' },
  canceled: { note: { operator: 'merchant', reason: 'the payment was canceled' }, silence: 'at once' },
  listening_ended: {
    note: { operator: 'system', reason: 'late money is no longer expected' },
    silence: 'after some tries',
  },
}

/** `withheld`: the partner reports that the money of the payment must not be sold, not yet or not any more. */
export type OrderRead = Changed & Heard & { readonly withheld: boolean }

/** Reads an order and applies what it says. What is being carried out is carried on: a refund, or its cancellation. */
export async function readPartnerOrder(
  deps: PaymentDeps,
  { paymentId, attemptId }: { paymentId: string; attemptId: string },
): Promise<OrderRead> {
  const before = await loadPayment(deps.db, paymentId)
  const attempt = before.attempts.find((candidate) => candidate.id === attemptId)
  if (attempt === undefined) return { ...unchanged(before), ...UNHEARD, withheld: false }
  const intent = openRefund(before.intents, attemptId)
  const refund = intent === null ? null : { intent, result: await callRefund(deps, attempt) }
  const isCanceling = openCancel(before.intents, attemptId) !== null
  const order = await askInTime((signal) =>
    isCanceling ? callCancel(deps, attempt, signal) : deps.partners[attempt.provider].readOrder({ attemptId }, signal),
  )
  const news = await newsOf(deps, toAsk(before, attempt), order)
  let heard = UNHEARD
  let withheld = false
  const changed = await changePayment(deps.db, deps.context, {
    id: paymentId,
    work: async (work) => {
      const isNewest = work.state.payment.version === news.asked.version
      // It was refused before the order was read: the money that the order tells of is where it was, if it tells of any.
      const isRefusal = refund?.result.kind === 'refused' && !(order !== null && isOver(order))
      const isRefused = isRefusal && (await recordRefund(work, deps, refund))
      const asked = isRefused && isNewest ? askedAnew(work.state, news.asked) : news.asked
      heard = await applyOrder(work, deps, { ...news, asked })
      withheld = heard.understood && order !== null && isWithheld(work.state, order)
      if (refund !== null && !isRefused) await recordRefund(work, deps, refund)
    },
  })
  return { ...changed, ...heard, withheld }
}

/** As if the partner had been asked after what was just written, which it had answered before. */
function askedAnew(state: PaymentWithAttempts, asked: AskedAttempt): AskedAttempt {
  const attempt = state.attempts.find(({ id }) => id === asked.attempt.id) ?? asked.attempt
  return { ...toAsk({ ...state, unread: new Map() }, attempt), unread: asked.unread }
}

/** `expiresAt`: the end that has passed, in Unix milliseconds. */
export type ClosingOrder = { readonly paymentId: string; readonly as: CloseAs; readonly expiresAt: number }

export async function closeUnpaid(deps: PaymentDeps, { paymentId, as, expiresAt }: ClosingOrder): Promise<Changed> {
  const before = await loadPayment(deps.db, paymentId)
  const unfinished = before.attempts.filter((attempt) => mayStillBePaid(attempt.status))
  // The buyer was given more time, and the workflow does not know it yet.
  const isMoved = (payment: Payment) => as === 'expired' && isExtended(deps, payment, expiresAt)
  if (isMoved(before.payment)) return unchanged(before)
  if (as === 'expired' && !before.payment.expiryPostponed && (await anyCheckRuns(deps, unfinished)))
    return postponeExpiry(deps, paymentId)
  const news = await cancelAndRead(deps, before, { attempts: unfinished, ...CLOSINGS[as] })
  return changePayment(deps.db, deps.context, {
    id: paymentId,
    work: async (work) => {
      for (const item of news) await applyOrder(work, deps, item)
      if (as === 'listening_ended') {
        await giveUpCancels(work)
        await work.change(noteOf('payment.listening_ended'), { listenEnded: true })
      } else if (isOpen(work.state.payment.status) && !isMoved(work.state.payment)) await close(work, as)
    },
  })
}

/** True if the payment was given a later end, which has not passed. */
function isExtended({ context }: PaymentDeps, { status, expiryExtended, expiresAt }: Payment, passed: number): boolean {
  const end = Date.parse(expiresAt)
  const isLater = end > context.now() + (passed === end ? CLOCKS_DIFFER_MS : 0)
  return expiryExtended && isOpen(status) && isLater
}

/** A part of the price is money: the merchant cannot cancel it away, and at the expiry it is a payment of too little. */
async function close(work: PaymentWork, as: 'expired' | 'canceled'): Promise<void> {
  const part = partOfPrice(work.state)
  if (part === null) await work.move(as, because(as))
  else if (as === 'expired') {
    const { id: attemptId, status } = part.attempt
    if (status !== 'underpaid') await work.saveAttempt(attemptId, { status: 'underpaid' })
    await work.move('under_review', because('underpaid', { attempt_id: attemptId }), part.fields(work.at))
  }
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
