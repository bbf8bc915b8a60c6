import { bookingBetween } from '../../domain/payment/funds/stored-funds.ts'
import { sourcesOf } from '../../domain/payment/payment.ts'
import { type Payment, type PaymentWithAttempts, renderPayment } from '../../domain/payment/payment-object.ts'
import { nextStep, snapshotOf } from '../../domain/payment/snapshot.ts'
import { moveNote, type Reason } from '../../domain/timeline.ts'
import { execute, sql, type Tx } from '../db.ts'
import { bookAll } from '../ledger.ts'
import { completeLinks } from '../links/completed.ts'
import { recordEvents } from '../webhooks/events.ts'
import type { ChangeContext } from './payment-changes.ts'

/** A payment, as it was read under the lock, that becomes `succeeded` by this transfer and by nothing else. */
export type Success = {
  readonly state: PaymentWithAttempts
  readonly transfer: NonNullable<Payment['transfer']>
  readonly paidMicro: string
  readonly exception: Payment['exception']
  readonly reason: Reason
}

/**
 * Writes state, timeline, books, events and deliveries of many locked payments in a few statements, with the rows that
 * `changePaymentIn` would write for each alone. Answers the events of each that somebody subscribes to. Throws when
 * somebody wrote without the lock.
 */
export async function succeedTogether(
  tx: Tx,
  context: ChangeContext,
  successes: readonly Success[],
): Promise<string[][]> {
  if (successes.length === 0) return []
  const at = new Date(context.now()).toISOString()
  const after = successes.map((success) => succeeded(success, at))
  const rows = successes.map(({ state, transfer, paidMicro, exception, reason }, index) => ({
    ...transfer,
    paidMicro,
    ...moveNote('succeeded', reason),
    id: state.payment.id,
    version: state.payment.version,
    from: state.payment.status,
    exception,
    closes: after[index]?.closedAt !== null,
  }))
  const written = await execute(
    tx,
    sql`with
        given as (select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g(id text, version int, "from" text,
          exception text, closes boolean, "txHash" text, "logIndex" int, "blockNumber" bigint, "finalizedAt" timestamptz, "paidMicro" numeric,
          kind text, actor text, message text, data jsonb)),
        -- Fewer rows when somebody wrote without the lock, or the transition is not allowed from the stored status.
        written as (
          update payment p set version = p.version + 1, updated_at = ${at}::timestamptz, status = 'succeeded',
            succeeded_at = ${at}::timestamptz, status_reason = null, park_reason = null, exception = g.exception,
            tx_hash = g."txHash", log_index = g."logIndex", block_number = g."blockNumber", finalized_at = g."finalizedAt",
            paid_micro = g."paidMicro",
            closed_at = case when g.closes then ${at}::timestamptz end
          from given g where p.id = g.id and p.version = g.version and p.status = any(${sourcesOf('succeeded')})
          returning p.id)
        insert into timeline_entry (payment_id, at, kind, from_status, to_status, actor, message, data)
        select id, ${at}::timestamptz, g.kind, g."from", 'succeeded', g.actor, g.message, g.data
        from written join given g using (id)`,
  )
  if (written !== successes.length)
    throw new Error(`${successes.length - written} of ${successes.length} payments have changed without their lock`)
  const bookings = successes.flatMap(
    ({ state }, index) =>
      bookingBetween(state, { ...state, payment: after[index] as Payment }, 'payment.succeeded') ?? [],
  )
  await bookAll(tx, bookings, at)
  tx.afterCommit(() => successes.forEach(({ state }) => context.changed?.(state.payment.id)))
  const news = successes.map(({ state: { attempts } }, index) => {
    const payment = after[index] as Payment
    const { id, merchantId, livemode } = payment
    const object = renderPayment(payment, attempts, context.publicUrl)
    return { merchantId, livemode, type: 'payment.succeeded', paymentId: id, object, at }
  })
  const completed = await completeLinks(tx, { publicUrl: context.publicUrl, at }, after)
  const ids = await recordEvents(tx, [...news, ...completed])
  return after.map((payment, index) => {
    const ofLinks = completed.flatMap(({ paymentId }, place) =>
      paymentId === payment.id ? [ids[news.length + place]] : [],
    )
    return [ids[index], ...ofLinks].flatMap((id) => id ?? [])
  })
}

function succeeded({ state, transfer, paidMicro, exception }: Success, at: string): Payment {
  const { version } = state.payment
  const moved: Payment = {
    ...state.payment,
    status: 'succeeded',
    statusReason: null,
    parkReason: null,
    exception,
    transfer,
    paidMicro,
    updatedAt: at,
    succeededAt: at,
    version: version + 1,
  }
  const isDone = nextStep(snapshotOf({ ...state, payment: moved })) === 'done'
  return { ...moved, closedAt: isDone ? at : null }
}
