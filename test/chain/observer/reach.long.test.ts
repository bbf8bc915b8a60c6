import { expect, test } from '@jest/globals'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { useHostileNodes } from '../../support/hostile-node.ts'
import { createRandom } from '../../support/random.ts'
import { TOKEN, useWorld } from '../world.ts'
import { isCaughtUp, within } from './catching-up.ts'

const LOGS = 'eth_getLogs'
const keys = createDepositKeys(Buffer.alloc(32, 3).toString('base64'), TOKEN.chainId)
const deposits = { keys, wrongTokens: [] }

const world = useWorld()
const nodes = useHostileNodes(() => world.anvil.url)

// failures that had nothing to do with the length made each range shorter, and the cursor fell behind for ever
test('a worker stays within 100 blocks of the newest one when one node gives no logs and the others lose a third of the questions', async () => {
  let now = 0
  const urls = nodes.map(({ url }) => url)
  const runner = world.runner({
    rpc: connectRpc({ urls, quorum: 2, chainId: TOKEN.chainId, timeoutMs: 2000, now: () => now }),
    deposits,
  })
  expect(await within(20, runner, isCaughtUp(world))).toBe(true)
  const random = createRandom(7)
  for (const [index, node] of nodes.entries())
    node.behave = ({ method }) =>
      method !== LOGS || (index > 0 && !random.chance(0.33)) ? 'honest' : { status: 503, text: 'lost' }
  const lags: number[] = []
  for (let round = 0; round < 150; round++) {
    await world.chain.mine({ blocks: 2 })
    await runner.tick().catch(() => undefined)
    // By the clock of the nodes, which leave each other alone for a while.
    now += 4000
    const { rows } = await world.db.query('select scanned_number::int as scanned from chain_cursor')
    lags.push(Number(await world.chain.getBlockNumber()) - (rows[0] as { scanned: number }).scanned)
  }
  expect(Math.max(...lags.slice(-50))).toBeLessThan(100)
}, 180_000)
