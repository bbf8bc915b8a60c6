import { CompleteAsyncError, Context } from '@temporalio/activity'
import { type Changed, changePayment, type PaymentWork, unchanged } from '../../db/payments/payment-changes.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { listUntried } from '../../db/webhooks/deliveries.ts'
import type { Hex } from '../../domain/hex.ts'
import { conversionKey } from '../../domain/ids.ts'
import { findOwnAccount } from '../../domain/payment/funds/funds.ts'
import { nextEffect } from '../../domain/payment/funds/next.ts'
import { findOpenSale, toFunds, toMoney } from '../../domain/payment/funds/stored-funds.ts'
import type { Attempt, PaymentWithAttempts, StoredSale } from '../../domain/payment/payment-object.ts'
import { noteOf } from '../../domain/timeline.ts'
import type { Conversion, EndedConversion } from '../../providers/converter/converter.ts'
import { isPartnerError, waitAfter } from '../failure.ts'
import { changeMoney } from './change-money.ts'
import { callSignal, noAnswer, rateToLock } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

/** `wait`: nothing was changed, and the step is to be tried again after this number of seconds. */
export type Converted = Changed & { readonly wait?: number }

/** `last`: the conversion has been tried for long enough: without a fill an operator must decide. */
export type ConversionOrder = { readonly paymentId: string; readonly last: boolean }

/** Seconds until a missing rate is asked for again: the cache of rates asks the converter at most so often. */
const NO_RATE_SECONDS = 10

/**
 * Sells the payment's money by an order of the converter, which is on record since the change that made it due, or ends an order
 * of other money. One short try: a converter that has not filled the order, or does not answer, is an answer too, so
 * that news, requests and operators come in between.
 */
export async function convertToUsdc(deps: PaymentDeps, { paymentId, last }: ConversionOrder): Promise<Converted> {
  const state = await loadPayment(deps.db, paymentId)
  const open = findOpenSale(state)
  const effect = nextEffect(toFunds(state))
  if (effect.do !== 'sell' && effect.do !== 'end_sale') return unchanged(state)
  const answer = await askFor(effect.do, { deps, state, open })
  if (answer.wait === undefined || !last) return answer
  const stuck = await markStuck(deps, paymentId)
  // While an operator decides about the payment, the converter is asked until the order has ended.
  return effect.do === 'sell' ? stuck : { ...stuck, wait: answer.wait }
}

function askFor(
  step: 'sell' | 'end_sale',
  {
    deps,
    state,
    open,
  }: { readonly deps: PaymentDeps; readonly state: PaymentWithAttempts; readonly open: StoredSale | null },
): Promise<Converted> {
  if (open === null) return lockRate(deps, state)
  return step === 'sell' ? sell(deps, state, open) : endSale(deps, state, open)
}

async function sell(deps: PaymentDeps, state: PaymentWithAttempts, sale: StoredSale): Promise<Converted> {
  const conversion = await askConverter(deps, state, sale)
  switch (conversion.kind) {
    case 'pending':
      return { ...unchanged(state), wait: conversion.retryAfterSeconds }
    case 'refused':
      return changeMoney(deps, state.payment.id, async (work) => {
        if (!isOpen(work, sale)) return
        // A refused order is over: another try asks for another one.
        work.setSale({ ...sale, state: 'ended' })
        work.set({ stuck: sale.accountId })
      })
    case 'filled':
      return recordFill(deps, state.payment.id, { sale, fill: conversion })
  }
}

/** A converter that gives no answer may have filled the order: the same key asks about the same order again. */
function askConverter(
  deps: PaymentDeps,
  { payment, attempts }: PaymentWithAttempts,
  { number, accountId, units }: StoredSale,
): Promise<Conversion> {
  const attempt = attempts.find(({ id }) => id === accountId)
  if (attempt === undefined || attempt.rate === null) throw new Error(`${payment.id} has no money to sell`)
  const order = { key: conversionKey(payment.id, number), amount: toMoney(attempt, units), rate: attempt.rate.rate }
  return deps.converter.convert(order, callSignal()).catch(pendingIfPartner)
}

function pendingIfPartner(error: unknown): Extract<Conversion, { kind: 'pending' }> {
  if (!isPartnerError(error)) throw error
  return { kind: 'pending', retryAfterSeconds: waitAfter(error) }
}

