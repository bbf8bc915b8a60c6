import { z } from 'zod'
import { execute, many, maybeOne, one, type Queryable, sql, type Tx } from '../db.ts'
import { time } from '../payments/payment-rows.ts'

const at = time.transform((text) => Date.parse(text))

const sessionRow = z
  .object({
    id: z.string(),
    person_id: z.string(),
    email: z.string(),
    merchant_id: z.string().nullable(),
    how: z.enum(['link', 'passkey', 'demo']),
    ip: z.string(),
    user_agent: z.string(),
    created_at: at,
    used_at: at,
    confirmed_at: at,
    ended_at: at.nullable(),
    has_passkey: z.boolean(),
  })
  .transform((row) => ({
    id: row.id,
    personId: row.person_id,
    email: row.email,
    merchantId: row.merchant_id,
    how: row.how,
    ip: row.ip,
    userAgent: row.user_agent,
    createdAt: row.created_at,
    usedAt: row.used_at,
    confirmedAt: row.confirmed_at,
    endedAt: row.ended_at,
    hasPasskey: row.has_passkey,
  }))

const HAS_PASSKEY = sql`exists (select 1 from passkey where passkey.person_id = session.person_id) as has_passkey`

/** Times are Unix milliseconds. */
export type Session = z.output<typeof sessionRow>

export type NewSession = {
  readonly id: string
  readonly digest: Uint8Array
  readonly personId: string
  readonly merchantId: string | null
  readonly how: Session['how']
  readonly ip: string
  readonly userAgent: string
  /** ISO 8601. */
  readonly now: string
}

export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  await execute(
    tx,
    sql`insert into session (id, digest, person_id, merchant_id, how, ip, user_agent, created_at, used_at, confirmed_at)
        values (${session.id}, ${session.digest}, ${session.personId}, ${session.merchantId}, ${session.how},
          ${session.ip}, ${session.userAgent}, ${session.now}::timestamptz, ${session.now}::timestamptz,
          ${session.now}::timestamptz)`,
  )
  await execute(tx, sql`update person set seen_at = ${session.now}::timestamptz where id = ${session.personId}`)
}

const devicesRow = z.object({ before: z.coerce.number(), same: z.coerce.number() })

/** True if the person has signed in before, and never with this browser, as far as sessions are stored. */
export async function isNewDevice(db: Queryable, personId: string, userAgent: string): Promise<boolean> {
  const { before, same } = await one(
    db,
    devicesRow,
    sql`select count(*) as before, count(*) filter (where user_agent = ${userAgent}) as same
        from session where person_id = ${personId}`,
  )
  return before > 0 && same === 0
}

/** Even an ended session: the caller decides. */
export function findSession(db: Queryable, digest: Uint8Array): Promise<Session | null> {
  return maybeOne(
    db,
    sessionRow,
    sql`select session.*, person.email, ${HAS_PASSKEY} from session join person on person.id = person_id where digest = ${digest}`,
  )
}

/** Open sessions that were used after the time, newest first. */
export function listSessions(db: Queryable, personId: string, usedAfter: string): Promise<Session[]> {
  return many(
    db,
    sessionRow,
    sql`select session.*, person.email, ${HAS_PASSKEY} from session join person on person.id = person_id
        where person_id = ${personId} and ended_at is null and used_at > ${usedAfter}::timestamptz
        order by used_at desc, session.id limit 100`,
  )
}

export async function touchSession(db: Queryable, id: string, now: string): Promise<void> {
  await execute(db, sql`update session set used_at = ${now}::timestamptz where id = ${id} and ended_at is null`)
}

export async function confirmSession(db: Queryable, id: string, now: string): Promise<void> {
  await execute(db, sql`update session set confirmed_at = ${now}::timestamptz where id = ${id} and ended_at is null`)
}

export async function chooseMerchant(db: Queryable, id: string, merchantId: string): Promise<void> {
  await execute(db, sql`update session set merchant_id = ${merchantId} where id = ${id}`)
}

export function endSessions(
  db: Queryable,
  personId: string,
  which: { readonly only: string; readonly now: string } | { readonly allBut: string | null; readonly now: string },
): Promise<number> {
  const those = 'only' in which ? sql`id = ${which.only}` : sql`id is distinct from ${which.allBut}`
  return execute(
    db,
    sql`update session set ended_at = ${which.now}::timestamptz
        where person_id = ${personId} and ended_at is null and ${those}`,
  )
}
