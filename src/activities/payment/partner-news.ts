import type { PaymentWork } from '../../db/payments/payment-changes.ts'
import type { AttemptFields, PaymentFields } from '../../db/payments/payment-writes.ts'
import { chargeback, fiatConfirmed, fiatGivenBack, fiatSuspended } from '../../domain/ledger.ts'
import type { PartnerOrder } from '../../domain/payment/partner.ts'
import { effectOfOrder, type OrderEffect } from '../../domain/payment/partner-news.ts'
import { isClosed } from '../../domain/payment/payment.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import type { Rate } from '../../providers/converter/converter.ts'
import type { PaymentDeps } from './payment-deps.ts'

/** An order as the partner reports it, and the rate to lock if its money is taken. */
export type OrderNews = { readonly attemptId: string; readonly order: PartnerOrder | null; readonly rate: Rate | null }

/** Applies what the partner said to the locked payment. Reading the same order again writes nothing. */
export async function applyOrder(work: PaymentWork, deps: PaymentDeps, news: OrderNews): Promise<void> {
  const { payment } = work.state
  const attempt = work.state.attempts.find((candidate) => candidate.id === news.attemptId)
  if (attempt === undefined || news.order === null) return
  const known = { ...payment, pinned: payment.provider !== null, converted: payment.usdc !== null }
  const context = { account: deps.accounts[attempt.provider], tolerancePercent: deps.tolerancePercent }
  const effect = tooLate(work, effectOfOrder(known, attempt, { order: news.order, context }))

  await saveAttempt(work, attempt, { effect, reference: news.order.reference })
  await bookMoney(work, attempt, effect)
  await movePayment(work, attempt, { effect, rate: news.rate })
}

/** Money after the listening time belongs to no payment any more: an operator decides in a workflow of its own. */
function tooLate(work: PaymentWork, effect: OrderEffect): OrderEffect {
  const { payment } = work.state
  if (effect.money !== 'take' || !isClosed(payment.status) || !payment.listenEnded) return effect
  return { ...effect, attempt: 'late', money: 'suspend', moves: [], park: null, exception: 'paid_late' }
}

async function saveAttempt(
  work: PaymentWork,
  attempt: Attempt,
  { effect, reference }: { effect: OrderEffect; reference: string },
): Promise<void> {
  const fields: AttemptFields = {
    ...(effect.attempt === attempt.status ? {} : { status: effect.attempt }),
    ...(effect.receivedMinor === null ? {} : { receivedMinor: effect.receivedMinor }),
    ...(effect.failureCode === null || effect.failureCode === attempt.failureCode
      ? {}
      : { failureCode: effect.failureCode }),
    ...(attempt.partnerReference === null ? { partnerReference: reference } : {}),
  }
  if (Object.keys(fields).length > 0) await work.saveAttempt(attempt.id, fields)
}

async function bookMoney(work: PaymentWork, attempt: Attempt, effect: OrderEffect): Promise<void> {
  const { payment } = work.state
  const minor = effect.receivedMinor ?? attempt.receivedMinor ?? '0'
  const fact = { paymentId: payment.id, attemptId: attempt.id, received: { minor, currency: attempt.asked.currency } }
  switch (effect.money) {
    case 'none':
      return
    case 'take':
      await work.book(fiatConfirmed(fact))
      return
    case 'suspend':
      await work.book(fiatSuspended(fact))
      return
    case 'give_back':
      await work.book(fiatGivenBack({ ...fact, from: attempt.status === 'surplus' ? 'suspense' : 'merchant_payable' }))
      return
    case 'chargeback':
      if (await work.book(chargeback(fact)))
        await work.note({
          kind: 'payment.chargeback',
          actor: 'partner',
          message: 'The partner took the money back after the conversion',
          data: fact,
        })
  }
}

async function movePayment(
  work: PaymentWork,
  attempt: Attempt,
  { effect, rate }: { effect: OrderEffect; rate: Rate | null },
): Promise<void> {
  const fields = fieldsOf(work, attempt, { effect, rate })
  const data = {
    attempt_id: attempt.id,
    provider: attempt.provider,
    ...(effect.failureCode && { failure_code: effect.failureCode }),
  }
  const [first, ...rest] = effect.moves
  if (first === undefined) {
    const changed = Object.keys(fields).length > 0 || effect.attempt !== attempt.status
    if (changed)
      await work.change(
        { kind: `attempt.${effect.attempt}`, actor: 'partner', message: attemptMessage(effect), data },
        fields,
      )
  } else {
    await work.move(first.to, { kind: `payment.${first.to}`, actor: 'partner', message: first.message, data }, fields)
    for (const move of rest)
      await work.move(
        move.to,
        { kind: `payment.${move.to}`, actor: 'partner', message: move.message, data },
        { statusReason: effect.park, parkReason: effect.park },
      )
  }
  const { payment } = work.state
  if (payment.held && payment.status === 'processing' && payment.paidAttemptId !== null)
    await work.move(
      'under_review',
      { kind: 'payment.under_review', actor: 'operator', message: 'An operator holds the payment' },
      { statusReason: 'operator_hold', parkReason: 'operator_hold' },
    )
}

function fieldsOf(
  work: PaymentWork,
  attempt: Attempt,
  { effect, rate }: { effect: OrderEffect; rate: Rate | null },
): PaymentFields {
  const { payment } = work.state
  const checkOver = payment.exception === 'verification_required' && effect.exception === null
  const parks = effect.moves.length === 1 && effect.moves[0]?.to === 'under_review'
  const leavesReview = payment.status === 'under_review' && effect.moves.length > 0 && !parks
  return {
    ...(effect.exception !== null && effect.exception !== payment.exception ? { exception: effect.exception } : {}),
    ...(checkOver && effect.attempt !== attempt.status ? { exception: null } : {}),
    ...(parks || (effect.moves.length === 0 && effect.park !== null)
      ? { parkReason: effect.park, statusReason: effect.park }
      : {}),
    ...(leavesReview ? { parkReason: null, statusReason: null } : {}),
    ...(effect.money === 'take' ? takenMoney(work, attempt, { effect, rate }) : {}),
    ...(effect.money === 'give_back' && payment.paidAttemptId === attempt.id ? GIVEN_BACK : {}),
  }
}

/** The rate is locked in the transaction in which the partner's confirmation becomes ours. */
function takenMoney(
  work: PaymentWork,
  attempt: Attempt,
  { effect, rate }: { effect: OrderEffect; rate: Rate | null },
): PaymentFields {
  if (rate === null) throw new Error(`no rate to lock for ${attempt.asked.currency}`)
  return {
    paidAttemptId: attempt.id,
    providerUsed: attempt.provider,
    methodUsed: attempt.method,
    chargeCurrency: attempt.asked.currency,
    confirmedMinor: effect.receivedMinor,
    rate: rate.rate,
    rateSource: rate.source,
    rateLockedAt: work.at,
    paidAt: work.at,
  }
}

const GIVEN_BACK: PaymentFields = {
  paidAttemptId: null,
  confirmedMinor: null,
  chargeCurrency: null,
  rate: null,
  rateSource: null,
  rateLockedAt: null,
  paidAt: null,
}

function attemptMessage(effect: OrderEffect): string {
  switch (effect.attempt) {
    case 'verification_required':
      return 'The partner asks the buyer for a one-time identity check'
    case 'surplus':
      return 'A second payment came; it is kept for an operator'
    case 'late':
      return 'Money came after the payment had stopped listening'
    case 'declined':
      return 'The attempt was declined; the buyer may try again'
    default:
      return `The partner says: ${effect.attempt.replace('_', ' ')}`
  }
}
