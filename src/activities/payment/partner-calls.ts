import { Context } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import type { PaymentWithCallbacks } from '../../db/payments/payments.ts'
import type { PartnerOrder } from '../../domain/payment/partner.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import type { Rate } from '../../partners/converter/converter.ts'
import type { OrderRef } from '../../partners/provider.ts'
import { abortAfter } from '../../runtime/abort-after.ts'
import { isPartnerError, notYet, type PartnerTrouble, partnerFailure, secondsAfter } from '../failure.ts'
import { CALL_TIMEOUT_MS, type PaymentDeps } from './payment-deps.ts'

const TRIES_BEFORE_SILENCE = {
  'at once': 1,
  'asked again': 2,
  'after some tries': 4,
} as const

/** About two minutes of tries without a free slot. While a partner hangs there can be none for hours. */
const TRIES_WITHOUT_ROOM = 20
/** Seconds between them. They vary, so that calls that found no slot do not all return at the same moment. */
const ROOM_AFTER = { least: 2, spread: 9 } as const

/** Seconds between the tries for which a payment waits: a partner might ask for an hour. */
const MOST_BETWEEN_TRIES = 10

/** An attempt as it was known before the partner was asked, with its newest unread callback. */
export type AskedAttempt = { readonly attempt: Attempt; readonly unread: string | null }

export type OrderReading = {
  readonly asked: AskedAttempt
  readonly order: PartnerOrder | null
  /** The rate to lock if its money counts. Null: none is needed, or there is none now. */
  readonly rate: Pick<Rate, 'rate' | 'source'> | null
}

export const toOrderRef = ({ id, partnerReference, partnerDisputes }: Attempt): OrderRef => ({
  attemptId: id,
  reference: partnerReference,
  disputes: partnerDisputes,
})

export const toAsk = (before: PaymentWithCallbacks, attempt: Attempt): AskedAttempt => ({
  attempt,
  unread: before.unread.get(attempt.id) ?? null,
})

/**
 * Asks a partner, and returns null if its silence is accepted: the payment continues to listen for its money, and a
 * refund stays requested. A payment that is closed without an answer might be paid, so it is tried longer. A call that
 * the activity aborted proves nothing about the partner: it ends the activity.
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
 * The workflow task lasts as long as this reading, and a buyer or merchant might wait for it: a partner that exceeds the time
 * or asks us to wait is asked by the next callback or poll. `ask` can make several calls within the time of one.
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

export async function createReading(
  deps: Pick<PaymentDeps, 'rates'>,
  asked: AskedAttempt,
  order: PartnerOrder | null,
): Promise<OrderReading> {
  const mayTake = order !== null && order.received !== null && asked.attempt.rate === null
  return { asked, order, rate: mayTake ? await rateToLock(deps, asked.attempt, order) : null }
}

/**
 * A partner that accepts USDC has locked the rate when it asked for the amount. Any other rate is that of the requested
 * currency. Without a current rate the money still counts: its conversion locks one.
 */
export async function rateToLock(
  deps: Pick<PaymentDeps, 'rates'>,
  { asked }: Attempt,
  order?: PartnerOrder,
): Promise<OrderReading['rate']> {
  if (order?.usdc !== undefined) return order.usdc.rate
  return deps.rates.current(asked.currency).catch(noAnswer)
}

export function noAnswer(error: unknown): null {
  if (isSilence(error)) return null
  throw error
}

/** Aborts a call that takes too long, or when the activity is canceled. */
export function callSignal(): AbortSignal {
  return abortAfter(CALL_TIMEOUT_MS, Context.current().cancellationSignal)
}
