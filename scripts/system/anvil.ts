import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { copyFile, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { ProcessSpec } from './supervisor.ts'

export type AnvilOptions = { stateFile: string; port: number; logFile: string }

export const DEVELOPMENT_CHAIN_ID = 31_337

/** The end of a complete dump of anvil. */
const DUMP_END = '"historical_states":null}'

/** A local chain: a block a second, final after two, with Polygon's gas limits, saved to disk every second. */
export function anvilSpec(options: AnvilOptions): ProcessSpec {
  return {
    name: 'anvil',
    command: anvilBinary(),
    args: [
      ['--host', '127.0.0.1', '--port', String(options.port), '--chain-id', String(DEVELOPMENT_CHAIN_ID)],
      ['--block-time', '1', '--slots-in-an-epoch', '1'],
      ['--state', options.stateFile, '--state-interval', '1', '--cache-path', oldStates(options.stateFile)],
      ['--enable-tx-gas-limit', '--gas-limit', '140000000', '--quiet'],
    ].flat(),
    env: process.env,
    cwd: '/',
    // On SIGTERM anvil saves its state.
    stopSignal: 'SIGTERM',
    logFile: options.logFile,
    async prepare() {
      // The files of a chain that was killed are of no use to the next one, and may be gigabytes.
      await rm(oldStates(options.stateFile), { recursive: true, force: true })
      await repairState(options.stateFile)
    },
    ready: async () => (await blockNumber(`http://127.0.0.1:${options.port}`).catch(() => null)) !== null,
  }
}

export async function blockNumber(rpcUrl: string): Promise<number> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
    signal: AbortSignal.timeout(2000),
  })
  const { result } = (await response.json()) as { result: string }
  return Number(BigInt(result))
}

/**
 * Copies the newest complete dump to another name, because a kill while anvil overwrites its file would leave half a
 * chain. Called every few seconds while anvil runs.
 */
export async function keepWholeState(stateFile: string): Promise<void> {
  if (!isWhole(stateFile)) return
  const copy = previousState(stateFile)
  await copyFile(stateFile, `${copy}.draft`)
  // Anvil may have begun to overwrite the dump while it was copied.
  if (isWhole(`${copy}.draft`)) await rename(`${copy}.draft`, copy)
}

async function repairState(stateFile: string): Promise<void> {
  if (!existsSync(stateFile) || isWhole(stateFile)) return
  if (existsSync(previousState(stateFile))) await copyFile(previousState(stateFile), stateFile)
  else await rename(stateFile, `${stateFile}.broken`)
}

/**
 * Returns the folder in which anvil stores what it does not hold in memory: next to its dump, and not in the user's
 * home.
 */
const oldStates = (stateFile: string): string => `${stateFile}.states`

const previousState = (stateFile: string): string => `${stateFile}.previous`

function isWhole(path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size < DUMP_END.length) return false
  const file = openSync(path, 'r')
  try {
    const end = Buffer.alloc(DUMP_END.length)
    readSync(file, end, 0, end.length, size - end.length)
    return end.toString() === DUMP_END
  } finally {
    closeSync(file)
  }
}

/** Returns the path of anvil itself, because signals go to the npm package's launcher otherwise. */
export function anvilBinary(): string {
  const platform = process.platform === 'win32' ? 'win32' : process.platform
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const name = `@foundry-rs/anvil-${platform}-${arch}/package.json`
  try {
    const folder = join(createRequire(import.meta.url).resolve(name), '..')
    return join(folder, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil')
  } catch (error) {
    throw new Error(`no anvil for ${platform}-${arch}; set POLYGON_RPC_URLS instead`, { cause: error })
  }
}
