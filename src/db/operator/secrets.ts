import { z } from 'zod'
import { execute, many, type Queryable, sql, type Tx } from '../db.ts'
import { sealedSecretRow } from '../webhooks/webhook-endpoints.ts'

/** Rows that need each secret, so that a retired secret can be removed when no row needs it. */

const pepperRow = z.object({ pepper_id: z.string(), keys: z.coerce.number() })

export function countPeppers(db: Queryable): Promise<{ pepper_id: string; keys: number }[]> {
  return many(
    db,
    pepperRow,
    sql`select pepper_id, count(*) as keys from api_key
        where livemode = ${db.livemode} and revoked_at is null and (expires_at is null or expires_at > now())
        group by pepper_id order by pepper_id`,
  )
}

const endpointRow = z.object({ id: z.string(), secrets: z.array(sealedSecretRow).min(1) })
export type SealedEndpoint = z.output<typeof endpointRow>

/** In the order of their ids, beginning after `after`, and locked. */
export function listSealed(
  db: Queryable,
  { after, limit }: { after: string; limit: number },
): Promise<SealedEndpoint[]> {
  return many(
    db,
    endpointRow,
    sql`select id, secrets from webhook_endpoint where id > ${after} and livemode = ${db.livemode}
        order by id limit ${limit} for no key update`,
  )
}

export async function storeSealed(tx: Tx, { id, secrets }: SealedEndpoint): Promise<void> {
  await execute(tx, sql`update webhook_endpoint set secrets = ${JSON.stringify(secrets)}::jsonb where id = ${id}`)
}

const channelRow = z.object({ id: z.string(), sealed: z.string() })
export type SealedChannel = z.output<typeof channelRow>

/** In the order of their ids, beginning after `after`, and locked; without removed channels. */
export function listSealedChannels(
  db: Queryable,
  { after, limit }: { after: string; limit: number },
): Promise<SealedChannel[]> {
  return many(
    db,
    channelRow,
    sql`select id, sealed from channel where id > ${after} and livemode = ${db.livemode} and sealed <> ''
        order by id limit ${limit} for no key update`,
  )
}

export async function storeSealedChannel(tx: Tx, { id, sealed }: SealedChannel): Promise<void> {
  await execute(tx, sql`update channel set sealed = ${sealed} where id = ${id}`)
}

const sealedAnswerRow = z.object({ body: z.string(), created_at: z.date() })

/** Sealed answers that are stored for their Idempotency-Key, the newest first. */
export function listSealedAnswers(db: Queryable): Promise<{ body: string; created_at: Date }[]> {
  return many(
    db,
    sealedAnswerRow,
    sql`select body, created_at from idempotency_key where livemode = ${db.livemode} and body ~ '^v[12][.]'
        order by created_at desc limit 10000`,
  )
}

const sealedMailRow = z.object({ sealed: z.string() })

export function listSealedMails(db: Queryable): Promise<{ sealed: string }[]> {
  return many(
    db,
    sealedMailRow,
    sql`select sealed from mail where sealed is not null and expires_at > now() limit 10000`,
  )
}
