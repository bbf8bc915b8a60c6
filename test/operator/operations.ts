import { expect } from '@jest/globals'
import type { Act } from '../../src/operator/payouts.ts'
import { createSettings, type Fixture, type Queued, TOKEN } from '../chain/fixture.ts'

/** An operator's name and reason, for tests in which they do not matter. */
export const SIGNED = { operator: 'anna', reason: 'a drill' }

/** An operator's operations in the fixture, and the lines that the last one printed. */
export function createOperations(fixture: Fixture) {
  const said: string[] = []
  function operation(dryRun = false): Act {
    said.length = 0
    return {
      db: fixture.db,
      settings: createSettings(fixture),
      hooks: fixture.hooks,
      dryRun,
      signed: SIGNED,
      say: (line) => void said.push(line),
    }
  }
  return { said, operation }
}

/** Blocks that leave the chain although they were final. */
export function createReversals(fixture: Fixture) {
  const state = async ({ paymentId }: Queued) => (await fixture.payout(paymentId)).state
  const paused = async () =>
    ((await fixture.db.query('select paused_reason from chain_cursor')).rows[0] as { paused_reason: string | null })
      .paused_reason
  const reorganize = (depth: number, transactions: readonly unknown[] = []) =>
    fixture.chain.request({ method: 'anvil_reorg' as never, params: [depth, transactions] as never })

  /** A payout that is settled, with what the chain needs to bring it back. */
  async function settle(): Promise<{ queued: Queued; raw: string; depth: number }> {
    const runner = fixture.runner()
    const [queued] = await fixture.queue([{}])
    await fixture.finalize(runner)
    expect(await state(queued!)).toBe('settled')
    const { rows } = await fixture.db.query(
      `select '0x' || encode(a.raw, 'hex') as raw, t.block_number::int as number
     from lane_tx t join lane_tx_attempt a using (chain_id, wallet, nonce) where t.state = 'finalized'
     order by nonce desc, a.attempt desc limit 1`,
    )
    const { raw, number } = rows[0] as { raw: string; number: number }
    return { queued: queued!, raw, depth: Number(await fixture.chain.getBlockNumber()) - number + 2 }
  }

  return { state, paused, reorganize, settle }
}

export const workerVariables = (fixture: Fixture): Record<string, string> => ({
  DATABASE_URL: fixture.databaseUrl,
  POLYGON_RPC_URLS: fixture.anvil.url,
  PUBLIC_URL: 'http://127.0.0.1',
  CHAIN_ID: String(TOKEN.chainId),
  USDC_ADDRESS: TOKEN.address,
  TREASURIES: fixture.treasury.address,
})
