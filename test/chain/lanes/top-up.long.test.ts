import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createKeyAccount } from '../../../src/chain/keys/private-key.ts'
import { GWEI } from '../../../src/chain/lanes/fees.ts'
import { connectRpc, type Rpc } from '../../../src/chain/rpc/rpc.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { type LossyProxy, startLossyProxy } from '../../support/anvil.ts'
import { createFixture, type Fixture, newKey, TOKEN } from '../fixture.ts'

const POL = 10n ** 18n
const wei = 20n * POL
const maxWeiPerDay = 120n * POL

let fixture: Fixture
let proxy: LossyProxy
let relayer: Hex
beforeAll(async () => {
  fixture = await createFixture()
  proxy = await startLossyProxy(fixture.anvil.url)
  relayer = fixture.relayers[0]!.address
})
afterAll(async () => {
  await proxy.close()
  await fixture.stop()
})

/** Each test has its own funding wallet, and a relayer that cannot pay for a batch. */
let account: ReturnType<typeof createKeyAccount>
const runner = (url = fixture.anvil.url) => fixture.runner({ funding: { account, wei, maxWeiPerDay }, url })
const balance = (address: Hex) => fixture.chain.getBalance({ address })
const sent = async () => {
  const { rows } = await fixture.db.query(
    `select nonce::int, state, target, value::text from lane_tx where wallet = $1 order by nonce`,
    [account.address.toLowerCase()],
  )
  return rows as { nonce: number; state: string; target: string; value: string }[]
}
beforeEach(async () => {
  proxy.decide = () => 'deliver'
  account = createKeyAccount(newKey())
  await fixture.db.query(`update lane_tx set created_at = now() - interval '25 hours' where kind = 'topup'`)
  await fixture.chain.setBalance({ address: account.address, value: 1000n * POL })
  await fixture.chain.setBalance({ address: relayer, value: GWEI })
})

test('a relayer without gas money gets some, and its waiting payouts are paid', async () => {
  const [queued] = await fixture.queue([{}])
  const engine = runner()
  await engine.tick()
  expect((await fixture.payout(queued!.paymentId)).state).toBe('authorized')
  await fixture.finalize(engine)
  expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
  expect(await sent()).toEqual([{ nonce: 0, state: 'finalized', target: relayer.toLowerCase(), value: wei.toString() }])
  expect(await balance(relayer)).toBeGreaterThan(19n * POL)
  // The transfer costs gas itself, which is reported.
  const spent = fixture.hookCalls.gas.filter(({ wallet }) => wallet === account.address.toLowerCase())
  expect(spent).toMatchObject([{ nonce: 0, wei: 1000n * POL - wei - (await balance(account.address)) }])
  await fixture.finalize(engine)
  expect(await sent()).toHaveLength(1)
})

test('a top-up whose response is lost is sent again after a restart with the same bytes, once', async () => {
  proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'lose_response' : 'deliver')
  await runner(proxy.url).tick()
  await runner(proxy.url).tick()
  proxy.decide = () => 'deliver'
  await fixture.finalize(runner())
  expect(await sent()).toHaveLength(1)
  expect(await balance(relayer)).toBe(wei + GWEI)
})

// It was sent again.
test('a worker that takes the wallet over with an older block than that of the last transfer sends none', async () => {
  const [first, second] = [runner(), runner()]
  await first.tick()
  const rpc = connectRpc({ urls: [fixture.anvil.url], quorum: 1, chainId: TOKEN.chainId })
  let turns = 0
  const late: Rpc = {
    ...rpc,
    // The last read before the lanes. Then the other worker ends the transfer.
    async fees(blocks) {
      const fees = await rpc.fees(blocks)
      turns += 1
      await fixture.chain.mine({ blocks: 4 })
      await second.tick()
      expect(await sent()).toMatchObject([{ state: 'finalized' }])
      return fees
    },
  }
  await fixture.runner({ funding: { account, wei, maxWeiPerDay }, rpc: late }).tick()
  expect(turns).toBe(1)
  await fixture.finalize(runner())
  expect(await sent()).toHaveLength(1)
  expect(await balance(relayer)).toBe(wei + GWEI)
})

