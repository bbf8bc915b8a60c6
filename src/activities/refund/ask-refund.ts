import type { PaymentWithCallbacks } from '../../db/payments/payments.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { findDeductions } from '../../db/refunds/deductions.ts'
import { hasRefundUsdc, loadRefund } from '../../db/refunds/refunds.ts'
import { freeUnits } from '../../domain/payment/funds/account.ts'
import { toAccount } from '../../domain/payment/funds/stored-funds.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import { isWithPartner, type Refund, type RefundFailure } from '../../domain/refund/refund.ts'
import type { RefundAnswer } from '../../domain/refund/refund-step.ts'
import { createNote } from '../../domain/timeline.ts'
import type { RefundResult } from '../../partners/provider.ts'
import { type ChangedRefund, changeRefund, type RefundDraft } from '../../payments/change-refund.ts'
import { notYet } from '../failure.ts'
import { applyOrder } from '../payment/apply-order.ts'
import { callSignal, createReading, type OrderReading, toAsk, toOrderRef } from '../payment/partner-calls.ts'
import { giveBackRefund } from './give-back-refund.ts'
import { createRefundAnswer, type RefundDeps } from './refund-deps.ts'

/** Seconds after which a try that met another change of the payment is made again. */
const AGAIN_SECONDS = 1
/** Seconds between two looks at what the chain has shown since a backup was restored. */
const UNSURE_SECONDS = 60

/**
 * Has the partner give the money back, under the id of the refund. The request is stored before the partner is asked,
 * and repeating it asks how far the refund is. No answer means unknown: then this is tried again, and nothing is decided.
 */
export async function askRefund(deps: RefundDeps, id: string): Promise<RefundAnswer> {
  const known = await loadRefund(deps.db, id)
  if (known.fundFrom === 'payment') return giveBackRefund(deps, id)
  const begun = isWithPartner(known) ? await begin(deps, known) : { refund: known, events: [] }
  if (begun.refund.status !== 'pending') return createRefundAnswer(begun)
  const result = await callPartner(deps, begun.refund)
  if (result.kind === 'pending') return createRefundAnswer(begun)
  const ended = await (result.kind === 'refused'
    ? refuse(deps, begun.refund, result.reason)
    : succeed(deps, begun.refund))
  return createRefundAnswer({ ...ended, events: [...begun.events, ...ended.events] })
}

/**
 * Decides whether the partner is asked. A restored backup may have forgotten how far the refund was. A refund that the
 * partner has with the key is this one, whatever the order still has. Without one, its USDC may have gone back already,
 * or money that was charged back since is not there to be refunded.
 */
async function begin(deps: RefundDeps, known: Refund): Promise<ChangedRefund> {
  const { id, paymentId, attemptId, status } = known
  const { attempt: asked } = await findAttempt(deps, known)
  const found = await deps.partners[asked.provider].findRefund?.({ ...toOrderRef(asked), key: id }, callSignal())
  const isRequested = found !== undefined && found !== null
  if (!isRequested && !(await hasUsdc(deps, known))) return fail(deps, known, { why: 'usdc_returned' })
  if (status === 'pending') return { refund: known, events: [] }
  const reading = await readOrder(deps, { paymentId, attemptId })
  return changeRefund(deps.db, deps.context, {
    id,
    change: (draft) => {
      const { refund, setRefund } = draft
      if (refund.status !== 'funded') return
      const attempt = applyReading(deps, draft, reading)
      if (!isRequested && freeUnits(toAccount(attempt)) < BigInt(refund.amount.minor))
        return setRefund({ status: 'failed', statusReason: 'money_gone' })
      setRefund({ status: 'pending', partnerKey: id })
    },
  })
}

async function hasUsdc({ db }: RefundDeps, refund: Refund): Promise<boolean> {
  if (refund.fundFrom === 'wallet') return hasRefundUsdc(db, refund.id)
  const deductions = await findDeductions(db, refund)
  if (deductions === 'unsure') throw notYet('the chain must show what the restored backup lacks', UNSURE_SECONDS)
  return deductions === 'there'
}

async function callPartner(deps: RefundDeps, refund: Refund): Promise<RefundResult> {
  const { attempt } = await findAttempt(deps, refund)
  const { partnerKey: key, amount } = refund
  const partner = deps.partners[attempt.provider]
  if (partner.refundOrder === undefined) return { kind: 'refused', reason: `${attempt.provider} gives nothing back` }
  if (key === null) throw new Error(`${refund.id} has no key for its partner`)
  return partner.refundOrder({ ...toOrderRef(attempt), key, amount }, callSignal())
}

function refuse(deps: RefundDeps, refund: Refund, reason: string): Promise<ChangedRefund> {
  const { attemptId } = refund
  const note = ({ state, addNote }: RefundDraft['payment']): void => {
    const { provider } = getAttempt(state.attempts, attemptId)
    addNote(createNote('refund.refused', { attempt_id: attemptId, provider, reason }))
  }
  return fail(deps, refund, { why: 'refused', note })
}

/** Nothing has left the partner, so the USDC that is there goes back to the merchant. */
function fail(
  { db, context }: RefundDeps,
  { id }: Refund,
  { why, note }: { readonly why: RefundFailure; readonly note?: (payment: RefundDraft['payment']) => void },
): Promise<ChangedRefund> {
  return changeRefund(db, context, {
    id,
    change: ({ refund, setRefund, payment }) => {
      if (!isWithPartner(refund)) return
      note?.(payment)
      setRefund({ status: 'failed', statusReason: why })
    },
  })
}

/** The order is read once more, so that the books know at the same moment what the partner no longer has. */
async function succeed(deps: RefundDeps, { id, paymentId, attemptId }: Refund): Promise<ChangedRefund> {
  const reading = await readOrder(deps, { paymentId, attemptId })
  return changeRefund(deps.db, deps.context, {
    id,
    change: (draft) => {
      const { refund, setRefund } = draft
      if (refund.status !== 'pending') return
      applyReading(deps, draft, reading)
      setRefund({ status: 'succeeded' })
    },
  })
}

type Order = Pick<Refund, 'paymentId' | 'attemptId'>

async function readOrder(deps: RefundDeps, order: Order): Promise<OrderReading> {
  const { before, attempt } = await findAttempt(deps, order)
  const read = await deps.partners[attempt.provider].readOrder(toOrderRef(attempt), callSignal())
  return createReading(deps, toAsk(before, attempt), read)
}

async function findAttempt({ db }: RefundDeps, { paymentId, attemptId }: Order) {
  const before: PaymentWithCallbacks = await loadPayment(db, paymentId)
  return { before, attempt: getAttempt(before.attempts, attemptId) }
}

function getAttempt(attempts: readonly Attempt[], id: string): Attempt {
  const attempt = attempts.find((one) => one.id === id)
  if (attempt === undefined) throw new Error(`there is no attempt ${id}`)
  return attempt
}

/** A reading that is older than the row, or none, decides nothing: the partner is asked again. */
function applyReading(deps: RefundDeps, { payment }: RefundDraft, reading: OrderReading): Attempt {
  if (applyOrder(payment, deps, reading) === 'nothing') throw notYet('the order must be read again', AGAIN_SECONDS)
  return getAttempt(payment.state.attempts, reading.asked.attempt.id)
}
