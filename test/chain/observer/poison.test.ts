import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { parseEther } from 'viem'
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { encodeFunctionData, parseAbi } from 'viem/utils'
import { createTreasurySigner } from '../../../src/chain/authorization.ts'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { TOPICS } from '../../../src/chain/token/contracts.ts'
import { acknowledgeTransfers } from '../../../src/db/settlement/operator.ts'
import { listSettlementAttention } from '../../../src/db/settlement/watch/standing.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { Payout } from '../../../src/domain/settlement/payout.ts'
import { payoutNonce } from '../../../src/evm/payout-nonce.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { useHostileNodes } from '../../support/hostile-node.ts'
import { createWorld, insertPayments, newAddress, newKey, type Queued, TOKEN, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.stop())
const nodes = useHostileNodes(() => world.anvil.url)

const erc20 = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function transferFrom(address from, address to, uint256 value) returns (bool)',
])
const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
const treasury = (): Hex => world.treasury.address.toLowerCase() as Hex
const connect = () =>
  connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId, timeoutMs: 2000 })
const cursor = async () =>
  (await world.db.query('select scanned_number::int as number, paused_reason as paused from chain_cursor')).rows[0] as {
    number: number
    paused: string | null
  }
const attention = async () => listSettlementAttention(world.db)

async function expectPaidOnce(queued: readonly Queued[]): Promise<void> {
  for (const { paymentId, recipient, micro } of queued) {
    expect((await world.payout(paymentId)).state).toBe('settled')
    expect(await world.balance(recipient)).toBe(micro)
  }
}

async function send(from: LocalAccount, call: { to: Hex; data: Hex }): Promise<Hex> {
  await world.chain.setBalance({ address: from.address, value: parseEther('100') })
  const raw = await from.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    nonce: await world.chain.getTransactionCount({ address: from.address }),
    ...call,
    gas: 300_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  return world.chain.sendRawTransaction({ serializedTransaction: raw })
}

const stranger = (): LocalAccount => privateKeyToAccount(newKey())

/** What the treasury's key signs for a payment when somebody else has it. */
async function spendNonce(paymentId: string, recipient: Hex, micro: bigint): Promise<Hex> {
  const place = { ...scope, treasury: treasury(), paymentId }
  const payout: Payout = {
    ...place,
    livemode: false,
    recipient,
    microUsdc: micro.toString(),
    authNonce: payoutNonce(place),
    state: 'queued',
    holdReason: null,
    refusals: 0,
    createdAt: new Date(),
  }
  const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
  const signed = await createTreasurySigner(world.treasury, policy).signTransfer(payout, 4_000_000_000)
  const { target, calldata } = multicallCodec.encode(TOKEN.address, [{ ...payout, signed }])
  return send(stranger(), { to: target, data: calldata })
}

describe('a stranger moves nothing', () => {
  test.each<[string, () => Hex]>([
    [
      'to the treasury',
      () => encodeFunctionData({ abi: erc20, functionName: 'transfer', args: [world.treasury.address, 0n] }),
    ],
    [
      'out of the treasury, for which the token asks nobody',
      () =>
        encodeFunctionData({
          abi: erc20,
          functionName: 'transferFrom',
          args: [world.treasury.address, newAddress(), 0n],
        }),
    ],
    [
      'from the treasury to the treasury',
      () =>
        encodeFunctionData({
          abi: erc20,
          functionName: 'transferFrom',
          args: [world.treasury.address, world.treasury.address, 0n],
        }),
    ],
  ])('%s: the cursor goes on, nothing pauses, nothing is booked', async (_case, data) => {
    const runner = world.runner({ hooks: { onTreasuryMovement: refusesNothing } })
    await send(stranger(), { to: TOKEN.address, data: data() })
    await world.chain.mine({ blocks: 1 })
    const at = Number(await world.chain.getBlockNumber())
    const queued = await world.queue([{}])
    await world.finalize(runner)
    await runner.tick()
    expect((await cursor()).number).toBeGreaterThanOrEqual(at)
    expect((await cursor()).paused).toBeNull()
    await expectPaidOnce(queued)
    expect(world.heard.movements.filter(({ micro }) => micro === '0')).toEqual([])
  })

  /** As the ledger does: an entry of nothing is refused. */
  async function refusesNothing(_tx: unknown, { micro }: { micro: string }): Promise<void> {
    if (micro === '0') throw new Error('a ledger entry of nothing')
  }
})

describe('a log that cannot be applied', () => {
  test('is stored with the cursor, tried again, on the attention list meanwhile, and delays nothing', async () => {
    let failing = true
    const heard: string[] = []
    const runner = world.runner({
      hooks: {
        onTreasuryMovement: async (_tx, { micro }) => {
          if (failing && micro === '4242') throw new Error('the books are closed')
          heard.push(micro)
        },
      },
    })
    await mintUsdc(world.chain, { to: treasury(), micro: 4242n })
    await mintUsdc(world.chain, { to: treasury(), micro: 4343n })
    const queued = await world.queue([{}])
    await world.finalize(runner)
    await expectPaidOnce(queued)
    expect(heard).toContain('4343')
    expect(await attention()).toEqual([
      expect.objectContaining({ kind: 'treasury_log', detail: 'the books are closed' }),
    ])
    failing = false
    await world.db.query('update treasury_log set hook_retry_at = now() where applied_at is null')
    await runner.tick()
    expect(heard.filter((micro) => micro === '4242')).toHaveLength(1)
    expect(await attention()).toEqual([])
    await runner.tick()
    expect(heard.filter((micro) => micro === '4242')).toHaveLength(1)
  })
})