/** Has the converter fill the order, or never fill it, so that no money is sold without being in the books. */
async function endSale(deps: PaymentDeps, state: PaymentWithAttempts, sale: StoredSale): Promise<Converted> {
  const { id } = state.payment
  const key = conversionKey(id, sale.number)
  const ended: EndedConversion = await deps.converter.cancel(key, callSignal()).catch(pendingIfPartner)
  if (ended.kind === 'pending') return { ...unchanged(state), wait: ended.retryAfterSeconds }
  if (ended.kind !== 'canceled') return recordFill(deps, id, { sale, fill: ended })
  return changeMoney(deps, id, async (work) => {
    if (!isOpen(work, sale)) return
    work.setSale({ ...sale, state: 'ended' })
    work.set({ stuck: null })
  })
}

/** Another try may have recorded it before. */
const isOpen = ({ state }: PaymentWork, { number }: StoredSale): boolean => findOpenSale(state)?.number === number

type Fill = { readonly microUsdc: string; readonly reference: string }

/** Nobody can have agreed to a fill before it was made. */
function recordFill(
  deps: PaymentDeps,
  id: string,
  { sale, fill }: { readonly sale: StoredSale; readonly fill: Fill },
): Promise<Changed> {
  return changeMoney(deps, id, async (work) => {
    if (!isOpen(work, sale)) return
    work.setSale({ ...sale, state: 'filled', fill: BigInt(fill.microUsdc), reference: fill.reference })
    const isNear = isFillNear({ ...sale, fill: BigInt(fill.microUsdc) }, work)
    work.set({ stuck: null, ...(isNear ? {} : { agreed: null }) })
  })
}

/** The operator's word about too little money stands; about a fill that is far off the rate nothing was said. */
function isFillNear({ fill, gross }: StoredSale, { state }: PaymentWork): boolean {
  const off = (fill ?? 0n) - gross
  const distance = off < 0n ? -off : off
  return distance * 100n <= gross * BigInt(state.payment.fillTolerancePercent)
}

/**
 * The money came when there was no current rate: it is locked now. USDC has the rate that its buyer was shown.
 */
async function lockRate(deps: PaymentDeps, state: PaymentWithAttempts): Promise<Converted> {
  const own = findOwnAccount(toFunds(state))
  const attempt = state.attempts.find(({ id }) => id === own?.id)
  const rate = attempt === undefined ? null : await readRate(deps, attempt)
  if (attempt === undefined || rate === null) return { ...unchanged(state), wait: NO_RATE_SECONDS }
  return changeMoney(deps, state.payment.id, async (work) => {
    if (work.state.attempts.find(({ id }) => id === attempt.id)?.rate !== null) return
    work.setAttempt(attempt.id, { rate: { rate: rate.rate, source: rate.source, lockedAt: work.at } })
    work.note(noteOf('payment.rate_locked', { rate: rate.rate }))
  })
}

/** Only an order in USDC names its rate. */
async function readRate(deps: PaymentDeps, attempt: Attempt): ReturnType<typeof rateToLock> {
  if (attempt.provider !== 'crypto') return rateToLock(deps, attempt)
  const order = await deps.partners.crypto.readOrder({ attemptId: attempt.id }, callSignal()).catch(noAnswer)
  return order === null ? null : rateToLock(deps, attempt, order)
}

const markStuck = (deps: PaymentDeps, id: string): Promise<Changed> =>
  changePayment(deps.db, deps.context, {
    id,
    // The sale that hangs, which may be of other money than the payment has now.
    work: async (work) => {
      const { state } = work
      work.set({ stuck: findOpenSale(state)?.accountId ?? state.payment.paidAttemptId })
    },
  })

/**
 * Hands the payout to the settlement engine, which completes this activity from its outbox once the transfer is
 * final, held or voided. Another try hands over nothing: it only finds out how far the payout is, because the payment may
 * have been held since, and then its order is read first.
 */
export async function transferUsdc(deps: PaymentDeps, paymentId: string): Promise<Changed> {
  const isFirstTry = Context.current().info.attempt === 1
  const changed = await changeMoney(deps, paymentId, async (work) => {
    const { payment } = work.state
    if (!isFirstTry || nextEffect(toFunds(work.state)).do !== 'hand_over' || payment.usdc === null) return
    work.set({ payout: 'handed' })
    await deps.payouts.queue(work.tx, {
      paymentId,
      livemode: payment.livemode,
      chainId: payment.chainId,
      token: payment.token as Hex,
      treasury: deps.payouts.getTreasury(paymentId),
      recipient: payment.destination as Hex,
      microUsdc: payment.usdc.net,
    })
    // One that waited is handed over again.
    await deps.payouts.release(work.tx, paymentId)
  })
  if (changed.payment.next === 'await_payout') throw new CompleteAsyncError()
  return { payment: changed.payment, events: await listUntried(deps.db, paymentId) }
}
