import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { type HostileNode, startHostileNode } from '../../support/hostile-node.ts'
import { TOKEN, useFixture } from '../fixture.ts'
import { addAwaited } from './awaited.ts'
import { sendOtherToken } from './other-token.ts'

const WRONG: Hex = '0x00000000000000000000000000000000000000e1'
const keys = createDepositKeys(Buffer.alloc(32, 3).toString('base64'), TOKEN.chainId)
const fixture = useFixture()
let node: HostileNode
beforeAll(async () => void (node = await startHostileNode(fixture.anvil.url)))
afterAll(() => node.close())

for (const refusals of [0, 1])
  test(`another token at the address of a payment is reported although its balance is refused at ${refusals} blocks`, async () => {
    await fixture.reset()
    const engine = fixture.runner({
      rpc: connectRpc({ urls: [node.url], quorum: 1, chainId: TOKEN.chainId }),
      deposits: { keys, wrongTokens: [WRONG] },
    })
    await fixture.finalize(engine)
    const { address } = await addAwaited(fixture.db, keys, `wrong${refusals}`)
    await engine.tick()
    await sendOtherToken(fixture, { token: WRONG, to: address })
    await fixture.chain.mine({ blocks: 4 })
    if (refusals > 0)
      node.behave = ({ method, params }) =>
        method === 'eth_call' && JSON.stringify(params).includes(WRONG.slice(2))
          ? { error: { code: -32005, message: 'rate limit' } }
          : 'honest'
    await engine.tick().catch(() => undefined)
    node.behave = () => 'honest'
    for (let round = 0; round < 12; round++) {
      await fixture.chain.mine({ blocks: 8 })
      await engine.tick()
    }
    expect(fixture.hookCalls.deposits.filter((one) => one.address === address)).toHaveLength(1)
  })