test('a transfer that is stuck is replaced by the same transfer at a higher price', async () => {
  await runner().tick()
  for (let block = 0; block < 6; block++) {
    await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 150n * GWEI })
    await fixture.chain.mine({ blocks: 1 })
    if (block === 4) await runner().tick()
  }
  const attempts = await fixture.db.query('select 1 from lane_tx_attempt where wallet = $1', [
    account.address.toLowerCase(),
  ])
  expect(attempts.rowCount).toBe(2)
  await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI })
  await fixture.finalize(runner())
  expect(await sent()).toMatchObject([{ nonce: 0, state: 'finalized', value: wei.toString() }])
  expect(await balance(relayer)).toBe(wei + GWEI)
})

test('a relayer that uses more than the limit of a day gets no more, and waits for an operator', async () => {
  const engine = runner()
  for (let time = 0; time < 8; time++) {
    await fixture.chain.setBalance({ address: relayer, value: GWEI })
    await fixture.finalize(engine, 2)
  }
  expect(await sent()).toHaveLength(6)
  expect((await fixture.db.query('select status from lane where wallet = $1', [relayer.toLowerCase()])).rows).toEqual([
    { status: 'paused_gas' },
  ])
})

// Each relayer got gas money once, and the other payouts waited until finality continued.
test('while finality stalls a relayer gets gas money again, and payouts are sent', async () => {
  const engine = runner(proxy.url)
  await fixture.finalize(engine)
  const final = await fixture.chain.request({ method: 'eth_getBlockByNumber', params: ['finalized', false] } as never)
  proxy.decide = ({ method, params }) =>
    method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? { rewrite: () => final } : 'deliver'
  const before = (await sent()).length
  for (const time of [1, 2]) {
    await fixture.chain.setBalance({ address: relayer, value: GWEI })
    await fixture.chain.mine({ blocks: 1 })
    const [queued] = await fixture.queue([{}])
    await engine.tick()
    // It is in no block yet.
    await engine.tick()
    expect(await sent()).toHaveLength(before + time)
    await fixture.finalize(engine)
    expect((await fixture.payout(queued!.paymentId)).state).toBe('mined')
  }
  proxy.decide = () => 'deliver'
  await fixture.finalize(engine)
})

test('another funding wallet does not wait for the transfers that the old one could not send', async () => {
  proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'lose_request' : 'deliver')
  await runner(proxy.url).tick()
  expect(await sent()).toMatchObject([{ state: 'signed' }])
  proxy.decide = () => 'deliver'
  account = createKeyAccount(newKey())
  await fixture.chain.setBalance({ address: account.address, value: 1000n * POL })
  await fixture.finalize(runner())
  expect(await sent()).toMatchObject([{ state: 'finalized' }])
  expect(await balance(relayer)).toBe(wei + GWEI)
})

test('gas money on its way to a relayer whose key somebody else uses is taken back', async () => {
  await runner().tick()
  await fixture.db.query(`update lane set status = 'quarantined' where wallet = $1`, [relayer.toLowerCase()])
  for (let block = 0; block < 6; block++) {
    await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 150n * GWEI })
    await fixture.chain.mine({ blocks: 1 })
    if (block === 4) await runner().tick()
  }
  await fixture.finalize(runner())
  expect(await balance(relayer)).toBe(GWEI)
  await fixture.db.query(`update lane set status = 'open' where wallet = $1`, [relayer.toLowerCase()])
})

test('a relayer whose key somebody else uses gets nothing', async () => {
  await fixture.runner().tick()
  await fixture.db.query(`update lane set status = 'quarantined' where wallet = $1`, [relayer.toLowerCase()])
  await fixture.finalize(runner())
  expect(await sent()).toEqual([])
  await fixture.db.query(`update lane set status = 'open' where wallet = $1`, [relayer.toLowerCase()])
})

