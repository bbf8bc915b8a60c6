import { mkdtempSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { tryLock } from '../../../scripts/setup/lock.mjs'
import type { Progress } from '../../../scripts/setup/progress.mjs'
import { ensureTemporalServer } from '../../../scripts/setup/temporal/temporal-server.ts'
import { ensureTestServer } from '../../../scripts/setup/temporal/test-server.ts'
import { anvilSpec } from '../../../scripts/system/anvil.ts'
import { openFolderFor, readMemory, removeOpenFolder } from '../../../scripts/system/data-folder.ts'
import { freePort, withFreePorts } from '../../../scripts/system/ports.ts'
import { postgresSpec } from '../../../scripts/system/postgres/server.ts'
import { type Child, type ProcessSpec, supervise } from '../../../scripts/system/supervisor.ts'
import { temporalSpec } from '../../../scripts/system/temporal.ts'
import { startSystem } from '../../../scripts/system.ts'
import { timeSkippingSpec } from '../../../scripts/test/services/time-skipping-server.ts'

// A whole system, started twice.
jest.setTimeout(300_000)

const QUIET: Progress = {
  line: () => undefined,
  step: () => ({ update: () => undefined, done: () => undefined, fail: () => undefined }),
}

let folder = ''
let postgresFolder = ''
const taken: Server[] = []
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pinrail-ports-'))
  await chmod(folder, 0o755)
  postgresFolder = await openFolderFor(folder, 'pg')
})
afterEach(() => {
  for (const server of taken.splice(0)) server.close()
  const used = readMemory(join(folder, 'data'))?.postgresFolder
  for (const each of [postgresFolder, used ?? folder, folder]) removeOpenFolder(each)
})

function take(port: number): Promise<void> {
  const server = createServer().unref()
  taken.push(server)
  return new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
}

type SpecOn = (port: number, logFile: string) => ProcessSpec | Promise<ProcessSpec>

const temporal = async (ports: { port: number; uiPort: number | null }, logFile: string): Promise<ProcessSpec> => {
  const server = await ensureTemporalServer(QUIET)
  if (server.kind === 'address') throw new Error('this test needs its own Temporal server: unset TEMPORAL_ADDRESS')
  return temporalSpec({ program: server.path, databaseFile: join(folder, 'temporal.db'), ...ports, logFile })
}

const PROGRAMS: Record<string, SpecOn> = {
  postgres: (port, logFile) => postgresSpec({ folder: postgresFolder, port, password: 'of-a-test', logFile }),
  anvil: (port, logFile) => anvilSpec({ stateFile: join(folder, 'anvil.json'), port, logFile }),
  temporal: (port, logFile) => temporal({ port, uiPort: null }, logFile),
  "temporal's UI": async (uiPort, logFile) => temporal({ port: await freePort(), uiPort }, logFile),
  'the time-skipping server': async (port, logFile) =>
    timeSkippingSpec({ name: 'time-skipping', program: await ensureTestServer(QUIET), port, logFile }),
}

test('a start on the default ports waits for another start of the same user', async () => {
  const { XDG_CACHE_HOME } = process.env
  process.env['XDG_CACHE_HOME'] = folder
  const other = tryLock(join(folder, 'pinrail/start.lock'))
  const abort = new AbortController()
  const lines: string[] = []
  const line = (text: string): void => {
    lines.push(text)
    abort.abort()
  }
  const progress = { ...QUIET, line }
  const temporal = { kind: 'address', address: '127.0.0.1:9' } as const
  const options = {
    dataFolder: join(folder, 'data'),
    ports: 'default',
    progress,
    signal: abort.signal,
    temporal,
  } as const
  try {
    await expect(startSystem(options)).rejects.toThrow('the start was ended')
    expect(lines).toEqual([`waiting for process ${process.pid}, which is also starting`])
  } finally {
    if (other.ok) other.release()
    if (XDG_CACHE_HOME === undefined) delete process.env['XDG_CACHE_HOME']
    else process.env['XDG_CACHE_HOME'] = XDG_CACHE_HOME
  }
})

describe('A port that another process takes between its choice and its use', () => {
  test.each(Object.entries(PROGRAMS))('a taken port makes %s start again on another port', async (_name, specOn) => {
    const tried: number[] = []
    const child = await withFreePorts(async () => {
      const port = await freePort()
      tried.push(port)
      if (tried.length === 1) await take(port)
      const spec = await specOn(port, join(folder, 'log'))
      const starting = supervise(spec, { log: () => undefined, onPid: () => undefined })
      try {
        await starting.start()
        return starting
      } catch (error) {
        await starting.stop(1000)
        throw error
      }
    })
    expect(child.pid()).not.toBeNull()
    await child.stop(5000)
    expect(tried).toHaveLength(2)
  })

  test.each(['anvil', 'temporal'])(
    'a taken port is not mistaken for the new %s, although a similar server answers there',
    async (name) => {
      const port = await freePort()
      const start = async (log: string): Promise<Child> => {
        const child = supervise(await PROGRAMS[name]!(port, join(folder, log)), {
          log: () => undefined,
          onPid: () => undefined,
        })
        await child.start()
        return child
      }
      const first = await start('first.log')
      await expect(start('second.log')).rejects.toThrow(`${name}: address already in use`)
      await first.stop(5000)
    },
  )

  test('a taken port makes the whole system start again on other ports', async () => {
    const data = join(folder, 'data')
    const lines: string[] = []
    const first = new Set<number>()
    const progress: Progress = {
      line: (text) => lines.push(text),
      step: (name) => {
        const ports = readMemory(data)?.ports
        // The ports are chosen, and the inbox takes a second to load before it listens.
        if (name === 'inbox' && first.size === 0)
          for (const port of [ports?.inbox ?? 0, ports?.mail ?? 0]) void take(port).then(() => first.add(port))
        return QUIET.step(name)
      },
    }
    const system = await startSystem({ dataFolder: data, ports: 'free', progress })
    try {
      expect(first.size).toBe(2)
      expect(first).not.toContain(Number(new URL(system.info.inbox_url).port))
      expect(lines).toContain('another process has taken a port; starting again')
      expect((await fetch(`${system.info.inbox_url}/healthz`)).status).toBe(200)
    } finally {
      await system.stop()
    }
  })
})
