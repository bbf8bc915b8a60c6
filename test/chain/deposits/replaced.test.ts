import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Hex } from 'viem'
import { createTreasurySigner } from '../../../src/chain/authorization.ts'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { accountOf } from '../../../src/chain/keys/private-key.ts'
import { readBalances } from '../../../src/db/ledger.ts'
import { readDeposit } from '../../../src/db/payments/deposits.ts'
import { rebuild } from '../../../src/operator/rebuild.ts'
import { repairFinality } from '../../../src/operator/repair.ts'
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
