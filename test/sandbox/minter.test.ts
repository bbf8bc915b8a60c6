import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { anvilSpec } from '../../scripts/system/anvil.ts'
import {
  connectDevelopmentChain,
  DEVELOPMENT_MINTER_KEY,
  DEVELOPMENT_USDC,
  type DevelopmentChain,
  prepareDevelopmentChain,
  usdcAdminAbi,
} from '../../src/sandbox/chain.ts'
import { createMinter } from '../../src/sandbox/converter/minter.ts'
import { listen } from '../providers/sandbox-server.ts'

const TREASURY = '0x00000000000000000000000000000000000000aa'
const DEADLINE_MS = 30_000

let folder: string
let anvil: ChildProcess
let chain: DevelopmentChain
let rpcUrl: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'minter-'))
  const probe = createServer()
  const url = new URL(await listen(probe))
  await new Promise((resolve) => probe.close(resolve))
  rpcUrl = url.origin
  const files = { stateFile: join(folder, 'anvil.json'), logFile: join(folder, 'anvil.log') }
  const spec = anvilSpec({ ...files, port: Number(url.port) })
  // Blocks are mined by the test.
  const args = spec.args.filter((arg, index, all) => arg !== '--block-time' && all[index - 1] !== '--block-time')
  anvil = spawn(spec.command, [...args, '--no-mining'], { stdio: 'ignore' })
  chain = connectDevelopmentChain(rpcUrl)
  const deadline = Date.now() + DEADLINE_MS
  while ((await chain.getBlockNumber().catch(() => null)) === null) {
    if (Date.now() > deadline) throw new Error('anvil did not start')
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  await prepareDevelopmentChain(rpcUrl, { treasury: TREASURY, relayers: [], mintMicroUsdc: 0n })
})
afterAll(async () => {
  anvil.kill('SIGKILL')
  await once(anvil, 'exit')
  rmSync(folder, { recursive: true })
})

const balance = () =>
  chain.readContract({ address: DEVELOPMENT_USDC, abi: usdcAdminAbi, functionName: 'balanceOf', args: [TREASURY] })
const newMinter = (url = rpcUrl) =>
  createMinter({ rpcUrl: url, usdc: DEVELOPMENT_USDC, treasury: TREASURY, privateKey: DEVELOPMENT_MINTER_KEY })

test('a mint is sent as often as one likes, and arrives once', async () => {
  const minter = newMinter()
  const before = await balance()
  const mint = await minter.prepare('1234567')
  expect(await minter.look(mint)).toBe('waiting')
  await minter.send(mint)
  await minter.send(mint)
  expect(await minter.look(mint)).toBe('waiting')
  await chain.mine({ blocks: 1 })
  expect(await minter.look(mint)).toBe('mined')
  await minter.send(mint)
  await chain.mine({ blocks: 3 })
  expect(await minter.look(mint)).toBe('final')
  expect((await balance()) - before).toBe(1_234_567n)
})

test('a chain that forgot the block takes the same bytes again', async () => {
  const minter = newMinter()
  const before = await balance()
  const mint = await minter.prepare('50')
  const snapshot = await chain.snapshot()
  await minter.send(mint)
  await chain.mine({ blocks: 1 })
  expect(await minter.look(mint)).toBe('mined')
  await chain.revert({ id: snapshot })
  expect(await minter.look(mint)).toBe('waiting')
  await minter.send(mint)
  await chain.mine({ blocks: 3 })
  expect(await minter.look(mint)).toBe('final')
  expect((await balance()) - before).toBe(50n)
})

test('a mint whose nonce was taken can never be mined', async () => {
  const minter = newMinter()
  const [mint, other] = [await minter.prepare('1'), await minter.prepare('2')]
  await minter.send(other)
  await chain.mine({ blocks: 1 })
  expect(await minter.look(mint)).toBe('superseded')
})

test('a chain that does not answer for the receipt is trouble, never "superseded"', async () => {
  const minter = newMinter()
  const mint = await minter.prepare('3')
  await minter.send(mint)
  await chain.mine({ blocks: 1 })
  const half = createServer((request, response) => {
    const forward = async (): Promise<void> => {
      const body = await text(request)
      if (body.includes('eth_getTransactionReceipt')) return void response.writeHead(503).end()
      const headers = { 'content-type': 'application/json' }
      response.end(await (await fetch(rpcUrl, { method: 'POST', headers, body })).text())
    }
    forward().catch(() => response.destroy())
  })
  await expect(newMinter(await listen(half)).look(mint)).rejects.toThrow('HTTP request failed')
  half.closeAllConnections()
  half.close()
})
