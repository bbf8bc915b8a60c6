import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createKeyAccount } from '../../../src/chain/keys/private-key.ts'
import { GWEI } from '../../../src/chain/lanes/fees.ts'
import { connectRpc, type Rpc } from '../../../src/chain/rpc/rpc.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { type LossyProxy, startLossyProxy } from '../../support/anvil.ts'
import { createWorld, newKey, TOKEN, type World } from '../world.ts'

const POL = 10n ** 18n
const wei = 20n * POL
const maxWeiPerDay = 120n * POL

let world: World
let proxy: LossyProxy
let relayer: Hex
beforeAll(async () => {
  world = await createWorld()
  proxy = await startLossyProxy(world.anvil.url)
  relayer = world.relayers[0]!.address
})
afterAll(async () => {
  await proxy.close()
  await world.stop()
})

/** Each test has its own funding wallet, and a relayer that cannot pay for a batch. */
let account: ReturnType<typeof createKeyAccount>
const runner = (url = world.anvil.url) => world.runner({ funding: { account, wei, maxWeiPerDay }, url })
const balance = (address: Hex) => world.chain.getBalance({ address })
const sent = async () => {
  const { rows } = await world.db.query(
    `select nonce::int, state, target, value::text from lane_tx where wallet = $1 order by nonce`,
    [account.address.toLowerCase()],
  )
  return rows as { nonce: number; state: string; target: string; value: string }[]
}
beforeEach(async () => {
  proxy.decide = () => 'deliver'
  account = createKeyAccount(newKey())
  await world.db.query(`update lane_tx set created_at = now() - interval '25 hours' where kind = 'topup'`)
  await world.chain.setBalance({ address: account.address, value: 1000n * POL })
  await world.chain.setBalance({ address: relayer, value: GWEI })
})

test('a relayer without gas money gets some, and its waiting payouts are paid', async () => {
  const [queued] = await world.queue([{}])
  const engine = runner()
  await engine.tick()
  expect((await world.payout(queued!.paymentId)).state).toBe('authorized')
  await world.finalize(engine)
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
  expect(await sent()).toEqual([{ nonce: 0, state: 'finalized', target: relayer.toLowerCase(), value: wei.toString() }])
  expect(await balance(relayer)).toBeGreaterThan(19n * POL)
  // The transfer costs gas itself, which is reported.
  const spent = world.heard.gas.filter(({ wallet }) => wallet === account.address.toLowerCase())
  expect(spent).toMatchObject([{ nonce: 0, wei: 1000n * POL - wei - (await balance(account.address)) }])
  await world.finalize(engine)
  expect(await sent()).toHaveLength(1)
})

test('a top-up whose response is lost is sent again after a restart with the same bytes, once', async () => {
  proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'lose_response' : 'deliver')
  await runner(proxy.url).tick()
  await runner(proxy.url).tick()
  proxy.decide = () => 'deliver'
  await world.finalize(runner())
  expect(await sent()).toHaveLength(1)
  expect(await balance(relayer)).toBe(wei + GWEI)
})

// It was sent again.
test('a worker that takes the wallet over with an older block than that of the last transfer sends none', async () => {
  const [first, second] = [runner(), runner()]
  await first.tick()
  const rpc = connectRpc({ urls: [world.anvil.url], quorum: 1, chainId: TOKEN.chainId })
  let turns = 0
  const late: Rpc = {
    ...rpc,
    // The last read before the lanes. Then the other worker ends the transfer.
    async fees(blocks) {
      const fees = await rpc.fees(blocks)
      turns += 1
      await world.chain.mine({ blocks: 4 })
      await second.tick()
      expect(await sent()).toMatchObject([{ state: 'finalized' }])
      return fees
    },
  }
  await world.runner({ funding: { account, wei, maxWeiPerDay }, rpc: late }).tick()
  expect(turns).toBe(1)
  await world.finalize(runner())
  expect(await sent()).toHaveLength(1)
  expect(await balance(relayer)).toBe(wei + GWEI)
})

