import { z } from 'zod'
import { execute, many, type Queryable, sql, type Tx } from '../db.ts'

/** Test mode's time machine: it moves a payment's times into the past, so that its deadlines have passed. */

/** It never changes a payment of live mode. */
export async function moveIntoPast(
  tx: Tx,
  { paymentId, seconds }: { paymentId: string; seconds: number },
): Promise<void> {
  const by = sql`make_interval(secs => ${seconds})`
  await execute(
    tx,
    sql`with moved as (
        update payment set created_at = created_at - ${by}, updated_at = updated_at - ${by},
          expires_at = expires_at - ${by}, rate_locked_at = rate_locked_at - ${by}, paid_at = paid_at - ${by},
          succeeded_at = succeeded_at - ${by}, failed_at = failed_at - ${by}, canceled_at = canceled_at - ${by},
          version = version + 1
        where id = ${paymentId} and livemode = false returning id),
      disputed as (update dispute d set evidence_due_at = evidence_due_at - ${by}, opened_at = opened_at - ${by}
        from moved where d.payment_id = moved.id),
      entries as (update timeline_entry set at = at - ${by} from moved where payment_id = moved.id)
      update attempt set created_at = created_at - ${by}, updated_at = updated_at - ${by}, paid_at = paid_at - ${by}
      from moved where payment_id = moved.id`,
  )
}

const waitingRow = z
  .object({ event_id: z.string(), endpoint_id: z.string() })
  .transform((row) => ({ eventId: row.event_id, endpointId: row.endpoint_id }))

export function listRetries(db: Queryable, paymentId: string): Promise<{ eventId: string; endpointId: string }[]> {
  return many(
    db,
    waitingRow,
    sql`select event_id, endpoint_id from delivery join event on event.id = event_id
        where payment_id = ${paymentId} and status = 'pending' and attempts > 0 order by event_id, endpoint_id`,
  )
}