describe('the nonce of a payment that is not paid yet', () => {
  afterEach(async () => {
    const { rows } = await world.db.query('select tx_hash from treasury_log where known_as is null')
    for (const { tx_hash: hash } of rows) await world.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))
  })

  test('used by a thief for another address pauses everything', async () => {
    const payment = { paymentId: 'pay_stolen', recipient: newAddress() }
    await insertPayments(world.db, [payment])
    const hash = await spendNonce(payment.paymentId, newAddress(), 5_000_000n)
    await world.chain.mine({ blocks: 4 })
    await world.runner().tick()
    expect((await cursor()).paused).toContain(hash)
  })

  test('used for another amount than the converted payment has pauses everything', async () => {
    const payment = { paymentId: 'pay_too_much', recipient: newAddress() }
    await insertPayments(world.db, [payment])
    await world.db.query('update payment set gross_micro = 100, fee_micro = 4, net_micro = 96 where id = $1', [
      payment.paymentId,
    ])
    await spendNonce(payment.paymentId, payment.recipient, 97n)
    await world.chain.mine({ blocks: 4 })
    await world.runner().tick()
    expect((await cursor()).paused).toContain('97 micro-USDC')
  })

  test('used as the payment says stops nothing', async () => {
    const payment = { paymentId: 'pay_as_agreed', recipient: newAddress() }
    await insertPayments(world.db, [payment])
    await spendNonce(payment.paymentId, payment.recipient, 96n)
    await world.chain.mine({ blocks: 4 })
    await world.runner().tick()
    expect((await cursor()).paused).toBeNull()
  })
})

describe('a pause by a block that is not final', () => {
  const theft = async (): Promise<Hex> =>
    send(world.treasury, {
      to: TOKEN.address,
      data: encodeFunctionData({ abi: erc20, functionName: 'transfer', args: [newAddress(), 321n] }),
    })

  test('lifts itself when the transfer is in no final block', async () => {
    const runner = world.runner()
    await world.finalize(runner)
    await theft()
    await world.chain.mine({ blocks: 1 })
    await runner.tick()
    expect((await cursor()).paused).toContain('321 micro-USDC')
    await world.chain.request({ method: 'anvil_reorg' as never, params: [1, []] as never })
    const queued = await world.queue([{}])
    await world.chain.mine({ blocks: 4 })
    await runner.tick()
    expect((await cursor()).paused).toBeNull()
    await world.finalize(runner)
    await expectPaidOnce(queued)
  })

  test('stays when it is', async () => {
    const runner = world.runner()
    await world.finalize(runner)
    const hash = await theft()
    await world.chain.mine({ blocks: 1 })
    await runner.tick()
    for (let round = 0; round < 4; round++) {
      await world.chain.mine({ blocks: 3 })
      await runner.tick()
      expect((await cursor()).paused).toContain(hash)
    }
    expect(await attention()).toEqual([
      expect.objectContaining({ kind: 'paused' }),
      expect.objectContaining({ kind: 'unknown_transfer' }),
    ])
    expect(await world.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))).toBe(0)
  })

  test('is not made by one node that invents a transfer', async () => {
    await world.finalize(world.runner({ rpc: connect() }))
    let lies = 0
    // Each node is once the one that is asked first.
    for (const turns of [0, 1, 2]) {
      const rpc = connect()
      for (let turn = 0; turn < turns; turn++) await rpc.any((node) => node.block(0))
      const engine = world.runner({ rpc })
      await world.chain.mine({ blocks: 1 })
      const head = await world.chain.getBlock()
      const invented = {
        address: TOKEN.address,
        topics: [TOPICS.transfer, topicOf(treasury()), topicOf(newAddress())],
        data: `0x${77n.toString(16).padStart(64, '0')}`,
        blockNumber: `0x${head.number.toString(16)}`,
        blockHash: head.hash,
        transactionHash: `0x${'7'.repeat(64)}`,
        logIndex: '0x0',
      }
      nodes[0]!.behave = ({ method, params }) => {
        if (method !== 'eth_getLogs' || !JSON.stringify(params).includes(invented.blockNumber)) return 'honest'
        lies += 1
        return { lie: (result) => [...(result as object[]), invented] }
      }
      await engine.tick()
      expect((await cursor()).paused).toBeNull()
    }
    expect(lies).toBeGreaterThan(0)
    const queued = await world.queue([{}])
    await world.finalize(world.runner({ rpc: connect() }))
    await expectPaidOnce(queued)
  })
})

const topicOf = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`
