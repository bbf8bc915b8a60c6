import { CompleteAsyncError } from '@temporalio/activity'
import { type Changed, changePayment, type PaymentWork, unchanged } from '../../db/payments/payment-changes.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { listUntried } from '../../db/webhooks/deliveries.ts'
import type { Hex } from '../../domain/hex.ts'
import { conversionKey } from '../../domain/ids.ts'
import { converted, depositUsed, fillUsed } from '../../domain/ledger.ts'
import { convertToMicroUsdc, type Money, splitFee } from '../../domain/money.ts'
import { parked } from '../../domain/payment/changes.ts'
import { NOT_FREE, whyNotFree } from '../../domain/payment/money/intents.ts'
import { unitSum } from '../../domain/payment/money/parts.ts'
import { lockedRate } from '../../domain/payment/order-changes.ts'
import type { Payment, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { nextStep, snapshotOf } from '../../domain/payment/snapshot.ts'
import { because, noteOf, type Reason } from '../../domain/timeline.ts'
import type { Conversion, Converter, EndedConversion } from '../../providers/converter/converter.ts'
import { isPartnerError, waitAfter } from '../failure.ts'
import type { Converted } from './conversion/converted.ts'
import { keepFill, mayTake, setAside } from './conversion/fills.ts'
import { renewConversion } from './conversion/renew.ts'
import { callSignal, noAnswer, rateToLock } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

type Fill = Extract<Conversion, { kind: 'filled' }>

/** `last`: the conversion has been tried for long enough: without a fill the payment is parked. */
export type ConversionOrder = { readonly paymentId: string; readonly last: boolean }

/**
 * Buys the USDC with one idempotent order of the converter, then fixes gross, fee and net by the locked rate. One short
 * try: a converter that has not filled the order, or does not answer, is an answer too, so that news, requests and
 * operators come in between. A refusal, and a fill too far off the locked rate, park the payment.
 */
export async function convertToUsdc(deps: PaymentDeps, { paymentId, last }: ConversionOrder): Promise<Converted> {
  const state = await loadPayment(deps.db, paymentId)
  const { payment } = state
  if (!isConvertible(payment)) return isConversionLeft(state) ? endConversion(deps, state) : unchanged(state)
  if (whyNotFree(state) !== null) return parkUnfree(deps, paymentId)
  const rate = payment.rate?.rate ?? (await lockRate(deps, state))
  if (rate === null) return last ? parkOverdue(deps, paymentId) : { ...unchanged(state), wait: NO_RATE_SECONDS }
  if (payment.conversionStale !== null) {
    const renewed = await renewConversion(deps, state, () => endOrder(deps, payment))
    return renewed.wait !== undefined && last ? parkOverdue(deps, paymentId) : renewed
  }
  if (payment.providerUsed === 'crypto') return bookDeposit(deps, paymentId)
  const key = conversionKey(paymentId, payment.conversionOrder)
  const conversion = filledBefore(payment) ?? (await askConverter(deps, { key, amount: payment.confirmed, rate }))
  switch (conversion.kind) {
    case 'filled':
      return bookConversion(deps, payment, conversion)
    case 'refused':
      return parkConversion(deps, paymentId, because('conversion_refused', { reason: conversion.reason }))
    case 'pending':
      return last ? parkOverdue(deps, paymentId) : { ...unchanged(state), wait: conversion.retryAfterSeconds }
  }
}

/** Seconds until a missing rate is asked for again: the cache of rates asks the converter at most so often. */
const NO_RATE_SECONDS = 10

function isConvertible(payment: Payment): payment is Payment & { readonly confirmed: Money } {
  return payment.status === 'processing' && payment.usdc === null && payment.confirmed !== null
}

/** A converter that gives no answer may have filled the order: the same key asks about the same order again. */
function askConverter(deps: PaymentDeps, order: Parameters<Converter['convert']>[0]): Promise<Conversion> {
  return deps.converter.convert(order, callSignal()).catch(pendingIfPartner)
}

/** Has the converter fill the order, or never fill it. */
function endOrder(deps: PaymentDeps, { id, conversionOrder }: Payment): Promise<EndedConversion> {
  return deps.converter.cancel(conversionKey(id, conversionOrder), callSignal()).catch(pendingIfPartner)
}

function pendingIfPartner(error: unknown): Extract<Conversion, { kind: 'pending' }> {
  if (!isPartnerError(error)) throw error
  return { kind: 'pending', retryAfterSeconds: waitAfter(error) }
}

const isConversionLeft = (state: PaymentWithAttempts): boolean => nextStep(snapshotOf(state)) === 'end_conversion'

/**
 * The payment will not take what the converter may have bought for it. The order is ended, or its fill is booked: the
 * money may not be sold with nobody's knowledge.
 */
async function endConversion(deps: PaymentDeps, state: PaymentWithAttempts): Promise<Converted> {
  const { id } = state.payment
  const ended = await endOrder(deps, state.payment)
  if (ended.kind === 'pending') return { ...unchanged(state), wait: ended.retryAfterSeconds }
  return changePayment(deps.db, deps.context, {
    id,
    work: async (work) => {
      if (!isConversionLeft(work.state)) return
      if (ended.kind === 'canceled') await work.change(noteOf('payment.conversion_ended'), { conversionOpen: false })
      else await keepFill(work, { filled: ended.microUsdc, reference: ended.reference })
    },
  })
}

/** The money came when there was no current rate: it is locked now. USDC has the rate that its buyer was shown. */
async function lockRate(deps: PaymentDeps, { payment, attempts }: PaymentWithAttempts): Promise<string | null> {
  const paid = attempts.find(({ id }) => id === payment.paidAttemptId)
  if (paid === undefined) return null
  const { id: attemptId, provider } = paid
  // Of USDC alone the order itself says the rate.
  const order =
    provider === 'crypto'
      ? await deps.partners.crypto.readOrder({ attemptId }, callSignal()).catch(noAnswer)
      : undefined
  const rate = order === null ? null : await rateToLock(deps, paid, order)
  if (rate === null) return null
  await changePayment(deps.db, deps.context, {
    id: payment.id,
    work: async (work) => {
      if (work.state.payment.rate === null && isConvertible(work.state.payment))
        await work.change(noteOf('payment.rate_locked', { rate: rate.rate }), lockedRate(rate, work.at))
    },
  })
  return rate.rate
}

/** The fill that was set aside is the converter's answer for good. */
function filledBefore({ fill }: Payment): Fill | null {
  return fill === null ? null : { kind: 'filled', microUsdc: fill.micro, reference: fill.reference }
}

/** Booked under the lock, at the rate that is locked then, if the money is still free to go. */
function bookConversion(
  deps: PaymentDeps,
  { id, conversionOrder: order }: Payment,
  conversion: Fill,
): Promise<Changed> {
  return changePayment(deps.db, deps.context, {
    id,
    work: async (work) => {
      const { usdc, confirmed, rate, fill } = work.state.payment
      // Of an order that was ended meanwhile the fill is booked, and one of other money is ended by the next try.
      if (usdc !== null || work.state.payment.conversionOrder !== order) return
      if (work.state.payment.conversionStale !== null && isConvertible(work.state.payment)) return
      // The fill that is on record is the converter's answer for good, whatever another call was told.
      const filled = fill?.micro ?? conversion.microUsdc
      const reference = fill?.reference ?? conversion.reference
      if (
        !isConvertible(work.state.payment) ||
        confirmed === null ||
        rate === null ||
        whyNotFree(work.state) !== null
      ) {
        if (fill === null) await keepFill(work, { filled, reference })
        await parkIfUnfree(work)
        return
      }
      const { gross, fee, net } = splitFee(convertToMicroUsdc(confirmed, rate.rate))
      if (!mayTake(deps, { gross, filled, fill })) return setAside(work, { gross, filled, reference })
      if (fill !== null) await work.book(fillUsed({ paymentId: id, order, micro: filled }))
      await work.book(converted({ paymentId: id, received: confirmed, gross, fee, net, filled }))
      // The fill is in the ledger. The timeline is the merchant's, and has the merchant's figure.
      const data = { reference, gross_micro: gross }
      await work.change(noteOf('payment.converted', data), { grossMicro: gross, feeMicro: fee, netMicro: net })
    },
  })
}

/** USDC that the buyer paid needs no converter. */
function bookDeposit(deps: PaymentDeps, id: string): Promise<Changed> {
  return changePayment(deps.db, deps.context, {
    id,
    work: async (work) => {
      const { payment } = work.state
      if (!isConvertible(payment) || payment.rate === null) return
      if (await parkIfUnfree(work)) return
      const usdc = splitFee(convertToMicroUsdc(payment.confirmed, payment.rate.rate))
      const counted = countedUnits(work.state)
      await work.book(depositUsed({ paymentId: id, usdc, counted }))
      const amounts = { grossMicro: usdc.gross, feeMicro: usdc.fee, netMicro: usdc.net }
      await work.change(noteOf('payment.converted', { counted_micro: counted }), amounts)
    },
  })
}

/** What the payment takes of its deposits: what was counted of them, in micro-USDC, and no more. */
const countedUnits = ({ payment, parts }: PaymentWithAttempts): string =>
  unitSum(parts, { attemptId: payment.paidAttemptId, states: ['counted'] })

const parkUnfree = (deps: PaymentDeps, id: string): Promise<Changed> =>
  changePayment(deps.db, deps.context, { id, work: async (work) => void (await parkIfUnfree(work)) })

/** What may not move on stands before an operator. True when it was parked. */
async function parkIfUnfree(work: PaymentWork): Promise<boolean> {
  const why = whyNotFree(work.state)
  const { status, usdc } = work.state.payment
  if (why === null || why === 'nothing' || status !== 'processing') return false
  const notConverted = usdc === null ? 'amount_mismatch' : 'payout_held'
  const notHeld = why === 'in_doubt' ? 'order_changed' : notConverted
  const park = why === 'held' ? 'operator_hold' : notHeld
  await work.move('under_review', because('money_not_free', { why: NOT_FREE[why] }), parked(park))
  return true
}

function parkConversion(deps: PaymentDeps, paymentId: string, reason: Reason): Promise<Changed> {
  return changePayment(deps.db, deps.context, {
    id: paymentId,
    work: async (work) => {
      if (isConvertible(work.state.payment)) await work.move('under_review', reason, parked('conversion'))
    },
  })
}

const parkOverdue = (deps: PaymentDeps, paymentId: string): Promise<Changed> =>
  parkConversion(deps, paymentId, because('conversion_overdue'))

/**
 * Hands the payout to the settlement engine, which completes this activity from its outbox once the transfer is
 * final, held or voided. Running it again hands in nothing twice: it only finds out how far the payout is.
 */
export async function transferUsdc(deps: PaymentDeps, paymentId: string): Promise<Changed> {
  const changed = await changePayment(deps.db, deps.context, {
    id: paymentId,
    work: async (work) => {
      const { payment } = work.state
      if (payment.status !== 'processing' || payment.usdc === null) return
      if (await parkIfUnfree(work)) return
      // Its transfer was proved while the payment had ended: the payout is over, and nothing would wake what waits for it.
      if (payment.transfer !== null) {
        const { txHash, blockNumber } = payment.transfer
        const reason = because('unexpected_settlement', { tx_hash: txHash, block_number: blockNumber })
        return work.move('under_review', reason, parked('unexpected_settlement'))
      }
      await work.move('settling', because('handed_to_settlement'))
      await deps.payouts.queue(work.tx, {
        paymentId,
        livemode: payment.livemode,
        chainId: payment.chainId,
        token: payment.token as Hex,
        treasury: deps.payouts.getTreasury(paymentId),
        recipient: payment.destination as Hex,
        microUsdc: payment.usdc.net,
      })
    },
  })
  if (changed.payment.status === 'settling') throw new CompleteAsyncError()
  return { payment: changed.payment, events: await listUntried(deps.db, paymentId) }
}
