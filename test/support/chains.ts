import { randomUUID } from 'node:crypto'
import { afterAll } from '@jest/globals'
import { ask } from '../../scripts/test/services/ask.ts'
import { makeResettable, type ResettableChain } from '../../scripts/test/services/chain.ts'
import type { ChainService } from '../../scripts/test/services/services.ts'
import { type Anvil, startAnvil } from './anvil.ts'

/** A chain with USDC, and with nothing else on it, until the test gives it back. */
export type TestChain = { readonly url: string; giveBack(): void }

type OwnChain = { readonly args: string; readonly anvil: Anvil; readonly chain: ResettableChain }

/** The chains that this test file has started. */
const started: OwnChain[] = []
const free: OwnChain[] = []
/** One test at a time has the chain that all files of a Jest worker share. */
let isSharedTaken = false

/** Takes a chain: the shared one if no test has it and `args` are missing, otherwise one of this file. */
export async function takeChain(args?: readonly string[]): Promise<TestChain> {
  if (args !== undefined || isSharedTaken) return takeOwnChain(args ?? ['--no-mining'])
  isSharedTaken = true
  const worker = process.env['JEST_WORKER_ID'] ?? '1'
  const { url } = await ask<ChainService>(`/chain/${worker}/${randomUUID()}`)
  return { url, giveBack: () => void (isSharedTaken = false) }
}

async function takeOwnChain(args: readonly string[]): Promise<TestChain> {
  const key = args.join(' ')
  const known = free.find((one) => one.args === key)
  if (known !== undefined) free.splice(free.indexOf(known), 1)
  const own = known ?? (await startOwnChain(args))
  if (known !== undefined) await known.chain.reset()
  return { url: own.chain.url, giveBack: () => void free.push(own) }
}

async function startOwnChain(args: readonly string[]): Promise<OwnChain> {
  const anvil = await startAnvil(args)
  const own = { args: args.join(' '), anvil, chain: await makeResettable(anvil.url) }
  started.push(own)
  return own
}

afterAll(async () => void (await Promise.all(started.map(({ anvil }) => anvil.stop()))))
