import { z } from 'zod'
import type { Hex } from '../../../domain/hex.ts'
import { execute, many, sql } from '../../db.ts'
import { isInScope, type JournalContext } from '../context.ts'
import { hex } from '../payouts.ts'

const openNonceRow = z.object({ owner_id: z.string(), treasury: hex, auth_nonce: hex, micro: z.string() })

/** In the order of their ids, beginning after `after`. */
export async function readOpenNonces(
  context: JournalContext,
  ask: { after: string; limit: number },
): Promise<{ ownerId: string; treasury: Hex; authNonce: Hex; micro: bigint }[]> {
  const rows = await many(
    context.db,
    openNonceRow,
    sql`select p.owner_id, p.treasury, p.auth_nonce, p.micro_usdc::text as micro from payout p
        where ${isInScope(context)} and p.state not in ('settled', 'voided') and p.owner_id > ${ask.after}
          and not exists (select 1 from treasury_log l where l.chain_id = p.chain_id and l.token = p.token
            and l.treasury = p.treasury and l.auth_nonce = p.auth_nonce)
        order by p.owner_id limit ${ask.limit}`,
  )
  return rows.map((row) => ({
    ownerId: row.owner_id,
    treasury: row.treasury,
    authNonce: row.auth_nonce,
    micro: BigInt(row.micro),
  }))
}

export async function storeDepositFinding({ db, scope }: JournalContext, address: Hex, units: bigint): Promise<void> {
  await execute(
    db,
    sql`insert into settlement_finding (chain_id, token, kind, subject, detail)
        select ${scope.chainId}, ${scope.token}, 'deposit_difference', owner_id, ${`its address ${address} holds ${units} units of a token more than its transfers show`}
        from deposit where chain_id = ${scope.chainId} and address = ${address}
        on conflict (chain_id, token, kind, subject) do update set detail = excluded.detail`,
  )
}

export async function dropDepositFindings({ db, scope }: JournalContext, addresses: readonly Hex[]): Promise<void> {
  await execute(
    db,
    sql`delete from settlement_finding f using deposit d
        where f.chain_id = ${scope.chainId} and f.token = ${scope.token} and f.kind = 'deposit_difference'
          and d.owner_id = f.subject and d.chain_id = f.chain_id and d.address = any(${[...addresses]}::text[])`,
  )
}

/** Owners of payouts whose nonce is used on chain without a log. Findings with a log, or of ended payouts, are deleted. */
export async function storeFindings({ db, scope }: JournalContext, ownerIds: readonly string[]): Promise<void> {
  await execute(
    db,
    sql`with gone as (
          delete from settlement_finding f
          where f.chain_id = ${scope.chainId} and f.token = ${scope.token} and f.kind = 'used_without_log'
            and exists (select 1 from payout p where p.owner_id = f.subject and (p.state in ('settled', 'voided')
              or exists (select 1 from treasury_log l where l.auth_nonce = p.auth_nonce and l.treasury = p.treasury))))
        insert into settlement_finding (chain_id, token, kind, subject, detail)
        select ${scope.chainId}, ${scope.token}, 'used_without_log', id,
          'the token calls its nonce used at a final block, and no node shows the transfer or the cancellation'
        from unnest(${[...ownerIds]}::text[]) as given(id) on conflict do nothing`,
  )
}
