import { z } from 'zod'
import { execute, maybeOne, type Queryable, sql, type Tx } from '../db.ts'

/** Test accounts that a program created: whoever has the secret can make one theirs. Times are ISO 8601 UTC. */

export type NewClaim = {
  readonly merchantId: string
  readonly digest: Buffer
  /** The key that was given out with the secret. */
  readonly keyId: string
  readonly endsAt: string
}

export async function insertClaim(tx: Tx, { merchantId, digest, keyId, endsAt }: NewClaim): Promise<void> {
  await execute(
    tx,
    sql`insert into account_claim (merchant_id, digest, key_id, ends_at)
        values (${merchantId}, ${digest}, ${keyId}, ${endsAt}::timestamptz)`,
  )
}

type Secret = { readonly digest: Buffer; readonly now: string }

const claimableRow = z.object({
  merchant_id: z.string(),
  name: z.string(),
  wallet: z.string().nullable(),
  endpoints: z.array(z.string()),
})
const isOpen = ({ digest, now }: Secret) => sql`digest = ${digest} and ends_at > ${now}::timestamptz`

/** Null: there is no such secret, its time is over, or it was used. */
export function findClaimable(db: Queryable, secret: Secret): Promise<z.output<typeof claimableRow> | null> {
  return maybeOne(
    db,
    claimableRow,
    sql`select merchant_id, name,
          (select coalesce(next_address, address) from wallet
            where wallet.merchant_id = merchant.id and not wallet.livemode) as wallet,
          array(select url from webhook_endpoint
            where webhook_endpoint.merchant_id = merchant.id and not webhook_endpoint.livemode order by id) as endpoints
        from account_claim join merchant on merchant.id = merchant_id where ${isOpen(secret)}`,
  )
}

const takenRow = z.object({ merchant_id: z.string() })

/** Uses the secret up, and lets the key of the account work without an end. Null: as above. */
export async function takeClaim(tx: Tx, secret: Secret): Promise<string | null> {
  const taken = await maybeOne(
    tx,
    takenRow,
    sql`with taken as (delete from account_claim where ${isOpen(secret)} returning merchant_id, key_id),
          kept as (update api_key set expires_at = null from taken where api_key.id = taken.key_id)
        select merchant_id from taken`,
  )
  return taken?.merchant_id ?? null
}
