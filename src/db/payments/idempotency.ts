import { execute, sql, type Tenant, type Tx } from '../db.ts'
import type { IdempotencyClaim } from './payments.ts'

/**
 * Claims the key for this transaction; false when it was claimed before. A concurrent claim is waited for, and the
 * database throws when that takes longer than lock_timeout. The answer must be stored before the commit, so that nobody
 * sees a claim without one.
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