test('a transfer that is stuck is replaced by the same transfer at a higher price', async () => {
  await runner().tick()
  for (let block = 0; block < 6; block++) {
    await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 150n * GWEI })
    await world.chain.mine({ blocks: 1 })
    if (block === 4) await runner().tick()
  }
  const attempts = await world.db.query('select 1 from lane_tx_attempt where wallet = $1', [
    account.address.toLowerCase(),
  ])
  expect(attempts.rowCount).toBe(2)
  await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI })
  await world.finalize(runner())
  expect(await sent()).toMatchObject([{ nonce: 0, state: 'finalized', value: wei.toString() }])
  expect(await balance(relayer)).toBe(wei + GWEI)
})

test('a relayer that uses more than the limit of a day gets no more, and waits for an operator', async () => {
  const engine = runner()
  for (let time = 0; time < 8; time++) {
    await world.chain.setBalance({ address: relayer, value: GWEI })
    await world.finalize(engine, 2)
  }
  expect(await sent()).toHaveLength(6)
  expect((await world.db.query('select status from lane where wallet = $1', [relayer.toLowerCase()])).rows).toEqual([
    { status: 'paused_gas' },
  ])
})

// Each relayer got gas money once, and the other payouts waited until finality continued.
test('while finality stands still a relayer gets gas money again, and payouts are sent', async () => {
  const engine = runner(proxy.url)
  await world.finalize(engine)
  const final = await world.chain.request({ method: 'eth_getBlockByNumber', params: ['finalized', false] } as never)
  proxy.decide = ({ method, params }) =>
    method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? { rewrite: () => final } : 'deliver'
  const before = (await sent()).length
  for (const time of [1, 2]) {
    await world.chain.setBalance({ address: relayer, value: GWEI })
    await world.chain.mine({ blocks: 1 })
    const [queued] = await world.queue([{}])
    await engine.tick()
    // It is in no block yet.
    await engine.tick()
    expect(await sent()).toHaveLength(before + time)
    await world.finalize(engine)
    expect((await world.payout(queued!.paymentId)).state).toBe('mined')
  }
  proxy.decide = () => 'deliver'
  await world.finalize(engine)
})

test('another funding wallet does not wait for the transfers that the old one could not send', async () => {
  proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'lose_request' : 'deliver')
  await runner(proxy.url).tick()
  expect(await sent()).toMatchObject([{ state: 'signed' }])
  proxy.decide = () => 'deliver'
  account = createKeyAccount(newKey())
  await world.chain.setBalance({ address: account.address, value: 1000n * POL })
  await world.finalize(runner())
  expect(await sent()).toMatchObject([{ state: 'finalized' }])
  expect(await balance(relayer)).toBe(wei + GWEI)
})

test('gas money on its way to a relayer whose key somebody else uses is taken back', async () => {
  await runner().tick()
  await world.db.query(`update lane set status = 'quarantined' where wallet = $1`, [relayer.toLowerCase()])
  for (let block = 0; block < 6; block++) {
    await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 150n * GWEI })
    await world.chain.mine({ blocks: 1 })
    if (block === 4) await runner().tick()
  }
  await world.finalize(runner())
  expect(await balance(relayer)).toBe(GWEI)
  await world.db.query(`update lane set status = 'open' where wallet = $1`, [relayer.toLowerCase()])
})

test('a relayer whose key somebody else uses gets nothing', async () => {
  await world.runner().tick()
  await world.db.query(`update lane set status = 'quarantined' where wallet = $1`, [relayer.toLowerCase()])
  await world.finalize(runner())
  expect(await sent()).toEqual([])
  await world.db.query(`update lane set status = 'open' where wallet = $1`, [relayer.toLowerCase()])
})

test('a funding wallet that cannot pay is shown, and stops no payout of a relayer that can', async () => {
  await world.chain.setBalance({ address: account.address, value: POL })
  await runner().tick()
  expect(await sent()).toEqual([])
  const { rows } = await world.db.query('select status from lane where wallet = $1', [account.address.toLowerCase()])
  expect(rows).toEqual([{ status: 'paused_gas' }])
  await world.chain.setBalance({ address: relayer, value: 5n * POL })
  const [queued] = await world.queue([{}])
  await world.finalize(runner(), 3)
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
})

