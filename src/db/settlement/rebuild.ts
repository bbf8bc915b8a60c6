import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import type { Lease } from '../../domain/settlement/payout.ts'
import type { UnpaidPayment } from '../../domain/settlement/transfers.ts'
import { execute, many, type Queryable, sql } from '../db.ts'
import type { JournalContext, SettlementScope } from './context.ts'
import { fence, here } from './cursor.ts'
import { hex } from './payouts.ts'

/** Rebuilds settlement from the chain: payments and releases show the owed amounts, and a cursor reads everything again. */

export type Owing = {
  /** A payment, or a release of reserves. */
  readonly ownerId: string
  readonly owed: UnpaidPayment
  readonly payoutState: string | null
  readonly payoutTreasury: Hex | null
}

const owingRow = z.object({
  id: z.string(),
  destination: z.string().transform((value) => value.toLowerCase() as Hex),
  payout_micro: z.string().nullable(),
  quoted: z.string(),
  state: z.string().nullable(),
  treasury: hex.nullable(),
})

const PAGE = 5000

export async function* listOwing(db: Queryable, scope: SettlementScope): AsyncGenerator<Owing> {
  let after = ''
  for (;;) {
    const rows = await many(
      db,
      owingRow,
      sql`select m.id, m.destination, payout_micro(m.net_micro, m.reserve_percent, m.deducted_micro)::text as payout_micro, m.quote ->> 'netMicro' as quoted, p.state, p.treasury from payment m left join payout p on p.owner_id = m.id
          where m.livemode = ${scope.livemode} and m.chain_id = ${scope.chainId} and lower(m.token) = ${scope.token}
            and m.id > ${after}
          union all
          select r.id, r.recipient, r.micro_usdc::text, r.micro_usdc::text, p.state, p.treasury
          from reserve_release r join payout p on p.owner_id = r.id
          where r.livemode = ${scope.livemode} and p.chain_id = ${scope.chainId} and p.token = ${scope.token} and r.id > ${after}
          order by id limit ${PAGE}`,
    )
    for (const { id, destination, payout_micro, quoted, state, treasury } of rows)
      yield {
        ownerId: id,
        owed: { recipient: destination, net: payout_micro, quotedNet: quoted },
        payoutState: state,
        payoutTreasury: treasury,
      }
    if (rows.length < PAGE) return
    after = rows.at(-1)?.id ?? after
  }
}

const treasuryRow = z.object({ treasury: hex })

/** Lists the treasuries of queued payouts, those that signed anything, and those that an engine has ever named. */
export async function listTreasuries(db: Queryable, scope: SettlementScope): Promise<Hex[]> {
  const rows = await many(
    db,
    treasuryRow,
    sql`select treasury from treasury_hour where chain_id = ${scope.chainId} and token = ${scope.token}
        union select treasury from payout where chain_id = ${scope.chainId} and token = ${scope.token}
          and livemode = ${scope.livemode}
        union select address from treasury where chain_id = ${scope.chainId} and token = ${scope.token}`,
  )
  return rows.map(({ treasury }) => treasury)
}

const walletRow = z.object({ wallet: hex })

export async function listRelayers(db: Queryable, chainId: number): Promise<Hex[]> {
  const rows = await many(db, walletRow, sql`select wallet from lane where chain_id = ${chainId}`)
  return rows.map(({ wallet }) => wallet)
}

/** Everything after the block is read again. Stored logs change nothing. */
export function rewindCursor(context: JournalContext, lease: Lease, to: { number: number; hash: Hex }): Promise<void> {
  return context.db.transaction(async (tx) => {
    await fence(context, tx, lease)
    await execute(
      tx,
      sql`update chain_cursor set scanned_number = ${to.number}, scanned_hash = ${to.hash},
            first_number = least(first_number, ${to.number}), logs_number = least(logs_number, ${to.number}),
            deposits_number = least(deposits_number, ${to.number}) where ${here(context)}
            and scanned_number > ${to.number}`,
    )
  })
}
