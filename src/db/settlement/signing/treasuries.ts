import { z } from 'zod'
import type { Hex } from '../../../domain/hex.ts'
import { appendedTreasuries, getTreasury, type Treasury, whyTooEarly } from '../../../domain/settlement/treasuries.ts'
import { execute, many, maybeOne, type Queryable, sql, type Tx } from '../../db.ts'
import type { JournalContext, SettlementScope } from '../context.ts'
import { hex } from '../payouts.ts'

type Place = Pick<SettlementScope, 'chainId' | 'token'>

const treasuryRow = z.object({
  address: hex,
  firstId: z.string().nullable(),
  hasKey: z.boolean(),
  successor: hex.nullable(),
})

export type StampedTreasury = z.infer<typeof treasuryRow>

/** Empty before the first worker has started. */
export function readTreasuryList(db: Queryable, { chainId, token }: Place): Promise<StampedTreasury[]> {
  return many(
    db,
    treasuryRow,
    sql`select address, first_id as "firstId", has_key as "hasKey", successor from treasury
        where chain_id = ${chainId} and token = ${token} order by first_id nulls first`,
  )
}

/**
 * Stamps the treasuries that the list of a starting worker has beyond the stamped one, and which of their keys the
 * worker has (null: unknown). Returns why the worker must not start, for people; null: it can. If the chain has not
 * been read for an hour, the database might be a restored backup, and counts as one from then on.
 */
export function stampTreasuries(
  { db, scope }: JournalContext,
  { list, keys }: { readonly list: readonly Treasury[]; readonly keys: readonly Hex[] | null },
): Promise<string | null> {
  const { chainId, token } = scope
  return db.transaction(async (tx) => {
    await execute(
      tx,
      sql`update chain_cursor set restored_at = now() where chain_id = ${chainId} and token = ${token}
            and scanned_at < now() - interval '1 hour'`,
    )
    // Each payout that is being queued is compared with the list under the same lock (payout_has_its_treasury).
    await execute(tx, sql`select pg_advisory_xact_lock(hashtextextended('treasuries', 0))`)
    const stamped = await readTreasuryList(tx, scope)
    const appended = appendedTreasuries(stamped, list)
    if (typeof appended === 'string') return appended
    const lost = stamped.find(({ address, successor }) => successor !== null && keys?.includes(address))
    if (lost !== undefined)
      return `${lost.address} was taken over by ${lost.successor}: remove its key from TREASURY_KEY and RETIRED_TREASURY_KEYS`
    for (const treasury of appended) {
      const newest = treasury.firstId === null ? null : await findPaymentSince(tx, scope, treasury.firstId)
      if (newest !== null) return whyTooEarly(treasury, newest)
    }
    await execute(
      tx,
      sql`insert into treasury (chain_id, token, address, first_id, has_key)
          select ${chainId}, ${token}, g.address, g."firstId", coalesce(g.address = any(${keys === null ? null : [...keys]}::text[]), true)
          from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as g(address text, "firstId" text)
          on conflict (chain_id, token, address) do update set has_key = excluded.has_key`,
    )
    return null
  })
}

const idRow = z.object({ id: z.string() })

async function findPaymentSince(tx: Tx, { chainId, token }: Place, id: string): Promise<string | null> {
  const row = await maybeOne(
    tx,
    idRow,
    sql`select id from payment where id collate "C" >= ${id} and chain_id = ${chainId} and lower(token) = ${token}
        order by id collate "C" desc limit 1`,
  )
  return row?.id ?? null
}

/**
 * Records that the key of a treasury is lost, and which treasury takes over: it pays each open payout as soon as no
 * signature of the lost key can be valid for it (`moveDead`). Default: the last one whose key a worker has. Returns the
 * successor.
 */
export async function recordLoss(
  tx: Tx,
  scope: Place,
  ask: { readonly lost: Hex; readonly to: Hex | null },
): Promise<Hex> {
  const list = await readTreasuryList(tx, scope)
  const lost = list.find(({ address }) => address === ask.lost)
  if (lost === undefined) throw new RangeError(`${ask.lost} is no treasury of this deployment`)
  const others = list.filter(({ address, successor }) => address !== ask.lost && successor === null)
  const to = ask.to ?? lost.successor ?? others.findLast(({ hasKey }) => hasKey)?.address
  if (others.every(({ address }) => address !== to))
    throw new RangeError(
      to === undefined
        ? 'no other treasury has a key: append a new one to TREASURIES, give its key to the workers, and restart them first'
        : `${to} cannot take over: it is no other treasury of this deployment, or is lost itself`,
    )
  const { chainId, token } = scope
  await execute(
    tx,
    sql`update treasury set lost_at = coalesce(lost_at, now()), successor = ${to} where chain_id = ${chainId}
          and token = ${token} and address = ${ask.lost}`,
  )
  return to as Hex
}

/** Null before the first worker has started. */
export async function findTreasury(db: Queryable, scope: Place, ownerId: string): Promise<Hex | null> {
  const list = await readTreasuryList(db, scope)
  return list.length === 0 ? null : getTreasury(ownerId, list)
}
