import { beforeEach } from '@jest/globals'
import { connectRpc, type Rpc } from '../../../../src/chain/rpc/rpc.ts'
import { TOPICS } from '../../../../src/chain/token/contracts.ts'
import { type HostileNode, useHostileNodes } from '../../../support/hostile-node.ts'
import { quantity } from '../../rpc/laggard.ts'
import { type Queued, TOKEN, useWorld, type World } from '../../world.ts'

/** A world whose chain is seen through three nodes, of which two are a quorum. */
export type ThreeNodes = {
  readonly world: World
  readonly nodes: readonly HostileNode[]
}

/**
 * Three nodes for the tests of a `describe`; before each there is no payout, fifty blocks, and all nodes are honest.
 * `finalBelow`: how far the final block is below the newest one; an even number. Blocks are mined by the test.
 */
export function useThreeNodes({ finalBelow }: { readonly finalBelow: number }): ThreeNodes {
  const anvil = finalBelow === 2 ? {} : { anvil: ['--no-mining', '--slots-in-an-epoch', String(finalBelow / 2)] }
  const world = useWorld({ micro: 100_000_000n, relayers: 2, ...anvil })
  const nodes = useHostileNodes(() => world.anvil.url)
  beforeEach(async () => {
    await world.reset()
    await world.runner().tick()
    await world.chain.mine({ blocks: 50 })
    for (const { calls } of nodes) calls.length = 0
  })
  return { world, nodes }
}

export const connectTo = (nodes: readonly HostileNode[]): Rpc =>
  connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId })

export async function ticks(runner: { tick(): Promise<unknown> }, times = 2): Promise<void> {
  for (let time = 0; time < times; time++) await runner.tick()
}

/** An address or a number as a topic, or as the data of a log. */
export const pad = (hex: string): string => `0x${hex.slice(2).toLowerCase().padStart(64, '0')}`

/** The logs of the payout's transfer, in a transaction that is none. */
export async function inventTransfer(
  world: World,
  { paymentId, recipient, micro }: Queued,
  place: { readonly blockNumber: string; readonly blockHash: string },
): Promise<object[]> {
  const { rows } = await world.db.query('select auth_nonce from payout where payment_id = $1', [paymentId])
  const { auth_nonce: nonce } = rows[0] as { auth_nonce: string }
  const treasury = pad(world.treasury.address)
  const log = { address: TOKEN.address, transactionHash: `0x${'ab'.repeat(32)}`, ...place }
  return [
    { ...log, logIndex: '0x0', topics: [TOPICS.authorizationUsed, treasury, nonce], data: '0x' },
    { ...log, logIndex: '0x1', topics: [TOPICS.transfer, treasury, pad(recipient)], data: pad(quantity(micro)) },
  ]
}
