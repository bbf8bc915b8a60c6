import { z } from 'zod'
import type { Hex } from '../../../domain/hex.ts'
import type { PayoutSignature } from '../../../domain/settlement/payout.ts'
import { execute, many, one, sql, type Tx } from '../../db.ts'
import { attempt, type FailedHook, isInScope, type JournalContext } from '../context.ts'
import { here } from '../cursor.ts'
import { sumUnclaimed } from '../observer/known-logs.ts'
import { hex } from '../payouts.ts'
import { isReleased, onLostTreasury, passing, seen, sendable } from '../queue.ts'

const reservedRow = z.object({ micro: z.string(), final: z.coerce.number() })

/**
 * Reads the micro-USDC that signatures promise and that the chain has not shown up to the block. A settled payout is
 * not promised any more: it was paid in `final` or an earlier block, and the balance of an older block still has its
 * money.
 */
export async function readReserved(
  context: JournalContext,
  treasury: Hex,
  block: number,
): Promise<{ micro: bigint; final: number }> {
  const mine = sql`${isInScope(context)} and p.treasury = ${treasury}`
  const row = await one(
    context.db,
    reservedRow,
    // Both at one moment, or a payout could be settled in between.
    sql`select coalesce(sum(micro_usdc), 0)::text as micro,
          (select scanned_number from chain_cursor where ${here(context)}) as final from (
          -- The transfer of a void might be on its way and win over the cancellation.
          select p.micro_usdc from payout p where ${mine} and ${sendable} and p.lane_wallet is null and (p.state = 'authorized'
            or exists (select 1 from payout_signature s where s.owner_id = p.owner_id and s.kind = 'transfer'))
          union all
          select p.micro_usdc from payout p where ${mine} and p.lane_wallet is not null and p.state in ('assigned', 'voiding')
          union all
          -- The balance of a block before it is a balance with it.
          select p.micro_usdc from payout p where ${mine} and ${seen} and p.state = 'mined' and p.mined_number > ${block}
        ) promised`,
  )
  return { micro: BigInt(row.micro), final: row.final }
}

const ownerIdRow = z.object({ owner_id: z.string() })

/** The limit of a day has counted these payouts already. */
export async function readSignedBefore({ db }: JournalContext, ownerIds: readonly string[]): Promise<Set<string>> {
  const rows = await many(
    db,
    ownerIdRow,
    sql`select distinct owner_id from payout_signature where owner_id = any(${[...ownerIds]}) and kind = 'transfer'`,
  )
  return new Set(rows.map((row) => row.owner_id))
}

const microRow = z.object({ micro: z.string() })

/**
 * Reads the micro-USDC that a treasury authorized since the beginning of the hour of `since`, and what left it within a
 * day without a payout that claims it: a thief's transfers use up the limit. Signing again counts once.
 */
export async function readAuthorizedSince(context: JournalContext, treasury: Hex, since: Date): Promise<bigint> {
  const { chainId, token } = context.scope
  const row = await one(
    context.db,
    microRow,
    sql`select (coalesce(sum(micro_usdc), 0) + (${sumUnclaimed(context.scope, treasury)}))::text as micro
        from treasury_hour where chain_id = ${chainId} and token = ${token} and treasury = ${treasury}
          and hour >= date_trunc('hour', ${since}::timestamptz)`,
  )
  return BigInt(row.micro)
}

const signable = sql`(p.state in ('queued', 'authorized') or ${passing})`

const storedRow = z.object({ resumed: z.string().nullable(), spender: hex.nullable() })

/**
 * Stores signatures; a payout that waited becomes authorized, unless its state has changed since it was read. A hook
 * that throws undoes only its own writes. Returns such failures.
 */
