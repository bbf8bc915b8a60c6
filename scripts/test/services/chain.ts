import { gunzipSync, gzipSync } from 'node:zlib'
import { connectDevelopmentChain, prepareDevelopmentChain } from '../../../src/sandbox/chain.ts'
import { anvilBinary, blockNumber } from '../../system/anvil.ts'
import type { ProcessSpec } from '../../system/supervisor.ts'

/**
 * Returns the arguments of a test's chain, which has Polygon's gas limits. The finalized block is two below the newest
 * one, unless `more` says otherwise.
 */
export function testChainArguments(options: { port: number; states: string; more: readonly string[] }): string[] {
  return [
    ['--host', '127.0.0.1', '--port', String(options.port), '--chain-id', '31337', '--quiet'],
    options.more.includes('--slots-in-an-epoch') ? [] : ['--slots-in-an-epoch', '1'],
    ['--enable-tx-gas-limit', '--gas-limit', '140000000', '--cache-path', options.states],
    // Otherwise anvil writes the states of more than 500 blocks to disk, which takes ten times as long as to mine them.
    ['--prune-history', '5000'],
    options.more,
  ].flat()
}

/**
 * How to run the chain that the test files of a Jest worker share, one after the other. Its blocks are mined by the
 * tests.
 */
export function sharedChainSpec(options: { name: string; port: number; states: string; logFile: string }): ProcessSpec {
  return {
    name: options.name,
    command: anvilBinary(),
    args: testChainArguments({ ...options, more: ['--no-mining'] }),
    env: { PATH: process.env['PATH'] },
    cwd: '/',
    stopSignal: 'SIGTERM',
    logFile: options.logFile,
    ready: async () => (await blockNumber(`http://127.0.0.1:${options.port}`).catch(() => null)) !== null,
  }
}

export type ResettableChain = { readonly url: string; reset(): Promise<void> }

/**
 * Places USDC on the chain. `reset` starts the chain over, with USDC and as many blocks as now, at the present time. A
 * snapshot would not do: its blocks get older, and anvil keeps the states of the blocks after it, and with too many of
 * them forgets those of the first blocks.
 */
export async function makeResettable(url: string): Promise<ResettableChain> {
  await prepareDevelopmentChain(url, { treasury: NOBODY, relayers: [], mintMicroUsdc: 0n })
  const chain = connectDevelopmentChain(url)
  const request = (method: string, ...params: unknown[]): Promise<unknown> => chain.request({ method, params } as never)
  const blocks = Number(await chain.getBlockNumber())
  const accounts = withoutBlocks((await request('anvil_dumpState')) as string)
  return {
    url,
    async reset() {
      // Also ends the mining of each transaction at once.
      await chain.setIntervalMining({ interval: 0 })
      await request('anvil_dropAllTransactions')
      await request('anvil_reset')
      await request('anvil_loadState', accounts)
      await request('evm_setTime', Math.floor(Date.now() / 1000))
      await chain.setNextBlockBaseFeePerGas({ baseFeePerGas: FIRST_BASE_FEE })
      await chain.mine({ blocks })
    },
  }
}

/** A dump of anvil, which is zipped JSON in hexadecimal, with its accounts alone. */
function withoutBlocks(dump: string): string {
  const state = JSON.parse(gunzipSync(Buffer.from(dump.slice(2), 'hex')).toString()) as object
  const without = { ...state, block: null, best_block_number: null, blocks: [], transactions: [] }
  return `0x${gzipSync(JSON.stringify(without)).toString('hex')}`
}

const NOBODY = `0x${'0'.repeat(39)}1`

/** In wei: that of a new chain. */
const FIRST_BASE_FEE = 10n ** 9n
