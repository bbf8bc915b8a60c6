import type { ProviderUsed } from '../../../src/domain/methods.ts'
import type { AttemptStatus, ParkReason, PaymentStatus } from '../../../src/domain/payment/payment.ts'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import { attemptsOf, orderOf } from '../world/books.ts'
import type { Shop } from '../world/shop.ts'

/** What whoever tells a story knows of it so far: enough to draw what may cross with it. */

export type OrderView = {
  readonly provider: ProviderUsed
  readonly status: AttemptStatus
  /** As the partner has it; null: it has no order, or is the chain. */
  readonly order: string | null
  readonly surplus: boolean
  readonly late: boolean
  readonly refunding: boolean
}

export type View = {
  readonly status: PaymentStatus
  readonly parkReason: ParkReason | null
  readonly held: boolean
  readonly converted: boolean
  /** Which attempt's money is the payment's. */
  readonly paidBy: number | null
  readonly attempts: readonly OrderView[]
  /** The price has come in part. */
  readonly part: boolean
  readonly voiding: boolean
  readonly incident: boolean
  /** `none`: nothing was handed to the engine. */
  readonly payout: string
  readonly runs: boolean
  /** Until it expires. */
  readonly minutesLeft: number
}

export async function lookAt(shop: Shop): Promise<View> {
  const state: PaymentWithAttempts = await shop.system.loadPayment(shop.db, shop.paymentId)
  const { payment, parts, intents, incidents } = state
  const payout = await shop.db.query('select state from payout where payment_id = $1', [shop.paymentId])
  const ids = (await attemptsOf(shop)).map(({ id }) => id)
  const has = (attemptId: string, owner: string): boolean =>
    parts.some((part) => part.attemptId === attemptId && part.state === owner)
  const attempts: OrderView[] = []
  for (const id of ids) {
    const attempt = state.attempts.find((each) => each.id === id)
    if (attempt === undefined) continue
    const order = await orderOf(shop, attempt)
    attempts.push({
      provider: attempt.provider,
      status: attempt.status,
      order: order?.status ?? null,
      surplus: has(id, 'surplus'),
      late: has(id, 'late'),
      refunding: intents.some(({ kind, attemptId }) => kind === 'refund' && attemptId === id),
    })
  }
  return {
    status: payment.status,
    parkReason: payment.parkReason,
    held: payment.held,
    converted: payment.usdc !== null,
    paidBy: payment.paidAttemptId === null ? null : ids.indexOf(payment.paidAttemptId),
    attempts,
    part: payment.paidAttemptId === null && parts.some(({ state: owner }) => owner === 'counted'),
    voiding: intents.some(({ kind }) => kind === 'void'),
    incident: incidents.length > 0,
    payout: (payout.rows[0] as { state: string } | undefined)?.state ?? 'none',
    runs: shop.server.running(shop.paymentId) !== null,
    minutesLeft: Math.floor((Date.parse(payment.expiresAt) - shop.timeline.now()) / 60_000),
  }
}
