import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { connectRpc } from '../../src/chain/rpc/rpc.ts'
import type { Db, Tx } from '../../src/db/db.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { type LossyProxy, startLossyProxy } from '../support/anvil.ts'
import { createWorld, type Queued, type World } from './world.ts'

let world: World
let proxy: LossyProxy
beforeAll(async () => {
  world = await createWorld()
  proxy = await startLossyProxy(world.anvil.url)
})
afterAll(async () => {
  await proxy.close()
  await world.stop()
})

/** The process ends when it is about to run this statement: that transaction rolls back and nothing later happens. */
function dyingAt(db: Db, statement: RegExp): Db & { isDead(): boolean } {
  let dead = false
  const guard = (text: string): void => {
    if (statement.test(text)) dead = true
    if (dead) throw new Error('the process was killed')
  }
  return {
    ...db,
    isDead: () => dead,
    query: async (text, values) => {
      guard(text)
      return db.query(text, values)
    },
    transaction: (work) =>
      db.transaction((tx) => {
        guard('begin')
        const mortal: Tx = {
          inTransaction: true,
          afterCommit: tx.afterCommit,
          livemode: db.livemode,
          query: async (text, values) => {
            guard(text)
            return tx.query(text, values)
          },
        }
        return work(mortal)
      }),
  }
}

async function paidOnce(queued: readonly Queued[]): Promise<void> {
  for (const { paymentId, recipient, micro } of queued) {
    expect(await world.balance(recipient)).toBe(micro)
    expect((await world.payout(paymentId)).state).toBe('settled')
    expect(world.heard.settled.filter((settlement) => settlement.paymentId === paymentId)).toHaveLength(1)
  }
}

const sends = (): number => proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction').length

describe('killed', () => {
  test.each([
    ['before the first signature is stored', /insert into payout_signature/],
    ['before a nonce is reserved', /update lane set next_nonce = next_nonce \+ 1/],
    ['after a nonce was reserved, before its transaction is stored', /insert into lane_tx_attempt/],
    ['after the transaction was sent, before that is recorded', /update lane_tx_attempt set last_broadcast_at/],
  ])('%s: the next start pays once', async (_when, statement) => {
    const queued = await world.queue([{}, {}, {}])
    const db = dyingAt(world.db, statement)
    await world
      .runner({ db })
      .tick()
      .catch(() => undefined)
    expect(db.isDead()).toBe(true)
    await world.finalize(world.runner())
    await paidOnce(queued)
  })

  test('after the transaction was stored, before it is sent: the next start sends the stored bytes', async () => {
    const queued = await world.queue([{}, {}])
    proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'lose_request' : 'deliver')
    await world.runner({ url: proxy.url }).tick()
    proxy.decide = () => 'deliver'
    const { txHash, state } = await world.payout(queued[0]!.paymentId)
    expect(state).toBe('assigned')
    await world.finalize(world.runner())
    await paidOnce(queued)
    expect((await world.payout(queued[0]!.paymentId)).txHash).toBe(txHash)
  })

  test.each([
    ['while the finalized logs are stored', /insert into treasury_log/],
    ['while payouts are marked settled', /update payout set state = case state when 'voided'/],
  ])('%s: the next start settles once', async (_when, statement) => {
    const queued = await world.queue([{}, {}])
    await world.runner().tick()
    await world.chain.mine({ blocks: 3 })
    const db = dyingAt(world.db, statement)
    await world
      .runner({ db })
      .tick()
      .catch(() => undefined)
    expect(db.isDead()).toBe(true)
    expect((await world.payout(queued[0]!.paymentId)).state).not.toBe('settled')
    await world.finalize(world.runner())
    await paidOnce(queued)
  })
})

test('no transaction leaves before its bytes are stored', async () => {
  const queued = await world.queue([{}])
  const before = sends()
  const db = dyingAt(world.db, /insert into lane_tx_attempt/)
  await world.runner({ db, url: proxy.url }).tick()
  expect(db.isDead()).toBe(true)
  expect(sends()).toBe(before)
  await world.finalize(world.runner())
  await paidOnce(queued)
})

describe('an answer that does not come is not a failure', () => {
  test('the response to eth_sendRawTransaction is lost: the bytes are known and nothing is sent twice', async () => {
    const queued = await world.queue([{}, {}])
    proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'lose_response' : 'deliver')
    const runner = world.runner({ url: proxy.url })
    await runner.tick()
    const { txHash } = await world.payout(queued[0]!.paymentId)
    await world.chain.mine({ blocks: 3 })
    await runner.tick()
    proxy.decide = () => 'deliver'
    await paidOnce(queued)
    expect((await world.payout(queued[0]!.paymentId)).txHash).toBe(txHash)
  })

  test.each([
    ['429', { status: 429 }],
    ['503', { status: 503 }],
    ['an unheard-of error', { error: { code: -32603, message: 'Internal error' } }],
    ['a pool that is full', { error: { code: -32000, message: 'txpool is full' } }],
  ] as const)('%s: the same bytes go out again until they are in', async (_answer, fate) => {
    const queued = await world.queue([{}])
    const before = sends()
    proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? fate : 'deliver')
    const runner = world.runner({ url: proxy.url })
    await runner.tick()
    await world.chain.mine({ blocks: 1 })
    await runner.tick()
    expect((await world.payout(queued[0]!.paymentId)).state).toBe('assigned')
    proxy.decide = () => 'deliver'
    await world.finalize(runner)
    await paidOnce(queued)
    const raw = proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction').slice(before)
    expect(new Set(raw.map(({ params }) => params[0] as Hex)).size).toBe(1)
  })

  test('a pool that already has the bytes says so: that is success', async () => {
    const queued = await world.queue([{}])
    const runner = world.runner({ url: proxy.url })
    await runner.tick()
    await runner.tick()
    expect((await world.payout(queued[0]!.paymentId)).state).toBe('broadcast')
    await world.finalize(runner)
    await paidOnce(queued)
  })

  test('a request that arrives twice is one transaction', async () => {
    const queued = await world.queue([{}])
    proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'duplicate' : 'deliver')
    const runner = world.runner({ url: proxy.url })
    await runner.tick()
    proxy.decide = () => 'deliver'
    expect((await world.payout(queued[0]!.paymentId)).state).toBe('broadcast')
    await world.finalize(runner)
    await paidOnce(queued)
  })

  test('a node that never answers is given up after its timeout; the payout is not', async () => {
    const queued = await world.queue([{}])
    proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'hang' : 'deliver')
    const rpc = connectRpc({ urls: [proxy.url], quorum: 1, chainId: 31337, timeoutMs: 200 })
    const runner = world.runner({ rpc })
    await runner.tick()
    expect((await world.payout(queued[0]!.paymentId)).state).toBe('assigned')
    proxy.decide = () => 'deliver'
    await world.finalize(runner)
    await paidOnce(queued)
  })

  test('nothing is called failed, however long the chain stands still', async () => {
    const queued = await world.queue([{}])
    const runner = world.runner()
    for (let round = 0; round < 5; round++) {
      world.clock.now = new Date(world.clock.now.getTime() + 3_600_000)
      await runner.tick()
    }
    expect((await world.payout(queued[0]!.paymentId)).state).toBe('broadcast')
    world.clock.now = new Date()
    await world.finalize(runner)
    await paidOnce(queued)
  })
})
