import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll } from '@jest/globals'
import { parseEther } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import { encodeFunctionData } from 'viem/utils'
import { createTreasurySigner, type Token } from '../../src/chain/authorization.ts'
import { multicallCodec } from '../../src/chain/codec.ts'
import { SETTLEMENT_DEFAULTS, type SettlementDeps, type SettlementOptions } from '../../src/chain/context.ts'
import { createKeyAccount } from '../../src/chain/keys/private-key.ts'
import { GWEI } from '../../src/chain/lanes/fees.ts'
import { connectRpc, type Rpc } from '../../src/chain/rpc/rpc.ts'
import type { OperatorConfig } from '../../src/config/config.ts'
import { Secret } from '../../src/config/secret.ts'
import type { Db } from '../../src/db/db.ts'
import type { SettlementHooks } from '../../src/db/settlement/context.ts'
import { type PayoutView, queuePayout, readPayout } from '../../src/db/settlement/payouts.ts'
import type { Hex } from '../../src/domain/hex.ts'
import type { RecordedDeposit, ReturnedUsdc } from '../../src/domain/settlement/deposit.ts'
import type { GasSpent, Settlement, TreasuryMovement, VoidProof } from '../../src/domain/settlement/payout.ts'
import type { Treasury } from '../../src/domain/settlement/treasuries.ts'
import {
  connectDevelopmentChain,
  DEVELOPMENT_USDC,
  type DevelopmentChain,
  mintUsdc,
  usdcAdminAbi,
} from '../../src/sandbox/chain.ts'
import { createSettlementRunner, type SettlementRunner } from '../../src/settlement/runner.ts'
import { type TestChain, takeChain } from '../support/chains.ts'
import { takeDatabase } from './databases.ts'

export const TOKEN: Token = { chainId: 31337, address: DEVELOPMENT_USDC, name: 'USD Coin' }
export const newKey = (): Hex => `0x${randomBytes(32).toString('hex')}`
export const newAddress = (): Hex => `0x${randomBytes(20).toString('hex')}`

/** The list of a deployment that has one treasury. */
export const firstTreasury = ({ address }: { readonly address: string }): Treasury => ({
  address: address.toLowerCase() as Hex,
  firstId: null,
})

/** The messages that the hooks received, as a payment would have recorded them. */
export type HookCalls = {
  settled: Settlement[]
  stopped: { ownerId: string; reason: string; detail: string }[]
  resumed: string[]
  voided: VoidProof[]
  movements: TreasuryMovement[]
  gas: GasSpent[]
  deposits: RecordedDeposit[]
  returned: ReturnedUsdc[]
}

export type Fixture = {
  readonly anvil: TestChain
  readonly chain: DevelopmentChain
  readonly db: Db
  readonly databaseUrl: string
  readonly hookCalls: HookCalls
  readonly treasury: LocalAccount
  readonly relayers: LocalAccount[]
  /** Replace a hook to make it fail. */
  readonly hooks: SettlementHooks
  clock: { now: Date }
  /** As the last runner had it: a list is only appended to. */
  treasuryList?: readonly Treasury[]
  runner(changes?: RunnerChanges): SettlementRunner
  queue(payouts: readonly { paymentId?: string; recipient?: Hex; micro?: bigint }[]): Promise<Queued[]>
  payout(paymentId: string): Promise<PayoutView>
  balance(wallet: Hex): Promise<bigint>
  /** Mines until the pool is in the chain and final, and runs the engine on it. */
  finalize(runner: SettlementRunner, rounds?: number): Promise<void>
  /** Restores the initial state with the same wallets: an empty database, and a chain with nothing but USDC. */
  reset(): Promise<void>
  stop(): Promise<void>
}

export type Queued = { paymentId: string; recipient: Hex; micro: bigint }

export type RunnerChanges = {
  readonly options?: Partial<SettlementOptions>
  readonly rpc?: Rpc
  readonly url?: string
  readonly relayers?: SettlementDeps['relayers']
  readonly db?: Db
  readonly funding?: SettlementDeps['funding']
  readonly hooks?: Partial<SettlementHooks>
  readonly treasuries?: SettlementDeps['treasuries']
  /** Default: as before; at first only the treasury. */
  readonly treasuryList?: SettlementDeps['treasuryList']
  readonly deposits?: SettlementDeps['deposits']
  readonly livemode?: boolean
  readonly token?: Token
  readonly everyMs?: number
  /** The most items of a batch. */
  readonly maxItems?: number
  readonly warn?: (about: object, message: string) => void
  readonly error?: (about: object, message: string) => void
}

/** The balance of each relayer. */
const GAS_MONEY = parseEther('10000')