test('a funding wallet that cannot pay is shown, and stops no payout of a relayer that can', async () => {
  await fixture.chain.setBalance({ address: account.address, value: POL })
  await runner().tick()
  expect(await sent()).toEqual([])
  const { rows } = await fixture.db.query('select status from lane where wallet = $1', [account.address.toLowerCase()])
  expect(rows).toEqual([{ status: 'paused_gas' }])
  await fixture.chain.setBalance({ address: relayer, value: 5n * POL })
  const [queued] = await fixture.queue([{}])
  await fixture.finalize(runner(), 3)
  expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
})

// It asked for more than it had, which no node accepted, and its nonce blocked all gas money forever.
test('while gas is expensive a relayer gets the wallet’s balance, and the next one waits until there is more', async () => {
  const second = createKeyAccount(newKey())
  await fixture.chain.setBalance({ address: account.address, value: 25n * POL })
  await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 260n * GWEI })
  await fixture.chain.mine({ blocks: 1 })
  const engine = fixture.runner({
    funding: { account, wei, maxWeiPerDay },
    relayers: [...fixture.relayers, second],
  })
  await engine.tick()
  const cheap = async (): Promise<void> => {
    await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI })
    await fixture.finalize(engine, 1)
  }
  for (let round = 0; round < 3; round++) await cheap()
  const [first, ...more] = await sent()
  expect(first).toMatchObject({ nonce: 0, state: 'finalized', target: relayer.toLowerCase() })
  expect(BigInt(first!.value)).toBeGreaterThan(wei)
  expect(BigInt(first!.value)).toBeLessThan(25n * POL)
  expect(more).toEqual([])
  await fixture.chain.setBalance({ address: account.address, value: 25n * POL })
  for (let round = 0; round < 3; round++) await cheap()
  expect(await balance(second.address)).toBeGreaterThanOrEqual(wei)
})

// The missing amount was more than that, and none was sent.
test('while gas is expensive a relayer gets the part of the missing amount that the limit of a day leaves', async () => {
  const dear = async (): Promise<void> => {
    await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 140n * GWEI })
    await fixture.chain.mine({ blocks: 1 })
  }
  const engine = fixture.runner({ funding: { account, wei: 2n * POL, maxWeiPerDay: 30n * POL } })
  for (let time = 0; time < 3; time++) {
    await fixture.chain.setBalance({ address: relayer, value: GWEI })
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
  await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 260n * GWEI })
  await fixture.chain.mine({ blocks: 1 })
  await fixture.runner({ funding: { account, wei, maxWeiPerDay: 22n * POL } }).tick()
  expect(await sent()).toMatchObject([{ value: (22n * POL).toString() }])
  await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI })
  await fixture.finalize(runner(), 3)
})

test('the funding wallet is neither the treasury nor a relayer', async () => {
  const start = (funder: Fixture['treasury']) =>
    fixture.runner({ funding: { account: funder, wei, maxWeiPerDay } }).assertReady()
  await expect(start(fixture.treasury)).rejects.toThrow('must not be a relayer or hold their gas money')
  await expect(start(fixture.relayers[0]!)).rejects.toThrow('are the same')
})

test('gas money that a restored journal has forgotten, to a relayer whose key was removed since, stops nothing', async () => {
  const removed = createKeyAccount(newKey())
  const funding = { account, wei, maxWeiPerDay }
  await fixture.finalize(fixture.runner({ funding, relayers: [...fixture.relayers, removed] }))
  expect(await balance(removed.address)).toBeGreaterThanOrEqual(wei)
  const wallet = account.address.toLowerCase()
  await fixture.db.query('delete from lane_tx_attempt where wallet = $1', [wallet])
  await fixture.db.query('delete from lane_tx where wallet = $1', [wallet])
  await fixture.db.query('update lane set next_nonce = 0 where wallet = $1', [wallet])
  await fixture.finalize(runner())
  const { rows } = await fixture.db.query('select status, next_nonce::int as next from lane where wallet = $1', [
    wallet,
  ])
  expect(rows).toEqual([
    { status: 'open', next: await fixture.chain.getTransactionCount({ address: account.address }) },
  ])
})
