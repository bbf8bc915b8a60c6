import { z } from 'zod'
import { execute, one, type Queryable, sql, type Tx } from '../db.ts'

const sentRow = z.object({ sent: z.coerce.number() })

export async function countMailedInvitations(db: Queryable, merchantId: string, since: string): Promise<number> {
  const mailed = sql`select count(*) as sent from invitation
      where merchant_id = ${merchantId} and mailed_at > ${since}::timestamptz`
  return (await one(db, sentRow, mailed)).sent
}

/** Counts the mail. False if the account has sent it since the time, or `most` accounts have mailed the address. */
export async function takeInvitationMail(
  tx: Tx,
  invited: { merchantId: string; email: string; now: string; since: string; most: number },
): Promise<boolean> {
  const { merchantId, email, now, since, most } = invited
  await execute(tx, sql`select pg_advisory_xact_lock(hashtextextended(${`invitation ${email}`}, 0))`)
  const taken = await execute(
    tx,
    sql`update invitation set mailed_at = ${now}::timestamptz
        where merchant_id = ${merchantId} and email = ${email}
          and (mailed_at is null or mailed_at <= ${since}::timestamptz)
          and ${most} > (select count(*) from invitation where email = ${email} and mailed_at > ${since}::timestamptz)`,
  )
  return taken === 1
}
