import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parseEther } from 'viem'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { accountOf } from '../../../src/chain/keys/private-key.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { type HostileNode, startHostileNode } from '../../support/hostile-node.ts'
import { createWorld, newKey, TOKEN, type World } from '../world.ts'
import { addAwaited } from './awaited.ts'

const WRONG: Hex = '0x00000000000000000000000000000000000000e1'
const keys = createDepositKeys(Buffer.alloc(32, 3).toString('base64'), TOKEN.chainId)
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

for (const refusals of [0, 1])
  test(`another token at the address of a payment is reported although its balance is refused at ${refusals} blocks`, async () => {
    await world.reset()
    const errors: string[] = []
    const engine = world.runner({
      rpc: connectRpc({ urls: [node.url], quorum: 1, chainId: TOKEN.chainId }),
      deposits: { keys, wrongTokens: [WRONG] },
      error: (_about, message) => void errors.push(message),
    })
    await world.finalize(engine)
    const { address } = await addAwaited(world.db, keys, `wrong${refusals}`)
    await engine.tick()
    // As test/chain/deposits/deposits.test.ts: emits Transfer when called without data, and says what the address has.
    const emits = `6207a1205f5273${address.slice(2)}5f7f${'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'}60205fa300`
    const answers = `5b60043573${address.slice(2)}146207a120025f5260205ff3`
    await world.chain.setCode({ address: WRONG, bytecode: `0x36604657${emits}${answers}` as Hex })
    const payer = accountOf(newKey())
    await world.chain.setBalance({ address: payer.address, value: parseEther('1') })
    await world.chain.sendRawTransaction({
      serializedTransaction: await payer.signTransaction({
        type: 'eip1559',
        chainId: TOKEN.chainId,
        nonce: 0,
        to: WRONG,
        gas: 100_000n,
        maxFeePerGas: 10n ** 12n,
        maxPriorityFeePerGas: 10n ** 11n,
      }),
    })
    await world.chain.mine({ blocks: 4 })
    if (refusals > 0)
      node.behave = ({ method, params }) =>
        method === 'eth_call' && JSON.stringify(params).includes(WRONG.slice(2))
          ? { error: { code: -32005, message: 'rate limit' } }
          : 'honest'
    await engine.tick().catch(() => undefined)
    node.behave = () => 'honest'
    for (let round = 0; round < 12; round++) {
      await world.chain.mine({ blocks: 8 })
      await engine.tick()
    }
    console.log(errors)
    expect(world.heard.deposits.filter((one) => one.address === address)).toHaveLength(1)
  })
