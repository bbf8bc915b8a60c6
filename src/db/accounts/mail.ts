import { z } from 'zod'
import { execute, many, one, type Queryable, sql } from '../db.ts'

export type NewMail = {
  readonly id: string
  readonly sealed: string
  /** ISO 8601. */
  readonly now: string
  readonly expiresAt: string
}

export async function insertMail(db: Queryable, mail: NewMail): Promise<void> {
  await execute(
    db,
    sql`insert into mail (id, sealed, created_at, expires_at, next_at)
        values (${mail.id}, ${mail.sealed}, ${mail.now}::timestamptz, ${mail.expiresAt}::timestamptz,
          ${mail.now}::timestamptz)`,
  )
}

const dueRow = z.object({ id: z.string(), sealed: z.string(), tries: z.number() })
export type DueMail = z.output<typeof dueRow>

/**
 * Takes mails that are due: first those that are useful only for minutes, such as sign-in links, then those with the
 * fewest tries, the oldest first. So neither an account's many notices nor mailboxes that accept nothing block others.
 * In addition to `limit` it takes some `retries`, so that a failed mail does not wait for an endless flow of new ones.
 * Until `again` no other sender takes them: a sender that ends in between loses none, and two senders do not send the
 * same mail.
 */
export function takeDueMail(
  db: Queryable,
  { now, again, limit, retries }: { now: string; again: string; limit: number; retries: number },
): Promise<DueMail[]> {
  const due = sql`select id from mail where sealed is not null and next_at <= ${now}::timestamptz
    and expires_at > ${now}::timestamptz`
  return many(
    db,
    dueRow,
    sql`update mail set next_at = ${again}::timestamptz, tries = tries + 1
        where id = any(array(${due}
            order by expires_at - created_at > interval '1 hour', tries, next_at limit ${limit} for update skip locked)
          || array(${due} and tries > 0 order by tries, next_at limit ${retries} for update skip locked))
        returning id, sealed, tries`,
  )
}

const untriedRow = z.object({ waiting: z.coerce.number() })

/** Up to `most`. */
export async function countUntried(db: Queryable, { now, most }: { now: string; most: number }): Promise<number> {
  const { waiting } = await one(
    db,
    untriedRow,
    sql`select count(*) as waiting from (
          select from mail where sealed is not null and tries = 0 and expires_at > ${now}::timestamptz limit ${most}) as untried`,
  )
  return waiting
}

/** Wipes the content. */
export async function mailWasSent(db: Queryable, id: string): Promise<void> {
  await execute(db, sql`update mail set sealed = null, failure = null where id = ${id}`)
}

/** Wipes the content: it is not tried again. */
export async function mailWasRefused(db: Queryable, { id, failure }: { id: string; failure: string }): Promise<void> {
  await execute(db, sql`update mail set sealed = null, failure = ${failure} where id = ${id}`)
}

export async function mailFailed(
  db: Queryable,
  { id, failure, nextAt }: { id: string; failure: string; nextAt: string },
): Promise<void> {
  await execute(db, sql`update mail set failure = ${failure}, next_at = ${nextAt}::timestamptz where id = ${id}`)
}

/** Returns the number of mails that were never sent. */
export function giveUpMail(db: Queryable, now: string): Promise<number> {
  return execute(
    db,
    sql`update mail set sealed = null, failure = coalesce(failure, 'nobody sent it in time')
        where sealed is not null and expires_at <= ${now}::timestamptz`,
  )
}
