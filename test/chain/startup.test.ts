import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { privateKeyToAccount } from 'viem/accounts'
import { encodeFunctionData } from 'viem/utils'
import { poll } from '../../scripts/system/waiting.ts'
import { GWEI } from '../../src/chain/lanes/fees.ts'
import { connectRpc } from '../../src/chain/rpc/rpc.ts'
import { SettlementRefusal } from '../../src/chain/startup.ts'
import type { Db, Tx } from '../../src/db/db.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { asUsdcOwner, usdcAdminAbi } from '../../src/sandbox/chain.ts'
import { type LossyProxy, startLossyProxy } from '../support/anvil.ts'
import { copyDatabase } from './databases.ts'
import { newKey, type Queued, type RunnerChanges, TOKEN, useFixture } from './fixture.ts'

describe('the start of the engine', () => {
  const fixture = useFixture()

  const refused = (changes: RunnerChanges, why: RegExp) =>
    expect(fixture.runner(changes).assertReady()).rejects.toThrow(why)

  test('the engine starts on the right chain with the right keys', async () => {
    await fixture.runner().assertReady()
  })

  describe('The engine refuses to start', () => {
    test('the engine refuses to start if the treasury is a relayer', async () => {
      await refused({ relayers: [fixture.treasury] }, /must not be a relayer/)
    })

    test('the engine refuses to start without a relayer, or with one twice', async () => {
      await refused({ relayers: [] }, /needs a relayer/)
      await refused({ relayers: [fixture.relayers[0]!, fixture.relayers[0]!] }, /the same/)
    })

    test('the engine refuses to start in live mode if one node alone would decide about finality', async () => {
      await refused({ livemode: true }, /quorum of at least 2/)
    })

    test('the engine refuses to start on another chain', async () => {
      await refused({ token: { ...TOKEN, chainId: 137 } }, /serves chain 31337, not 137/)
    })

    test('the engine refuses to start if a wallet carries code, as after an EIP-7702 delegation', async () => {
      const wallet = fixture.relayers[0]!.address
      await fixture.chain.setCode({ address: wallet, bytecode: `0xef0100${'1'.repeat(40)}` })
      await refused({}, /carries code/)
      await fixture.chain.setCode({ address: wallet, bytecode: '0x' })
    })

    test('the engine refuses to start if the contract signs for another EIP-712 domain', async () => {
      await refused({ token: { ...TOKEN, name: 'USDC' } }, /EIP-712 domain/)
    })

    test('the engine refuses a chain with another history, and waits for one that is behind', async () => {
      await fixture.chain.mine({ blocks: 5 })
      await fixture.runner().tick()
      await fixture.db.query('update chain_cursor set scanned_number = scanned_number + 1000')
      const late: unknown = await fixture
        .runner()
        .assertReady()
        .catch((error: unknown) => error)
      expect(late).toMatchObject({
        message: expect.stringMatching(/behind block \d+ that was final: it must catch up$/),
      })
      expect(late).not.toBeInstanceOf(SettlementRefusal)
      await fixture.db.query('update chain_cursor set scanned_number = scanned_number - 1000, scanned_hash = $1', [
        `0x${'1'.repeat(64)}`,
      ])
      await refused({}, /another chain/)
      await fixture.runner().tick()
      expect((await fixture.db.query('select paused_reason from chain_cursor')).rows[0]).toEqual({
        paused_reason: expect.stringMatching(/^finalized block/),
      })
      await fixture.db.query('delete from chain_cursor')
    })
  })

  test('the engine starts with a paused token', async () => {
    await asUsdcOwner(fixture.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName: 'pause' }))
    await fixture.runner().assertReady()
    await asUsdcOwner(fixture.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName: 'unpause' }))
  })

  test('the engine runs rounds until it is stopped, and then releases the lead', async () => {
    const stop = new AbortController()
    const running = fixture.runner({ options: { leaseMs: 60_000 } }).run(stop.signal)
    const [queued] = await fixture.queue([{}])
    const isSettled = async () => {
      await fixture.chain.mine({ blocks: 1 })
      return (await fixture.payout(queued!.paymentId)).state === 'settled'
    }
    await poll(isSettled, { withinMs: 20_000, everyMs: 50, what: 'the payout to be settled' })
    stop.abort()
    await running
    expect((await fixture.db.query('select owner from chain_cursor')).rows).toEqual([{ owner: null }])
  })

  test('a refused start ends the run', async () => {
    const run = fixture.runner({ relayers: [] }).run(new AbortController().signal)
    await expect(run).rejects.toThrow(SettlementRefusal)
  })

  test('the development set-up is idempotent: a second run mints nothing', async () => {
    const { prepareDevelopmentChain } = await import('../../src/sandbox/chain.ts')
    const before = await fixture.balance(fixture.treasury.address)
    const relayer = privateKeyToAccount(newKey()).address
    await prepareDevelopmentChain(fixture.anvil.url, {
      treasury: fixture.treasury.address,
      relayers: [relayer],
      mintMicroUsdc: 1_000_000n,
    })
    expect(await fixture.balance(fixture.treasury.address as Hex)).toBe(before)
    expect(await fixture.chain.getBalance({ address: relayer })).toBeGreaterThan(0n)
  })
})

