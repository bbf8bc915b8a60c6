import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { LocalAccount } from 'viem/accounts'
import { abandonLane } from '../../../src/db/settlement/operator.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { showStatus } from '../../../src/operator/status.ts'
import { type LossyProxy, startLossyProxy } from '../../support/anvil.ts'
import { createFixture, createSettings, type Fixture, newAddress, type Queued, TOKEN } from '../fixture.ts'

describe('A lane whose key was replaced', () => {
  /** Envelopes of a lane that are on their way when its key is replaced by another one. */

  let fixture: Fixture
  let removed: LocalAccount
  let other: LocalAccount
  beforeAll(async () => {
    fixture = await createFixture({ relayers: 2 })
    ;[removed, other] = fixture.relayers as [LocalAccount, LocalAccount]
  })
  beforeEach(() => fixture.reset())
  afterAll(() => fixture.stop())

  const getWallet = ({ address }: LocalAccount): Hex => address.toLowerCase() as Hex

  /** Each round belongs to a worker that has just started: it takes over at once what others have left. */
  async function goOn(): Promise<void> {
    for (let round = 0; round < 3; round++) await fixture.finalize(fixture.runner({ relayers: [other] }), 1)
  }

  /** The removed relayer's envelopes in the order of their nonces. */
  async function envelopes(): Promise<{ state: string; block: bigint | null }[]> {
    const { rows } = await fixture.db.query(
      'select state, block_number from lane_tx where wallet = $1 order by nonce',
      [getWallet(removed)],
    )
    return (rows as { state: string; block_number: string | null }[]).map(({ state, block_number: block }) => ({
      state,
      block: block === null ? null : BigInt(block),
    }))
  }

  const getBlockNumber = async (hash: Hex): Promise<bigint> =>
    (await fixture.chain.getTransactionReceipt({ hash })).blockNumber

  /** Writes as if the key had been missing for this long. */
  const pass = (interval: string): Promise<unknown> =>
    fixture.db.query(
      `with e as (update lane_tx set created_at = created_at - '${interval}'::interval where wallet = $1)
     update lane set led_at = led_at - '${interval}'::interval where wallet = $1`,
      [getWallet(removed)],
    )

  /**
   * Its exit code, and its lines about the lane; a quarantine stays on the attention list until an operator reopens it.
   */
  async function status(): Promise<{ code: number; about: string[] }> {
    const said: string[] = []
    const say = (line: string): void => void said.push(line)
    const code = await showStatus({
      db: fixture.db,
      hooks: fixture.hooks,
      settings: createSettings(fixture),
      dryRun: false,
      say,
    })
    return { code, about: said.filter((line) => line.includes(getWallet(removed)) && !line.startsWith('WARNING')) }
  }

  const QUIET = { code: 0, about: [] }

  const readGas = async (hash: Hex): Promise<bigint> => {
    const { gasUsed, effectiveGasPrice } = await fixture.chain.getTransactionReceipt({ hash })
    return gasUsed * effectiveGasPrice
  }

  test.each([{ abandoned: false }, { abandoned: true }])(
    'an envelope that is mined afterwards ends, its gas is booked once, and status is quiet (abandoned: $abandoned)',
    async ({ abandoned }) => {
      const [queued] = await fixture.queue([{}])
      await fixture.runner({ relayers: [removed] }).tick()
      const lane = { chainId: TOKEN.chainId, wallet: getWallet(removed) }
      if (abandoned) await fixture.db.transaction((tx) => abandonLane(tx, lane))
      await fixture.chain.mine({ blocks: 4 })
      await goOn()
      const { state, txHash } = await fixture.payout(queued!.paymentId)
      expect(state).toBe('settled')
      expect(fixture.hookCalls.settled.map(({ gasWei }) => gasWei)).toEqual([await readGas(txHash!)])
      await pass('3 days')
      await goOn()
      expect(await envelopes()).toEqual([{ state: 'finalized', block: await getBlockNumber(txHash!) }])
      expect(fixture.hookCalls.gas).toEqual([])
      expect(await status()).toEqual(QUIET)
    },
  )

  test('an envelope that is never mined stays open, status is quiet, and another lane carries its payouts', async () => {
    const [queued] = await fixture.queue([{}])
    await fixture.runner({ relayers: [removed] }).tick()
    await fixture.chain.request({ method: 'anvil_dropAllTransactions' } as never)
    await pass('3 days')
    // It is reported while it carries a payout.
    expect((await status()).code).toBe(1)
    await goOn()
    expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
    expect(await envelopes()).toEqual([{ state: 'broadcast', block: null }])
    expect(await status()).toEqual(QUIET)
    // Its bytes are still valid.
    const { rows } = await fixture.db.query(
      `select '0x' || encode(raw, 'hex') as raw from lane_tx_attempt where wallet = $1`,
      [getWallet(removed)],
    )
    const hash = await fixture.chain.sendRawTransaction({ serializedTransaction: rows[0].raw })
    await fixture.chain.mine({ blocks: 4 })
    await goOn()
    expect(await envelopes()).toEqual([{ state: 'finalized', block: await getBlockNumber(hash) }])
    expect(fixture.hookCalls.gas.map(({ wei }) => wei)).toEqual([await readGas(hash)])
    await goOn()
    expect(fixture.hookCalls.gas).toHaveLength(1)
  })

  test('an envelope whose nonce another transfer has used ends, and its key is not trusted when it comes back', async () => {
    const [queued] = await fixture.queue([{}])
    await fixture.runner({ relayers: [removed] }).tick()
    await fixture.chain.request({ method: 'anvil_dropAllTransactions' } as never)
    await pass('1 hour')
    const raw = await removed.signTransaction({
      type: 'eip1559',
      chainId: TOKEN.chainId,
      to: other.address,
      value: 1n,
      gas: 100_000n,
      nonce: 0,
      data: '0x01',
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
    })
    await fixture.chain.sendRawTransaction({ serializedTransaction: raw })
    await fixture.chain.mine({ blocks: 4 })
    await goOn()
    expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
    expect(await envelopes()).toEqual([{ state: 'foreign', block: null }])
    expect(await status()).toEqual(QUIET)
    await fixture.runner().tick()
    const { rows } = await fixture.db.query('select status from lane where wallet = $1', [getWallet(removed)])
    expect(rows).toEqual([{ status: 'quarantined' }])
  })
})

