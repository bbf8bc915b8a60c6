import { execute, type Queryable, sql, type Tx } from '../db.ts'

/** Addresses that the operator has invited: each can create one account until its invitation ends. */

/** An address that is invited again can create another account. */
export async function insertMerchantInvitation(
  tx: Tx,
  { email, expiresAt }: { readonly email: string; readonly expiresAt: string },
): Promise<void> {
  await execute(
    tx,
    sql`insert into merchant_invitation (email, expires_at) values (${email}, ${expiresAt}::timestamptz)
        on conflict (email) do update set expires_at = excluded.expires_at, merchant_id = null`,
  )
}

type Invited = { readonly email: string; readonly now: string }

const isOpen = ({ email, now }: Invited) =>
  sql`email = ${email} and merchant_id is null and expires_at > ${now}::timestamptz`

export async function isMerchantInvited(db: Queryable, invited: Invited): Promise<boolean> {
  return (await execute(db, sql`select 1 from merchant_invitation where ${isOpen(invited)}`)) > 0
}

/** False if there is no open invitation. Of two requests at once, one gets it. */
export async function takeMerchantInvitation(tx: Tx, invited: Invited & { merchantId: string }): Promise<boolean> {
  const { merchantId } = invited
  const taken = sql`update merchant_invitation set merchant_id = ${merchantId} where ${isOpen(invited)}`
  return (await execute(tx, taken)) === 1
}