describe('The engine after a crash', () => {
  const fixture = useFixture()
  let proxy: LossyProxy
  beforeAll(async () => {
    proxy = await startLossyProxy(fixture.anvil.url)
  })
  afterAll(() => proxy.close())

  /** The process ends before it runs this statement: that transaction rolls back and nothing later happens. */
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
      expect(await fixture.balance(recipient)).toBe(micro)
      expect((await fixture.payout(paymentId)).state).toBe('settled')
      expect(fixture.hookCalls.settled.filter((settlement) => settlement.ownerId === paymentId)).toHaveLength(1)
    }
  }

  const sends = (): number => proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction').length

  describe('A killed engine', () => {
    test.each([
      ['before the first signature is stored', /insert into payout_signature/],
      ['before a nonce is reserved', /update lane set next_nonce = next_nonce \+ 1/],
      ['after a nonce was reserved, before its transaction is stored', /insert into lane_tx_attempt/],
      ['after the transaction was sent, before that is recorded', /update lane_tx_attempt set last_broadcast_at/],
    ])('the engine is killed %s: the next start pays once', async (_when, statement) => {
      const queued = await fixture.queue([{}, {}, {}])
      const db = dyingAt(fixture.db, statement)
      await fixture
        .runner({ db })
        .tick()
        .catch(() => undefined)
      expect(db.isDead()).toBe(true)
      await fixture.finalize(fixture.runner())
      await paidOnce(queued)
    })

    test('the engine is killed after the transaction was stored, before it is sent: the next start sends the stored bytes', async () => {
      const queued = await fixture.queue([{}, {}])
      proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'lose_request' : 'deliver')
      await fixture.runner({ url: proxy.url }).tick()
      proxy.decide = () => 'deliver'
      const { txHash, state } = await fixture.payout(queued[0]!.paymentId)
      expect(state).toBe('assigned')
      await fixture.finalize(fixture.runner())
      await paidOnce(queued)
      expect((await fixture.payout(queued[0]!.paymentId)).txHash).toBe(txHash)
    })

    test.each([
      ['while the finalized logs are stored', /insert into treasury_log/],
      ['while payouts are marked settled', /update payout set state = case state when 'voided'/],
    ])('the engine is killed %s: the next start settles once', async (_when, statement) => {
      const queued = await fixture.queue([{}, {}])
      await fixture.runner().tick()
      await fixture.chain.mine({ blocks: 3 })
      const db = dyingAt(fixture.db, statement)
      await fixture
        .runner({ db })
        .tick()
        .catch(() => undefined)
      expect(db.isDead()).toBe(true)
      expect((await fixture.payout(queued[0]!.paymentId)).state).not.toBe('settled')
      await fixture.finalize(fixture.runner())
      await paidOnce(queued)
    })
  })

  test('no transaction is sent before its bytes are stored', async () => {
    const queued = await fixture.queue([{}])
    const before = sends()
    const db = dyingAt(fixture.db, /insert into lane_tx_attempt/)
    await fixture.runner({ db, url: proxy.url }).tick()
    expect(db.isDead()).toBe(true)
    expect(sends()).toBe(before)
    await fixture.finalize(fixture.runner())
    await paidOnce(queued)
  })

  describe('A missing answer is not a failure', () => {
    test('the response to eth_sendRawTransaction is lost: the bytes are known and nothing is sent twice', async () => {
      const queued = await fixture.queue([{}, {}])
      proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'lose_response' : 'deliver')
      const runner = fixture.runner({ url: proxy.url })
      await runner.tick()
      const { txHash } = await fixture.payout(queued[0]!.paymentId)
      await fixture.chain.mine({ blocks: 3 })
      await runner.tick()
      proxy.decide = () => 'deliver'
      await paidOnce(queued)
      expect((await fixture.payout(queued[0]!.paymentId)).txHash).toBe(txHash)
    })

    test.each([
      ['429', { status: 429 }],
      ['503', { status: 503 }],
      ['an unheard-of error', { error: { code: -32603, message: 'Internal error' } }],
      ['a pool that is full', { error: { code: -32000, message: 'txpool is full' } }],
    ] as const)('the same bytes are sent again until the pool has them: %s', async (_answer, fate) => {
      const queued = await fixture.queue([{}])
      const before = sends()
      proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? fate : 'deliver')
      const runner = fixture.runner({ url: proxy.url })
      await runner.tick()
      await fixture.chain.mine({ blocks: 1 })
      await runner.tick()
      expect((await fixture.payout(queued[0]!.paymentId)).state).toBe('assigned')
      proxy.decide = () => 'deliver'
      await fixture.finalize(runner)
      await paidOnce(queued)
      const raw = proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction').slice(before)
      expect(new Set(raw.map(({ params }) => params[0] as Hex)).size).toBe(1)
    })

    test('a pool that already has the bytes says so: that counts as success', async () => {
      const queued = await fixture.queue([{}])
      const runner = fixture.runner({ url: proxy.url })
      await runner.tick()
      await runner.tick()
      expect((await fixture.payout(queued[0]!.paymentId)).state).toBe('broadcast')
      await fixture.finalize(runner)
      await paidOnce(queued)
    })

    test('a request that arrives twice is one transaction', async () => {
      const queued = await fixture.queue([{}])
      proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'duplicate' : 'deliver')
      const runner = fixture.runner({ url: proxy.url })
      await runner.tick()
      proxy.decide = () => 'deliver'
      expect((await fixture.payout(queued[0]!.paymentId)).state).toBe('broadcast')
      await fixture.finalize(runner)
      await paidOnce(queued)
    })

    test('a node that never answers is given up after its timeout, and the payout is not', async () => {
      const queued = await fixture.queue([{}])
      proxy.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'hang' : 'deliver')
      const rpc = connectRpc({ urls: [proxy.url], quorum: 1, chainId: 31337, timeoutMs: 200 })
      const runner = fixture.runner({ rpc })
      await runner.tick()
      expect((await fixture.payout(queued[0]!.paymentId)).state).toBe('assigned')
      proxy.decide = () => 'deliver'
      await fixture.finalize(runner)
      await paidOnce(queued)
    })

    test('nothing counts as failed, however long the chain stalls', async () => {
      const queued = await fixture.queue([{}])
      const runner = fixture.runner()
      for (let round = 0; round < 5; round++) {
        fixture.clock.now = new Date(fixture.clock.now.getTime() + 3_600_000)
        await runner.tick()
      }
      expect((await fixture.payout(queued[0]!.paymentId)).state).toBe('broadcast')
      fixture.clock.now = new Date()
      await fixture.finalize(runner)
      await paidOnce(queued)
    })
  })
})

