import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { privateKeyToAccount } from 'viem/accounts'
import { anvilSpec } from '../../scripts/system/anvil.ts'
import {
  connectDevelopmentChain,
  DEVELOPMENT_MINTER_KEY,
  DEVELOPMENT_USDC,
  type DevelopmentChain,
  mintUsdc,
  prepareDevelopmentChain,
  usdcAdminAbi,
} from '../../src/sandbox/chain.ts'
import {
  applyConverterEntry,
  type ConverterEntry,
  converterEntrySchema,
  emptyConverterState,
  type PreparedDelivery,
} from '../../src/sandbox/converter/state.ts'
import { createUsdcSource } from '../../src/sandbox/converter/usdc-source.ts'
import { createTreasuryTopUp, type UsdcSource } from '../../src/sandbox/treasury-top-up.ts'
import { listen } from '../partners/sandbox-server.ts'

describe('The source of USDC', () => {
  const TREASURY = '0x00000000000000000000000000000000000000aa'
  const ADDRESSES = { usdc: DEVELOPMENT_USDC, treasury: TREASURY } as const
  const FAUCET_KEY = `0x${'fa'.repeat(32)}` as const
  const DEADLINE_MS = 30_000

  let folder: string
  let anvil: ChildProcess
  let chain: DevelopmentChain
  let rpcUrl: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'usdc-source-'))
    const probe = createServer()
    const url = new URL(await listen(probe))
    await new Promise((resolve) => probe.close(resolve))
    rpcUrl = url.origin
    const files = { stateFile: join(folder, 'anvil.json'), logFile: join(folder, 'anvil.log') }
    const spec = anvilSpec({ ...files, port: Number(url.port) })
    // The test mines the blocks.
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
  const newSource = (url = rpcUrl) =>
    createUsdcSource({ rpcUrl: url, ...ADDRESSES, by: 'mint', privateKey: DEVELOPMENT_MINTER_KEY })

  test('a delivery arrives once, however often it is sent', async () => {
    const source = newSource()
    const before = await balance()
    const delivery = await source.prepare('1234567')
    expect(await source.look(delivery)).toBe('waiting')
    await source.send(delivery)
    await source.send(delivery)
    expect(await source.look(delivery)).toBe('waiting')
    await chain.mine({ blocks: 1 })
    expect(await source.look(delivery)).toBe('mined')
    await source.send(delivery)
    await chain.mine({ blocks: 3 })
    expect(await source.look(delivery)).toBe('final')
    expect((await balance()) - before).toBe(1_234_567n)
  })

  test('a chain that lost the block accepts the same bytes again', async () => {
    const source = newSource()
    const before = await balance()
    const delivery = await source.prepare('50')
    const snapshot = await chain.snapshot()
    await source.send(delivery)
    await chain.mine({ blocks: 1 })
    expect(await source.look(delivery)).toBe('mined')
    await chain.revert({ id: snapshot })
    expect(await source.look(delivery)).toBe('waiting')
    await source.send(delivery)
    await chain.mine({ blocks: 3 })
    expect(await source.look(delivery)).toBe('final')
    expect((await balance()) - before).toBe(50n)
  })

  test('a delivery whose nonce was used can never be mined', async () => {
    const source = newSource()
    const [delivery, other] = [await source.prepare('1'), await source.prepare('2')]
    await source.send(other)
    await chain.mine({ blocks: 1 })
    expect(await source.look(delivery)).toBe('superseded')
  })

  test('a faucet transfers the USDC that it has, and signs nothing that it cannot pay', async () => {
    const faucet = createUsdcSource({ rpcUrl, ...ADDRESSES, by: 'transfer', privateKey: FAUCET_KEY })
    const { address } = privateKeyToAccount(FAUCET_KEY)
    await chain.setBalance({ address, value: 10n ** 18n })
    await expect(faucet.prepare('70')).rejects.toThrow(
      `The faucet ${address} must have 0.000070 USDC of the test network, and has 0.000000. Send it more.`,
    )
    await mintUsdc(chain, { to: address, micro: 100n })
    const before = await balance()
    const delivery = await faucet.prepare('70')
    await faucet.send(delivery)
    await chain.mine({ blocks: 4 })
    expect(await faucet.look(delivery)).toBe('final')
    expect((await balance()) - before).toBe(70n)
    await expect(faucet.prepare('70')).rejects.toThrow('and has 0.000030. Send it more.')
  })

  test('a faucet on Polygon’s main network signs nothing', async () => {
    const polygon = createServer((request, response) => {
      const answer = async (): Promise<void> => {
        const { id, method } = JSON.parse(await text(request)) as { id: number; method: string }
        const results: Record<string, string> = { eth_chainId: '0x89', eth_getTransactionCount: '0x0' }
        const result = results[method] ?? `0x${'f'.repeat(64)}`
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      }
      answer().catch(() => response.destroy())
    })
    const url = await listen(polygon)
    const faucet = createUsdcSource({ rpcUrl: url, ...ADDRESSES, by: 'transfer', privateKey: FAUCET_KEY })
    await expect(faucet.prepare('1')).rejects.toThrow('must be on a test network, not on Polygon')
    polygon.closeAllConnections()
    polygon.close()
  })

  test('a chain that does not return the receipt is an error, never "superseded"', async () => {
    const source = newSource()
    const delivery = await source.prepare('3')
    await source.send(delivery)
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
    await expect(newSource(await listen(half)).look(delivery)).rejects.toThrow('HTTP request failed')
    half.closeAllConnections()
    half.close()
  })
})

