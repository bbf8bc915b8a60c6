import { z } from 'zod'
import type { Hex } from '../../../domain/hex.ts'
import { execute, many, maybeOne, type Queryable, sql } from '../../db.ts'
import type { JournalContext } from '../context.ts'
import { hex } from '../payouts.ts'

/** A treasury that new payouts are not queued on any more. Times are Unix seconds, of the database's clock. */
export type RetiredTreasury = {
  readonly treasury: Hex
  readonly retiredAt: number
  /** Since when no engine has its key; null when one may have it. */
  readonly keylessAt: number | null
}

/**
 * Records the treasuries of an engine that starts: the current one, and those whose keys it has. Every other one that was
 * ever recorded is retired and without a key from now on, unless it was before. Where nobody has read the chain for an hour,
 * the database may be a backup: an earlier treasury may have been the current one, or had its key, since what it knows. Then
 * all count from now on, and what the current one has signed until now counts as forgotten.
 */
export async function recordTreasuries(
  { db, scope }: JournalContext,
  known: { readonly current: Hex; readonly keyed: readonly Hex[]; readonly keyless: readonly Hex[] },
): Promise<void> {
  const given = [...known.keyed, ...known.keyless].map((address) => ({
    address,
    current: address === known.current,
    keyed: known.keyed.includes(address),
  }))
  await execute(
    db,
    sql`with
          given as (select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as g(address text, current boolean, keyed boolean)),
          -- Those that this engine was not told of, too.
          every as (select address, current, keyed from given
            union all select t.address, false, false from treasury t where t.chain_id = ${scope.chainId}
              and t.token = ${scope.token} and t.address not in (select address from given)),
          unread as (update chain_cursor set restored_at = now(), may_forget = true where chain_id = ${scope.chainId}
            and token = ${scope.token} and scanned_at < now() - interval '1 hour' returning 1)
        insert into treasury as t (chain_id, token, address, retired_at, keyless_at)
        select ${scope.chainId}, ${scope.token}, e.address, case when e.current then null else now() end,
          case when e.keyed then null else now() end from every e order by e.address
        on conflict (chain_id, token, address) do update set
          retired_at = case when excluded.retired_at is null or t.retired_at is null or exists (select from unread)
            then excluded.retired_at else t.retired_at end,
          keyless_at = case when excluded.keyless_at is null or t.keyless_at is null or exists (select from unread)
            then excluded.keyless_at else t.keyless_at end`,
  )
}

/**
 * Counts every retired treasury as retired, and without its key where it was, from now on. A restored backup says since when
 * it was so then: a rotation that was taken back, or a key that was found, made signatures later.
 */
export async function retireAnew(db: Queryable, scope: JournalContext['scope']): Promise<void> {
  await execute(
    db,
    sql`update treasury set retired_at = now(), keyless_at = case when keyless_at is not null then now() end
        where chain_id = ${scope.chainId} and token = ${scope.token} and retired_at is not null`,
  )
}

/** Every treasury that is not the current one. */
export async function readRetired({ db, scope }: JournalContext): Promise<RetiredTreasury[]> {
  const rows = await many(
    db,
    z.object({ address: hex, retired_at: z.coerce.number(), keyless_at: z.coerce.number().nullable() }),
    sql`select address, ceil(extract(epoch from retired_at)) as retired_at, ceil(extract(epoch from keyless_at)) as keyless_at
        from treasury where chain_id = ${scope.chainId} and token = ${scope.token} and retired_at is not null order by address`,
  )
  return rows.map((row) => ({ treasury: row.address, retiredAt: row.retired_at, keylessAt: row.keyless_at }))
}

/** A nonce that another treasury would have used for the payment. */
export type Elsewhere = { readonly paymentId: string; readonly treasury: Hex; readonly authNonce: Hex }

/** Which of the nonces the final chain says are cancelled. */
export async function readCancelled({ db, scope }: JournalContext, nonces: readonly Elsewhere[]): Promise<Set<Hex>> {
  if (nonces.length === 0) return new Set()
  const rows = await many(
    db,
    z.object({ auth_nonce: hex }),
    sql`select l.auth_nonce from treasury_log l where l.chain_id = ${scope.chainId} and l.token = ${scope.token} and l.kind = 'cancel'
          and (l.auth_nonce, l.treasury) in (select n."authNonce", n.treasury
            from jsonb_to_recordset(${JSON.stringify(nonces)}::jsonb) as n("authNonce" text, treasury text))`,
  )
  return new Set(rows.map((row) => row.auth_nonce))
}

/** Keeps the nonces, so that a second payout of one of the payments is known when its log comes. */
export async function recordElsewhere({ db }: JournalContext, nonces: readonly Elsewhere[]): Promise<void> {
  if (nonces.length === 0) return
  await execute(
    db,
    sql`insert into payout_elsewhere (payment_id, treasury, auth_nonce)
        select n."paymentId", n.treasury, n."authNonce"
        from jsonb_to_recordset(${JSON.stringify(nonces)}::jsonb) as n("paymentId" text, treasury text, "authNonce" text)
        on conflict do nothing`,
  )
}

export type CurrentTreasury = {
  readonly treasury: Hex
  /** Until this Unix second it may have signed what this database has forgotten; null where it was never restored. */
  readonly restoredAt: number | null
}

/** The treasury that new payouts are queued on; null before the first engine has started. */
export async function readCurrentTreasury({ db, scope }: JournalContext): Promise<CurrentTreasury | null> {
  const row = await maybeOne(
    db,
    z.object({ address: hex, restored_at: z.coerce.number().nullable() }),
    sql`select t.address, ceil(extract(epoch from c.restored_at)) as restored_at
        from treasury t left join chain_cursor c using (chain_id, token)
        where t.chain_id = ${scope.chainId} and t.token = ${scope.token} and t.retired_at is null`,
  )
  return row === null ? null : { treasury: row.address, restoredAt: row.restored_at }
}
