import { CompleteAsyncError } from '@temporalio/activity'
import { type Changed, changePayment, unchanged } from '../../db/payments/payment-changes.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { listUntried } from '../../db/webhooks/deliveries.ts'
import type { Hex } from '../../domain/hex.ts'
import { conversionKey } from '../../domain/ids.ts'
import { converted, depositUsed } from '../../domain/ledger.ts'
import { convertToMicroUsdc, splitFee } from '../../domain/money.ts'
import { parked } from '../../domain/payment/changes.ts'
import type { Payment, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { because, noteOf } from '../../domain/timeline.ts'
import type { Conversion } from '../../providers/converter/converter.ts'
import { notYet } from '../failure.ts'
import { callSignal } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

/**
 * Buys the USDC with one idempotent order of the converter, then fixes gross, fee and net by the locked rate. An
 * order that is not filled yet is asked for again; a refusal parks the payment.
 */
export async function convertToUsdc(deps: PaymentDeps, paymentId: string): Promise<Changed> {
  const { payment, attempts } = await loadPayment(deps.db, paymentId)
  const { confirmed, rate } = payment
  const convertible = payment.status === 'processing' && payment.usdc === null && confirmed !== null && rate !== null
  if (!convertible) return unchanged({ payment, attempts })
  const usdc = await receivedUsdc(deps, { payment, attempts })
  if (usdc !== null) return bookConversion(deps, payment, { kind: 'filled', ...usdc, fromDeposit: true })
  const conversion = await deps.converter.convert(
    { key: conversionKey(paymentId), amount: confirmed, rate: rate.rate },
    callSignal(),
  )
  if (conversion.kind === 'pending')
    throw notYet('the converter has not filled the order yet', conversion.retryAfterSeconds)
  return conversion.kind === 'refused'
    ? parkConversion(deps, paymentId, conversion.reason)
    : bookConversion(deps, payment, { ...conversion, fromDeposit: false })
}

function bookConversion(
  deps: PaymentDeps,
  { id, confirmed, rate }: Payment,
  conversion: Extract<Conversion, { kind: 'filled' }> & { readonly fromDeposit: boolean },
): Promise<Changed> {
  if (confirmed === null || rate === null) throw new Error(`${id} has no confirmed money`)
  const { gross, fee, net } = splitFee(convertToMicroUsdc(confirmed, rate.rate))
  return changePayment(deps.db, deps.context, {
    id,
    work: async (work) => {
      if (work.state.payment.usdc !== null || work.state.payment.status !== 'processing') return
      if (conversion.fromDeposit) await work.book(depositUsed({ paymentId: id, micro: conversion.microUsdc }))
      await work.book(converted({ paymentId: id, received: confirmed, gross, fee, net, filled: conversion.microUsdc }))
      const data = { reference: conversion.reference, filled_micro: conversion.microUsdc }
      await work.change(noteOf('payment.converted', data), { grossMicro: gross, feeMicro: fee, netMicro: net })
    },
  })
}

/** What the buyer paid in USDC needs no converter. Null for any other payment. */
async function receivedUsdc(
  deps: PaymentDeps,
  { payment, attempts }: PaymentWithAttempts,
): Promise<{ microUsdc: string; reference: string } | null> {
  const attempt = attempts.find(({ id }) => id === payment.paidAttemptId)
  if (attempt === undefined) return null
  const usdc = await deps.partners[attempt.provider].readUsdc?.({ attemptId: attempt.id }, callSignal())
  return usdc ? { microUsdc: usdc.micro, reference: usdc.address } : null
}

function parkConversion(deps: PaymentDeps, paymentId: string, reason: string): Promise<Changed> {
  return changePayment(deps.db, deps.context, {
    id: paymentId,
    work: async (work) => {
      if (work.state.payment.status !== 'processing') return
      await work.move('under_review', because('conversion_refused', { reason }), parked('conversion'))
    },
  })
}

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
      await work.move('settling', because('handed_to_settlement'))
      await deps.payouts.queue(work.tx, {
        paymentId,
        livemode: payment.livemode,
        chainId: payment.chainId,
        token: payment.token as Hex,
        treasury: deps.payouts.treasury,
        recipient: payment.destination as Hex,
        microUsdc: payment.usdc.net,
      })
    },
  })
  if (changed.payment.status === 'settling') throw new CompleteAsyncError()
  return { payment: changed.payment, events: await listUntried(deps.db, paymentId) }
}