describe('the top-up of the treasury', () => {
  /** A chain that accepts each nonce once, and can fail at a chosen step of the next call. */
  class Chain {
    mined = new Map<number, string>()
    pool = new Map<number, string>()
    isFinal = true
    failAt: 'before send' | 'after send' | 'look' | null = null

    mine(): void {
      for (const [nonce, raw] of this.pool) {
        if (!this.mined.has(nonce)) {
          this.mined.set(nonce, raw)
        }
      }
      this.pool.clear()
    }

    get minted(): bigint {
      return [...this.mined.values()].reduce((sum, raw) => sum + BigInt(raw.split(':')[1] ?? '0'), 0n)
    }

    /** Restores the chain as it was this number of transactions ago. */
    forget(transactions: number): void {
      for (const nonce of [...this.mined.keys()].slice(-transactions)) this.mined.delete(nonce)
    }

    /** Uses a nonce as another transaction from the source's account does. */
    takeNonce(): void {
      this.mined.set(this.mined.size, 'other:0')
    }

    source(): UsdcSource {
      const fails = (step: Chain['failAt']): void => {
        if (this.failAt !== step) return
        this.failAt = null
        throw new Error(`the chain did not answer: ${step}`)
      }
      const toHash = (raw: string): string => `hash of ${raw}`
      return {
        prepare: async (microUsdc) => {
          const nonce = this.mined.size
          const raw = `${nonce}:${microUsdc}`
          return { raw, hash: toHash(raw), nonce }
        },
        send: async (delivery: PreparedDelivery) => {
          fails('before send')
          if (!this.mined.has(delivery.nonce)) this.pool.set(delivery.nonce, delivery.raw)
          fails('after send')
        },
        look: async (delivery) => {
          fails('look')
          if (this.mined.get(delivery.nonce) === delivery.raw) return this.isFinal ? 'final' : 'mined'
          return this.mined.has(delivery.nonce) ? 'superseded' : 'waiting'
        },
      }
    }
  }

  let chain: Chain
  let written: string[]
  beforeEach(() => {
    chain = new Chain()
    written = []
  })

  /** A process: its whole state comes from its files. */
  function start() {
    const state = emptyConverterState()
    for (const line of written) applyConverterEntry(state, converterEntrySchema.parse(JSON.parse(line)))
    const append = async (...entries: ConverterEntry[]): Promise<void> => {
      for (const entry of entries) {
        applyConverterEntry(state, entry)
        written.push(JSON.stringify(entry))
      }
    }
    const log = pino({ level: 'silent' })
    const topUp = createTreasuryTopUp({ state, append, source: chain.source(), clock: () => 1000, log })
    return {
      topUp,
      buy: (key: string, boughtMicroUsdc: string, filledAt = 0) =>
        append({
          kind: 'conversion',
          conversion: { id: key, key, minor: '1', currency: 'EUR', rate: '1', boughtMicroUsdc, filledAt },
        }),
    }
  }

  test('several conversions are delivered in one transaction', async () => {
    const { topUp, buy } = start()
    await buy('a', '100')
    await buy('b', '23')
    await buy('not filled yet', '1000', 2000)
    await topUp.tick()
    chain.mine()
    await topUp.tick()
    expect([chain.minted, chain.mined.size, topUp.outstanding()]).toEqual([123n, 1, '1000'])
    await topUp.tick()
    expect(chain.pool.size).toBe(0)
  })

  test.each(['before send', 'after send', 'look'] as const)('a crash %s delivers exactly once', async (failAt) => {
    const first = start()
    await first.buy('a', '100')
    if (failAt === 'look') await first.topUp.tick()
    chain.failAt = failAt
    await expect(first.topUp.tick()).rejects.toThrow('did not answer')
    if (failAt === 'after send') chain.mine()

    const second = start()
    await second.buy('b', '11')
    for (let round = 0; round < 6; round += 1) {
      await second.topUp.tick()
      chain.mine()
    }
    expect([chain.minted, second.topUp.outstanding()]).toEqual([111n, '0'])
  })

  test('a transaction that is sent in every round is mined once', async () => {
    const { topUp, buy } = start()
    await buy('a', '100')
    for (let round = 0; round < 5; round += 1) await topUp.tick()
    chain.mine()
    await topUp.tick()
    expect(chain.minted).toBe(100n)
  })

  test('a delivery is signed again, once, if another transaction used its nonce', async () => {
    const { topUp, buy } = start()
    await buy('a', '100')
    chain.failAt = 'before send'
    await expect(topUp.tick()).rejects.toThrow('the chain did not answer: before send')
    chain.takeNonce()
    await topUp.tick()
    chain.mine()
    await topUp.tick()
    expect([chain.minted, topUp.outstanding()]).toEqual([100n, '0'])
  })

  test('a chain that lost its last blocks gets the same transactions again', async () => {
    const { topUp, buy } = start()
    chain.isFinal = false
    for (const key of ['a', 'b', 'c']) {
      await buy(key, '100')
      await topUp.tick()
      chain.mine()
    }
    expect(chain.minted).toBe(300n)
    chain.forget(2)
    await buy('d', '7')
    for (let round = 0; round < 8; round += 1) {
      await topUp.tick()
      chain.mine()
    }
    chain.isFinal = true
    await topUp.tick()
    expect([chain.minted, topUp.outstanding()]).toEqual([307n, '0'])
  })

  test('two concurrent ticks run as one', async () => {
    const { topUp, buy } = start()
    await buy('a', '100')
    await Promise.all([topUp.tick(), topUp.tick()])
    expect(chain.pool.size).toBe(1)
  })
})
