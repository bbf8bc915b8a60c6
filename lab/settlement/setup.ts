import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { openFolderFor, removeOpenFolder } from '../../scripts/system/data-folder.ts'
import { onFreePort } from '../../scripts/system/ports.ts'
import { postgresSpec, postgresUrl } from '../../scripts/system/postgres/server.ts'
import { supervise } from '../../scripts/system/supervisor.ts'
import { migrate } from '../../src/db/migrate.ts'
import type { Hex } from '../../src/domain/hex.ts'
import {
  connectDevelopmentChain,
  DEVELOPMENT_USDC,
  type DevelopmentChain,
  prepareDevelopmentChain,
} from '../../src/sandbox/chain.ts'
import { startAnvil } from '../../test/support/anvil.ts'

export type SetupOptions = {
  readonly relayers: number
  /** Arguments of anvil, in addition to chain id and gas limits. */
  readonly anvil: readonly string[]
  /** Postgres writes to disk as in production; without it, a crash of the machine loses everything. */
  readonly durable: boolean
  /** More settings of Postgres, as `name=value`. */
  readonly settings?: readonly string[]
}

/** A chain with Circle's USDC and a Postgres, for settlement alone: the benchmark and the chaos run use it. */
export type Setup = {
  readonly rpcUrl: string
  readonly chain: DevelopmentChain
  readonly token: Hex
  readonly treasuryKey: Hex
  readonly relayerKeys: readonly Hex[]
  /** The key of a wallet that may supply the relayers with gas money. */
  readonly fundingKey: Hex
  readonly pids: { readonly anvil: number; readonly postgres: number }
  databaseUrl(name: string): string
  /** Creates a database with the newest schema and one merchant in it. */
  createDatabase(name: string): Promise<void>
  /** Copies a database, ending all connections to it: a dump, or its restoration. */
  copyDatabase(from: string, to: string): Promise<void>
  dropDatabase(name: string): Promise<void>
  /** Sends SIGKILL to Postgres; resolves when it answers again. */
  killPostgres(): Promise<void>
  stop(): Promise<void>
}

/** More micro-USDC than any run pays. */
const TREASURY_MICRO = 10n ** 15n

export async function startSetup(options: SetupOptions): Promise<Setup> {
  const folder = mkdtempSync(join(tmpdir(), 'pinrail-settlement-'))
  await chmod(folder, 0o755)
  const password = generatePrivateKey().slice(2)
  const files = { folder: await openFolderFor(folder, 'pg'), logFile: join(folder, 'postgres.log') }
  const { postgres, address } = await onFreePort(async (port) => {
    const spec = await postgresSpec({
      port,
      password,
      ...files,
      forgetful: !options.durable,
      settings: options.settings ?? [],
    })
    const child = supervise(spec, { log: () => undefined, onPid: () => undefined })
    await child.start()
    return { postgres: child, address: { port, password } }
  })
  const anvil = await startAnvil(options.anvil)
  const pids = { anvil: anvil.pid, postgres: postgres.pid() ?? 0 }
  const forget = endWithThisProcess(() => [anvil.pid, postgres.pid()])
  const treasuryKey = generatePrivateKey()
  const relayerKeys = Array.from({ length: options.relayers }, () => generatePrivateKey())
  await prepareDevelopmentChain(anvil.url, {
    treasury: privateKeyToAccount(treasuryKey).address,
    relayers: relayerKeys.map((key) => privateKeyToAccount(key).address),
    mintMicroUsdc: TREASURY_MICRO,
  })
  const databaseUrl = (name: string): string => postgresUrl(address, name)
  const asAdmin = (...statements: string[]) => runStatements(databaseUrl('postgres'), statements)
  const disconnect = (name: string): string =>
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`
  return {
    rpcUrl: anvil.url,
    chain: connectDevelopmentChain(anvil.url),
    token: DEVELOPMENT_USDC,
    treasuryKey,
    relayerKeys,
    fundingKey: generatePrivateKey(),
    pids,
    databaseUrl,
    async createDatabase(name) {
      await asAdmin(`create database ${name}`)
      await migrate(databaseUrl(name))
      await runStatements(databaseUrl(name), [`insert into merchant (id, name) values ('mer_1', 'shop')`])
    },
    copyDatabase: (from, to) => asAdmin(disconnect(from), `create database ${to} template ${from}`),
    dropDatabase: (name) => asAdmin(`drop database ${name} with (force)`),
    async killPostgres() {
      await postgres.kill9()
      await postgres.untilReady()
    },
    async stop() {
      forget()
      await anvil.stop()
      await postgres.stop(5000)
      rmSync(folder, { recursive: true, force: true })
      removeOpenFolder(files.folder)
    },
  }
}

/** Ends the servers on Ctrl-C and SIGTERM too. Returns a function that forgets about them. */
function endWithThisProcess(pids: () => readonly (number | null)[]): () => void {
  const kill = (): void => {
    for (const pid of pids()) if (pid !== null) process.kill(pid, 'SIGKILL')
  }
  const end = (): never => process.exit(130)
  process.once('exit', kill)
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
  return () => {
    process.off('exit', kill)
    process.off('SIGINT', end)
    process.off('SIGTERM', end)
  }
}

async function runStatements(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
