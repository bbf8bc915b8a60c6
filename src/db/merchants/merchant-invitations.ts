import { execute, type Queryable, sql, type Tx } from '../db.ts'

/** Addresses that the operator has invited: each can create one account until its invitation ends. */

export async function insertMerchantInvitation(
  tx: Tx,
  { email, expiresAt }: { readonly email: string; readonly expiresAt: string },
): Promise<void> {
  await execute(
    tx,
    sql`insert into merchant_invitation (email, expires_at) values (${email}, ${expiresAt}::timestamptz)
        on conflict (email) do update set expires_at = excluded.expires_at`,
  )
}

type Invited = { readonly email: string; readonly now: string }

const isOpen = ({ email, now }: Invited) => sql`email = ${email} and expires_at > ${now}::timestamptz`

export async function isMerchantInvited(db: Queryable, invited: Invited): Promise<boolean> {
  return (await execute(db, sql`select 1 from merchant_invitation where ${isOpen(invited)}`)) > 0
}

/** Deletes the invitation. False if there is no open one: of two requests at once, one gets it. */
export async function takeMerchantInvitation(tx: Tx, invited: Invited): Promise<boolean> {
  return (await execute(tx, sql`delete from merchant_invitation where ${isOpen(invited)}`)) === 1
}
