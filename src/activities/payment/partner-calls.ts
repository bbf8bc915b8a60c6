import { Context } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import type { PaymentWithNews } from '../../db/payments/payments.ts'
import type { PartnerOrder } from '../../domain/payment/partner.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import { abortAfter } from '../../limits/abort-after.ts'
import type { Rate } from '../../providers/converter/converter.ts'
import { isPartnerError, notYet, type PartnerTrouble, partnerFailure, secondsAfter } from '../failure.ts'
import { CALL_TIMEOUT_MS, type PaymentDeps } from './payment-deps.ts'

/** How often a partner that does not answer is asked before we go on without its word. */
const TRIES_BEFORE_SILENCE = {
  'at once': 1,
  'asked again': 2,
  'after some tries': 4,
} as const

/** Two minutes of tries for which there was no room. Beside a partner that hangs there may be none for hours. */
const TRIES_WITHOUT_ROOM = 20
/** Seconds between them. They differ, so that those who found no room do not come again all at once. */
const ROOM_AFTER = { least: 2, spread: 9 } as const

/** Seconds between the tries of a payment that waits for them: a partner may ask for an hour. */
const MOST_BETWEEN_TRIES = 10

/** An attempt as it was known before the partner was asked, with the newest of its unread news. */
export type AskedAttempt = { readonly attempt: Attempt; readonly unread: string | null }

/** An order as the partner reports it; null: no answer. */
export type OrderNews = {
  readonly asked: AskedAttempt
  readonly order: PartnerOrder | null
  /** The rate to lock if its money is taken. Null where none is needed, or there is none now. */
  readonly rate: Pick<Rate, 'rate' | 'source'> | null
}

export const toAsk = (before: PaymentWithNews, attempt: Attempt): AskedAttempt => ({
  attempt,
  unread: before.unread.get(attempt.id) ?? null,
})

/**
 * When silence is accepted, an attempt stays unproved, and the payment goes on listening for its money; a refund stays asked
 * for. A payment that is closed without having asked may be paid: where the partner was not asked, it is tried for longer.
 * A call that we gave up ourselves says nothing about the partner: it ends the activity.
 */
export async function askQuietly<Answer>(
  ask: () => Promise<Answer>,
  accept: keyof typeof TRIES_BEFORE_SILENCE = 'after some tries',
): Promise<Answer | null> {
  try {
    return await ask()
  } catch (error) {
    if (!isSilence(error)) throw error
    const waitsForRoom = !error.wasAsked && accept === 'after some tries'
    const tries = waitsForRoom ? TRIES_WITHOUT_ROOM : TRIES_BEFORE_SILENCE[accept]
    if (Context.current().info.attempt >= tries) return null
    throw waitsForRoom
      ? notYet(error.message, ROOM_AFTER.least + Math.floor(Math.random() * ROOM_AFTER.spread))
      : partnerFailure(error, MOST_BETWEEN_TRIES)
  }
}

/** True if the partner gave no answer. A call that we gave up ourselves says nothing about the partner. */
export const isSilence = (error: unknown): error is PartnerTrouble =>
  isPartnerError(error) && !Context.current().cancellationSignal.aborted

/**
 * A partner that lets the time pass, or asks us to wait, is not asked again right after it: the workflow task lasts as long as this
 * reading, and a buyer or a merchant may be waiting for it to end. The next callback or poll asks it. `ask` may make several calls
 * in the time of one.
 */
export async function askInTime<Answer>(ask: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
  const signal = callSignal()
  try {
    return await ask(signal)
  } catch (error) {
    if (!isPartnerError(error) || (!signal.aborted && secondsAfter(error) === null)) throw error
    throw ApplicationFailure.nonRetryable(error.message, `Partner.${error.kind}`)
  }
}

/** The partner's answer with the rate to lock if its money is taken, and the news that it answers. */
export async function newsOf(deps: PaymentDeps, asked: AskedAttempt, order: PartnerOrder | null): Promise<OrderNews> {
  const mayTake = order !== null && order.received !== null && asked.attempt.rate === null
  return { asked, order, rate: mayTake ? await rateToLock(deps, asked.attempt, order) : null }
}

/**
 * A partner that takes USDC itself has locked the rate when it asked for the amount. Any other rate is of the currency that
 * was asked for, whatever the order says now. Without a current rate the money is seen all the same: its conversion locks one.
 */
export async function rateToLock(
  deps: PaymentDeps,
  { asked }: Attempt,
  order?: PartnerOrder,
): Promise<OrderNews['rate']> {
  if (order?.usdc !== undefined) return order.usdc.rate
  return deps.rates.current(asked.currency).catch(noAnswer)
}

/** For `catch`: a partner that gives no answer has said nothing; anything else is thrown on. */
export function noAnswer(error: unknown): null {
  if (isSilence(error)) return null
  throw error
}

/** Ends a call when it takes too long or when the activity is canceled. */
export function callSignal(): AbortSignal {
  return abortAfter(CALL_TIMEOUT_MS, Context.current().cancellationSignal)
}
