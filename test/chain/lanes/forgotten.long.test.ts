import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { connectRpc, type Rpc } from '../../../src/chain/rpc/rpc.ts'
import type { Db } from '../../../src/db/db.ts'
import { releaseLane } from '../../../src/db/settlement/operator.ts'
import { readPayout } from '../../../src/db/settlement/payouts.ts'
import { type Fate, type LossyProxy, startLossyProxy } from '../../support/anvil.ts'
import { copyDatabase, type FixtureDatabase } from '../databases.ts'
import { createFixture, type Fixture, newAddress, queueAll, TOKEN } from '../fixture.ts'

/** Nonces of lanes that a restored backup has forgotten, with nodes that do not keep every state. */

let fixture: Fixture
let dump: FixtureDatabase
let db: Db
let proxy: LossyProxy
beforeAll(async () => {
  fixture = await createFixture({ relayers: 2 })
  proxy = await startLossyProxy(fixture.anvil.url)
})
beforeEach(async () => {
  await fixture.reset()
  proxy.decide = () => 'deliver'
  await fixture.queue([{}])
  await fixture.finalize(fixture.runner(), 3)
  dump = await copyDatabase(fixture.db)
  db = dump.db
})
afterEach(() => dump.giveBack())
afterAll(async () => {
  await proxy.close()
  await fixture.stop()
})

const READS_OF_STATE = ['eth_getTransactionCount', 'eth_getBalance', 'eth_call']

/** Answers requests for states further back than this number of blocks as Bor and geth do after pruning. */
async function keep(states: number, message = 'missing trie node 1f'): Promise<void> {
  const head = Number(await fixture.chain.getBlockNumber())
  proxy.decide = ({ method, params }) =>
    READS_OF_STATE.includes(method) && Number(params[1]) < head - states
      ? { error: { code: -32000, message } }
      : 'deliver'
}

/** A transaction of the first relayer that pays nobody. */
async function sendEmpty(to = fixture.relayers[0]!.address): Promise<void> {
  const relayer = fixture.relayers[0]!
  const serializedTransaction = await relayer.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    to,
    gas: 21_000n,
    nonce: await fixture.chain.getTransactionCount({ address: relayer.address }),
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  await fixture.chain.sendRawTransaction({ serializedTransaction })
  await fixture.chain.mine({ blocks: 1 })
}

/** Runs the restored engine; returns the state of a new payout, and of the lanes. */
async function goOn(rpc?: Rpc): Promise<{ payout: string | undefined; lanes: string[] }> {
  const [next] = await queueAll({ db, treasury: fixture.treasury }, [{}])
  await fixture.finalize(fixture.runner({ db, url: proxy.url, ...(rpc && { rpc }) }), 4)
  const { rows } = await db.query('select status from lane order by wallet = $1 desc', [firstLane()])
  return { payout: (await readPayout(db, next!.paymentId))?.state, lanes: rows.map(({ status }) => status) }
}
const firstLane = () => fixture.relayers[0]!.address.toLowerCase() as `0x${string}`

test.each([
  ['every node keeps 128 states', 1],
  ['two of three nodes do', 3],
])('forgotten batches are adopted, and the lanes continue: %s', async (_what, nodes) => {
  await fixture.queue(Array.from({ length: 201 }, () => ({})))
  await fixture.finalize(fixture.runner(), 3)
  await fixture.chain.mine({ blocks: 300 })
  await keep(128)
  const second = await startLossyProxy(fixture.anvil.url)
  try {
    second.decide = (call) => proxy.decide(call)
    const urls = [proxy.url, second.url, fixture.anvil.url].slice(0, nodes)
    const rpc = connectRpc({ urls, quorum: Math.ceil(nodes / 2), chainId: TOKEN.chainId })
    expect(await goOn(rpc)).toEqual({ payout: 'settled', lanes: ['open', 'open'] })
  } finally {
    await second.close()
  }
})

test('an empty transfer of the last blocks is adopted by the stored states, without logs', async () => {
  await fixture.queue([{}, {}])
  await fixture.finalize(fixture.runner(), 3)
  await fixture.chain.mine({ blocks: 300 })
  await sendEmpty()
  await fixture.chain.mine({ blocks: 3 })
  await keep(128)
  expect(await goOn()).toEqual({ payout: 'settled', lanes: ['open', 'open'] })
})

test.each([
  { what: 'an empty transfer of our own, which has no log', to: undefined },
  { what: 'what somebody else sent', to: newAddress() },
])('a nonce older than the states is $what: the lane is stopped, until it is opened again', async ({ to }) => {
  await sendEmpty(to)
  await fixture.chain.mine({ blocks: 300 })
  await keep(128)
  expect(await goOn()).toEqual({ payout: 'settled', lanes: ['quarantined', 'open'] })
  await releaseLane(db, { chainId: TOKEN.chainId, wallet: firstLane() })
  expect(await goOn()).toEqual({ payout: 'settled', lanes: ['open', 'open'] })
})

