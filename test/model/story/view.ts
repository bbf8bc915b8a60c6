import type { ProviderUsed } from '../../../src/domain/methods.ts'
import type { Offered } from '../../../src/domain/payment/decision.ts'
import { listOffered } from '../../../src/domain/payment/decision.ts'
import { getExcess } from '../../../src/domain/payment/funds/funds.ts'
import { toAccount, toFunds } from '../../../src/domain/payment/funds/stored-funds.ts'
import type { AttemptStatus, PaymentStatus } from '../../../src/domain/payment/payment.ts'
import { countRefundable } from '../../../src/domain/payment/payment-object.ts'
import type { RefundStatus } from '../../../src/domain/refund/refund.ts'
import { findRefundable } from '../../../src/domain/refund/refundable.ts'
import { listAttempts, readOrder } from '../fixture/books.ts'
import type { TestPayment } from '../fixture/payment.ts'

/** The state that draws a story's next step: enough to draw what can cross with it. */

export type OrderView = {
  readonly provider: ProviderUsed
  readonly status: AttemptStatus
  /** The partner's state; null: it has no order, or is the chain. */
  readonly order: string | null
  /** True if it has more than the payment needs. */
  readonly excess: boolean
  readonly givingBack: boolean
}

export type View = {
  readonly status: PaymentStatus
  /** The reason why it waits, and everything that an operator is asked. */
  readonly reason: string | null
  readonly asks: readonly string[]
  /** The decisions that an operator is offered, each attempt by its place. */
  readonly offered: readonly { readonly say: Offered['say']; readonly of: number | null; readonly outside?: true }[]
  readonly held: boolean
  readonly converted: boolean
  /** The attempt whose money belongs to the payment. */
  readonly paidBy: number | null
  readonly attempts: readonly OrderView[]
  /** True if a part of the price has arrived. */
  readonly part: boolean
  readonly voiding: boolean
  /** `none`: the engine has no payout. */
  readonly payout: string
  readonly runs: boolean
  readonly refunds: readonly RefundStatus[]
  /** True if a part of the payment can still be refunded for USDC. */
  readonly refundable: boolean
  /** True if the whole payment can be refunded before its settlement. */
  readonly returnable: boolean
  /** The time until it expires. */
  readonly minutesLeft: number
}

export async function lookAt(testPayment: TestPayment): Promise<View> {
  const state = await testPayment.system.loadPayment(testPayment.db, testPayment.paymentId)
  const { payment } = state
  const funds = toFunds(state)
  const payout = await testPayment.db.query('select state from payout where payment_id = $1', [testPayment.paymentId])
  const ids = (await listAttempts(testPayment)).map(({ id }) => id)
  const attempts: OrderView[] = []
  for (const id of ids) {
    const attempt = state.attempts.find((each) => each.id === id)
    if (attempt === undefined) continue
    const { provider, status, back } = attempt
    const order = (await readOrder(testPayment, attempt))?.status ?? null
    attempts.push({
      provider,
      status,
      order,
      excess: getExcess(funds, toAccount(attempt)) > 0n,
      givingBack: back !== 'no',
    })
  }
  return {
    status: payment.status,
    reason: payment.statusReason,
    asks: payment.reviews.map(({ reason }) => reason),
    offered: listOffered(funds).map(({ say, attempt, outside }) => ({
      say,
      of: attempt === undefined ? null : ids.indexOf(attempt),
      ...(outside === true && { outside }),
    })),
    held: payment.held,
    converted: payment.takenSale !== null,
    paidBy: payment.paidAttemptId === null ? null : ids.indexOf(payment.paidAttemptId),
    attempts,
    part: payment.exception === 'underpaid',
    voiding: payment.payout === 'voiding',
    payout: (payout.rows[0] as { state: string } | undefined)?.state ?? 'none',
    runs: testPayment.server.running(testPayment.paymentId) !== null,
    refunds: (await testPayment.system.readPaymentRefunds(testPayment.db, testPayment.paymentId)).map(
      ({ status: refundStatus }) => refundStatus,
    ),
    refundable: countRefundable(payment) !== '0',
    returnable: findRefundable(state)?.fundFrom === 'payment',
    minutesLeft: Math.floor((Date.parse(payment.expiresAt) - testPayment.timeline.now()) / 60_000),
  }
}
