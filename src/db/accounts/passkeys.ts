import { z } from 'zod'
import { execute, many, maybeOne, one, type Queryable, sql, type Tx } from '../db.ts'
import { time } from '../payments/payment-rows.ts'

const passkeyRow = z
  .object({
    id: z.string(),
    person_id: z.string(),
    email: z.string(),
    public_key: z.instanceof(Uint8Array),
    counter: z.coerce.number(),
    transports: z.array(z.string()),
    name: z.string(),
    created_at: time,
    used_at: time.nullable(),
  })
  .transform((row) => ({
    id: row.id,
    personId: row.person_id,
    email: row.email,
    publicKey: row.public_key,
    counter: row.counter,
    transports: row.transports,
    name: row.name,
    createdAt: row.created_at,
    usedAt: row.used_at,
  }))
export type Passkey = z.output<typeof passkeyRow>

export type NewPasskey = Pick<Passkey, 'id' | 'personId' | 'publicKey' | 'counter' | 'transports' | 'name'>

/** False if the credential is known already. */
export async function insertPasskey(tx: Tx, passkey: NewPasskey): Promise<boolean> {
  const stored = await execute(
    tx,
    sql`insert into passkey (id, person_id, public_key, counter, transports, name)
        values (${passkey.id}, ${passkey.personId}, ${passkey.publicKey}, ${passkey.counter},
          ${passkey.transports}::text[], ${passkey.name}) on conflict do nothing`,
  )
  return stored === 1
}

export function listPasskeys(db: Queryable, personId: string): Promise<Passkey[]> {
  return many(
    db,
    passkeyRow,
    sql`select passkey.*, email from passkey join person on person.id = person_id
        where person_id = ${personId} order by passkey.created_at, passkey.id`,
  )
}

const countRow = z.object({ n: z.coerce.number() })

export async function countPasskeys(db: Queryable, personId: string): Promise<number> {
  return (await one(db, countRow, sql`select count(*) as n from passkey where person_id = ${personId}`)).n
}

export function findPasskey(db: Queryable, id: string): Promise<Passkey | null> {
  return maybeOne(
    db,
    passkeyRow,
    sql`select passkey.*, email from passkey join person on person.id = person_id where passkey.id = ${id}`,
  )
}

export async function passkeyWasUsed(tx: Tx, used: { id: string; counter: number; now: string }): Promise<void> {
  await execute(
    tx,
    sql`update passkey set counter = ${used.counter}, used_at = ${used.now}::timestamptz where id = ${used.id}`,
  )
}

export async function deletePasskey(tx: Tx, personId: string, id: string): Promise<boolean> {
  return (await execute(tx, sql`delete from passkey where id = ${id} and person_id = ${personId}`)) === 1
}

/** False if the challenge was answered before. */
export async function answerChallenge(tx: Tx, digest: Uint8Array, expiresAt: string): Promise<boolean> {
  const stored = await execute(
    tx,
    sql`insert into answered_challenge (digest, expires_at) values (${digest}, ${expiresAt}::timestamptz)
        on conflict do nothing`,
  )
  return stored === 1
}
