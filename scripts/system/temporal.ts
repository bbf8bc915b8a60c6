import { Connection } from '@temporalio/client'
import { readTemporal } from '../../src/config/temporal.ts'
import { registerSearchAttributes, SEARCH_ATTRIBUTES } from '../../src/temporal/namespace.ts'
import { run } from '../setup/run.ts'
import type { ProcessSpec } from './supervisor.ts'
import { answersOk } from './waiting.ts'

export type TemporalOptions = {
  program: string
  /** The database; null keeps everything in memory. */
  databaseFile: string
  port: number
  /** Null: without the UI. */
  uiPort: number | null
  logFile: string
}

export const TEMPORAL_NAMESPACE = 'default'

/** Registers the search attributes in the namespace that the variables of Temporal name. */
export async function prepareGivenTemporal(): Promise<void> {
  const given = readTemporal(process.env)
  const connection = await Connection.connect(given.connection)
  try {
    await registerSearchAttributes(connection, given.namespace)
  } finally {
    await connection.close()
  }
}

/** Temporal's default limits protect a shared cluster. A local server may use the whole machine. */
const DYNAMIC_CONFIG = [
  'system.enableActivityEagerExecution=true',
  'matching.enableFairness=true',
  'matching.rps=20000',
  'frontend.rps=20000',
  'frontend.namespaceRPS=20000',
  'history.rps=30000',
]

/** Seven days, as long as an operator may need to look back; the development server's default is one. */
const RETENTION = '168h'

/** The real Temporal server with its UI, on this machine only, with a database that survives a restart. */
export function temporalSpec(options: TemporalOptions): ProcessSpec {
  const address = `127.0.0.1:${options.port}`
  let retained = false
  return {
    name: 'temporal',
    command: options.program,
    args: [
      ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(options.port)],
      options.uiPort === null ? ['--headless'] : ['--ui-port', String(options.uiPort), '--ui-disable-news-fetch'],
      ['--log-level', 'error', '--namespace', TEMPORAL_NAMESPACE, '--db-filename', options.databaseFile],
      ['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=1'],
      Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
      DYNAMIC_CONFIG.flatMap((setting) => ['--dynamic-config-value', setting]),
    ].flat(),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    cwd: '/',
    stopSignal: 'SIGTERM',
    logFile: options.logFile,
    ready: async () => {
      if (!(await isServing(options.program, address))) return false
      if (!retained) await setRetention(options.program, address)
      retained = true
      return options.uiPort === null || answersOk(`http://127.0.0.1:${options.uiPort}`)
    },
  }
}

async function isServing(program: string, address: string): Promise<boolean> {
  try {
    await run(program, ['operator', 'cluster', 'health', '--address', address], { timeoutMs: 5000 })
    return true
  } catch {
    return false
  }
}

function setRetention(program: string, address: string): Promise<string> {
  const update = ['operator', 'namespace', 'update', '--namespace', TEMPORAL_NAMESPACE, '--retention', RETENTION]
  return run(program, [...update, '--address', address], { timeoutMs: 10_000 })
}
