import { beforeEach } from '@jest/globals'
import { connectRpc, type Rpc } from '../../../src/chain/rpc/rpc.ts'
import { type HostileNode, useHostileNodes } from '../../support/hostile-node.ts'
import { type Fixture, TOKEN, useFixture } from '../fixture.ts'

/** A fixture with three nodes for its chain, of which two are a quorum. */
export type ThreeNodes = {
  readonly fixture: Fixture
  readonly nodes: readonly HostileNode[]
}

/**
 * Three nodes for the tests of a `describe`; each starts without payouts, with fifty blocks and honest nodes.
 * `finalBelow`: how far the final block is below the newest one; an even number. The test mines the blocks.
 */
export function useThreeNodes({ finalBelow }: { readonly finalBelow: number }): ThreeNodes {
  const anvil = finalBelow === 2 ? {} : { anvil: ['--no-mining', '--slots-in-an-epoch', String(finalBelow / 2)] }
  const fixture = useFixture({ micro: 100_000_000n, relayers: 2, ...anvil })
  const nodes = useHostileNodes(() => fixture.anvil.url)
  beforeEach(async () => {
    await fixture.reset()
    await fixture.runner().tick()
    await fixture.chain.mine({ blocks: 50 })
    for (const { calls } of nodes) calls.length = 0
  })
  return { fixture, nodes }
}

export const connectTo = (nodes: readonly HostileNode[]): Rpc =>
  connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId })

export async function ticks(runner: { tick(): Promise<unknown> }, times = 2): Promise<void> {
  for (let time = 0; time < times; time++) await runner.tick()
}
