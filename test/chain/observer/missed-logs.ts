import { expect } from '@jest/globals'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { listSettlementAttention } from '../../../src/db/settlement/watch/standing.ts'
import type { HostileNode } from '../../support/hostile-node.ts'
import { type Queued, TOKEN, type World } from '../world.ts'

/** Nodes that do not show the logs of a block when it is read. */
export function createMissedLogs(world: World, nodes: readonly HostileNode[]) {
  const createRunner = (timeoutMs = 2000) => {
    const urls = nodes.map(({ url }) => url)
    return world.runner({ rpc: connectRpc({ urls, quorum: 2, chainId: TOKEN.chainId, timeoutMs }) })
  }
  const state = async (queued: Queued) => (await world.payout(queued.paymentId)).state
  const attention = async () => listSettlementAttention(world.db)
  const laterBy = (seconds: number): void => {
    world.clock.now = new Date(world.clock.now.getTime() + seconds * 1000)
  }

  /** A payout that is final on chain, and whose block was read while the given nodes said that it has no logs. */
  async function missed(runner: ReturnType<typeof createRunner>, empty: readonly HostileNode[]): Promise<Queued> {
    await runner.tick()
    const [queued] = await world.queue([{}])
    await runner.tick()
    await world.chain.mine({ blocks: 4 })
    for (const node of empty) node.behave = ({ method }) => (method === 'eth_getLogs' ? { lie: () => [] } : 'honest')
    await runner.tick()
    expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
    expect(await state(queued!)).not.toBe('settled')
    return queued!
  }

  return { createRunner, state, attention, laterBy, missed }
}
