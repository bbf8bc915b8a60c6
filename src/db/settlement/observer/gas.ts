import { z } from 'zod'
import type { GasSpent } from '../../../domain/settlement/payout.ts'
import { execute, many, sql, type Tx } from '../../db.ts'
import { attempt, type JournalContext } from '../context.ts'
import { hex } from '../payouts.ts'

/** Seconds between two tries to record the meaning of a log, or of a transaction. */
export const RETRY_SECONDS = 30

export type UnbookedGas = { readonly wallet: string; readonly nonce: number; readonly error: Error }

/** Each under a separate savepoint. Stores and returns the failures. */
export async function bookGas(tx: Tx, { hooks }: JournalContext, spent: readonly GasSpent[]): Promise<UnbookedGas[]> {
  const failed: UnbookedGas[] = []
  for (const gas of spent) {
    const { chainId, wallet, nonce } = gas
    const error = await attempt(tx, () => hooks.onGas(tx, gas))
    if (error !== null) failed.push({ wallet, nonce, error })
    await execute(
      tx,
      sql`update lane_tx set gas_error = ${error?.message ?? null},
            gas_retry_at = case when ${error !== null} then now() + ${RETRY_SECONDS} * interval '1 second' end
          where chain_id = ${chainId} and wallet = ${wallet} and nonce = ${nonce}`,
    )
  }
  return failed
}

const unbookedGasRow = z.object({ wallet: hex, nonce: z.coerce.number(), wei: z.coerce.bigint() })

export async function readUnbookedGas(tx: Tx, { scope }: JournalContext, limit: number): Promise<GasSpent[]> {
  const rows = await many(
    tx,
    unbookedGasRow,
    sql`select wallet, nonce, (gas_used * gas_price)::text as wei from lane_tx
        where chain_id = ${scope.chainId} and gas_error is not null and gas_retry_at <= now()
        order by gas_retry_at limit ${limit} for update skip locked`,
  )
  return rows.map((row) => ({ ...row, chainId: scope.chainId }))
}
