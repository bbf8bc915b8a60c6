import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { processStartedAt } from '../../scripts/setup/lock.mjs'
import { anvilSpec, blockNumber, keepWholeState } from '../../scripts/system/anvil.ts'
import { openDataFolder } from '../../scripts/system/data-folder.ts'
import { choosePorts, freePort, onFreePort } from '../../scripts/system/ports.ts'
import { ChildRecords } from '../../scripts/system/recorded.ts'
import { type Child, type ProcessSpec, supervise } from '../../scripts/system/supervisor.ts'
import { poll } from '../../scripts/system/waiting.ts'

let folder = ''
const children: Child[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pinrail-processes-'))
})
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop(2000)))
  rmSync(folder, { recursive: true, force: true })
})

const within = (what: string, condition: () => boolean | Promise<boolean>): Promise<void> =>
  poll(async () => condition(), { withinMs: 10_000, everyMs: 20, what })

function spec(script: string, change: Partial<ProcessSpec> = {}): ProcessSpec {
  return {
    name: 'sample',
    command: process.execPath,
    args: ['-e', script],
    env: process.env,
    cwd: folder,
    stopSignal: 'SIGTERM',
    logFile: join(folder, 'sample.log'),
    ready: async (logged) => logged().includes('ready'),
    ...change,
  }
}

function start(of: ProcessSpec): { child: Child; said: string[] } {
  const said: string[] = []
  const child = supervise(of, { log: (line) => said.push(line), onPid: () => undefined })
  children.push(child)
  return { child, said }
}

const STAYS = 'console.log("ready"); setInterval(() => {}, 1000)'

describe('A supervised process', () => {
  test('a process stopped before it runs does not run afterwards', async () => {
    let onAsked = (): void => undefined
    let answer = (_isReady: boolean): void => undefined
    const asked = new Promise<void>((resolve) => {
      onAsked = resolve
    })
    const ready = (): Promise<boolean> => {
      onAsked()
      return new Promise((resolve) => {
        answer = resolve
      })
    }
    const { child } = start(spec(STAYS, { ready }))
    const starting = child.start()
    await asked
    await child.stop(1000)
    answer(false)
    await expect(starting).rejects.toThrow('sample was stopped while starting')
    expect(child.pid()).toBeNull()
  })

  test('a process that is killed is started again, and the output says so', async () => {
    const { child, said } = start(spec(STAYS))
    await child.start()
    const first = child.pid()
    await child.kill9()
    await child.untilReady()
    expect(child.pid()).not.toBe(first)
    await within('the word that it is back', () => said.length === 2)
    expect(said[0]).toContain('SIGKILL')
  })

  test('a process that is killed to stay down stays down until it is started', async () => {
    const { child, said } = start(spec(STAYS))
    await child.start()
    await child.kill9({ stayDown: true })
    expect(child.pid()).toBeNull()
    expect(said).toEqual([])
    await child.restart()
    expect(child.pid()).not.toBeNull()
  })

  test('a process that ignores the request to end is killed', async () => {
    const { child } = start(spec(`process.on('SIGTERM', () => {}); ${STAYS}`))
    await child.start()
    const pid = child.pid() ?? 0
    await child.stop(200)
    expect(processStartedAt(pid)).toBeNull()
  })

  test('a process that ends while starting fails the start with its last words', async () => {
    const { child } = start(spec('console.error("no room at the inn"); process.exit(3)'))
    await expect(child.start()).rejects.toThrow('no room at the inn')
  })

  test('a process that starts while its predecessor is still ending is started again', async () => {
    writeFileSync(join(folder, 'starts'), '')
    const early = `const fs = require('fs'); fs.appendFileSync('starts', 'x')
      if (fs.statSync('starts').size < 3) { console.error('the other one is still here'); process.exit(1) }`
    const { child, said } = start(spec(`${early}\n${STAYS}`, { notYet: /still here/ }))
    await child.start()
    expect([statSync(join(folder, 'starts')).size, said]).toEqual([3, []])
  })

  test('a process whose program is missing fails the start', async () => {
    const { child } = start(spec('', { command: join(folder, 'absent') }))
    await expect(child.start()).rejects.toThrow('ended while starting')
  })

  test('a process that keeps ending is started with growing pauses', async () => {
    const { child, said } = start(spec('console.log("ready"); setTimeout(() => process.exit(1), 150)'))
    await child.start()
    await within('three deaths', () => said.filter((line) => line.includes('started again')).length === 3)
    expect(
      said.filter((line) => line.includes('started again')).map((line) => /again in (.*) s/.exec(line)?.[1]),
    ).toEqual(['0.2', '0.5', '1'])
  })
})

describe('Children of a run that was killed', () => {
  test('children of a killed run are ended at the next start', async () => {
    const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
    new ChildRecords(folder).set({ name: 'left', stopSignal: 'SIGTERM' }, left.pid ?? null)
    const said: string[] = []
    await new ChildRecords(folder).endLeftovers((line) => said.push(line))
    expect(said[0]).toContain(String(left.pid))
    expect(processStartedAt(left.pid ?? 0)).toBeNull()
  })

  test('a process that has the pid of a child of a killed run is not ended', async () => {
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    const record = { name: 'left', pid: stranger.pid, startedAt: 'another time', stopSignal: 'SIGTERM' }
    writeFileSync(join(folder, 'children.json'), JSON.stringify([record]))
    await new ChildRecords(folder).endLeftovers(() => undefined)
    expect(processStartedAt(stranger.pid ?? 0)).not.toBeNull()
    stranger.kill('SIGKILL')
  })
})

