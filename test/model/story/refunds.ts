import { convertToMicroUsdcUp, type Money } from '../../../src/domain/money.ts'
import { countRefundable } from '../../../src/domain/payment/payment-object.ts'
import { REFUND_FUNDING_MS, type Refund } from '../../../src/domain/refund/refund.ts'
import { findRefundable } from '../../../src/domain/refund/refundable.ts'
import { newId } from '../../../src/ids.ts'
import { readOrder } from '../fixture/books.ts'
import type { TestPayment } from '../fixture/payment.ts'
import type { Step } from './steps.ts'

/** The merchant's actions with refunds of a settled payment, and the end of what a partner cannot end. */

type StepOf<Name extends Step['do']> = Extract<Step, { do: Name }>

const RATE = '1.08'
const SIGNATURE = `0x${'1'.repeat(130)}` as const

/**
 * Creates a refund as a request of the merchant does. It is created if, and only if, so much is left of what was paid;
 * before the settlement, if the whole payment can go back, and no other refund of it is pending.
 */
export async function createRefund(testPayment: TestPayment, { percent }: StepOf<'refund'>): Promise<void> {
  const { db, system, paymentId, timeline, testServices } = testPayment
  const state = await system.loadPayment(db, paymentId)
  const { payment } = state
  const { confirmed, paidAttemptId: attemptId } = payment
  if (confirmed === null || attemptId === null) return
  const refundable = findRefundable(state)
  const fundFrom = refundable?.fundFrom ?? 'wallet'
  const part = { ...confirmed, minor: ((BigInt(confirmed.minor) * BigInt(percent)) / 100n).toString() }
  const amount: Money = fundFrom === 'payment' ? confirmed : part
  if (amount.minor === '0') return
  const isPending = (await listRefunds(testPayment)).some(
    (one) => one.fundFrom === 'payment' && one.status === 'pending',
  )
  const isLeft = fundFrom === 'payment' ? !isPending : BigInt(amount.minor) <= BigInt(countRefundable(payment))
  const now = timeline.now()
  const made = await system.insertRefund(db, testServices.tenant, {
    id: newId('refund'),
    paymentId,
    attemptId,
    amount,
    reason: null,
    metadata: null,
    fundFrom,
    paymentVersion: payment.version,
    rate: RATE,
    rateSource: 'model',
    requiredMicro: fundFrom === 'payment' ? '0' : convertToMicroUsdcUp(amount, RATE),
    request: null,
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + REFUND_FUNDING_MS).toISOString(),
  })
  const isMade = typeof made !== 'string'
  if (isMade !== isLeft)
    testPayment.wrong.push(`a refund was ${isMade ? 'created' : 'refused'}, and the payment shows otherwise`)
  if (isMade) testPayment.ask('open a refund', 'openRefund', { who: 'outside', refundId: made.id })
}

const listRefunds = ({ system, db, paymentId }: TestPayment): Promise<Refund[]> =>
  system.readPaymentRefunds(db, paymentId)

const findRefund = async (testPayment: TestPayment, of: number): Promise<Refund | null> =>
  (await listRefunds(testPayment))[of] ?? null

export async function sendUsdc(testPayment: TestPayment, { of, percent, final }: StepOf<'send USDC'>): Promise<void> {
  const refund = await findRefund(testPayment, of)
  if (refund === null) return
  testPayment.chain.send(refund, (BigInt(refund.requiredMicro) * BigInt(percent)) / 100n)
  if (final) await testPayment.chain.record()
}

export async function signRefund(testPayment: TestPayment, { of }: StepOf<'sign'>): Promise<void> {
  const refund = await findRefund(testPayment, of)
  if (refund === null || refund.place === null) return
  const argument = { signature: SIGNATURE }
  testPayment.ask('sign', 'fundRefund', { argument, who: 'outside', refundId: refund.id })
}

export async function carrySigned({ chain }: TestPayment, { known }: StepOf<'lanes'>): Promise<void> {
  await chain.carry(known)
  if (known === 'recorded') await chain.record()
}

export async function cancelRefund(testPayment: TestPayment, { of }: StepOf<'cancel a refund'>): Promise<void> {
  const refund = await findRefund(testPayment, of)
  if (refund !== null) testPayment.ask('cancel a refund', 'cancelRefund', { who: 'outside', refundId: refund.id })
}

export async function loseRefund(testPayment: TestPayment, { of }: StepOf<'lose a refund'>): Promise<void> {
  const refund = await findRefund(testPayment, of)
  if (refund !== null) testPayment.loseRefund(refund.id)
}

/** Everything that was signed is carried, and all transfers become final. */
export async function finishChain(testPayment: TestPayment): Promise<void> {
  const { chain } = testPayment
  await chain.record()
  await chain.carry('recorded')
  await chain.record()
  testPayment.relayRefunds()
}

/** A partner that has lost the money of an order refuses the refunds of it that are pending. */
export async function refuseOrphans(testPayment: TestPayment): Promise<void> {
  const { system, db, paymentId, testServices } = testPayment
  const { attempts } = await system.loadPayment(db, paymentId)
  for (const attempt of attempts) {
    const order = await readOrder(testPayment, attempt)
    const isGone = order !== null && order.status !== 'paid' && order.status !== 'on_hold'
    const pending = isGone ? order.refunds.filter(({ isDone }) => !isDone) : []
    if (attempt.provider === 'crypto' || pending.length === 0) continue
    const { faults } = testServices.sandbox.partners[attempt.provider]
    await faults.set({ fault: 'refund_refused', attemptId: attempt.id, times: pending.length })
  }
}
