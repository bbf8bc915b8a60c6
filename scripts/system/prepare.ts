import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { blockNumber } from './anvil.ts'
import { machinesVariables } from './apps.ts'
import { lastLines } from './waiting.ts'

export type PrepareInput = {
  databaseUrl: string
  demo: {
    apiKeyPepper: string
    webhookEncryptionKey: string
    webhookSecret: string
    webhookUrl: string
    wallet: string
    /** The inbox that replaces mail and chat; absent: the demo merchant gets no channels. */
    channelsAt?: string
    chainId: number
    /** The demo merchant's API key if an earlier start created it. */
    secretKey: string | null
  }
  /** Null if the chain runs elsewhere. */
  chain: { rpcUrl: string; treasury: string; relayers: string[]; mintMicroUsdc: string } | null
}

/** The standard output of scripts/prepare.ts. */
export type PrepareResult = { secretKey: string }

/** Its exit code if the database is of another version: then its standard error is the message alone. */
export const REFUSED = 2

/**
 * Micro-USDC of the treasury at the start: a million dollars of play money, in addition to what the converter delivers.
 */
export const TREASURY_START = '1000000000000'

const MIGRATIONS = fileURLToPath(new URL('../../src/db/migrations', import.meta.url))
const SCRIPT = fileURLToPath(new URL('../prepare.ts', import.meta.url))

/** Prepares schema, chain and demo merchant, in a separate process. Idempotent. */
export async function prepare(input: PrepareInput): Promise<PrepareResult> {
  const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT], {
    env: machinesVariables(),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.end(JSON.stringify(input))
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve))
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exit])
  if (code === REFUSED) throw new Error(errors)
  if (code !== 0) throw new Error(`preparing database and chain failed:\n${lastLines(errors, 15)}`)
  return JSON.parse(output) as PrepareResult
}

/** Returns a fingerprint that changes if a migration is added or edited. */
export async function schemaFingerprint(): Promise<string> {
  const hash = createHash('sha256')
  for (const name of (await readdir(MIGRATIONS)).sort())
    hash.update(name).update(await readFile(join(MIGRATIONS, name)))
  return hash.digest('hex')
}

/**
 * Throws for a chain that is older than the database. With a lost or old state file the same money would be paid out
 * again, or settled payments would have no transfer.
 */
export async function requireChainNotBehind(databaseUrl: string, rpcUrl: string, chainId: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const table = await client.query(`select to_regclass('payment') as name`)
    if (table.rows[0].name === null) return
    const last = await client.query('select max(block_number) as block from payment where chain_id = $1', [chainId])
    const settled = Number(last.rows[0].block ?? 0)
    const newest = await blockNumber(rpcUrl)
    if (newest < settled)
      throw new Error(
        `the chain is at block ${newest}, but a payment was settled in block ${settled}: its state is lost or old. ` +
          'Put anvil.json back, or start again with `npm run reset`',
      )
  } finally {
    await client.end()
  }
}