describe('A data folder', () => {
  test('a data folder has its secrets for the owner alone, marked, and unchanged at the next start', async () => {
    const first = await openDataFolder(join(folder, 'data'))
    const { secrets } = first.remembered
    expect(statSync(join(folder, 'data/dev.json')).mode & 0o777).toBe(0o600)
    expect(secrets.apiKeyPepper).toContain('development-only')
    first.remember({ secretKey: 'pinrail_test_1' })
    first.release()
    const second = await openDataFolder(join(folder, 'data'))
    expect(second.remembered).toEqual({ ...first.remembered, secretKey: 'pinrail_test_1', secrets })
    second.release()
  })

  test('a data folder is refused to a second process, with the pid of the first', async () => {
    const first = await openDataFolder(join(folder, 'data'))
    await expect(openDataFolder(join(folder, 'data'))).rejects.toThrow(`in use by process ${process.pid}`)
    first.release()
  })
})

describe('Ports', () => {
  /** A program that listens on the port. The error contains "already", so another word means that it is ready. */
  const listener = (port: number): ProcessSpec =>
    spec(`require('http').createServer().listen(${port}, '127.0.0.1', () => console.log('open'))`, {
      ready: async (logged) => logged().includes('open'),
    })
  const take = async (port: number): Promise<void> => {
    const other = createServer().unref()
    taken.push(other)
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve))
  }
  const taken: Server[] = []
  afterEach(() => {
    for (const server of taken.splice(0)) server.close()
  })

  test('a start on a port that another process takes first runs again on another port', async () => {
    const tried: number[] = []
    const used = await onFreePort(async (port) => {
      tried.push(port)
      if (tried.length < 3) await take(port)
      await start(listener(port)).child.start()
      return port
    })
    expect(tried).toHaveLength(3)
    expect(used).toBe(tried[2])
    expect(new Set(tried).size).toBe(3)
  })

  test('a start whose ports are always taken fails with the reason after five attempts', async () => {
    let tried = 0
    const starting = onFreePort(async (port) => {
      tried += 1
      await take(port)
      await start(listener(port)).child.start()
    })
    await expect(starting).rejects.toThrow('EADDRINUSE')
    expect(tried).toBe(5)
  })

  test('a start that fails for another reason does not run again', async () => {
    let tried = 0
    const starting = onFreePort(async () => {
      tried += 1
      await start(spec('console.error("no room at the inn"); process.exit(3)')).child.start()
    })
    await expect(starting).rejects.toThrow('no room at the inn')
    expect(tried).toBe(1)
  })

  test('a free port is outside the range that the operating system gives to programs', async () => {
    expect(await freePort()).toBeLessThan(32_768)
  })

  test('a busy port is replaced by the next, and the output says so', async () => {
    const busy = createServer()
    const port = await freePort()
    await new Promise<void>((resolve) => busy.listen(port, '127.0.0.1', resolve))
    const said: string[] = []
    const kept = { api: port }
    const ports = await choosePorts({ kept, mode: 'free', log: (line) => said.push(line) })
    expect(ports.api).toBeGreaterThan(port)
    expect(said[0]).toContain(`port ${port} (api) is busy`)
    expect(new Set(Object.values(ports)).size).toBe(Object.keys(ports).length)
    await new Promise((resolve) => busy.close(resolve))
  })

  test('a start uses the ports of the earlier start again', async () => {
    const first = await choosePorts({ kept: {}, mode: 'free', log: () => undefined })
    expect(await choosePorts({ kept: first, mode: 'free', log: () => undefined })).toEqual(first)
  })
})

describe('The development chain', () => {
  const stateFile = (): string => join(folder, 'anvil.json')
  const mine = async (port: number, blocks: number): Promise<void> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_mine', params: [blocks] })
    await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  }

  test('the development chain continues from its last block after a stop', async () => {
    const port = await freePort()
    const { child } = start(anvilSpec({ stateFile: stateFile(), port, logFile: join(folder, 'anvil.log') }))
    await child.start()
    await mine(port, 100)
    await child.restart()
    expect(await blockNumber(`http://127.0.0.1:${port}`)).toBeGreaterThanOrEqual(100)
  })

  test('the development chain stores its old states next to its dump, and starts without those that a kill left', async () => {
    const states = `${stateFile()}.states`
    const anvil = anvilSpec({ stateFile: stateFile(), port: await freePort(), logFile: join(folder, 'anvil.log') })
    expect(anvil.args.join(' ')).toContain(`--cache-path ${states}`)
    mkdirSync(join(states, 'anvil-state-left'), { recursive: true })
    await start(anvil).child.start()
    expect(existsSync(states) && readdirSync(states).includes('anvil-state-left')).toBe(false)
  })

  test('a chain that was killed while it wrote its state continues from the last complete one', async () => {
    const port = await freePort()
    const { child } = start(anvilSpec({ stateFile: stateFile(), port, logFile: join(folder, 'anvil.log') }))
    await child.start()
    await mine(port, 50)
    await child.stop(2000)
    await keepWholeState(stateFile())
    truncateSync(stateFile(), 1000)
    await keepWholeState(stateFile())
    await child.start()
    expect(await blockNumber(`http://127.0.0.1:${port}`)).toBeGreaterThanOrEqual(50)
  })
})