type FixtureSetup = {
  readonly micro?: bigint
  readonly relayers?: number
  readonly treasury?: LocalAccount
  readonly anvil?: readonly string[]
}

/** A fixture for the tests of a file or of a `describe`, created before they run. */
export function useFixture(setup: FixtureSetup = {}): Fixture {
  const fixture = {} as Fixture
  beforeAll(async () => void Object.assign(fixture, await createFixture(setup)))
  afterAll(() => fixture.stop())
  return fixture
}

/** A chain with the real USDC, a database, a treasury with USDC, relayers with gas money. */
export async function createFixture(setup: FixtureSetup = {}): Promise<Fixture> {
  const [anvil, database] = await Promise.all([takeChain(setup.anvil), takeDatabase()])
  const chain = connectDevelopmentChain(anvil.url)
  const treasury = setup.treasury ?? createKeyAccount(newKey())
  const relayers = Array.from({ length: setup.relayers ?? 1 }, () => createKeyAccount(newKey()))
  const hookCalls: HookCalls = {
    settled: [],
    stopped: [],
    resumed: [],
    voided: [],
    movements: [],
    gas: [],
    deposits: [],
    returned: [],
  }
  const fund = async () => {
    for (const { address } of relayers) await chain.setBalance({ address, value: GAS_MONEY })
    await mintUsdc(chain, { to: treasury.address, micro: setup.micro ?? 1_000_000_000_000n })
  }
  await fund()
  const fixture: Fixture = {
    anvil,
    chain,
    db: database.db,
    databaseUrl: database.url,
    hookCalls,
    treasury,
    relayers,
    hooks: recordIn(hookCalls),
    clock: { now: new Date() },
    runner: (changes) => createRunner(fixture, changes ?? {}),
    queue: (payouts) => queueAll(fixture, payouts),
    async payout(paymentId) {
      const found = await readPayout(fixture.db, paymentId)
      if (found === null) throw new Error(`no payout ${paymentId}`)
      return found
    },
    balance: (wallet) =>
      chain.readContract({ address: DEVELOPMENT_USDC, abi: usdcAdminAbi, functionName: 'balanceOf', args: [wallet] }),
    async finalize(runner, rounds = 2) {
      for (let round = 0; round < rounds; round++) {
        await runner.tick()
        await chain.mine({ blocks: 3 })
      }
      await runner.tick()
    },
    async reset() {
      await Promise.all([database.reset(), anvil.reset()])
      await fund()
      for (const calls of Object.values(hookCalls)) calls.length = 0
      fixture.clock.now = new Date()
      delete fixture.treasuryList
    },
    async stop() {
      anvil.giveBack()
      database.giveBack()
    },
  }
  return fixture
}

const recordIn = (hookCalls: HookCalls): SettlementHooks => ({
  onSettled: async (_tx, settlements) => void hookCalls.settled.push(...settlements),
  onStopped: async (_tx, stopped) => void hookCalls.stopped.push(stopped),
  onResumed: async (_tx, { ownerId }) => void hookCalls.resumed.push(ownerId),
  onVoided: async (_tx, proof) => void hookCalls.voided.push(proof),
  onDeposit: async (_tx, deposit) => void hookCalls.deposits.push(deposit),
  onReturned: async (_tx, returned) => void hookCalls.returned.push(returned),
  onTreasuryMovement: async (_tx, movement) => void hookCalls.movements.push(movement),
  onBalanceDifference: async () => undefined,
  onGas: async (_tx, spent) => void hookCalls.gas.push(spent),
})