export function storeSignatures(
  context: JournalContext,
  signed: readonly { ownerId: string; treasury: Hex; signature: PayoutSignature }[],
  limits: { readonly maxMicroPerDay: bigint },
): Promise<FailedHook[]> {
  return context.db.transaction(async (tx) => {
    await lockStoppedFirst(
      tx,
      signed.map(({ ownerId }) => ownerId),
    )
    const rows = signed.map(({ ownerId, treasury, signature }) => ({
      owner_id: ownerId,
      treasury,
      kind: signature.kind,
      valid_before: signature.validBefore,
      signature: signature.signature.slice(2),
    }))
    const storedRows = await many(
      tx,
      storedRow,
      sql`with
          -- Two parts below read it: it is parsed once.
          released as materialized (select g.* from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
              as g(owner_id text, treasury text, kind text, valid_before bigint, signature text)
            -- Only cancellations are stored for a merchant that is suspended with its payouts.
            where g.kind = 'cancel' or ${isReleased(sql`g.owner_id`)}),
          given as (select g.* from released g
            join payout p on p.owner_id = g.owner_id and p.treasury = g.treasury
            -- A payout may have been voided or taken over since it was read: no signature is stored after the proof that there is none.
            where ${isInScope(context)} and (g.kind = 'cancel' or ${signable} and not ${onLostTreasury}) for update of p),
          -- Every one is kept: after the latest valid_before an unused nonce is proved dead.
          kept as (insert into payout_signature (owner_id, seq, kind, valid_before, signature)
            select g.owner_id, coalesce((select max(seq) + 1 from payout_signature s where s.owner_id = g.owner_id), 1),
              g.kind, g.valid_before, decode(g.signature, 'hex') from given g returning owner_id, seq, kind),
          -- Only a first signature spends. The row of the hour stays locked, so that a second engine waits.
          spent as (insert into treasury_hour as h (chain_id, token, treasury, hour, micro_usdc)
            select p.chain_id, p.token, p.treasury, date_trunc('hour', now()), sum(p.micro_usdc)
            from payout p join kept k using (owner_id) where k.seq = 1 and k.kind = 'transfer' group by 1, 2, 3
            on conflict (chain_id, token, treasury, hour) do update set micro_usdc = h.micro_usdc + excluded.micro_usdc
            returning treasury),
          -- The update answers new states only, and the hook asks which were stopped.
          before as (select p.owner_id, p.state from payout p join given g using (owner_id)
            where g.kind = 'transfer' and ${signable}),
          -- With the signature: a payout without one cannot be sent.
          authorized as (
            update payout p set state = 'authorized', stop_reason = null, stop_detail = null, updated_at = now()
            from before b where p.owner_id = b.owner_id returning p.owner_id, b.state as before)
          select owner_id as resumed, null as spender from authorized where before = 'stopped'
          union all select null, treasury from spent`,
    )
    await checkSpending(context, tx, { ...limits, spenders: storedRows.flatMap(({ spender }) => spender ?? []) })
    const failed: FailedHook[] = []
    for (const ownerId of storedRows.flatMap(({ resumed }) => resumed ?? [])) {
      const error = await attempt(tx, () => context.hooks.onResumed(tx, { ownerId }))
      if (error !== null) failed.push({ ownerId, error })
    }
    return failed
  })
}

/** As `lockPaymentsFirst`, for the few payments that are notified that their payout continues. */
async function lockStoppedFirst(tx: Tx, ids: readonly string[]): Promise<void> {
  await execute(
    tx,
    sql`select 1 from payment join payout p on p.owner_id = payment.id where payment.id = any(${[...ids]})
          and ${passing} order by payment.id for update of payment`,
  )
}

const spentRow = z.object({ treasury: hex, micro: z.string() })

/**
 * Checks the limit of 24 hours again, for treasuries that spent, and throws if it is exceeded. Every hour's row is
 * locked: if two engines each saw room for one sum, the second sees what the first has added.
 */
async function checkSpending(
  { scope }: JournalContext,
  tx: Tx,
  { maxMicroPerDay, spenders }: { maxMicroPerDay: bigint; spenders: readonly Hex[] },
): Promise<void> {
  if (spenders.length === 0) return
  const rows = await many(
    tx,
    spentRow,
    sql`with hours as (
          select treasury, micro_usdc from treasury_hour where chain_id = ${scope.chainId} and token = ${scope.token}
            and treasury = any(${[...spenders]}) and hour >= date_trunc('hour', now() - interval '24 hours') for update)
        select treasury, sum(micro_usdc)::text as micro from hours group by treasury`,
  )
  for (const { treasury, micro } of rows)
    if (BigInt(micro) > maxMicroPerDay)
      throw new Error(`${treasury} would have authorized ${micro} micro-USDC within 24 hours`)
}
