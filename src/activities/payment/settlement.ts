import { CompleteAsyncError } from '@temporalio/activity'
import { type Changed, changePayment, type PaymentWork, unchanged } from '../../db/payments/payment-changes.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { listUntried } from '../../db/webhooks/deliveries.ts'
import type { Hex } from '../../domain/hex.ts'
import { conversionKey } from '../../domain/ids.ts'
import { isWithinPercent, type Money, splitFee } from '../../domain/money.ts'
import { parked } from '../../domain/payment/changes.ts'
import {
  findOpenSale,
  findOwnSale,
  grossToSell,
  isOfOwnMoney,
  newSale,
  unitsToSell,
} from '../../domain/payment/funds/stored-funds.ts'
import { NOT_FREE, whyNotFree } from '../../domain/payment/money/intents.ts'
import { lockedRate } from '../../domain/payment/order-changes.ts'
import type { Payment, PaymentWithAttempts, StoredSale } from '../../domain/payment/payment-object.ts'
import { nextStep, snapshotOf } from '../../domain/payment/snapshot.ts'
import { because, noteOf, type Reason } from '../../domain/timeline.ts'
import type { Conversion, EndedConversion } from '../../providers/converter/converter.ts'
import { isPartnerError, waitAfter } from '../failure.ts'
import { callSignal, noAnswer, rateToLock } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

/** `wait`: nothing was changed, and the step is to be tried again after this number of seconds. */
export type Converted = Changed & { readonly wait?: number }

/** `last`: the conversion has been tried for long enough: without a fill the payment is parked. */
export type ConversionOrder = { readonly paymentId: string; readonly last: boolean }

/**
 * Sells the payment's money by one idempotent order of the converter, which is on record since the change that made it
 * due, then fixes gross, fee and net by the locked rate. One short try: a converter that has not filled the order, or does
 * not answer, is an answer too, so that news, requests and operators come in between.
 */
export async function convertToUsdc(deps: PaymentDeps, { paymentId, last }: ConversionOrder): Promise<Converted> {
  const state = await loadPayment(deps.db, paymentId)
  const { payment } = state
  const open = findOpenSale(state)
  if (!isConvertible(payment)) return open !== null && isSaleLeft(state) ? endSale(deps, state, open) : unchanged(state)
  if (whyNotFree(state) !== null) return parkUnfree(deps, paymentId)
  if (payment.rate === null && !(await lockRate(deps, state)))
    return last ? parkOverdue(deps, paymentId) : { ...unchanged(state), wait: NO_RATE_SECONDS }
  const answer = await sell(deps, payment.rate === null ? await loadPayment(deps.db, paymentId) : state)
  return answer.wait !== undefined && last ? parkOverdue(deps, paymentId) : answer
}

/** Seconds until the payment is looked at again. */
const NOTHING_DUE_SECONDS = 10

/** Seconds until a missing rate is asked for again: the cache of rates asks the converter at most so often. */
const NO_RATE_SECONDS = 10

function isConvertible(payment: Payment): payment is Payment & { readonly confirmed: Money } {
  return payment.status === 'processing' && payment.usdc === null && payment.confirmed !== null
}

/** An order of other money is ended first. What was bought for it is the platform's, and another order follows. */
async function sell(deps: PaymentDeps, state: PaymentWithAttempts): Promise<Converted> {
  const { payment } = state
  const open = findOpenSale(state)
  if (open !== null && !isOfOwnMoney(state, open)) return endSale(deps, state, open)
  if (payment.providerUsed === 'crypto' || findOwnSale(state) !== null)
    return changePayment(deps.db, deps.context, {
      id: payment.id,
      work: async (work) => void (await take(work, deps, { isNew: false })),
    })
  // Nothing is due: whoever is changing the payment now says what to sell.
  if (open === null) return { ...unchanged(state), wait: NOTHING_DUE_SECONDS }
  const conversion = await askConverter(deps, state, open)
  switch (conversion.kind) {
    case 'pending':
      return { ...unchanged(state), wait: conversion.retryAfterSeconds }
    case 'refused':
      return endRefused(deps, payment.id, { sale: open, why: conversion.reason })
    case 'filled':
      return changePayment(deps.db, deps.context, {
        id: payment.id,
        work: async (work) => {
          const isNew = await saveFill(work, open, conversion)
          const isTaken = await take(work, deps, { isNew })
          if (isNew && !isTaken) await noteFill(work, conversion)
        },
      })
  }
}

/** A converter that gives no answer may have filled the order: the same key asks about the same order again. */
function askConverter(
  deps: PaymentDeps,
  { payment }: PaymentWithAttempts,
  { number }: StoredSale,
): Promise<Conversion> {
  const { id, confirmed, rate } = payment
  if (confirmed === null || rate === null) throw new Error(`${id} has no money to sell`)
  const order = { key: conversionKey(id, number), amount: confirmed, rate: rate.rate }
  return deps.converter.convert(order, callSignal()).catch(pendingIfPartner)
}

function pendingIfPartner(error: unknown): Extract<Conversion, { kind: 'pending' }> {
  if (!isPartnerError(error)) throw error
  return { kind: 'pending', retryAfterSeconds: waitAfter(error) }
}

/** True if the payment is over, and the converter may still fill an order of it. */
const isSaleLeft = (state: PaymentWithAttempts): boolean => nextStep(snapshotOf(state)) === 'end_conversion'

