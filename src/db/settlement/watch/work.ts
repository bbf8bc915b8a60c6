import { z } from 'zod'
import { one, sql } from '../../db.ts'
import { type JournalContext, ours } from '../context.ts'
import { worthSweeping } from '../deposits.ts'
import { payable, rested, seen, sendable } from '../queue.ts'
import { here } from '../record.ts'

/** What there is to do, in one statement: all that is asked while nothing happens. */
export type Work = {
  /** Payouts or cancellations wait for a signature, and were not found waiting for a proof just now. */
  readonly sign: boolean
  /** Something signed waits for a lane, or is in one. */
  readonly send: boolean
  /** Something may be on chain soon. */
  readonly underWay: boolean
}

export async function readWork(context: JournalContext): Promise<Work> {
  const { chainId } = context.scope
  const cancellation = sql`select 1 from payout_signature s where s.payment_id = p.payment_id and s.kind = 'cancel'`
  const row = await one(
    context.db,
    z.object({ sign: z.boolean(), send: z.boolean(), payouts: z.boolean() }),
    sql`select
          -- In the order of its index, or a queue that has become short is looked for in the whole table.
          exists (select 1 from (select 1 from payout p where ${ours(context)} and ${payable} order by p.recipient limit 1) next)
            or exists (select 1 from payout p where ${ours(context)} and p.state = 'voiding' and ${rested}
              and not exists (${cancellation})) as sign,
          exists (select 1 from payout p where ${ours(context)} and ${sendable} and p.lane_wallet is null
              and (p.state <> 'voiding' or exists (${cancellation})))
            -- Those of lanes that nobody advances any more stay open, and are nothing to wait for.
            or exists (select 1 from lane_tx t where t.chain_id = ${chainId} and t.state in ('reserved', 'signed', 'broadcast')
              and t.created_at > now() - interval '1 day')
            or exists (select 1 from deposit d where ${worthSweeping(context)}) as send,
          -- Besides what can be sent. Each part has an index of few rows. Asked for by their states alone they were looked for
          -- in the whole table, by three processes, when most payouts had waited as Postgres counted them.
          exists (select 1 from payout p where ${ours(context)} and p.state = 'voiding' and ${rested})
            or exists (select 1 from payout p where ${ours(context)} and p.lane_wallet is not null and p.state <> 'voiding')
            or exists (select 1 from payout p where ${ours(context)} and ${seen} and p.state = 'mined') as payouts`,
  )
  return { sign: row.sign, send: row.send, underWay: row.send || row.payouts }
}

/** Which parts of observing have something to do, so that the others need not ask. */
export type Due = {
  /** Logs whose meaning is not recorded, or gas. */
  readonly pending: boolean
  /** Logs of payouts that have not ended. */
  readonly proven: boolean
  /** Payouts that are on their way. */
  readonly sent: boolean
  /** Voids, and payouts of lost treasuries, that do not rest. */
  readonly voiding: boolean
}

export async function readDue(context: JournalContext): Promise<Due> {
  const { chainId } = context.scope
  return one(
    context.db,
    z.object({ pending: z.boolean(), proven: z.boolean(), sent: z.boolean(), voiding: z.boolean() }),
    sql`select
          exists (select 1 from treasury_log where ${here(context)} and applied_at is null)
            or exists (select 1 from deposit_log where chain_id = ${chainId} and applied_at is null)
            or exists (select 1 from lane_tx where chain_id = ${chainId} and gas_error is not null) as pending,
          exists (select 1 from treasury_log where ${here(context)} and payment_id is null and auth_nonce is not null) as proven,
          exists (select 1 from payout p where ${ours(context)} and p.lane_wallet is not null)
            or exists (select 1 from payout p where ${ours(context)} and ${seen}) as sent,
          exists (select 1 from payout p where ${ours(context)} and p.state = 'voiding' and ${rested})
            or exists (select 1 from treasury t where ${here(context)} and t.lost_at is not null and exists (
              select 1 from payout p where ${ours(context)} and p.treasury = t.address and p.state not in ('settled', 'voided')
                and ${rested})) as voiding`,
  )
}
