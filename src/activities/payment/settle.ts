import { CompleteAsyncError } from '@temporalio/activity'
import { loadPayment } from '../../db/payments/payments.ts'
import { hasClaims, lockClaims } from '../../db/refunds/deductions.ts'
import type { Hex } from '../../domain/hex.ts'
import { conversionKey } from '../../domain/ids.ts'
import { isWithinPercent } from '../../domain/money.ts'
import { findMoneyStep } from '../../domain/payment/funds/money-step.ts'
import { findOpenSale, toFunds, toMoney } from '../../domain/payment/funds/stored-funds.ts'
import type { Attempt, PaymentWithAttempts, StoredSale } from '../../domain/payment/payment-object.ts'
import { getPayoutMicro } from '../../domain/payment/reserve.ts'
import type { ActivityAnswer } from '../../domain/payment/snapshot.ts'
import { type Claim, decideDeduction } from '../../domain/refund/deduction.ts'
import { createNote } from '../../domain/timeline.ts'
import type { Conversion, EndedConversion } from '../../partners/converter/converter.ts'
import { type Change, ConditionNotMet } from '../../payments/change-payment.ts'
import type { PaymentDraft } from '../../payments/payment-draft.ts'
import { notYet, waitAfter } from '../failure.ts'
import { readAnswer } from './answer.ts'
import { applyOrder } from './apply-order.ts'
import { changeLockedMoney, changeMoney } from './change-money.ts'
import { callSignal, createReading, isSilence, noAnswer, rateToLock, toAsk, toOrderRef } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

/** Money continues only within this time after its partner has confirmed that it is there. */
const CONFIRMED_MS = 60_000
/** A longer conversion waits for an operator. */
const OVERDUE_MS = 30 * 60_000
const LONGEST_WAIT_SECONDS = 60
/** The cache of rates asks the converter at most this often. */
const NO_RATE_SECONDS = 10

/**
 * The settlement engine completes this activity once the transfer is final, stopped or void. Each request to another
 * party is stored before it is made, so each try continues from the row. A party that is not ready fails the try: until
 * the next one the workflow handles callbacks, requests and operators.
 */
export async function settle(deps: PaymentDeps, paymentId: string): Promise<ActivityAnswer> {
  let state: PaymentWithAttempts = await loadPayment(deps.db, paymentId)
  const { version } = state.payment
  for (;;) {
    const step = findMoneyStep(toFunds(state))
    // The workflow must know that an operator might have to decide, before anything is awaited.
    if (state.payment.version !== version && state.payment.status === 'under_review')
      return readAnswer(deps.db, paymentId)
    if (step.do === 'end_sale') state = await endSale(deps, state)
    else if (step.do === 'sell' || step.do === 'hand_over') state = await moveMoney(deps, state, step.do)
    else if (step.do === 'await_payout') throw new CompleteAsyncError()
    else return readAnswer(deps.db, paymentId)
  }
}

function moveMoney(
  deps: PaymentDeps,
  state: PaymentWithAttempts,
  step: 'sell' | 'hand_over',
): Promise<PaymentWithAttempts> {
  const attempt = state.attempts.find(({ id }) => id === state.payment.paidAttemptId)
  if (attempt === undefined) throw new Error(`${state.payment.id} has no money`)
  if (!isConfirmed(deps, attempt)) return confirm(deps, attempt)
  if (step === 'hand_over') return handOverForRefunds(deps, state)
  const sale = findOpenSale(state)
  return sale === null ? lockRate(deps, state, attempt) : sell(deps, state, { attempt, sale })
}

const isConfirmed = ({ context }: PaymentDeps, { confirmedAt }: Attempt): boolean =>
  confirmedAt !== null && context.now() - Date.parse(confirmedAt) < CONFIRMED_MS

/** Reads the order again: the partner might have taken the money back while the payment waited. */
async function confirm(deps: PaymentDeps, { id, paymentId, provider }: Attempt): Promise<PaymentWithAttempts> {
  const before = await loadPayment(deps.db, paymentId)
  const attempt = before.attempts.find((one) => one.id === id) as Attempt
  const order = await deps.partners[provider].readOrder(toOrderRef(attempt), callSignal())
  if (order === null) throw notYet('the partner does not know the order', LONGEST_WAIT_SECONDS)
  const reading = await createReading(deps, toAsk(before, attempt), order)
  return changeState(deps, before, (draft) => {
    const result = applyOrder(draft, deps, reading)
    if (result === 'known') draft.setAttempt(id, { confirmedAt: draft.at })
  })
}

