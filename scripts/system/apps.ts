import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Environments, withCallersVariables } from './environment.ts'
import type { ProcessSpec } from './supervisor.ts'
import { answersOk } from './waiting.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export const APP_NAMES = ['sandbox', 'inbox', 'api', 'worker'] as const
export type AppName = (typeof APP_NAMES)[number]

const ENTRY: Record<AppName, string> = {
  sandbox: 'src/main/sandbox.ts',
  inbox: 'src/main/inbox.ts',
  api: 'src/main/api.ts',
  worker: 'src/main/worker.ts',
}

/** The text that the worker logs when it begins to poll. */
const WORKER_READY = '"msg":"worker ready"'

export type AppOptions = {
  environments: Environments
  dataFolder: string
  /** The URL with `/healthz`; the worker has none. */
  url?: string
}

export function appSpec(name: AppName, { environments, dataFolder, url }: AppOptions): ProcessSpec {
  return {
    name,
    command: process.execPath,
    args: ['--import', 'tsx', ENTRY[name]],
    env: { ...machinesVariables(), ...withCallersVariables(environments[name], process.env) },
    cwd: ROOT,
    stopSignal: 'SIGTERM',
    logFile: join(dataFolder, 'logs', `${name}.log`),
    ready: async (logged) => (url === undefined ? logged().includes(WORKER_READY) : answersOk(`${url}/healthz`)),
  }
}

/** Variables that every program needs. All others are passed by name. */
export function machinesVariables(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'XDG_CACHE_HOME', 'NODE_EXTRA_CA_CERTS', 'SYSTEMROOT']
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
}