describe('A fixture of the tests after its reset', () => {
  const DAY = 86_400
  const fixture = useFixture({ anvil: ['--no-mining', '--timestamp', String(Math.floor(Date.now() / 1000) - DAY)] })

  /** In seconds. */
  const PRESENT = 600
  const secondsFromNow = (timestamp: bigint): number => Math.abs(Number(timestamp) - Date.now() / 1000)
  /** The rows of each non-empty table, as XML. */
  const readRows = async (db: Db) => {
    const { rows } = await db.query(
      `select relname as name, query_to_xml(format('select * from %I t order by t::text', relname), true, false, '')::text as xml
       from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
    )
    return (rows as { name: string; xml: string }[]).filter(({ xml }) => xml.includes('<row'))
  }

  test('a reset fixture has the blocks, pool, fees and rows of a new one, at the present time', async () => {
    const { chain } = fixture
    const first = await chain.getBlockNumber()
    await fixture.queue([{}])
    await fixture.finalize(fixture.runner())
    await chain.increaseTime({ seconds: 7 * DAY })
    await chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 500n * GWEI })
    await chain.mine({ blocks: 5 })
    await fixture.queue([{}])
    await fixture.runner({ options: { maxFeeWei: 2000n * GWEI } }).tick()
    expect(await chain.getTxpoolStatus()).toMatchObject({ pending: 1 })

    await fixture.reset()
    expect(await chain.getBlockNumber()).toBe(first)
    for (const blockTag of ['latest', 'finalized'] as const)
      expect(secondsFromNow((await chain.getBlock({ blockTag })).timestamp)).toBeLessThan(PRESENT)
    await chain.mine({ blocks: 1 })
    const { timestamp, baseFeePerGas } = await chain.getBlock()
    expect(secondsFromNow(timestamp)).toBeLessThan(PRESENT)
    expect(baseFeePerGas).toBeLessThanOrEqual(GWEI)
    // An earlier payout was in the pool.
    expect(await fixture.balance(fixture.treasury.address)).toBe(1_000_000_000_000n)
    expect((await readRows(fixture.db)).map(({ name }) => name)).toEqual(['agreement', 'merchant', 'migration'])
  })

  test('a reset fixture has the state of each of its blocks, however many blocks there were before', async () => {
    const { chain } = fixture
    const [relayer] = fixture.relayers
    // After more than 5000 blocks anvil drops the first states.
    for (let part = 0; part < 20; part++) {
      await chain.mine({ blocks: 300 })
      await fixture.reset()
    }
    for (const blockNumber of [0n, 1n, 2n])
      expect(await chain.getBalance({ address: relayer!.address, blockNumber })).toBe(0n)
  })

  test('a reset fixture has a database whose copy has the same rows, and gives the same numbers to new ones', async () => {
    await fixture.queue([{}])
    await fixture.finalize(fixture.runner())
    const copy = await copyDatabase(fixture.db)
    const rows = await readRows(copy.db)
    expect(rows.length).toBeGreaterThan(10)
    expect(rows).toEqual(await readRows(fixture.db))
    const readNumbers = async (db: Db) =>
      (await db.query('select sequencename, last_value from pg_sequences order by 1')).rows
    expect(await readNumbers(copy.db)).toEqual(await readNumbers(fixture.db))
    copy.giveBack()
  })

  test('a reset fixture mines only when the test does', async () => {
    const { chain } = fixture
    await chain.setAutomine(true)
    await fixture.reset()
    expect(await chain.getAutomine()).toBe(false)
    await chain.setIntervalMining({ interval: 3600 })
    await fixture.reset()
    expect(await chain.request({ method: 'anvil_getIntervalMining' } as never)).toBeNull()
  })
})
