import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Hex, parseEther } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import { createTreasurySigner, signTransferAuthorization } from '../../../src/chain/authorization.ts'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { accountOf } from '../../../src/chain/keys/private-key.ts'
import { readBalances } from '../../../src/db/ledger.ts'
import { readDeposit } from '../../../src/db/payments/deposits.ts'
import { rebuild } from '../../../src/operator/rebuild.ts'
import { repairFinality } from '../../../src/operator/repair.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import { createWorld, newKey, settingsOf, TOKEN, type World } from '../world.ts'
import { addAwaited } from './awaited.ts'
import { reorganize, strangerOf, transfersOf } from './reversal.ts'

/** What is read of a chain whose final blocks have been replaced, before that is repaired. */

const keys = createDepositKeys(Buffer.alloc(32, 9).toString('base64'), TOKEN.chainId)
const deposits = { keys: null, wrongTokens: [] }
const hooks = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })

let world: World
let said: string[]
beforeAll(async () => {
  world = await createWorld({ micro: 1_000_000n })
})
afterAll(() => world.stop())

const reader = () => world.runner({ deposits, hooks })
function operation(settings = settingsOf(world)) {
  said = []
  return { db: world.db, hooks, settings, dryRun: false, say: (line: string) => void said.push(line) }
}
const treasuryInBooks = async (): Promise<bigint> => {
  const lines = await readBalances(world.db)
  return BigInt(lines.find(({ account, asset }) => account === 'treasury' && asset === 'USDC')?.amount ?? 0)
}

/** 3 USDC at the address of a payment and 77 micro-USDC in the treasury, final. `depth` takes them from the chain. */
async function paid(name: string): Promise<{ raw: Hex[]; from: number }> {
  const { address } = await addAwaited(world.db, keys, name)
  const raw = await transfersOf(world, [
    { to: address, micro: 3_000_000n },
    { to: world.treasury.address, micro: 77n },
  ])
  const from = Number(await world.chain.getBlockNumber())
  for (const serializedTransaction of raw) await world.chain.sendRawTransaction({ serializedTransaction })
  await world.chain.mine({ blocks: 6 })
  await world.finalize(reader())
  await expectOnce(name)
  return { raw, from }
}
const since = async (from: number): Promise<number> => Number(await world.chain.getBlockNumber()) - from

async function expectOnce(name: string): Promise<void> {
  expect(await readDeposit(world.db, `att_${name}`)).toMatchObject({ receivedMicro: '3000000' })
  expect(await treasuryInBooks()).toBe(await world.balance(world.treasury.address))
}

// 3 USDC counted as 6, and the treasury had 77 micro-USDC twice
test('a rebuild is refused while a final block is another one: what is at another place now would count once more', async () => {
  const before = await strangerOf(world)
  const { raw, from } = await paid('rebuilt')
  await reorganize(world, await since(from), [before, ...raw])
  await expect(rebuild(operation())).rejects.toThrow('run repair-finality first')
  await expectOnce('rebuilt')
  expect(await repairFinality(operation())).toBe(0)
  expect(await rebuild(operation())).toBe(0)
  await expectOnce('rebuilt')
})

// a worker without the seed had gone on: the rest was read of the new chain, and 3 USDC counted as 6
test('addresses are not read on while a final block is another one', async () => {
  const before = await strangerOf(world)
  const { raw, from } = await paid('behind')
  await world.chain.mine({ blocks: 6 })
  await world.finalize(world.runner({ deposits: null, hooks }))
  await reorganize(world, await since(from), { raw: [before, ...raw], later: 14 })
  await world.finalize(reader())
  await expectOnce('behind')
  expect(await repairFinality(operation())).toBe(0)
  await world.finalize(reader())
  await expectOnce('behind')
})

// it was called gone and booked back
test('what went from one treasury to another is not called gone when the new chain has it too', async () => {
  const successor = accountOf(newKey())
  const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
  const treasuries = [successor, world.treasury].map((account) => createTreasurySigner(account, policy))
  const engine = () => world.runner({ treasuries, hooks })
  await world.finalize(engine())
  const raw = await transfersOf(world, [{ to: successor.address, micro: 500n }], world.treasury)
  const from = Number(await world.chain.getBlockNumber())
  await world.chain.sendRawTransaction({ serializedTransaction: raw[0]! })
  await world.chain.mine({ blocks: 6 })
  await world.finalize(engine())
  await reorganize(world, await since(from), raw)
  const TREASURY_ADDRESSES = treasuries.map(({ address }) => address)
  expect(await repairFinality(operation({ ...settingsOf(world), TREASURY_ADDRESSES }))).toBe(0)
  expect(said.at(-1)).toBe('the lanes go on')
  expect(await world.balance(successor.address)).toBe(500n)
})

/** A transaction of strangers that pays one payment after the other, as far as each payer has the money. */
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
      return { paymentId: '', treasury: from, recipient: to, microUsdc: '2000000', authNonce: nonce, signed }
    }),
  )
  const carrier = accountOf(newKey())
  await world.chain.setBalance({ address: carrier.address, value: parseEther('1') })
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

// where the second had been, the first is on the new chain: neither books nor payment were told of it
test('a transaction that pays one payment more than on the chain before is told and booked for both', async () => {
  const [poor, rich] = [accountOf(newKey()), accountOf(newKey())]
  const names = ['first', 'second']
  const awaited = []
  for (const name of names) awaited.push(await addAwaited(world.db, keys, name))
  const raw = await paysBoth(
    [poor, rich],
    awaited.map(({ address }) => address),
  )
  const [funding] = await transfersOf(world, [{ to: poor.address, micro: 2_000_000n }])
  await mintUsdc(world.chain, { to: rich.address, micro: 2_000_000n })
  await world.chain.mine({ blocks: 1 })
  const from = Number(await world.chain.getBlockNumber())
  await world.chain.sendRawTransaction({ serializedTransaction: raw })
  await world.chain.mine({ blocks: 6 })
  await world.finalize(reader())
  expect(await readDeposit(world.db, 'att_first')).toMatchObject({ receivedMicro: '0' })
  expect(await readDeposit(world.db, 'att_second')).toMatchObject({ receivedMicro: '2000000' })

  await world.chain.request({
    method: 'anvil_reorg' as never,
    params: [
      await since(from),
      [
        [funding, 1],
        [raw, 2],
      ],
    ] as never,
  })
  await world.chain.mine({ blocks: 6 })
  expect(await repairFinality(operation())).toBe(0)
  await world.finalize(reader())
  for (const name of names) {
    expect(await readDeposit(world.db, `att_${name}`)).toMatchObject({ receivedMicro: '2000000' })
    const { rows } = await world.db.query(
      `select (select count(*)::int from partner_event where attempt_id = $1) as told,
         (select count(*)::int from ledger_transaction where payment_id = $2) as booked`,
      [`att_${name}`, `pay_${name}`],
    )
    expect([name, rows]).toEqual([name, [{ told: 1, booked: 1 }]])
  }
})
