import { execute, type Queryable, sql, type Tenant, type Tx } from '../db.ts'
import type { IdempotencyClaim } from './payments.ts'

/**
 * Claims the key for this transaction; false if it was claimed before. It waits for a concurrent claim, and the
 * database throws if that takes longer than lock_timeout. Store the answer before the commit, so that a claim is never
 * visible without one.
 */
export async function claimKey(
  tx: Tx,
  tenant: Tenant,
  claim: Pick<IdempotencyClaim, 'route' | 'key' | 'fingerprint'>,
): Promise<boolean> {
  const claimed = await execute(
    tx,
    sql`insert into idempotency_key (merchant_id, livemode, route, key, fingerprint, status, body)
        values (${tenant.merchantId}, ${tenant.livemode}, ${claim.route}, ${claim.key}, ${claim.fingerprint}, 0, '')
        on conflict do nothing`,
  )
  return claimed === 1
}

export async function storeAnswer(tx: Tx, tenant: Tenant, claim: IdempotencyClaim): Promise<void> {
  await execute(
    tx,
    sql`update idempotency_key set status = ${claim.status}, location = ${claim.location}, body = ${claim.body}
        where merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode} and route = ${claim.route}
          and key = ${claim.key}`,
  )
}

type KeyClaim = Pick<IdempotencyClaim, 'route' | 'key' | 'fingerprint'>

/**
 * Claims the key for `seconds` before an effect outside of the database. False if it has an answer, or is claimed. A
 * released key is free for any request. A key whose process died is free only for the same request, because it is
 * unknown what the other one has done.
 */
export async function claimAhead(
  db: Queryable,
  tenant: Tenant,
  { seconds, ...claim }: KeyClaim & { seconds: number },
): Promise<boolean> {
  const claimed = await execute(
    db,
    sql`insert into idempotency_key as kept (merchant_id, livemode, route, key, fingerprint, status, body, claimed_until)
        values (${tenant.merchantId}, ${tenant.livemode}, ${claim.route}, ${claim.key}, ${claim.fingerprint}, 0, '',
          now() + make_interval(secs => ${seconds}))
        on conflict (merchant_id, livemode, route, key) do update
          set fingerprint = excluded.fingerprint, claimed_until = excluded.claimed_until
          where kept.claimed_until = '-infinity'
            or (kept.claimed_until <= now() and kept.fingerprint = excluded.fingerprint)`,
  )
  return claimed === 1
}

export async function answerClaim(
  db: Queryable,
  tenant: Tenant,
  answer: KeyClaim & { status: number; body: string },
): Promise<void> {
  await execute(
    db,
    sql`update idempotency_key set status = ${answer.status}, body = ${answer.body}, claimed_until = null
        where ${claimed(tenant, answer)}`,
  )
}

export async function releaseClaim(db: Queryable, tenant: Tenant, claim: KeyClaim): Promise<void> {
  await execute(db, sql`update idempotency_key set claimed_until = '-infinity' where ${claimed(tenant, claim)}`)
}

function claimed(tenant: Tenant, { route, key, fingerprint }: KeyClaim) {
  return sql`merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode} and route = ${route} and key = ${key}
    and fingerprint = ${fingerprint} and claimed_until is not null`
}
