import type { Tx } from '../db/db.ts'
import { lockDisputes, writeDispute } from '../db/disputes/disputes.ts'
import { recordEvents } from '../db/webhooks/events.ts'
import type { Dispute } from '../domain/dispute/dispute.ts'
import { type DisputeChange, decideDisputeChange, openDispute, withReport } from '../domain/dispute/dispute-change.ts'
import { splitCosts } from '../domain/dispute/dispute-cost.ts'
import { renderDispute } from '../domain/dispute/dispute-object.ts'
import type { OrderDisputes } from '../domain/dispute/order-disputes.ts'
import { toFunds } from '../domain/payment/funds/stored-funds.ts'
import type { PaymentWithAttempts } from '../domain/payment/payment-object.ts'
import { newId } from '../ids.ts'
import type { Drafted } from './payment-draft.ts'

/**
 * The only writer of disputes. It writes what the partners of a payment's orders report, in the transaction that changes
 * the payment by the same readings: an unread callback is marked as applied only with them. The payment is locked.
 * Returns the events with subscribers.
 */
export async function recordDisputes(
  tx: Tx,
  state: PaymentWithAttempts,
  { disputes: reports, at }: Pick<Drafted, 'disputes' | 'at'>,
): Promise<readonly string[]> {
  if (reports.length === 0) return []
  const known = await lockDisputes(tx, state.payment.id)
  const reported = reports.reduce<readonly Dispute[]>(
    (disputes, report) => applyReport(disputes, state, { report, at }),
    known,
  )
  const costs = splitCosts(toFunds(state), reported)
  const changes = reported.flatMap((dispute, place) => {
    const before = known.find(({ id }) => id === dispute.id) ?? null
    return decideDisputeChange(before, { ...dispute, ...costs[place] }, at) ?? []
  })
  for (const change of changes) await writeDispute(tx, change)
  return announce(tx, changes)
}

type Report = { readonly report: OrderDisputes; readonly at: string }

/** The disputes in the order in which the platform learned of them, which is the order in which they take the reserve. */
function applyReport(
  disputes: readonly Dispute[],
  { payment, attempts }: PaymentWithAttempts,
  { report: { attemptId, reported }, at }: Report,
): readonly Dispute[] {
  const attempt = attempts.find(({ id }) => id === attemptId)
  if (attempt === undefined) return disputes
  const { id: paymentId, merchantId, livemode } = payment
  const owner = { paymentId, attemptId, merchantId, livemode, provider: attempt.provider }
  return reported.reduce((all, one) => {
    const isIt = (dispute: Dispute) => dispute.attemptId === attemptId && dispute.partnerDispute === one.id
    if (all.some(isIt)) return all.map((dispute) => (isIt(dispute) ? withReport(dispute, one, at) : dispute))
    return [...all, openDispute(one, { id: newId('dispute'), owner, at })]
  }, disputes)
}

async function announce(tx: Tx, changes: readonly DisputeChange[]): Promise<string[]> {
  const events = changes.map(({ event: type, after }) => {
    const { merchantId, livemode, paymentId, updatedAt: at } = after
    return { merchantId, livemode, type, paymentId, object: renderDispute(after), at }
  })
  return (await recordEvents(tx, events)).flatMap((id) => id ?? [])
}
