import { CompleteAsyncError } from '@temporalio/activity'
import { type Changed, changePayment, type PaymentWork, unchanged } from '../../db/payments/payment-changes.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { listUntried } from '../../db/webhooks/deliveries.ts'
import type { Hex } from '../../domain/hex.ts'
import { conversionKey } from '../../domain/ids.ts'
import { converted, depositUsed, fillSuspended, fillUsed } from '../../domain/ledger.ts'
import { convertToMicroUsdc, isWithinPercent, splitFee } from '../../domain/money.ts'
import { type PaymentFields, parked } from '../../domain/payment/changes.ts'
import type { Payment, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { because, noteOf } from '../../domain/timeline.ts'
import type { Conversion } from '../../providers/converter/converter.ts'
import { notYet } from '../failure.ts'
import { callSignal } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

type Fill = Extract<Conversion, { kind: 'filled' }>

/**
 * Buys the USDC with one idempotent order of the converter, then fixes gross, fee and net by the locked rate. An
 * order that is not filled yet is asked for again. A refusal, and a fill too far off the locked rate, park the payment.
 */
export async function convertToUsdc(deps: PaymentDeps, paymentId: string): Promise<Changed> {
  const { payment, attempts } = await loadPayment(deps.db, paymentId)
  const { confirmed, rate } = payment
  const convertible = payment.status === 'processing' && payment.usdc === null && confirmed !== null && rate !== null
  if (!convertible) return unchanged({ payment, attempts })
  const usdc = await receivedUsdc(deps, { payment, attempts })
  if (usdc !== null) return bookConversion(deps, paymentId, { kind: 'filled', ...usdc, fromDeposit: true })
  const order = { key: conversionKey(paymentId), amount: confirmed, rate: rate.rate }
  const conversion = filledBefore(payment) ?? (await deps.converter.convert(order, callSignal()))
  if (conversion.kind === 'pending')
    throw notYet('the converter has not filled the order yet', conversion.retryAfterSeconds)
  return conversion.kind === 'refused'
    ? parkConversion(deps, paymentId, conversion.reason)
    : bookConversion(deps, paymentId, { ...conversion, fromDeposit: false })
}

/** The fill that was set aside is the converter's answer for good. */
function filledBefore({ fill }: Payment): Fill | null {
  return fill === null ? null : { kind: 'filled', microUsdc: fill.micro, reference: fill.reference }
}

/** Booked under the lock, at the rate that is locked then. What came in USDC was asked for in USDC: it has no rate to be off. */
function bookConversion(
  deps: PaymentDeps,
  id: string,
  conversion: Fill & { readonly fromDeposit: boolean },
): Promise<Changed> {
  return changePayment(deps.db, deps.context, {
    id,
    work: async (work) => {
      const { usdc, status, confirmed, rate, fill } = work.state.payment
      if (usdc !== null) return
      const { fromDeposit } = conversion
      // The fill that is on record is the converter's answer for good, whatever another call was told.
      const filled = fill?.micro ?? conversion.microUsdc
      const reference = fill?.reference ?? conversion.reference
      if (status !== 'processing' || confirmed === null || rate === null) {
        if (!fromDeposit && fill === null) await keepFill(work, { filled, reference })
        return
      }
      const { gross, fee, net } = splitFee(convertToMicroUsdc(confirmed, rate.rate))
      if (!fromDeposit && !mayTake(deps, { gross, filled, fill })) return setAside(work, { gross, filled, reference })
      if (fromDeposit) await work.book(depositUsed({ paymentId: id, micro: filled }))
      else if (fill !== null) await work.book(fillUsed({ paymentId: id, micro: filled }))
      await work.book(converted({ paymentId: id, received: confirmed, gross, fee, net, filled }))
      const data = { reference, filled_micro: filled }
      await work.change(noteOf('payment.converted', data), { grossMicro: gross, feeMicro: fee, netMicro: net })
    },
  })
}

/** Near enough to the locked rate, or accepted by an operator for what the locked rate gives. */
function mayTake(
  { conversionTolerancePercent }: PaymentDeps,
  { gross, filled, fill }: { readonly gross: string; readonly filled: string; readonly fill: Payment['fill'] },
): boolean {
  return (
    isWithinPercent(filled, gross, conversionTolerancePercent) || (fill?.accepted === true && fill.expected === gross)
  )
}

/** The fill is kept and booked before an operator is asked, so that no unit of it is without an owner. */
async function setAside(
  work: PaymentWork,
  { gross, filled, reference }: { readonly gross: string; readonly filled: string; readonly reference: string },
): Promise<void> {
  await work.book(fillSuspended({ paymentId: work.state.payment.id, micro: filled }))
  const reason = because('fill_off_rate', { reference, filled_micro: filled, expected_micro: gross })
  const onRecord = fillOnRecord({ filled, expected: gross, reference })
  await work.move('under_review', reason, { ...parked('fill_off_rate'), ...onRecord })
}

/** Not taken yet: an operator accepts it, or it turns out to be near enough to the locked rate. */
function fillOnRecord(fill: {
  readonly filled: string
  readonly expected: string
  readonly reference: string
}): PaymentFields {
  return {
    fillMicro: fill.filled,
    fillExpectedMicro: fill.expected,
    fillReference: fill.reference,
    fillAccepted: false,
  }
}

/** The payment was held, or its money taken back, while the converter was asked: what it bought has an owner all the same. */
async function keepFill(
  work: PaymentWork,
  { filled, reference }: { readonly filled: string; readonly reference: string },
): Promise<void> {
  const { id, confirmed, rate } = work.state.payment
  const expected = confirmed === null || rate === null ? '0' : convertToMicroUsdc(confirmed, rate.rate)
  if (!(await work.book(fillSuspended({ paymentId: id, micro: filled })))) return
  const note = noteOf('payment.fill_kept', { reference, filled_micro: filled })
  await work.change(note, fillOnRecord({ filled, expected, reference }))
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
