import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { LocalAccount } from 'viem/accounts'
import type { Hex } from '../../../src/domain/hex.ts'
import { type LossyProxy, startLossyProxy } from '../../support/anvil.ts'
import { createWorld, newAddress, type Queued, TOKEN, type World } from '../world.ts'

/** A lane of which a nonce was used by a transaction that no node shows just now. */

let world: World
let proxy: LossyProxy
let first: LocalAccount
beforeEach(async () => {
  world = await createWorld({ relayers: 2 })
  proxy = await startLossyProxy(world.anvil.url)
  first = world.relayers[0]!
})
afterEach(async () => {
  await proxy.close()
  await world.stop()
})

/** No node answers now which transactions a block has. */
const hideTransactions = (): void => {
  proxy.decide = ({ method, params }) =>
    method === 'eth_getBlockByNumber' && params[1] === true
      ? { error: { code: -32005, message: 'rate limit exceeded' } }
      : 'deliver'
}

const statesOf = async (queued: readonly Queued[]): Promise<string[]> =>
  Promise.all(queued.map(async ({ paymentId }) => (await world.payout(paymentId)).state))

const lane = async () => {
  const { rows } = await world.db.query(
    `select status, (select jsonb_agg(state order by nonce) from lane_tx t where t.wallet = l.wallet) as states
     from lane l where wallet = $1`,
    [first.address.toLowerCase()],
  )
  return rows[0] as { status: string; states: string[] }
}

/** Sends two batches by the first lane, and drops them; its first nonce is used by an empty transfer instead, by default to the lane itself as we send them. */
async function replaceFirst(to: Hex = first.address): Promise<Queued[]> {
  const runner = world.runner({ relayers: [first] })
  const queued: Queued[] = []
  for (let batch = 0; batch < 2; batch++) {
    queued.push(...(await world.queue([{}])))
    await runner.tick()
  }
  const { rows } = await world.db.query('select tx_hash from lane_tx_attempt')
  for (const { tx_hash: hash } of rows) await world.chain.dropTransaction({ hash })
  const serializedTransaction = await first.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    to,
    gas: 21_000n,
    nonce: 0,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  await world.chain.sendRawTransaction({ serializedTransaction })
  await world.chain.mine({ blocks: 4 })
  return queued
}

// nothing was carried by the lane, nor by another one, for as long as the explanation was missing
test('what it has sent goes on meanwhile, and the other lanes carry what was in the lost transaction', async () => {
  const queued = await replaceFirst()
  hideTransactions()
  await world.finalize(world.runner({ url: proxy.url }), 3)
  expect(await statesOf(queued)).toEqual(['settled', 'settled'])
  expect(await lane()).toEqual({ status: 'open', states: ['broadcast', 'finalized'] })
  proxy.decide = () => 'deliver'
  await world.finalize(world.runner({ url: proxy.url }))
  expect(await lane()).toEqual({ status: 'open', states: ['foreign', 'finalized'] })
})

test('it sends nothing new until the transaction is explained', async () => {
  const queued = await replaceFirst()
  hideTransactions()
  const alone = world.runner({ url: proxy.url, relayers: [first] })
  queued.push(...(await world.queue([{}])))
  await world.finalize(alone, 3)
  expect(await statesOf(queued)).toEqual(['broadcast', 'settled', 'authorized'])
  proxy.decide = () => 'deliver'
  await world.finalize(alone, 3)
  expect(await statesOf(queued)).toEqual(['settled', 'settled', 'settled'])
})

test('it is stopped as soon as the transaction turns out to be somebody else’s', async () => {
  await replaceFirst(newAddress())
  hideTransactions()
  await world.finalize(world.runner({ url: proxy.url }))
  expect((await lane()).status).toBe('open')
  proxy.decide = () => 'deliver'
  await world.runner({ url: proxy.url }).tick()
  expect((await lane()).status).toBe('quarantined')
})
