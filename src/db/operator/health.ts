import { z } from 'zod'
import { many, one, type Queryable, sql } from '../db.ts'
import { listMigrations } from '../migrate.ts'
import { time } from '../payments/payment-rows.ts'

const migrationRow = z.object({ name: z.string() })

/** Returns migrations of this version that the database lacks, and migrations of a newer version that it has. */
export async function compareSchema(db: Queryable): Promise<{ missing: string[]; newer: string[] }> {
  const rows = await many(db, migrationRow, sql`select name from migration order by id`)
  const [migrated, known] = [rows.map(({ name }) => name), await listMigrations()]
  return {
    missing: known.filter((name) => !migrated.includes(name)),
    newer: migrated.filter((name) => !known.includes(name)),
  }
}

const waitingRow = z.object({
  now: time,
  messages: z.coerce.number(),
  messages_seconds: z.coerce.number(),
  callbacks: z.coerce.number(),
  callbacks_seconds: z.coerce.number(),
})

/** The time of the database, and the messages and callbacks that wait, with the age of the oldest (seconds). */
export function readWaiting(db: Queryable): Promise<z.output<typeof waitingRow>> {
  return one(
    db,
    waitingRow,
    sql`select now() as now, outbox.n as messages, outbox.seconds as messages_seconds, callbacks.n as callbacks,
          callbacks.seconds as callbacks_seconds
        from (select count(*) as n, coalesce(extract(epoch from now() - min(created_at)), 0) as seconds from outbox) as outbox,
          (select count(*) as n, coalesce(extract(epoch from now() - min(received_at)), 0) as seconds
            from partner_callback where applied_at is null) as callbacks`,
  )
}

const contentRow = z.object({
  payments: z.coerce.number(),
  open: z.coerce.number(),
  payouts: z.coerce.number(),
  settled: z.coerce.number(),
  events: z.coerce.number(),
  newest: time.nullable(),
  block: z.coerce.number().nullable(),
})

/** Returns the amount of data in the database, and the time up to which it reaches. */
export function readContent(db: Queryable): Promise<z.output<typeof contentRow>> {
  return one(
    db,
    contentRow,
    sql`select (select count(*) from payment where livemode = ${db.livemode}) as payments,
          (select count(*) from payment where livemode = ${db.livemode} and closed_at is null) as open,
          (select count(*) from payout where livemode = ${db.livemode}) as payouts,
          (select count(*) from payout where livemode = ${db.livemode} and state = 'settled') as settled,
          (select count(*) from event where livemode = ${db.livemode}) as events,
          (select max(at) from timeline_entry) as newest,
          (select max(scanned_number) from chain_cursor) as block`,
  )
}
