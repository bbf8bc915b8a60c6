import { readdirSync, readFileSync } from 'node:fs'
import { privateKeyToAccount } from 'viem/accounts'
import { DEVELOPMENT_CHAIN_ID } from '../../../scripts/system/anvil.ts'
import { poll } from '../../../scripts/system/waiting.ts'
import { createDb, type Db, type Tx } from '../../../src/db/db.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { Settlement } from '../../../src/domain/settlement/payout.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import { fillSettled } from '../../../test/support/settled.ts'
import { composeEngine } from '../../settlement/compose.ts'
import { newRecipient, onlyTreasury, queueOwed } from '../../settlement/payouts.ts'
import type { Setup } from '../../settlement/setup.ts'
import { addEndpoint, furnishPayments } from './payments.ts'

export type Speed = {
  readonly perSecond: number
  /** For each payout. */
  readonly statements: number
  /** Calls to the node for each payout. */
  readonly calls: number
  /** CPU milliseconds for each payout. */
  readonly cpu: { readonly engine: number; readonly postgres: number; readonly anvil: number }
}

/** Number of recipients that are paid again and again, in runs with known recipients. */
const KNOWN = 500

/** The default of SETTLEMENT_TICK_MS. */
const EVERY_MS = 500

let runs = 0

export type Run = {
  readonly payouts: number
  readonly recipients: 'known' | 'new'
  /** True if payments, ledger, timeline, events, deliveries and outbox are written too, as in the worker. */
  readonly payments: boolean
  /** Payouts that were settled before, whose rows fill the tables. None by default. */
  readonly settled?: number
}

/**
 * Measures from a full queue to the last payout settled: signing, journal, chain and finality, one engine in this
 * process.
 */
export async function measureSpeed(setup: Setup, { payouts, recipients, payments, settled = 0 }: Run): Promise<Speed> {
  runs += 1
  const name = `speed_${runs}`
  await setup.createDatabase(name)
  // Filling takes minutes.
  const db = createDb({ url: setup.databaseUrl(name), livemode: false, statementTimeoutMs: 3_600_000 })
  try {
    const known = Array.from({ length: KNOWN }, newRecipient)
    const queue = async (count: number, prefix: string) => {
      await queueOwed(
        db,
        Array.from({ length: count }, (_owed, index) => ({
          paymentId: `pay_${name}_${prefix}_${index}`,
          recipient: recipients === 'known' ? (known[index % KNOWN] as Hex) : newRecipient(),
          micro: BigInt(1_000_000 + index),
        })),
        { token: setup.token, treasuries: onlyTreasury(setup.treasuryKey) },
      )
      await furnishPayments(db)
    }
    if (settled > 0) await fill(setup, db, settled)
    await addEndpoint(db)
    await queue(KNOWN, 'warm')
    await settleAll(setup, db, { count: KNOWN, payments })
    await queue(payouts, 'paid')
    await db.query('analyze')
    const before = cpuTimes(setup)
    const begun = performance.now()
    const asked = await settleAll(setup, db, { count: payouts, payments })
    const seconds = (performance.now() - begun) / 1000
    const after = cpuTimes(setup)
    const each = (name: keyof Speed['cpu']): number => (after[name] - before[name]) / payouts
    return {
      perSecond: payouts / seconds,
      statements: asked.statements / payouts,
      calls: asked.calls / payouts,
      cpu: { engine: each('engine'), postgres: each('postgres'), anvil: each('anvil') },
    }
  } finally {
    await db.close()
    // Postgres would clean it up during the next run.
    await setup.dropDatabase(name)
  }
}

/**
 * Settles payouts. The chain mines a block a second, final two blocks later; the engine's rounds are as in the worker.
 */
async function settleAll(
  setup: Setup,
  plain: Db,
  { count, payments }: { count: number; payments: boolean },
): Promise<{ statements: number; calls: number }> {
  const { db, statements } = countStatements(plain)
  const { treasuryKey, relayerKeys, rpcUrl } = setup
  const ignore = (): void => undefined
  const error = (fields: object, message: string): void =>
    void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`)
  // Each run has its own journal, and records that the lanes were used before.
  const log = { info: ignore, warn: ignore, error }
  let settled = 0
  const hooks = createSettlementHooks({ publicUrl: 'https://pay.example', now: Date.now })
  const onSettled = async (tx: Tx, settlements: readonly Settlement[]): Promise<void> => {
    if (payments) await hooks.onSettled(tx, settlements)
    settled += settlements.length
  }
  // The journal of this run knows no payouts of an earlier one.
  const options = { startBlock: Number(await setup.chain.getBlockNumber()) }
  const parts = { db, rpcUrls: [rpcUrl], treasuryKey, relayerKeys, log, everyMs: EVERY_MS, options }
  const engine = composeEngine({ ...parts, hooks: { ...(payments ? hooks : {}), onSettled } })
  const stop = new AbortController()
  await setup.chain.setIntervalMining({ interval: 1 })
  const running = engine.run(stop.signal)
  await poll(async () => settled >= count, {
    withinMs: 300_000,
    everyMs: 20,
    what: 'every payout to be settled',
  })
  stop.abort()
  await running
  await setup.chain.setIntervalMining({ interval: 0 })
  const { rows } = await db.query(`select count(*)::int as open from payout where state <> 'settled'`)
  if (rows[0].open !== 0) throw new Error(`${rows[0].open} payouts are not settled`)
  const calls = (await engine.figures.calls()).reduce((sum, each) => sum + each.count, 0)
  return { statements: statements(), calls }
}

/** Adds the rows of earlier payouts, as they are in a database after a night: nothing is left to write. */
export async function fill(setup: Setup, db: Db, count: number): Promise<void> {
  const treasury = privateKeyToAccount(setup.treasuryKey).address.toLowerCase() as Hex
  await fillSettled(db, { count, chainId: DEVELOPMENT_CHAIN_ID, token: setup.token, treasury, withBytes: false })
  await db.query('vacuum analyze')
  await db.query('checkpoint')
}

/** Returns the same database, and the number of its statements. */
function countStatements(db: Db): { db: Db; statements: () => number } {
  let count = 0
  const query: Db['query'] = (text, values) => {
    count += 1
    return db.query(text, values)
  }
  const transaction: Db['transaction'] = (work) => {
    // Begin and commit.
    count += 2
    return db.transaction((tx) =>
      work({
        ...tx,
        query(text, values) {
          count += 1
          return tx.query(text, values)
        },
      }),
    )
  }
  return { db: { ...db, query, transaction }, statements: () => count }
}

/** CPU milliseconds that each part has used so far. */
function cpuTimes(setup: Setup): Record<keyof Speed['cpu'], number> {
  const { user, system } = process.cpuUsage()
  return {
    engine: (user + system) / 1000,
    postgres: measureFamily(setup.pids.postgres),
    anvil: measureFamily(setup.pids.anvil),
  }
}

/**
 * Returns the CPU of a process with its living and its ended children, from Linux' /proc: clock ticks are a hundredth
 * of a second.
 */
function measureFamily(pid: number): number {
  let ticks = 0
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = readStat(entry)
    if (fields === null || (entry !== String(pid) && fields[1] !== String(pid))) continue
    ticks += Number(fields[11]) + Number(fields[12])
    if (entry === String(pid)) ticks += Number(fields[13]) + Number(fields[14])
  }
  return ticks * 10
}

/** Returns the fields of /proc/<pid>/stat after the name: state, parent, …; null if the process has ended. */
function readStat(pid: string): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}
