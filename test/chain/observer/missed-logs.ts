import { expect } from '@jest/globals'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { sql } from '../../../src/db/db.ts'
import type { SettlementHooks } from '../../../src/db/settlement/context.ts'
import { listSettlementAttention } from '../../../src/db/settlement/observer/standing.ts'
import { readSigned } from '../../../src/db/settlement/queue.ts'
import type { HostileNode } from '../../support/hostile-node.ts'
import { type Fixture, type Queued, TOKEN } from '../fixture.ts'
import { carry } from '../rpc/strangers.ts'
import { BOOKS } from './books.ts'

/** Payouts that somebody else carries, while nodes hide the logs. */
export function createMissedLogs(fixture: Fixture, nodes: readonly HostileNode[]) {
  const createRunner = (options = { maxInFlight: 0 }) => {
    const urls = nodes.map(({ url }) => url)
    const rpc = connectRpc({ urls, quorum: 2, chainId: TOKEN.chainId, timeoutMs: 2000 })
    const onSettled: SettlementHooks['onSettled'] = async (tx, settlements) => {
      await fixture.hooks.onSettled(tx, settlements)
      await BOOKS.onSettled(tx, settlements)
    }
    return fixture.runner({ rpc, options, hooks: { ...BOOKS, onSettled } })
  }
  const state = async (queued: Queued) => (await fixture.payout(queued.paymentId)).state
  const attention = async () => listSettlementAttention(fixture.db)
  const laterBy = (seconds: number): void => {
    fixture.clock.now = new Date(fixture.clock.now.getTime() + seconds * 1000)
  }

  /** A payout that a stranger has carried, and whose block is final while the given nodes report no logs for it. */
  async function missed(runner: ReturnType<typeof createRunner>, empty: readonly HostileNode[]): Promise<Queued> {
    await fixture.finalize(runner)
    const [queued] = await fixture.queue([{}])
    await runner.tick()
    const [signed] = await readSigned(fixture.db, sql`p.payment_id = ${queued!.paymentId}`, 1)
    await carry(fixture, multicallCodec.encode(TOKEN.address, [signed!]))
    await fixture.chain.mine({ blocks: 4 })
    for (const node of empty) node.behave = ({ method }) => (method === 'eth_getLogs' ? { lie: () => [] } : 'honest')
    await runner.tick()
    expect(await fixture.balance(queued!.recipient)).toBe(queued!.micro)
    expect(await state(queued!)).not.toBe('settled')
    return queued!
  }

  return { createRunner, state, attention, laterBy, missed }
}