function createRunner(fixture: Fixture, changes: RunnerChanges): SettlementRunner {
  const policy = { livemode: changes.livemode ?? false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
  const treasuries = changes.treasuries ?? [createTreasurySigner(fixture.treasury, policy)]
  fixture.treasuryList = changes.treasuryList ?? fixture.treasuryList ?? [firstTreasury(treasuries[0]!)]
  return createSettlementRunner({
    db: { ...(changes.db ?? fixture.db), livemode: policy.livemode },
    chain: {
      rpc:
        changes.rpc ??
        connectRpc({
          urls: [changes.url ?? fixture.anvil.url],
          quorum: 1,
          chainId: (changes.token ?? TOKEN).chainId,
        }),
      codec: { ...multicallCodec, maxItems: changes.maxItems ?? multicallCodec.maxItems },
      token: changes.token ?? TOKEN,
      treasuries,
      treasuryList: fixture.treasuryList,
      deposits: changes.deposits ?? null,
      relayers: changes.relayers ?? fixture.relayers,
      funding: changes.funding ?? null,
      options: {
        ...SETTLEMENT_DEFAULTS,
        owner: randomBytes(8).toString('hex'),
        maxFeeWei: 500n * GWEI,
        startBlock: 0,
        // Every round sends again what is not mined, without waiting for a clock.
        rebroadcastMs: 0,
        bumpAfterMs: 0,
        fundsGraceMs: 0,
        maxMicroPerDay: 10n ** 15n,
        limits: { maxMicroPerPayout: policy.maxMicroPerPayout, maxMicroPerDay: 10n ** 15n, fillTolerancePercent: 2 },
        leaseMs: 0,
        ...changes.options,
      },
    },
    clock: () => fixture.clock.now,
    log: { info: () => undefined, warn: changes.warn ?? (() => undefined), error: changes.error ?? (() => undefined) },
    everyMs: changes.everyMs ?? 50,
    ...fixture.hooks,
    ...changes.hooks,
  })
}

let numbers = 0

export async function queueAll(
  fixture: Pick<Fixture, 'db' | 'treasury'>,
  payouts: Parameters<Fixture['queue']>[0],
): Promise<Queued[]> {
  const queued = payouts.map((payout) => {
    numbers += 1
    return {
      paymentId: payout.paymentId ?? `pay_${numbers.toString().padStart(26, '0')}`,
      recipient: payout.recipient ?? newAddress(),
      micro: payout.micro ?? BigInt(1_000_000 + numbers),
    }
  })
  await insertPayments(fixture.db, queued)
  await fixture.db.transaction(async (tx) => {
    for (const { paymentId, recipient, micro } of queued)
      await queuePayout(tx, {
        paymentId,
        livemode: false,
        chainId: TOKEN.chainId,
        token: TOKEN.address,
        treasury: fixture.treasury.address,
        recipient,
        microUsdc: micro.toString(),
      })
  })
  return queued
}

const QUOTE = { rate: '1', rateSource: 'test', expiresAt: '2100-01-01T00:00:00.000Z' }

/** Payments of which only the payout matters. Each is quoted its amount (micro-USDC; 5,000 unless given). */
export async function insertPayments(
  db: Db,
  queued: readonly { paymentId: string; recipient: Hex; micro?: bigint }[],
): Promise<void> {
  await db.query(
    `insert into payment (id, merchant_id, livemode, amount_text, amount_minor, currency, fallback, checkout_token,
       destination, chain_id, token, quote, created_at, updated_at, expires_at)
     select p.id, 'mer_1', false, '1.00', 100, 'USD', 'none', p.id, p.destination, 31337, $3,
       $4::jsonb || jsonb_build_object('netMicro', p.micro), now(), now(), now()
     from unnest($1::text[], $2::text[], $5::text[]) as p(id, destination, micro) on conflict do nothing`,
    [
      queued.map(({ paymentId }) => paymentId),
      queued.map(({ recipient }) => recipient),
      TOKEN.address,
      QUOTE,
      queued.map(({ micro = 5000n }) => micro.toString()),
    ],
  )
}

/**
 * A transfer of one micro-USDC by the treasury’s own first transaction, which no payout authorized. Returns its hash.
 */
export const stealUsdc = (fixture: Fixture): Promise<Hex> =>
  transferUsdc(fixture, { from: fixture.treasury, to: newAddress(), micro: 1n })

/** A transfer by the wallet’s own first transaction. Returns its hash. */
export async function transferUsdc(
  fixture: Fixture,
  { from, to, micro }: { from: LocalAccount; to: Hex; micro: bigint },
): Promise<Hex> {
  await fixture.chain.setBalance({ address: from.address, value: parseEther('10') })
  const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [to, micro] })
  const raw = await from.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    nonce: 0,
    to: TOKEN.address,
    data,
    gas: 200_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  return fixture.chain.sendRawTransaction({ serializedTransaction: raw })
}

/** The settings of an operator’s command on this fixture. */
export const createSettings = (fixture: Fixture, wrongTokens: Hex[] = []): OperatorConfig => ({
  DATABASE_URL: fixture.databaseUrl,
  POLYGON_RPC_URLS: [new Secret(fixture.anvil.url)],
  FINALITY_QUORUM: 1,
  PINRAIL_MODE: 'test',
  PUBLIC_URL: 'http://127.0.0.1',
  CHAIN_ID: TOKEN.chainId,
  USDC_ADDRESS: TOKEN.address,
  SETTLEMENT_START_BLOCK: 0,
  PAYOUT_MAX_USDC: 1_000_000,
  PAYOUT_MAX_USDC_PER_DAY: 1_000_000_000,
  CONVERSION_TOLERANCE_PERCENT: 2,
  CONVERTER: 'simulator',
  FLOAT_RESERVE_USDC: 1000,
  TREASURIES: [firstTreasury(fixture.treasury)],
  DEPOSIT_WRONG_TOKENS: wrongTokens,
})
