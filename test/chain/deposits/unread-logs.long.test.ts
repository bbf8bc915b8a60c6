import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { type HostileNode, startHostileNode } from '../../support/hostile-node.ts'
import { TOKEN, useFixture } from '../fixture.ts'
import { addAwaited } from './awaited.ts'

describe('a deposit while no quorum gives logs', () => {
  const keys = createDepositKeys(Buffer.alloc(32, 3).toString('base64'), TOKEN.chainId)
  const deposits = { keys, wrongTokens: [] }
  const fixture = useFixture()
  let node: HostileNode
  beforeAll(async () => void (node = await startHostileNode(fixture.anvil.url)))
  afterAll(() => node.close())
  const runner = () =>
    fixture.runner({ rpc: connectRpc({ urls: [node.url], quorum: 1, chainId: TOKEN.chainId }), deposits })

  /** Returns how often the deposit was found. */
  async function depositWithoutLogs(name: string, blocks: number): Promise<number> {
    const engine = runner()
    await fixture.finalize(engine)
    const { address } = await addAwaited(fixture.db, keys, name)
    await mintUsdc(fixture.chain, { to: address, micro: 5_000_000n })
    node.behave = ({ method }) => (method === 'eth_getLogs' ? { error: { code: -32000, message: 'busy' } } : 'honest')
    for (let left = blocks; left > 0; left -= 8) {
      await fixture.chain.mine({ blocks: 8 })
      await engine.tick().catch(() => undefined)
    }
    node.behave = () => 'honest'
    for (let round = 0; round < 12; round++) {
      await fixture.chain.mine({ blocks: 8 })
      await engine.tick()
    }
    // And after a restart.
    await fixture.finalize(runner(), 4)
    return fixture.hookCalls.deposits.filter((one) => one.address === address).length
  }

  test('a deposit is found when logs come back after 32 blocks', async () => {
    expect(await depositWithoutLogs('short', 32)).toBe(1)
  })

  test('a deposit is found when logs come back after 80 blocks, which is less than three minutes of Polygon', async () => {
    expect(await depositWithoutLogs('long', 80)).toBe(1)
  })
})
