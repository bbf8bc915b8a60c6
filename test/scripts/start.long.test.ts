import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { processStartedAt } from '../../scripts/setup/lock.mjs'
import { run } from '../../scripts/setup/run.ts'
import { curlLine } from '../../scripts/start/banner.ts'
import { anvilSpec } from '../../scripts/system/anvil.ts'
import { freePort } from '../../scripts/system/ports.ts'
import { requireChainNotBehind } from '../../scripts/system/prepare.ts'
import { supervise } from '../../scripts/system/supervisor.ts'
import { answersOk, poll } from '../../scripts/system/waiting.ts'
import type { SystemInfo } from '../../scripts/system.ts'

// The test starts the whole system several times.
jest.setTimeout(300_000)

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'pinrail-start-'))
const data = join(folder, 'data')
const started: ChildProcess[] = []

afterAll(async () => {
  for (const child of started.filter((one) => one.exitCode === null && one.signalCode === null)) {
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('exit', resolve))
  }
  rmSync(folder, { recursive: true, force: true })
})

type Started = { child: ChildProcess; output: () => string; errors: () => string; info: SystemInfo }

/** Runs `npm start -- --json` until it has printed its line. */
async function start(): Promise<Started> {
  const child = spawn(process.execPath, ['scripts/start.mjs', '--json', '--free-ports', '--data', data], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const ready = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`npm start ended:\n${errors}`)
    return output.endsWith('\n')
  }
  await poll(ready, { withinMs: 200_000, everyMs: 100, what: 'the line of JSON' })
  return { child, output: () => output, errors: () => errors, info: JSON.parse(output) as SystemInfo }
}

type Recorded = { name: string; pid: number; startedAt: string }
const recorded = (): Recorded[] => JSON.parse(readFileSync(join(data, 'children.json'), 'utf8')) as Recorded[]
const isAlive = ({ pid, startedAt }: Recorded): boolean => processStartedAt(pid) === startedAt

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number> {
  const begun = Date.now()
  child.kill(signal)
  await new Promise((resolve) => child.once('exit', resolve))
  return Date.now() - begun
}

async function createByCurl(info: SystemInfo): Promise<{ id: string; checkout_url: string }> {
  return JSON.parse(await run('sh', ['-c', curlLine(info)])) as { id: string; checkout_url: string }
}

async function readStatus(info: SystemInfo, id: string): Promise<number> {
  const headers = { authorization: `Bearer ${info.secret_key}` }
  return (await fetch(`${info.api_url}/v1/payments/${id}`, { headers })).status
}

describe('npm start', () => {
  let first: Started
  let payment: { id: string; checkout_url: string }
  beforeAll(async () => {
    first = await start()
  })

  test('npm start prints one line of JSON with all addresses to stdout, and everything else to stderr', async () => {
    expect(first.output().split('\n')).toHaveLength(2)
    expect(first.errors()).toContain('postgres')
    const { info } = first
    for (const url of [`${info.api_url}/readyz`, info.temporal_ui_url, `${info.inbox_url}/deliveries`])
      expect([url, await answersOk(url)]).toEqual([url, true])
    expect(info.secret_key).toMatch(/^pinrail_test_/)
    expect(info.webhook_secret).toMatch(/^whsec_/)
    expect(info.merchant_wallet).toMatch(/^0x[0-9a-fA-F]{40}$/)
    expect(info.chain_id).toBe(31_337)
    expect(Object.values(info).every((value) => value !== '')).toBe(true)
  })

  test('npm start prints a curl line that makes a payment', async () => {
    payment = await createByCurl(first.info)
    expect(payment.id).toMatch(/^pay_/)
    expect(await answersOk(payment.checkout_url)).toBe(true)
  })

  test('npm start refuses a second start on the same data, with the pid of the first', async () => {
    await expect(start()).rejects.toThrow(`in use by process ${first.child.pid}`)
  })

  test('npm start starts a killed child again', async () => {
    const before = recorded().find(({ name }) => name === 'api')
    process.kill(before?.pid ?? 0, 'SIGKILL')
    await poll(async () => recorded().some(({ name, pid }) => name === 'api' && pid !== before?.pid), {
      withinMs: 60_000,
      everyMs: 50,
      what: 'another api',
    })
    await poll(() => answersOk(`${first.info.api_url}/readyz`), { withinMs: 60_000, everyMs: 100, what: 'the api' })
    expect(first.errors()).toContain('api ended (SIGKILL)')
  })

  test('npm start ends every child within three seconds of the signal', async () => {
    const children = recorded()
    expect(children.map(({ name }) => name).sort()).toEqual([
      'anvil',
      'api',
      'inbox',
      'postgres',
      'sandbox',
      'temporal',
      'worker',
    ])
    expect(await end(first.child, 'SIGTERM')).toBeLessThan(3500)
    expect(first.child.exitCode).toBe(0)
    expect(children.filter(isAlive)).toEqual([])
    expect(existsSync(join(data, 'lock'))).toBe(false)
  })

  test('npm start on the same data serves the same payments, and a killed system leaves no processes', async () => {
    const second = await start()
    expect(second.info).toEqual(first.info)
    expect(await readStatus(second.info, payment.id)).toBe(200)
    const left = recorded()
    await end(second.child, 'SIGKILL')
    expect(left.filter(isAlive)).toHaveLength(left.length)

    const third = await start()
    expect(third.errors()).toContain('left by a run that was killed')
    expect(left.filter(isAlive)).toEqual([])
    expect(await readStatus(third.info, payment.id)).toBe(200)
    await end(third.child, 'SIGINT')
  })
})

describe('A chain that is behind the books', () => {
  test('npm start refuses a chain that is behind the books', async () => {
    const { createTestDatabase } = await import('../../scripts/test/services/databases.ts')
    const database = await createTestDatabase()
    const port = await freePort()
    const spec = anvilSpec({ stateFile: join(folder, 'anvil.json'), port, logFile: join(folder, 'anvil.log') })
    const anvil = supervise(spec, { log: () => undefined, onPid: () => undefined })
    await anvil.start()
    const rpcUrl = `http://127.0.0.1:${port}`
    const check = (): Promise<void> => requireChainNotBehind(database.url, rpcUrl, 31_337)
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      await check()
      // Only the block number matters here, and the table's own rules require a whole payment.
      await client.query('drop table payment cascade; create table payment (chain_id int, block_number bigint)')
      await client.query('insert into payment values (31337, 1000000), (137, 2000000)')
      await expect(check()).rejects.toThrow('a payment was settled in block 1000000')
    } finally {
      await client.end()
      await anvil.stop(2000)
      await database.drop()
    }
  })
})

describe('npm run reset', () => {
  test('npm run reset deletes a data folder and nothing else', async () => {
    const reset = (path: string): Promise<string> =>
      run(process.execPath, ['scripts/reset.mjs', '--data', path], { cwd: ROOT })
    const precious = mkdtempSync(join(folder, 'precious-'))
    writeFileSync(join(precious, 'letter'), 'dear')
    await expect(reset(precious)).rejects.toThrow('is not a data folder')
    expect(readFileSync(join(precious, 'letter'), 'utf8')).toBe('dear')
    await reset(data)
    expect(existsSync(data)).toBe(false)
    expect(await reset(data)).toContain('nothing in')
  })
})