// It asked for more than it had, which no node accepted, and its nonce blocked all gas money forever.
test('while gas is dear a relayer gets the wallet’s balance, and the next one waits until there is more', async () => {
  const second = createKeyAccount(newKey())
  await world.chain.setBalance({ address: account.address, value: 25n * POL })
  await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 260n * GWEI })
  await world.chain.mine({ blocks: 1 })
  const engine = world.runner({
    funding: { account, wei, maxWeiPerDay },
    relayers: [...world.relayers, second],
  })
  await engine.tick()
  const cheap = async (): Promise<void> => {
    await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI })
    await world.finalize(engine, 1)
  }
  for (let round = 0; round < 3; round++) await cheap()
  const [first, ...more] = await sent()
  expect(first).toMatchObject({ nonce: 0, state: 'finalized', target: relayer.toLowerCase() })
  expect(BigInt(first!.value)).toBeGreaterThan(wei)
  expect(BigInt(first!.value)).toBeLessThan(25n * POL)
  expect(more).toEqual([])
  await world.chain.setBalance({ address: account.address, value: 25n * POL })
  for (let round = 0; round < 3; round++) await cheap()
  expect(await balance(second.address)).toBeGreaterThanOrEqual(wei)
})

// The missing amount was more than that, and none was sent.
test('while gas is dear a relayer gets the part of the missing amount that the limit of a day leaves', async () => {
  const dear = async (): Promise<void> => {
    await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 140n * GWEI })
    await world.chain.mine({ blocks: 1 })
  }
  const engine = world.runner({ funding: { account, wei: 2n * POL, maxWeiPerDay: 30n * POL } })
  for (let time = 0; time < 3; time++) {
    await world.chain.setBalance({ address: relayer, value: GWEI })
    for (let round = 0; round < 4; round++) {
      await dear()
      await engine.tick()
    }
  }
  const values = (await sent()).map(({ value }) => BigInt(value))
  expect(values).toHaveLength(3)
  expect(values[0]).toBeLessThan(20n * POL)
  expect(values.reduce((sum, value) => sum + value)).toBe(30n * POL)
})

test('a relayer gets the limit of a day if gas is so dear that it lacks more', async () => {
  await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 260n * GWEI })
  await world.chain.mine({ blocks: 1 })
  await world.runner({ funding: { account, wei, maxWeiPerDay: 22n * POL } }).tick()
  expect(await sent()).toMatchObject([{ value: (22n * POL).toString() }])
  await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI })
  await world.finalize(runner(), 3)
})

test('the funding wallet is neither the treasury nor a relayer', async () => {
  const start = (funder: World['treasury']) =>
    world.runner({ funding: { account: funder, wei, maxWeiPerDay } }).assertReady()
  await expect(start(world.treasury)).rejects.toThrow('must not be a relayer or hold their gas money')
  await expect(start(world.relayers[0]!)).rejects.toThrow('are the same')
})

test('gas money that a restored journal has forgotten, to a relayer whose key was removed since, stops nothing', async () => {
  const removed = createKeyAccount(newKey())
  const funding = { account, wei, maxWeiPerDay }
  await world.finalize(world.runner({ funding, relayers: [...world.relayers, removed] }))
  expect(await balance(removed.address)).toBeGreaterThanOrEqual(wei)
  const wallet = account.address.toLowerCase()
  await world.db.query('delete from lane_tx_attempt where wallet = $1', [wallet])
  await world.db.query('delete from lane_tx where wallet = $1', [wallet])
  await world.db.query('update lane set next_nonce = 0 where wallet = $1', [wallet])
  await world.finalize(runner())
  const { rows } = await world.db.query('select status, next_nonce::int as next from lane where wallet = $1', [wallet])
  expect(rows).toEqual([{ status: 'open', next: await world.chain.getTransactionCount({ address: account.address }) }])
})
