import { z } from 'zod'
import { execute, maybeOne, type Queryable, sql, type Tenant, type Tx } from '../db.ts'

/** Times are ISO 8601. */
export type NewTelegramLink = Tenant & {
  readonly digest: Uint8Array
  readonly personId: string
  readonly now: string
  readonly expiresAt: string
}

/** A person has only one open link: an earlier one ends. */
export async function insertTelegramLink(tx: Tx, link: NewTelegramLink): Promise<void> {
  const { digest, merchantId, livemode, personId, now, expiresAt } = link
  await execute(
    tx,
    sql`delete from telegram_link where (merchant_id = ${merchantId} and person_id = ${personId})
          or expires_at < ${now}::timestamptz - interval '1 day'`,
  )
  await execute(
    tx,
    sql`insert into telegram_link (digest, merchant_id, livemode, person_id, expires_at)
        values (${digest}, ${merchantId}, ${livemode}, ${personId}, ${expiresAt}::timestamptz)`,
  )
}

const takenRow = z
  .object({ merchant_id: z.string(), person_id: z.string() })
  .transform((row) => ({ merchantId: row.merchant_id, personId: row.person_id }))

/** Uses the link up. Null if it was used, has expired, or never existed. */
export function takeTelegramLink(
  tx: Tx,
  { digest, now }: { digest: Uint8Array; now: string },
): Promise<z.output<typeof takenRow> | null> {
  return maybeOne(
    tx,
    takenRow,
    sql`update telegram_link set used_at = ${now}::timestamptz
        where digest = ${digest} and livemode = ${tx.livemode} and used_at is null
          and expires_at > ${now}::timestamptz
        returning merchant_id, person_id`,
  )
}

/** Seconds without a report of any process, after which the bot's token counts as removed. */
const BOT_GONE_SECONDS = 300

const botNameRow = z.object({ username: z.string() })

/** Returns the name of the bot that writes to chats now; null if no worker has a bot's token. `now` is ISO 8601. */
export async function findBotName(db: Queryable, now: string): Promise<string | null> {
  const bot = await maybeOne(
    db,
    botNameRow,
    sql`select username from telegram_bot
        where seen_at > ${now}::timestamptz - make_interval(secs => ${BOT_GONE_SECONDS})`,
  )
  return bot?.username ?? null
}

export async function seeBot(db: Queryable, { id, now }: { id: string; now: string }): Promise<void> {
  await execute(db, sql`update telegram_bot set seen_at = ${now}::timestamptz where id = ${id}`)
}

export type BotLease = { readonly id: string; readonly now: string; readonly until: string }

/** Stores the name of the bot. Other bots are deleted, because chats can no longer be linked by them. */
export async function nameBot(tx: Tx, { id, username, now }: { id: string; username: string; now: string }) {
  await execute(tx, sql`delete from telegram_bot where id <> ${id}`)
  await execute(
    tx,
    sql`insert into telegram_bot (id, username, leased_until, seen_at)
        values (${id}, ${username}, ${now}::timestamptz, ${now}::timestamptz)
        on conflict (id) do update set username = excluded.username, seen_at = excluded.seen_at`,
  )
}

const nextUpdateRow = z.object({ next_update: z.coerce.number() })

/**
 * Leases the updates to one reader, and returns the first one to read. Null: no link is open, or another process reads.
 */
export async function leaseUpdates(db: Queryable, { id, now, until }: BotLease): Promise<number | null> {
  const leased = await maybeOne(
    db,
    nextUpdateRow,
    sql`update telegram_bot set leased_until = ${until}::timestamptz
        where id = ${id} and leased_until <= ${now}::timestamptz and exists (
          select from telegram_link where used_at is null and expires_at > ${now}::timestamptz)
        returning next_update`,
  )
  return leased?.next_update ?? null
}

export async function noteUpdate(tx: Tx, id: string, nextUpdate: number): Promise<void> {
  await execute(tx, sql`update telegram_bot set next_update = greatest(next_update, ${nextUpdate}) where id = ${id}`)
}

/** Records that no update waits: every later one is new, whatever its number. */
export async function forgetUpdates(db: Queryable, id: string): Promise<void> {
  await execute(db, sql`update telegram_bot set next_update = 0 where id = ${id}`)
}

/** Ends the lease at the time, from which another process can read. */
export async function releaseUpdates(db: Queryable, id: string, from: string): Promise<void> {
  await execute(db, sql`update telegram_bot set leased_until = ${from}::timestamptz where id = ${id}`)
}