/** Has the converter fill the order, or never fill it, so that no money is sold without being in the books. */
async function endSale(deps: PaymentDeps, state: PaymentWithAttempts, sale: StoredSale): Promise<Converted> {
  const { id } = state.payment
  const key = conversionKey(id, sale.number)
  const ended: EndedConversion = await deps.converter.cancel(key, callSignal()).catch(pendingIfPartner)
  if (ended.kind === 'pending') return { ...unchanged(state), wait: ended.retryAfterSeconds }
  return changePayment(deps.db, deps.context, {
    id,
    work: async (work) => {
      if (ended.kind === 'canceled') await recordEnd(work, sale)
      else if (await saveFill(work, sale, ended)) await noteFill(work, ended)
    },
  })
}

/** Another try may have recorded it before. */
const isOpen = ({ state }: PaymentWork, { number }: StoredSale): boolean => findOpenSale(state)?.number === number

type Fill = { readonly microUsdc: string; readonly reference: string }

/** False if another try has stored what became of the sale. */
async function saveFill(work: PaymentWork, sale: StoredSale, { microUsdc, reference }: Fill): Promise<boolean> {
  if (!isOpen(work, sale)) return false
  await work.saveSale({ ...sale, state: 'filled', fill: BigInt(microUsdc), reference })
  return true
}

/** The payment does not take the fill, or not yet. */
async function noteFill(work: PaymentWork, { microUsdc, reference }: Fill): Promise<void> {
  await work.change(noteOf('payment.sold', { reference, filled_micro: microUsdc }), { agreed: false })
}

async function recordEnd(work: PaymentWork, sale: StoredSale): Promise<void> {
  if (!isOpen(work, sale)) return
  await work.saveSale({ ...sale, state: 'ended' })
  await work.change(noteOf('payment.conversion_ended'), {})
}

/** A refused order is over: a retry asks for another one. */
function endRefused(
  deps: PaymentDeps,
  id: string,
  { sale, why }: { readonly sale: StoredSale; readonly why: string },
): Promise<Changed> {
  return changePayment(deps.db, deps.context, {
    id,
    work: async (work) => {
      if (isOpen(work, sale)) await work.saveSale({ ...sale, state: 'ended' })
      const reason = because('conversion_refused', { reason: why })
      if (isConvertible(work.state.payment)) await work.move('under_review', reason, parked('conversion'))
    },
  })
}

/**
 * Under the lock: the payment takes the sale of its money, if the money is free to go, and the fill is near the rate or an
 * operator has agreed to it. `isNew`: nobody can have agreed to it yet. False if the payment stays as it is.
 */
async function take(work: PaymentWork, deps: PaymentDeps, { isNew }: { readonly isNew: boolean }): Promise<boolean> {
  const { payment } = work.state
  if (!isConvertible(payment) || payment.rate === null) return false
  if (await parkIfUnfree(work)) return false
  const sale = payment.providerUsed === 'crypto' ? saleOfUsdc(work.state) : findOwnSale(work.state)
  if (sale === null || sale.fill === null) return false
  const [filled, expected] = [sale.fill.toString(), sale.gross.toString()]
  const isAgreed = payment.agreed && !isNew
  if (!isAgreed && sale.reference !== null && !isNear(deps, { filled, expected })) {
    const data = { reference: sale.reference, filled_micro: filled, expected_micro: expected }
    const fields = { ...parked('fill_off_rate'), agreed: false }
    await work.move('under_review', because('fill_off_rate', data), fields)
    return true
  }
  if (sale.reference === null) await work.saveSale(sale)
  const { gross, fee, net } = splitFee(expected)
  // The fill is in the sale. The timeline is the merchant's, and has the merchant's figure.
  const amounts = { grossMicro: gross, feeMicro: fee, netMicro: net, takenSale: sale.number }
  await work.change(noteOf('payment.converted', { gross_micro: gross, reference: sale.reference }), amounts)
  return true
}

const isNear = (
  { conversionTolerancePercent }: PaymentDeps,
  { filled, expected }: { readonly filled: string; readonly expected: string },
): boolean => isWithinPercent(filled, expected, conversionTolerancePercent)

/** USDC that the buyer paid needs no converter: it is its own fill. */
function saleOfUsdc(state: PaymentWithAttempts): StoredSale | null {
  const gross = grossToSell(state)
  const units = unitsToSell(state)
  return gross === null ? null : { ...newSale(state, { units, gross }), state: 'filled', fill: units }
}

/**
 * The money came when there was no current rate: it is locked now. USDC has the rate that its buyer was shown. False if
 * there is none.
 */
async function lockRate(deps: PaymentDeps, { payment, attempts }: PaymentWithAttempts): Promise<boolean> {
  const paid = attempts.find(({ id }) => id === payment.paidAttemptId)
  if (paid === undefined) return false
  const { id: attemptId, provider } = paid
  // Only an order in USDC names its rate.
  const order =
    provider === 'crypto'
      ? await deps.partners.crypto.readOrder({ attemptId }, callSignal()).catch(noAnswer)
      : undefined
  const rate = order === null ? null : await rateToLock(deps, paid, order)
  if (rate === null) return false
  await changePayment(deps.db, deps.context, {
    id: payment.id,
    work: async (work) => {
      if (work.state.payment.rate === null && isConvertible(work.state.payment))
        await work.change(noteOf('payment.rate_locked', { rate: rate.rate }), lockedRate(rate, work.at))
    },
  })
  return true
}

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
