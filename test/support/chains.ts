import { randomUUID } from 'node:crypto'
import { afterAll } from '@jest/globals'
import { ask } from '../../scripts/test/services/ask.ts'
import { makeResettable, type ResettableChain } from '../../scripts/test/services/chain.ts'
import type { ChainService } from '../../scripts/test/services/services.ts'
import { type Anvil, startAnvil } from './anvil.ts'

/** A chain with USDC, and with nothing else on it, until the test returns it. `reset` restores that state. */
export type TestChain = { readonly url: string; reset(): Promise<void>; giveBack(): void }

type OwnChain = { readonly args: string; readonly anvil: Anvil; readonly chain: ResettableChain }

/** The chains that this test file has started. */
const started: OwnChain[] = []
const free: OwnChain[] = []
/** One test at a time uses the chain that all files of a Jest worker share. */
let isSharedTaken = false

/** Borrows a chain: the shared one if no test uses it and `args` are missing, otherwise one of this file. */
export async function takeChain(args?: readonly string[]): Promise<TestChain> {
  if (args !== undefined || isSharedTaken) return takeOwnChain(args ?? ['--no-mining'])
  isSharedTaken = true
  const { url } = await resetSharedChain()
  return { url, reset: async () => void (await resetSharedChain()), giveBack: () => void (isSharedTaken = false) }
}

const resetSharedChain = (): Promise<ChainService> =>
  ask<ChainService>(`/chain/${process.env['JEST_WORKER_ID'] ?? '1'}/${randomUUID()}`)

async function takeOwnChain(args: readonly string[]): Promise<TestChain> {
  const key = args.join(' ')
  const known = free.find((one) => one.args === key)
  if (known !== undefined) free.splice(free.indexOf(known), 1)
  const own = known ?? (await startOwnChain(args))
  if (known !== undefined) await known.chain.reset()
  return { ...own.chain, giveBack: () => void free.push(own) }
}

async function startOwnChain(args: readonly string[]): Promise<OwnChain> {
  const anvil = await startAnvil(args)
  const own = { args: args.join(' '), anvil, chain: await makeResettable(anvil.url) }
  started.push(own)
  return own
}

afterAll(async () => void (await Promise.all(started.map(({ anvil }) => anvil.stop()))))
