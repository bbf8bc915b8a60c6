import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { listSettlementAttention } from '../../../src/db/settlement/watch/standing.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { type HostileNode, startHostileNode } from '../../support/hostile-node.ts'
import { createWorld, TOKEN, type World } from '../world.ts'
import { addAwaited } from './awaited.ts'

describe('a deposit while no quorum gives logs', () => {
  const keys = createDepositKeys(Buffer.alloc(32, 3).toString('base64'), TOKEN.chainId)
  const deposits = { keys, wrongTokens: [] }
  let world: World
  let node: HostileNode
  beforeAll(async () => {
    world = await createWorld()
    node = await startHostileNode(world.anvil.url)
  })
  afterAll(async () => {
    await node.close()
    await world.stop()
  })
  const errors: string[] = []
  const runner = () =>
    world.runner({
      rpc: connectRpc({ urls: [node.url], quorum: 1, chainId: TOKEN.chainId }),
      deposits,
      error: (about, message) => void errors.push(`${message} ${JSON.stringify(about)}`),
    })

  async function story(name: string, blocks: number) {
    const engine = runner()
    await world.finalize(engine)
    const { address } = await addAwaited(world.db, keys, name)
    await mintUsdc(world.chain, { to: address, micro: 5_000_000n })
    node.behave = ({ method }) => (method === 'eth_getLogs' ? { error: { code: -32000, message: 'busy' } } : 'honest')
    for (let left = blocks; left > 0; left -= 8) {
      await world.chain.mine({ blocks: 8 })
      await engine.tick().catch(() => undefined)
    }
    node.behave = () => 'honest'
    for (let round = 0; round < 12; round++) {
      await world.chain.mine({ blocks: 8 })
      await engine.tick()
    }
    // and after a restart
    await world.finalize(runner(), 4)
    return {
      found: world.heard.deposits.filter((one) => one.address === address).length,
      attention: (await listSettlementAttention(world.db)).map(({ kind }) => kind),
      swept: await world.balance(address),
    }
  }

  test('is found when logs come back after 32 blocks (control)', async () => {
    expect(await story('short', 32)).toMatchObject({ found: 1 })
  })

  test('is found when logs come back after 80 blocks, which is less than three minutes of Polygon', async () => {
    const seen = await story('long', 80)
    console.log(
      JSON.stringify(seen, (_k, v) => (typeof v === 'bigint' ? String(v) : v)),
      errors,
    )
    expect(seen).toMatchObject({ found: 1 })
  })
})