describe('A lane with a nonce that no node explains', () => {
  /** A lane whose nonce was used by a transaction that no node shows now. */

  let fixture: Fixture
  let proxy: LossyProxy
  let first: LocalAccount
  beforeAll(async () => {
    fixture = await createFixture({ relayers: 2 })
    proxy = await startLossyProxy(fixture.anvil.url)
    first = fixture.relayers[0]!
  })
  beforeEach(async () => {
    await fixture.reset()
    proxy.decide = () => 'deliver'
  })
  afterAll(async () => {
    await proxy.close()
    await fixture.stop()
  })

  /** No node answers which transactions a block has. */
  const hideTransactions = (): void => {
    proxy.decide = ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[1] === true
        ? { error: { code: -32005, message: 'rate limit exceeded' } }
        : 'deliver'
  }

  const listStates = async (queued: readonly Queued[]): Promise<string[]> =>
    Promise.all(queued.map(async ({ paymentId }) => (await fixture.payout(paymentId)).state))

  const lane = async () => {
    const { rows } = await fixture.db.query(
      `select status, (select jsonb_agg(state order by nonce) from lane_tx t where t.wallet = l.wallet) as states
     from lane l where wallet = $1`,
      [first.address.toLowerCase()],
    )
    return rows[0] as { status: string; states: string[] }
  }

  /**
   * Sends two batches by the first lane, and drops them; an empty transfer uses its first nonce, by default to the lane
   * itself as the engine sends them.
   */
  async function replaceFirst(to: Hex = first.address): Promise<Queued[]> {
    const runner = fixture.runner({ relayers: [first] })
    const queued: Queued[] = []
    for (let batch = 0; batch < 2; batch++) {
      queued.push(...(await fixture.queue([{}])))
      await runner.tick()
    }
    const { rows } = await fixture.db.query('select tx_hash from lane_tx_attempt')
    for (const { tx_hash: hash } of rows) await fixture.chain.dropTransaction({ hash })
    const serializedTransaction = await first.signTransaction({
      type: 'eip1559',
      chainId: TOKEN.chainId,
      to,
      gas: 21_000n,
      nonce: 0,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
    })
    await fixture.chain.sendRawTransaction({ serializedTransaction })
    await fixture.chain.mine({ blocks: 4 })
    return queued
  }

  // No lane carried anything while the explanation was missing.
  test('sent envelopes of the lane continue, and other lanes carry the payouts of the lost transaction', async () => {
    const queued = await replaceFirst()
    hideTransactions()
    await fixture.finalize(fixture.runner({ url: proxy.url }), 3)
    expect(await listStates(queued)).toEqual(['settled', 'settled'])
    expect(await lane()).toEqual({ status: 'open', states: ['broadcast', 'finalized'] })
    proxy.decide = () => 'deliver'
    await fixture.finalize(fixture.runner({ url: proxy.url }))
    expect(await lane()).toEqual({ status: 'open', states: ['foreign', 'finalized'] })
  })

  test('a lane with an unexplained nonce sends nothing new until the transaction is explained', async () => {
    const queued = await replaceFirst()
    hideTransactions()
    const alone = fixture.runner({ url: proxy.url, relayers: [first] })
    queued.push(...(await fixture.queue([{}])))
    await fixture.finalize(alone, 3)
    expect(await listStates(queued)).toEqual(['broadcast', 'settled', 'authorized'])
    proxy.decide = () => 'deliver'
    await fixture.finalize(alone, 3)
    expect(await listStates(queued)).toEqual(['settled', 'settled', 'settled'])
  })

  test('a lane with an unexplained nonce is stopped as soon as the transaction is known to be somebody else’s', async () => {
    await replaceFirst(newAddress())
    hideTransactions()
    await fixture.finalize(fixture.runner({ url: proxy.url }))
    expect((await lane()).status).toBe('open')
    proxy.decide = () => 'deliver'
    await fixture.runner({ url: proxy.url }).tick()
    expect((await lane()).status).toBe('quarantined')
  })
})
