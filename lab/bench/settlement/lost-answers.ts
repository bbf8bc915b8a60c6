import { multicallCodec } from '../../../src/chain/codec.ts'
import { createDb } from '../../../src/db/db.ts'
import { startLossyProxy } from '../../../test/support/anvil.ts'
import { composeEngine } from '../../settlement/compose.ts'
import { newRecipient, onlyTreasury, queueOwed } from '../../settlement/payouts.ts'
import type { Setup } from '../../settlement/setup.ts'

/** Every fifth answer to `eth_sendRawTransaction` is lost: the node has the transaction, the sender does not know. */
const LOSE_EVERY = 5

export type LostAnswers = {
  readonly settled: number
  /** Payouts that are paid on chain, but that the engine would pay again or give up. */
  readonly failed: number
  readonly lost: number
  readonly sends: number
}

/** Sends one payout a transaction, so that each lost answer concerns one payout, as with a plain relayer. */
export async function measureLostAnswers(setup: Setup, payouts: number): Promise<LostAnswers> {
  await setup.createDatabase('lost_answers')
  const db = createDb({ url: setup.databaseUrl('lost_answers'), livemode: false })
  const proxy = await startLossyProxy(setup.rpcUrl)
  let sends = 0
  let lost = 0
  proxy.decide = ({ method }) => {
    if (method !== 'eth_sendRawTransaction') return 'deliver'
    sends += 1
    if (sends % LOSE_EVERY !== 0) return 'deliver'
    lost += 1
    return 'lose_response'
  }
  const failures = new Set<string>()
  const onStopped = async (_tx: unknown, { ownerId }: { ownerId: string }): Promise<void> => void failures.add(ownerId)
  try {
    const { treasuryKey, relayerKeys } = setup
    const ignore = (): void => undefined
    const engine = composeEngine({
      db,
      rpcUrls: [proxy.url],
      treasuryKey,
      relayerKeys,
      everyMs: 0,
      log: { info: ignore, warn: ignore, error: ignore },
      codec: { ...multicallCodec, maxItems: 1 },
      options: { rebroadcastMs: 0 },
      hooks: { onStopped, onVoided: onStopped },
    })
    const owed = Array.from({ length: payouts }, (_owed, index) => ({
      paymentId: `pay_lost_${index}`,
      recipient: newRecipient(),
      micro: 1_000_000n,
    }))
    await queueOwed(db, owed, { token: setup.token, treasuries: onlyTreasury(treasuryKey) })
    const count = async (where: string): Promise<number> =>
      Number((await db.query(`select count(*) from payout where ${where}`)).rows[0].count)
    for (let round = 0; round < payouts && (await count(`state <> 'settled'`)) > 0; round++) {
      await engine.tick()
      await setup.chain.mine({ blocks: 1 })
    }
    const settled = await count(`state = 'settled'`)
    const ended = await count(`state in ('stopped', 'voiding', 'voided')`)
    return { settled, failed: failures.size + ended, lost, sends }
  } finally {
    await proxy.close()
    await db.close()
  }
}
