import { z } from 'zod'
import type { Attempt, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { many, type Queryable, type Statement, sql, type Tenant } from '../db.ts'
import { cutPage, type PageOf, pageClause } from '../pages.ts'
import { attemptRow, paymentRow, time } from './payment-rows.ts'

export type PaymentFilters = {
  readonly status?: readonly string[] | undefined
  readonly provider?: string | undefined
  readonly currency?: string | undefined
  readonly reference?: string | undefined
  readonly tx_hash?: string | undefined
  /** ISO 8601. */
  readonly createdFrom?: string | undefined
  readonly createdBefore?: string | undefined
  /** In id, reference, description or transaction. */
  readonly search?: string | undefined
}

/** Newest first. */
export async function listPayments(
  db: Queryable,
  tenant: Tenant,
  { filters, page }: { filters: PaymentFilters; page: PageOf },
): Promise<{ rows: PaymentWithAttempts[]; hasMore: boolean }> {
  const found = await many(
    db,
    paymentRow,
    sql`select * from payment where merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}
        ${matching(filters)} ${pageClause(sql`id`, page)}`,
  )
  const { rows, hasMore } = cutPage(found, page)
  const attempts = await attemptsOf(
    db,
    rows.map(({ id }) => id),
  )
  return { rows: rows.map((payment) => ({ payment, attempts: attempts.get(payment.id) ?? [] })), hasMore }
}

function matching(filters: PaymentFilters): Statement {
  const { status, provider, currency, reference, tx_hash: txHash, createdFrom, createdBefore, search } = filters
  const clauses = [
    ...(status === undefined ? [] : [sql`and status = any(${status}::text[])`]),
    ...(provider === undefined ? [] : [sql`and coalesce(provider_used, provider) = ${provider}`]),
    ...(currency === undefined ? [] : [sql`and currency = ${currency}`]),
    ...(reference === undefined ? [] : [sql`and reference = ${reference}`]),
    ...(txHash === undefined ? [] : [sql`and tx_hash = ${txHash.toLowerCase()}`]),
    ...(createdFrom === undefined ? [] : [sql`and created_at >= ${createdFrom}::timestamptz`]),
    ...(createdBefore === undefined ? [] : [sql`and created_at < ${createdBefore}::timestamptz`]),
    ...(search === undefined ? [] : [searchFor(search)]),
  ]
  return clauses.reduce((left, right) => sql`${left} ${right}`, sql``)
}

function searchFor(text: string): Statement {
  const pattern = `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`
  return sql`and (id = ${text} or tx_hash = ${text.toLowerCase()} or reference ilike ${pattern} or description ilike ${pattern})`
}

async function attemptsOf(db: Queryable, paymentIds: readonly string[]): Promise<Map<string, Attempt[]>> {
  const byPayment = new Map<string, Attempt[]>()
  if (paymentIds.length === 0) return byPayment
  const all = await many(
    db,
    attemptRow,
    sql`select * from attempt where payment_id = any(${paymentIds}::text[]) order by created_at, id`,
  )
  for (const attempt of all) byPayment.set(attempt.paymentId, [...(byPayment.get(attempt.paymentId) ?? []), attempt])
  return byPayment
}

const timelineRow = z.object({
  at: time,
  kind: z.string(),
  from_status: z.string().nullable(),
  to_status: z.string().nullable(),
  actor: z.string(),
  message: z.string(),
  data: z.record(z.string(), z.unknown()),
})
export type TimelineEntry = z.output<typeof timelineRow>

/** Everything that happened to the payment, with what was announced about it and how that arrived, oldest first. */
export async function readTimeline(db: Queryable, tenant: Tenant, paymentId: string): Promise<TimelineEntry[]> {
  const owned = sql`merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`
  return many(
    db,
    timelineRow,
    sql`select at, kind, from_status, to_status, actor, message, data from (
        select at, kind, from_status, to_status, actor, message, data, 0 as rank, timeline_entry.id as place
        from timeline_entry join payment on payment.id = payment_id
        where payment_id = ${paymentId} and ${owned}
      union all
        select created_at, 'event.recorded', null, null, 'system', type || ' was recorded',
          jsonb_build_object('event', id, 'type', type, 'sequence', sequence), 1, sequence
        from event where payment_id = ${paymentId} and ${owned}
      union all
        select tried.at, 'webhook.attempt', null, null, 'system',
          case when response_status between 200 and 299 then 'The webhook endpoint took the event'
            else 'The webhook endpoint did not take the event (' || coalesce(response_status::text, error, 'no answer') || ')' end,
          jsonb_build_object('event', tried.event_id, 'endpoint', tried.endpoint_id, 'attempt', number,
            'response_status', response_status, 'error', error), 2, number
        from delivery_attempt as tried join event on event.id = tried.event_id
        where payment_id = ${paymentId} and ${owned}
      ) as entries order by at, rank, place limit 1000`,
  )
}
