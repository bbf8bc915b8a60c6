import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Hex, parseEther } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import { createTreasurySigner, signTransferAuthorization } from '../../../src/chain/authorization.ts'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { createKeyAccount } from '../../../src/chain/keys/private-key.ts'
import { Secret } from '../../../src/config/secret.ts'
import { readBalances } from '../../../src/db/ledger.ts'
import { readDeposit } from '../../../src/db/payments/deposits.ts'
import { rebuild } from '../../../src/operator/rebuild.ts'
import { repairFinality } from '../../../src/operator/repair.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import { startHostileNode } from '../../support/hostile-node.ts'
import { createFixture, createSettings, type Fixture, newAddress, newKey, TOKEN } from '../fixture.ts'
import { listAfterWords } from '../rotation-fixture.ts'
import { addAwaited } from './awaited.ts'
import { reorganize, signStranger, signTransfers } from './reversal.ts'

describe('Deposits in final blocks that are replaced', () => {
  /** Final blocks that contain sweeps are replaced after all. */

  const keys = createDepositKeys(Buffer.alloc(32, 7).toString('base64'), TOKEN.chainId)
  const deposits = { keys, wrongTokens: [] }
  const hooks = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })

  let fixture: Fixture
  let numbers = 0
  beforeAll(async () => {
    fixture = await createFixture({ micro: 1_000_000n })
  })
  afterAll(() => fixture.stop())

  const finalize = (rounds = 4) => fixture.finalize(fixture.runner({ deposits, hooks }), rounds)

  async function pay(address: Hex, micro: bigint): Promise<void> {
    await mintUsdc(fixture.chain, { to: address, micro })
    await fixture.chain.mine({ blocks: 25 })
  }

  /** A payment whose address received 5 USDC, which are in the treasury. */
  async function swept(): Promise<{ paymentId: string; address: Hex; raw: Hex; depth: number }> {
    numbers += 1
    const { paymentId, address } = await addAwaited(fixture.db, keys, `reversed${numbers}`)
    await pay(address, 5_000_000n)
    await finalize()
    expect(await listSweeps(paymentId)).toEqual(['done 5000000'])
    const { rows } = await fixture.db.query(
      `select '0x' || encode(a.raw, 'hex') as raw, t.block_number::int as number
     from lane_tx t join lane_tx_attempt a using (chain_id, wallet, nonce) where t.state = 'finalized'
      order by nonce desc, a.attempt desc limit 1`,
    )
    const { raw, number } = rows[0] as { raw: Hex; number: number }
    return { paymentId, address, raw, depth: Number(await fixture.chain.getBlockNumber()) - number + 2 }
  }

  const transfers = (payments: Parameters<typeof signTransfers>[1]): Promise<Hex[]> => signTransfers(fixture, payments)

  async function listSweeps(paymentId: string): Promise<string[]> {
    const { rows } = await fixture.db.query(
      `select state || ' ' || micro_usdc as line from deposit_sweep where owner_id = $1 order by idx`,
      [paymentId],
    )
    return (rows as { line: string }[]).map(({ line }) => line)
  }

  const repair = (say: (line: string) => void, settings = createSettings(fixture)) =>
    repairFinality({ db: fixture.db, hooks, settings, dryRun: false, say })

  /** Returns the entries of the attention list. */
  async function reorganizeAndRepair(depth: number, raw: readonly Hex[]): Promise<string[]> {
    await reorganize(fixture, depth, raw)
    const said: string[] = []
    await repair((line) => void said.push(line))
    return said.filter((line) => line.startsWith('WARNING'))
  }

  /** Compares the treasury and the address in the books with the chain. */
  async function expectInTreasury(address: Hex): Promise<void> {
    expect(await fixture.balance(address)).toBe(0n)
    const books = (await readBalances(fixture.db)).filter(({ asset }) => asset === 'USDC')
    const inBooks = (account: string) => BigInt(books.find((line) => line.account === account)?.amount ?? 0)
    expect(inBooks('deposits')).toBe(0n)
    expect(inBooks('treasury')).toBe(await fixture.balance(fixture.treasury.address))
  }

  test('a sweep that the new chain also has is one sweep, and later money at the address is swept', async () => {
    const { paymentId, address, raw, depth } = await swept()
    await reorganizeAndRepair(depth, [raw])
    expect(await listSweeps(paymentId)).toEqual(['done 5000000'])
    await pay(address, 3_000_000n)
    await finalize()
    expect(await listSweeps(paymentId)).toEqual(['done 5000000', 'done 3000000'])
    await expectInTreasury(address)
  })

  test('a sweep that is missing on the new chain is made again, with the same nonce', async () => {
    const { paymentId, address, depth } = await swept()
    await reorganizeAndRepair(depth, [])
    expect(await fixture.balance(address)).toBe(5_000_000n)
    await finalize(6)
    expect(await listSweeps(paymentId)).toEqual(['done 5000000'])
    await expectInTreasury(address)
  })

  test('a sweep that comes back after the repair, by the same transaction, is booked again', async () => {
    const { paymentId, address, raw, depth } = await swept()
    await reorganizeAndRepair(depth, [])
    await fixture.chain.sendRawTransaction({ serializedTransaction: raw })
    await fixture.chain.mine({ blocks: 6 })
    await finalize(6)
    expect(await listSweeps(paymentId)).toEqual(['done 5000000'])
    await expectInTreasury(address)
  })

  // Under its new log index it counted as another transfer, so everything that was mined again counted twice.
  test('a sweep at another place of its block on the new chain is also booked once', async () => {
    const before = await signStranger(fixture)
    const { paymentId, address, raw, depth } = await swept()
    expect(await reorganizeAndRepair(depth, [before, raw])).toEqual([])
    expect(await listSweeps(paymentId)).toEqual(['done 5000000'])
    await finalize()
    await expectInTreasury(address)
  })

  test('money at another place of its block on the new chain is the same money, also the same twice, and so is a top-up', async () => {
    const before = await signStranger(fixture)
    const { paymentId, address } = await addAwaited(fixture.db, keys, 'moved')
    const came = [2_000_000n, 2_000_000n, 1_000_000n].map((micro) => ({ to: address, micro }))
    const raw = await transfers([...came, { to: fixture.treasury.address, micro: 77n }])
    for (const serializedTransaction of raw) await fixture.chain.sendRawTransaction({ serializedTransaction })
    await fixture.chain.mine({ blocks: 25 })
    const block = Number(await fixture.chain.getBlockNumber()) - 25
    const idle = () => fixture.finalize(fixture.runner({ deposits: { ...deposits, keys: null }, hooks }), 2)
    await idle()
    const deposit = await readDeposit(fixture.db, 'att_moved')
    expect(deposit).toMatchObject({ receivedMicro: '5000000', receipts: { length: 3 } })

    const depth = Number(await fixture.chain.getBlockNumber()) - block + 1
    expect(await reorganizeAndRepair(depth, [before, ...raw])).toEqual([])
    await idle()
    expect(await readDeposit(fixture.db, 'att_moved')).toEqual(deposit)
    const { rows } = await fixture.db.query(
      `select (select count(*)::int from deposit_log where owner_id = $1 and log_index <> known_index) as moved,
       (select count(*)::int from gone_transfer where recipient = $2 or units = 77) as gone,
       (select count(*)::int from partner_callback where attempt_id = 'att_moved') as callbacks`,
      [paymentId, address],
    )
    expect(rows).toEqual([{ moved: 3, gone: 0, callbacks: 3 }])
    await finalize()
    await expectInTreasury(address)
  })

  test('a repair that is killed after it undid all bookings is completed by the next one', async () => {
    const { address, depth } = await swept()
    await reorganize(fixture, depth, [])
    const kill = (line: string) => {
      if (line.includes('had a proof there')) throw new Error('killed')
    }
    await expect(repair(kill)).rejects.toThrow('killed')
    const said: string[] = []
    await repair((line) => void said.push(line))
    expect(said).toContainEqual(
      expect.stringMatching(/^WARNING: 5000000 micro-USDC in .* is no longer on chain: booked back/),
    )
    await finalize(6)
    await expectInTreasury(address)
  })

  // One of two nodes had no logs for a while: what the new chain also has was booked back and reported as removed.
  test.each(['of the treasury', 'of addresses'])(
    'a repair for which no quorum has the logs %s reports nothing as removed: the next one reads them',
    async (whose) => {
      const name = `unread${whose.length}`
      const { address } = await addAwaited(fixture.db, keys, name)
      const raw = await transfers([address, fixture.treasury.address].map((to) => ({ to, micro: 70_000n })))
      const before = await fixture.chain.getBlockNumber()
      for (const serializedTransaction of raw) await fixture.chain.sendRawTransaction({ serializedTransaction })
      await fixture.chain.mine({ blocks: 6 })
      await fixture.finalize(fixture.runner({ deposits: { ...deposits, keys: null }, hooks }), 2)
      const deposit = await readDeposit(fixture.db, `att_${name}`)
      await reorganize(fixture, Number((await fixture.chain.getBlockNumber()) - before), raw)
      const node = await startHostileNode(fixture.anvil.url)
      const said: string[] = []
      const say = (line: string) => void said.push(line)
      try {
        node.behave = ({ method, params }) => {
          const isOfAddresses = Array.isArray((params[0] as { address?: unknown } | undefined)?.address)
          return method === 'eth_getLogs' && isOfAddresses === (whose === 'of addresses') ? { lie: () => [] } : 'honest'
        }
        const settings = createSettings(fixture)
        const urls = [...settings.POLYGON_RPC_URLS, new Secret(node.url)]
        const both = { ...settings, POLYGON_RPC_URLS: urls, FINALITY_QUORUM: 2 }
        await expect(repair(say, both)).rejects.toThrow('could not be read again')
      } finally {
        await node.close()
      }
      expect(await repair(say)).toBe(0)
      expect(said.filter((line) => line.startsWith('WARNING'))).toEqual([])
      expect(await readDeposit(fixture.db, `att_${name}`)).toEqual(deposit)
      await finalize()
      await expectInTreasury(address)
    },
  )

  // It was booked back, and never again.
  test('a top-up that comes back after the repair is booked again', async () => {
    const [topUp] = await transfers([{ to: fixture.treasury.address, micro: 80_000n }])
    const { address, raw, depth } = await swept()
    const before = await fixture.chain.getBlockNumber()
    await fixture.chain.sendRawTransaction({ serializedTransaction: topUp! })
    await finalize()
    const deeper = Number((await fixture.chain.getBlockNumber()) - before)
    await reorganizeAndRepair(depth + deeper, [raw])
    await expectInTreasury(address)
    await fixture.chain.sendRawTransaction({ serializedTransaction: topUp! })
    await fixture.chain.mine({ blocks: 6 })
    await finalize(6)
    await expectInTreasury(address)
  })

  // A transfer between treasuries is not booked, and neither is a log whose hook failed.
  test('a transfer that was never booked is not booked back', async () => {
    const before = await readBalances(fixture.db)
    const place = { chainId: TOKEN.chainId, txHash: `0x${'7'.repeat(64)}` as Hex, logIndex: 0, blockNumber: 1 }
    const sides = { treasury: fixture.treasury.address.toLowerCase() as Hex, counterparty: newAddress(), micro: '9' }
    for (const direction of ['in', 'out'] as const)
      await fixture.db.transaction((tx) =>
        hooks.onTreasuryMovement(tx, { ...place, ...sides, direction, fate: 'gone' }),
      )
    expect(await readBalances(fixture.db)).toEqual(before)
  })

  // The last one: money that never arrived stays in the books of its payment until an operator has looked at it.
  test('money at an address that is missing on the new chain is listed, with its payment', async () => {
    const { paymentId, address } = await addAwaited(fixture.db, keys, 'vanished')
    const [raw] = await transfers([{ to: address, micro: 5_000_000n }])
    await fixture.chain.sendRawTransaction({ serializedTransaction: raw! })
    await fixture.chain.mine({ blocks: 6 })
    await fixture.finalize(fixture.runner({ deposits: { ...deposits, keys: null }, hooks }), 2)
    expect(await readDeposit(fixture.db, 'att_vanished')).toMatchObject({ receivedMicro: '5000000' })
    const said = await reorganizeAndRepair(20, [])
    expect(said).toContainEqual(
      expect.stringContaining(`5000000 of ${TOKEN.address} at the address of ${paymentId} in 0x`),
    )
    expect(await readDeposit(fixture.db, 'att_vanished')).toMatchObject({ receivedMicro: '0' })
  })
})

