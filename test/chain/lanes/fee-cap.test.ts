import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { parseTransaction } from 'viem/utils'
import { GWEI } from '../../../src/chain/lanes/fees.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { type LossyProxy, startLossyProxy } from '../../support/anvil.ts'
import { createWorld, type Queued, type World } from '../world.ts'

const POL = 10n ** 18n
const REFUSAL = { error: { code: -32000, message: 'tx fee (1.68 ether) exceeds the configured cap (1.00 ether)' } }

/** Nodes that take no transaction whose gas limit costs more than a POL: `rpc.txfeecap`, as it is unless told otherwise. */
let world: World
let proxy: LossyProxy
let relayer: Hex
let cap: bigint
beforeAll(async () => {
  world = await createWorld()
  proxy = await startLossyProxy(world.anvil.url)
  relayer = world.relayers[0]!.address
  proxy.decide = ({ method, params: [raw] }) => {
    if (method !== 'eth_sendRawTransaction') return 'deliver'
    const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(raw as Hex)
    return gas * maxFeePerGas > cap ? REFUSAL : 'deliver'
  }
})
beforeEach(async () => {
  cap = POL
  await world.chain.setBalance({ address: relayer, value: 1000n * POL })
})
afterAll(async () => {
  await proxy.close()
  await world.stop()
})

const queue = (length: number) => world.queue(Array.from({ length }, () => ({})))

async function attempts() {
  const { rows } = await world.db.query(
    `select t.nonce::int, a.tx_hash, a.last_answer from lane_tx_attempt a join lane_tx t using (chain_id, wallet, nonce)
     where t.ended_at is null order by t.nonce, a.attempt`,
  )
  return rows as { nonce: number; tx_hash: Hex; last_answer: string }[]
}

/** Pools are full while gas is dear, and forget what does not pay. */
async function blocks(gwei: bigint, count = 1): Promise<void> {
  for (let block = 0; block < count; block++) {
    for (const { tx_hash: hash } of await attempts()) await world.chain.dropTransaction({ hash }).catch(() => undefined)
    await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: gwei * GWEI })
    await world.chain.mine({ blocks: 1 })
  }
}

async function cheap(runner: ReturnType<World['runner']>): Promise<void> {
  await blocks(20n, 4)
  for (let round = 0; round < 4; round++) {
    await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * GWEI })
    await world.finalize(runner, 1)
  }
}

async function allSettled(queued: readonly Queued[]): Promise<void> {
  for (const { paymentId } of queued) expect((await world.payout(paymentId)).state).toBe('settled')
}

// no node took one of a hundred, which only became dearer
test('while gas is dear payouts go out in batches that nodes take', async () => {
  const runner = world.runner({ url: proxy.url })
  await blocks(100n)
  const queued = await queue(100)
  await runner.tick()
  expect((await attempts()).map(({ nonce, last_answer }) => [nonce, last_answer])).toEqual([
    [0, 'accepted'],
    [1, 'accepted'],
    [2, 'accepted'],
  ])
  await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 100n * GWEI })
  await world.finalize(runner)
  await allSettled(queued)
})

// it was raised further and further, and the dearest one was sent for ever
test('what nodes find too dear is not waited for when gas is cheap again', async () => {
  const runner = world.runner({ url: proxy.url })
  await blocks(60n)
  const queued = await queue(100)
  await runner.tick()
  for (let round = 0; round < 3; round++) {
    await blocks(450n, 4)
    await runner.tick()
  }
  expect((await attempts()).some(({ last_answer }) => last_answer.startsWith('too_dear: tx fee (1.68'))).toBe(true)
  await cheap(runner)
  await allSettled(queued)
})

test('where nodes take even less, it is signed again at the price of the day', async () => {
  const runner = world.runner({ url: proxy.url })
  cap = POL / 4n
  await blocks(100n)
  const queued = await queue(86)
  await runner.tick()
  expect((await attempts()).every(({ last_answer }) => last_answer.startsWith('too_dear'))).toBe(true)
  await cheap(runner)
  await allSettled(queued)
})

// it waited for the price of what it carried
test('a nonce whose payouts have left it is used up also when the wallet can pay nothing but that', async () => {
  const runner = world.runner({ url: proxy.url })
  await blocks(60n)
  const [queued] = await world.queue([{}])
  await runner.tick()
  const [first] = await attempts()
  await world.db.query(`update lane_tx_item set outcome = 'moved' where payment_id = $1`, [queued!.paymentId])
  await world.chain.setBalance({ address: relayer, value: 10n * 10n ** 6n * GWEI })
  for (let round = 0; round < 4; round++) {
    await blocks(200n, 4)
    await runner.tick()
  }
  await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 200n * GWEI })
  await world.chain.mine({ blocks: 1 })
  expect(await world.chain.getTransactionCount({ address: relayer })).toBe(first!.nonce + 1)
})