type Selling = { readonly attempt: Attempt; readonly sale: StoredSale }

async function sell(
  deps: PaymentDeps,
  state: PaymentWithAttempts,
  { attempt, sale }: Selling,
): Promise<PaymentWithAttempts> {
  const { number, units } = sale
  if (attempt.id !== sale.accountId || attempt.rate === null) throw new Error(`sale ${number} is of other money`)
  const order = {
    key: conversionKey(state.payment.id, number),
    amount: toMoney(attempt, units),
    rate: attempt.rate.rate,
  }
  // A converter that gives no answer might have filled the order: the same key asks about the same order again.
  const conversion: Conversion = await deps.converter.convert(order, callSignal()).catch(pendingIfPartner)
  const why = 'the converter has not filled the order yet'
  return recordAnswer(deps, state, { sale, answer: conversion, stuckIfEnded: sale.accountId, why })
}

/** Asks the converter to fill the order or never to fill it, so that no money is sold without a booking. */
async function endSale(deps: PaymentDeps, state: PaymentWithAttempts): Promise<PaymentWithAttempts> {
  const sale = findOpenSale(state) as StoredSale
  const key = conversionKey(state.payment.id, sale.number)
  const ended: EndedConversion = await deps.converter.cancel(key, callSignal()).catch(pendingIfPartner)
  const why = 'the converter has not ended the order yet'
  return recordAnswer(deps, state, { sale, answer: ended, stuckIfEnded: null, why })
}

type Answered = {
  readonly sale: StoredSale
  readonly answer: Conversion | EndedConversion
  /** Set if the order has ended without a fill: another sale needs an operator's decision. */
  readonly stuckIfEnded: string | null
  readonly why: string
}

async function recordAnswer(
  deps: PaymentDeps,
  state: PaymentWithAttempts,
  { sale, answer, stuckIfEnded, why }: Answered,
): Promise<PaymentWithAttempts> {
  if (answer.kind === 'pending') return waitOrMarkStuck(deps, state, { why, seconds: answer.retryAfterSeconds })
  const isDeducted = answer.kind === 'filled' && (await hasClaims(deps.db, state.payment, getNow(deps)))
  return changeState(deps, state, (draft) => {
    if (!isOpen(draft, sale)) return
    if (answer.kind === 'filled') return recordFill(deps, draft, { sale, fill: answer, isDeducted })
    draft.setSale({ ...sale, state: 'ended' })
    draft.setPayment({ stuck: stuckIfEnded })
  }).catch((error: unknown) => {
    // No operator decides about one payment: an alert asks for a refill, which continues all of them.
    if (error instanceof ConditionNotMet) throw notYet('the float is at its reserve', LONGEST_WAIT_SECONDS)
    throw error
  })
}

/** Another try might have recorded its end already. */
const isOpen = ({ state }: PaymentDraft, { number }: StoredSale): boolean => findOpenSale(state)?.number === number

function pendingIfPartner(error: unknown): Extract<Conversion, { kind: 'pending' }> {
  if (!isSilence(error)) throw error
  return { kind: 'pending', retryAfterSeconds: waitAfter(error) }
}

type Fill = { readonly microUsdc: string; readonly reference: string }

const getNow = ({ context }: PaymentDeps): string => new Date(context.now()).toISOString()

/**
 * An operator cannot have agreed to a fill before it was made, unless it is near the locked rate. `isDeducted`: the payout
 * may have to pay for a refund, so that a later step hands it over.
 */
function recordFill(
  deps: PaymentDeps,
  draft: PaymentDraft,
  { sale, fill, isDeducted }: { readonly sale: StoredSale; readonly fill: Fill; readonly isDeducted: boolean },
): void {
  const filled: StoredSale = { ...sale, state: 'filled', fill: BigInt(fill.microUsdc), reference: fill.reference }
  // In the statement that hands the payout over: what is promised was there, and is promised once.
  if (deps.float !== null) draft.addCondition(deps.float.leavesReserve(fill.microUsdc))
  draft.setSale(filled)
  draft.setPayment({ stuck: null, ...(isFillNear(fill, sale, draft) ? {} : { agreed: null }) })
  draft.advanceFunds()
  const attempt = draft.state.attempts.find(({ id }) => id === sale.accountId)
  if (!isDeducted && attempt !== undefined && isConfirmed(deps, attempt)) handOver(deps, draft)
}