/** A block that strangers fill: sixty transactions of 128 KB, which are 15 MB. */
const crowded = (block: unknown): unknown => {
  const { transactions } = block as { transactions: object[] }
  const large = {
    hash: `0x${'cd'.repeat(32)}`,
    from: newAddress(),
    nonce: '0x1',
    input: `0x${'00'.repeat(128 * 1024)}`,
  }
  return { ...(block as object), transactions: [...transactions, ...Array.from({ length: 60 }, () => large)] }
}

// The lane was stopped, and its key reported as stolen.
describe('A forgotten nonce in a block that is too large for one answer', () => {
  const behave = (ofOne: Fate): void => {
    proxy.decide = ({ method, params }) => {
      if (method === 'eth_getTransactionByHash') return ofOne
      return method === 'eth_getBlockByNumber' && params[1] === true ? { rewrite: crowded } : 'deliver'
    }
  }
  /** The number of the first lane's nonces that the restored journal does not know. */
  async function unknown(): Promise<number> {
    const { rows } = await db.query('select next_nonce::int as next from lane where wallet = $1', [firstLane()])
    const count = await fixture.chain.getTransactionCount({ address: firstLane() })
    return count - (rows[0] as { next: number }).next
  }

  test('the transactions of a block that is too large are read one by one, and the nonce is adopted', async () => {
    await sendEmpty()
    await fixture.chain.mine({ blocks: 3 })
    behave('deliver')
    expect(await goOn()).toEqual({ payout: 'settled', lanes: ['open', 'open'] })
    expect(await unknown()).toBe(0)
  })

  test('a node that gives neither the block nor its transactions is asked again, and no key is reported as stolen', async () => {
    await sendEmpty()
    await fixture.chain.mine({ blocks: 3 })
    behave({ error: { code: -32000, message: 'response too large' } })
    expect(await goOn()).toEqual({ payout: 'settled', lanes: ['open', 'open'] })
    expect(await unknown()).toBe(1)
    behave('deliver')
    expect((await goOn()).lanes).toEqual(['open', 'open'])
    expect(await unknown()).toBe(0)
  })
})

// A bisection ended at the wrong block and stopped the lane, as often as that node was asked first.
test('a node that lies about the past, only if it is asked alone, does not keep a forgotten nonce from being adopted', async () => {
  await sendEmpty()
  await fixture.chain.mine({ blocks: 40 })
  const head = Number(await fixture.chain.getBlockNumber())
  proxy.decide = ({ method, params }) =>
    method === 'eth_getTransactionCount' && Number(params[1]) < head ? { rewrite: () => '0x0' } : 'deliver'
  const connect = (url: string): Rpc => connectRpc({ urls: [url], quorum: 1, chainId: TOKEN.chainId })
  const liar = connect(proxy.url)
  const rpc: Rpc = { ...connect(fixture.anvil.url), any: (read) => liar.any(read) }
  expect(await goOn(rpc)).toEqual({ payout: 'settled', lanes: ['open', 'open'] })
  const { rows } = await db.query(`select 1 from lane_tx where wallet = $1 and kind = 'foreign'`, [firstLane()])
  expect(rows).toHaveLength(1)
})

// The lane was stopped, and its key reported as stolen.
test('a database that fails during the search for a nonce does not report a stolen key: the search is repeated', async () => {
  await fixture.queue(Array.from({ length: 201 }, () => ({})))
  await fixture.finalize(fixture.runner(), 3)
  await fixture.chain.mine({ blocks: 300 })
  await keep(128)
  const whole = db
  let failed = 0
  const isSearch = (text: string): boolean => text.includes('max(l.block_number) desc') && failed++ < 3
  db = {
    ...whole,
    query: (text, values) => (isSearch(text) ? Promise.reject(new Error('too slow')) : whole.query(text, values)),
  }
  expect(await goOn()).toEqual({ payout: 'settled', lanes: ['open', 'open'] })
  expect(failed).toBeGreaterThan(0)
})

test('a node that may have the state and does not answer stops no lane: it waits', async () => {
  await sendEmpty()
  await fixture.chain.mine({ blocks: 300 })
  await keep(128, 'rate limit exceeded')
  expect((await goOn()).lanes).not.toContain('quarantined')
  await keep(1_000_000)
  expect(await goOn()).toEqual({ payout: 'settled', lanes: ['open', 'open'] })
})