describe('A replaced chain before its repair', () => {
  /** Reads of a chain whose final blocks have been replaced, before that is repaired. */

  const keys = createDepositKeys(Buffer.alloc(32, 9).toString('base64'), TOKEN.chainId)
  const deposits = { keys: null, wrongTokens: [] }
  const hooks = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })

  let fixture: Fixture
  let said: string[]
  beforeAll(async () => {
    fixture = await createFixture({ micro: 1_000_000n })
  })
  afterAll(() => fixture.stop())

  const reader = () => fixture.runner({ deposits, hooks })
  function operation(settings = createSettings(fixture)) {
    said = []
    return { db: fixture.db, hooks, settings, dryRun: false, say: (line: string) => void said.push(line) }
  }
  const treasuryInBooks = async (): Promise<bigint> => {
    const lines = await readBalances(fixture.db)
    return BigInt(lines.find(({ account, asset }) => account === 'treasury' && asset === 'USDC')?.amount ?? 0)
  }

  /** 3 USDC at the address of a payment and 77 micro-USDC in the treasury, final. `from` is the block before both. */
  async function paid(name: string): Promise<{ raw: Hex[]; from: number }> {
    const { address } = await addAwaited(fixture.db, keys, name)
    const raw = await signTransfers(fixture, [
      { to: address, micro: 3_000_000n },
      { to: fixture.treasury.address, micro: 77n },
    ])
    const from = Number(await fixture.chain.getBlockNumber())
    for (const serializedTransaction of raw) await fixture.chain.sendRawTransaction({ serializedTransaction })
    await fixture.chain.mine({ blocks: 6 })
    await fixture.finalize(reader())
    await expectOnce(name)
    return { raw, from }
  }
  const since = async (from: number): Promise<number> => Number(await fixture.chain.getBlockNumber()) - from

  async function expectOnce(name: string): Promise<void> {
    expect(await readDeposit(fixture.db, `att_${name}`)).toMatchObject({ receivedMicro: '3000000' })
    expect(await treasuryInBooks()).toBe(await fixture.balance(fixture.treasury.address))
  }

  // 3 USDC counted as 6, and 77 micro-USDC in the treasury twice.
  test('a rebuild is refused while a final block is replaced: money at another place now would count once more', async () => {
    const before = await signStranger(fixture)
    const { raw, from } = await paid('rebuilt')
    await reorganize(fixture, await since(from), [before, ...raw])
    await expect(rebuild(operation())).rejects.toThrow('run repair-finality first')
    await expectOnce('rebuilt')
    expect(await repairFinality(operation())).toBe(0)
    expect(await rebuild(operation())).toBe(0)
    await expectOnce('rebuilt')
  })

  // A worker without the seed had continued: the rest was read of the new chain, and 3 USDC counted as 6.
  test('addresses are not read further while a final block is replaced', async () => {
    const before = await signStranger(fixture)
    const { raw, from } = await paid('behind')
    await fixture.chain.mine({ blocks: 6 })
    await fixture.finalize(fixture.runner({ deposits: null, hooks }))
    await reorganize(fixture, await since(from), { raw: [before, ...raw], later: 14 })
    await fixture.finalize(reader())
    await expectOnce('behind')
    expect(await repairFinality(operation())).toBe(0)
    await fixture.finalize(reader())
    await expectOnce('behind')
  })

  // It was reported as removed and booked back.
  test('a transfer between treasuries is not reported as removed if the new chain has it too', async () => {
    const successor = createKeyAccount(newKey())
    const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
    const treasuries = [successor, fixture.treasury].map((account) => createTreasurySigner(account, policy))
    const treasuryList = listAfterWords(fixture.treasury, successor)
    const engine = () => fixture.runner({ treasuries, treasuryList, hooks })
    await fixture.finalize(engine())
    const raw = await signTransfers(fixture, [{ to: successor.address, micro: 500n }], fixture.treasury)
    const from = Number(await fixture.chain.getBlockNumber())
    await fixture.chain.sendRawTransaction({ serializedTransaction: raw[0]! })
    await fixture.chain.mine({ blocks: 6 })
    await fixture.finalize(engine())
    await reorganize(fixture, await since(from), raw)
    expect(await repairFinality(operation({ ...createSettings(fixture), TREASURIES: treasuryList }))).toBe(0)
    expect(said.at(-1)).toBe('the lanes continue')
    expect(await fixture.balance(successor.address)).toBe(500n)
  })

  /** A transaction of strangers that pays one payment after the other, as far as each sender has the money. */
  async function paysBoth(payers: readonly LocalAccount[], addresses: readonly Hex[]): Promise<Hex> {
    const validBefore = 2 ** 40
    const items = await Promise.all(
      payers.map(async (payer, index) => {
        const [from, to] = [payer.address.toLowerCase() as Hex, addresses[index] as Hex]
        const nonce = newKey()
        const asked = { from, to, micro: 2_000_000n, validBefore, nonce }
        const signed = {
          kind: 'transfer',
          validBefore,
          signature: await signTransferAuthorization(payer, TOKEN, asked),
        } as const
        return { ownerId: '', treasury: from, recipient: to, microUsdc: '2000000', authNonce: nonce, signed }
      }),
    )
    const carrier = createKeyAccount(newKey())
    await fixture.chain.setBalance({ address: carrier.address, value: parseEther('1') })
    const { target, calldata } = multicallCodec.encode(TOKEN.address, items)
    return carrier.signTransaction({
      type: 'eip1559',
      chainId: TOKEN.chainId,
      nonce: 0,
      to: target,
      data: calldata,
      gas: 500_000n,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
    })
  }

  // The new chain has the first where the second had been: neither books nor payment recorded it.
  test('a transaction that pays one payment more than on the chain before is reported and booked for both', async () => {
    const [poor, rich] = [createKeyAccount(newKey()), createKeyAccount(newKey())]
    const names = ['first', 'second']
    const awaited = []
    for (const name of names) awaited.push(await addAwaited(fixture.db, keys, name))
    const raw = await paysBoth(
      [poor, rich],
      awaited.map(({ address }) => address),
    )
    const [funding] = await signTransfers(fixture, [{ to: poor.address, micro: 2_000_000n }])
    await mintUsdc(fixture.chain, { to: rich.address, micro: 2_000_000n })
    await fixture.chain.mine({ blocks: 1 })
    const from = Number(await fixture.chain.getBlockNumber())
    await fixture.chain.sendRawTransaction({ serializedTransaction: raw })
    await fixture.chain.mine({ blocks: 6 })
    await fixture.finalize(reader())
    expect(await readDeposit(fixture.db, 'att_first')).toMatchObject({ receivedMicro: '0' })
    expect(await readDeposit(fixture.db, 'att_second')).toMatchObject({ receivedMicro: '2000000' })

    await fixture.chain.request({
      method: 'anvil_reorg' as never,
      params: [
        await since(from),
        [
          [funding, 1],
          [raw, 2],
        ],
      ] as never,
    })
    await fixture.chain.mine({ blocks: 6 })
    expect(await repairFinality(operation())).toBe(0)
    await fixture.finalize(reader())
    for (const name of names) {
      expect(await readDeposit(fixture.db, `att_${name}`)).toMatchObject({ receivedMicro: '2000000' })
      const { rows } = await fixture.db.query(
        `select (select count(*)::int from partner_callback where attempt_id = $1) as callbacks,
         (select count(*)::int from ledger_transaction where payment_id = $2) as booked`,
        [`att_${name}`, `pay_${name}`],
      )
      expect([name, rows]).toEqual([name, [{ callbacks: 1, booked: 1 }]])
    }
  })
})