/** An operator's decision about too little money does not cover a fill far off the rate. */
const isFillNear = ({ microUsdc }: Fill, { gross }: StoredSale, { state: { payment } }: PaymentDraft): boolean =>
  isWithinPercent(microUsdc, gross.toString(), payment.fillTolerancePercent)

/** Deducts what refunds need from the payout, if there are any: they are locked, so that no other payout does the same. */
async function handOverForRefunds(deps: PaymentDeps, state: PaymentWithAttempts): Promise<PaymentWithAttempts> {
  const { payment } = state
  if (!(await hasClaims(deps.db, payment, getNow(deps))))
    return changeState(deps, state, (draft) => handOver(deps, draft))
  const { state: after } = await changeLockedMoney(deps, payment.id, async (draft, tx) => {
    handOver(deps, draft, await lockClaims(tx, payment, draft.at))
  })
  return after
}

function handOver({ payouts }: PaymentDeps, draft: PaymentDraft, claims: readonly Claim[] = []): void {
  const { payment } = draft.state
  if (findMoneyStep(toFunds(draft.state)).do !== 'hand_over' || payment.usdc === null) return
  const { usdc } = payment
  const deduction = decideDeduction(getPayoutMicro({ ...payment, usdc, deduction: null }), claims)
  if (deduction !== null)
    draft.addNote(createNote('payment.deducted', { for_refund: deduction.refundId, deducted_micro: deduction.micro }))
  draft.setPayment({ payout: 'handed', deduction })
  draft.addStatement(
    payouts.queue({
      paymentId: payment.id,
      livemode: payment.livemode,
      chainId: payment.chainId,
      token: payment.token as Hex,
      treasury: payouts.getTreasury(payment.id),
      recipient: payment.destination as Hex,
      microUsdc: getPayoutMicro({ ...payment, usdc, deduction }),
    }),
  )
}

/** Locks a rate for money that arrived when there was none. USDC has the rate that its buyer was shown. */
async function lockRate(deps: PaymentDeps, state: PaymentWithAttempts, attempt: Attempt): Promise<PaymentWithAttempts> {
  const rate = await readRate(deps, attempt)
  if (rate === null) return waitOrMarkStuck(deps, state, { why: 'there is no rate yet', seconds: NO_RATE_SECONDS })
  return changeState(deps, state, (draft) => {
    if (draft.state.attempts.find(({ id }) => id === attempt.id)?.rate !== null) return
    draft.setAttempt(attempt.id, { rate: { rate: rate.rate, source: rate.source, lockedAt: draft.at } })
    draft.addNote(createNote('payment.rate_locked', { rate: rate.rate }))
  })
}

/** Only an order in USDC names its rate. */
async function readRate(deps: PaymentDeps, attempt: Attempt): ReturnType<typeof rateToLock> {
  if (attempt.provider !== 'crypto') return rateToLock(deps, attempt)
  const order = await deps.partners.crypto.readOrder(toOrderRef(attempt), callSignal()).catch(noAnswer)
  return order === null ? null : rateToLock(deps, attempt, order)
}

/** Waits longer the longer the conversion lasts. After half an hour an operator is asked. */
async function waitOrMarkStuck(
  deps: PaymentDeps,
  state: PaymentWithAttempts,
  { why, seconds }: { readonly why: string; readonly seconds: number },
): Promise<PaymentWithAttempts> {
  const { convertingSince, stuck } = state.payment
  const lasted = convertingSince === null ? 0 : deps.context.now() - Date.parse(convertingSince)
  const isAsked = stuck !== null
  if (lasted >= OVERDUE_MS && !isAsked) {
    // The hanging sale might be of money other than the payment's present money.
    return changeState(deps, state, (draft) =>
      draft.setPayment({ stuck: findOpenSale(draft.state)?.accountId ?? draft.state.payment.paidAttemptId }),
    )
  }
  const wait = Math.max(seconds, Math.min(lasted / 1000, LONGEST_WAIT_SECONDS), 1)
  throw notYet(why, isAsked ? wait : Math.min(wait, Math.ceil((OVERDUE_MS - lasted) / 1000)))
}

async function changeState(
  deps: PaymentDeps,
  known: PaymentWithAttempts,
  change: Change,
): Promise<PaymentWithAttempts> {
  return (await changeMoney(deps, { id: known.payment.id, change, known })).state
}
