import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { createProgress } from '../../scripts/setup/progress.mjs'
import { run } from '../../scripts/setup/run.ts'
import { ensureTemporalServer } from '../../scripts/setup/temporal/temporal-server.ts'
import { anvilSpec } from '../../scripts/system/anvil.ts'
import { openFolderFor, removeOpenFolder } from '../../scripts/system/data-folder.ts'
import { freePort, withFreePorts } from '../../scripts/system/ports.ts'
import { postgresUser } from '../../scripts/system/postgres/identity.ts'
import { postgresSpec, postgresUrl } from '../../scripts/system/postgres/server.ts'
import { type Child, type ProcessSpec, supervise } from '../../scripts/system/supervisor.ts'
import { temporalSpec } from '../../scripts/system/temporal.ts'
import { buildImage, type Image, inImage } from '../operator/image.ts'
import { compose, getEnvironment, getService } from './compose-file.ts'

/**
 * Does what `docker compose up` does, without a container engine: every step of docker-compose.yml in its order, with
 * its commands, variables and health checks. Only names of hosts, ports and paths differ. `app` runs from a folder with
 * the contents of its image, as a user that cannot write in it.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PASSWORD = 'development-only'
/** The containers' own names of hosts in the network. */
const HOSTS = [
  'postgres:5432',
  'temporal:7233',
  'anvil:8545',
  'sandbox:4300',
  'inbox:4301',
  'inbox:4302',
  'api:4242',
  'api:9464',
  'worker:9464',
  'worker:9465',
] as const
/** The address at which compose publishes a port for buyers and merchants. */
const PUBLISHED = {
  'localhost:4242': 'api:4242',
  '127.0.0.1:4242': 'api:4242',
  '127.0.0.1:4300': 'sandbox:4300',
  '127.0.0.1:4301': 'inbox:4301',
} as const

type Host = (typeof HOSTS)[number]

export type Composed = Awaited<ReturnType<typeof composeUp>>

export const composeUp = () => withFreePorts(composeOnce)

async function composeOnce() {
  const work = mkdtempSync(join(tmpdir(), 'pinrail-compose-'))
  // Open to the user of the image, who is another one.
  chmodSync(work, 0o755)
  const children: Child[] = []
  const ports = new Map<Host, number>()
  for (const host of HOSTS) ports.set(host, await freePort())
  const system: Parts = { work, ports, children, user: await postgresUser() }
  const postgresFolder = await openFolderFor(work, 'pg')
  const down = async (): Promise<void> => {
    for (const child of children.toReversed()) await child.stop(60_000)
    removeOpenFolder(postgresFolder)
    // Only root can remove the files of a folder that it must not write.
    setFolderModes(work, 0o755)
    rmSync(work, { recursive: true, force: true })
  }
  try {
    const image = await buildImage('app', work)
    const files = listFiles(image.folder)
    setFolderModes(image.folder, 0o555)
    await Promise.all([startPostgres(system, postgresFolder), startTemporal(system), startChain(system)])
    const prepared = await prepare(system)
    await Promise.all([startSandbox(system, 'sandbox'), startSandbox(system, 'inbox')])
    await startApp(system, image, 'api')
    await startApp(system, image, 'worker')
    return {
      image,
      prepared,
      system,
      down,
      writtenByApp: () => listFiles(image.folder).filter((file) => !files.includes(file)),
    }
  } catch (error) {
    await down()
    throw error
  }
}

type Parts = {
  readonly work: string
  readonly ports: ReadonlyMap<Host, number>
  readonly children: Child[]
  /** The user of the image's processes; null: the user who runs this, who is not root. */
  readonly user: { uid: number; gid: number } | null
}

export const addressOfHost = ({ ports }: Parts, host: Host): string => `127.0.0.1:${ports.get(host)}`

/** Replaces addresses and folders of the compose file by the local ones. */
function here(system: Parts, text: string, service: string): string {
  let result = text.replaceAll('0.0.0.0', '127.0.0.1')
  for (const [published, host] of Object.entries(PUBLISHED))
    result = result.replaceAll(published, addressOfHost(system, host))
  // Each service has its own: no request comes from outside the container.
  for (const host of HOSTS.filter((name) => /:946[45]$/.test(name) && name.startsWith(service)))
    result = result.replaceAll(host.replace(service, '127.0.0.1'), addressOfHost(system, host))
  for (const host of HOSTS) result = result.replaceAll(host, addressOfHost(system, host))
  return result === '/data' ? getDataFolder(system, service) : result
}

function getDataFolder({ work }: Parts, service: string): string {
  const folder = join(work, 'volumes', service)
  mkdirSync(folder, { recursive: true })
  return folder
}

export function getVariables(system: Parts, service: string): Record<string, string> {
  const composed = Object.entries(getEnvironment(service)).map(([name, value]) => [name, here(system, value, service)])
  const [api, sandbox, inbox] = (['api:4242', 'sandbox:4300', 'inbox:4301'] as const).map((host) =>
    system.ports.get(host),
  )
  const own =
    {
      api: { API_PORT: api, INTERNAL_PORT: system.ports.get('api:9464') },
      worker: { INTERNAL_PORT: system.ports.get('worker:9464') },
      sandbox: { SANDBOX_PORT: sandbox },
      inbox: { INBOX_PORT: inbox, INBOX_SMTP_PORT: system.ports.get('inbox:4302') },
    }[service] ?? {}
  return {
    ...Object.fromEntries(composed),
    ...Object.fromEntries(Object.entries(own).map(([name, port]) => [name, String(port)])),
  }
}

async function start(system: Parts, spec: ProcessSpec): Promise<void> {
  const child = supervise(spec, { log: () => undefined, onPid: () => undefined })
  system.children.push(child)
  await child.start()
}

const getLogPath = ({ work }: Parts, name: string): string => join(work, `${name}.log`)

async function startPostgres(system: Parts, folder: string): Promise<void> {
  const { POSTGRES_USER: superuser = '', POSTGRES_PASSWORD: password = '' } = getEnvironment('postgres')
  const port = system.ports.get('postgres:5432') ?? 0
  const address = { port, password, superuser }
  const spec = await postgresSpec({
    ...address,
    folder,
    logFile: getLogPath(system, 'postgres'),
    forgetful: true,
    database: 'postgres',
  })
  await start(system, spec)
  // As the image does with /docker-entrypoint-initdb.d on the first start.
  for (const statement of compose.configs.databases.content.split(/;\s*\n/))
    await query(postgresUrl(address, 'postgres'), statement)
}

async function startTemporal(system: Parts): Promise<void> {
  const server = await ensureTemporalServer(createProgress(process.stderr))
  if (server.kind === 'address') throw new Error('this test needs a Temporal server of its own: unset TEMPORAL_ADDRESS')
  const port = system.ports.get('temporal:7233') ?? 0
  const databaseFile = join(system.work, 'temporal.db')
  await start(
    system,
    temporalSpec({ program: server.path, databaseFile, port, uiPort: null, logFile: getLogPath(system, 'temporal') }),
  )
  const bin = join(system.work, 'bin')
  mkdirSync(bin)
  symlinkSync(server.path, join(bin, 'temporal'))
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: system.work,
    ...getVariables(system, 'temporal-namespace'),
  }
  await run('/bin/sh', [join(ROOT, 'ops/temporal-namespace.sh')], { env })
}

async function startChain(system: Parts): Promise<void> {
  const port = system.ports.get('anvil:8545') ?? 0
  const spec = anvilSpec({ stateFile: join(system.work, 'anvil.json'), port, logFile: getLogPath(system, 'anvil') })
  const option = (args: readonly string[], name: string): string | undefined =>
    args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? args[args.indexOf(`--${name}`) + 1]
  for (const name of ['chain-id', 'block-time', 'slots-in-an-epoch', 'gas-limit'])
    if (option(getService('anvil').command ?? [], name) !== option(spec.args, name))
      throw new Error(`anvil: another ${name}`)
  await start(system, spec)
}

/** Returns the output of the service `prepare`: the demo merchant's key. */
async function prepare(system: Parts): Promise<string> {
  const [, ...args] = getService('prepare').command ?? []
  return run(process.execPath, args, { cwd: ROOT, env: getVariables(system, 'prepare') })
}

async function startSandbox(system: Parts, service: 'sandbox' | 'inbox'): Promise<void> {
  const [, ...args] = getService(service).command ?? ['node', '--import', 'tsx', 'src/main/sandbox.ts']
  const env = getVariables(system, service)
  await start(system, { ...createSpec(system, service), command: process.execPath, args, env, cwd: ROOT })
}

async function startApp(system: Parts, image: Image, service: 'api' | 'worker'): Promise<void> {
  const [, ...args] = getService(service).command ?? image.command
  const { cwd, env } = inImage(image)
  // compose mounts an empty /tmp.
  const temporary = join(system.work, `tmp-${service}`)
  mkdirSync(temporary)
  if (system.user !== null) await chown(temporary, system.user.uid, system.user.gid)
  await start(system, {
    ...createSpec(system, service),
    command: process.execPath,
    args,
    env: { ...env, TMPDIR: temporary, ...getVariables(system, service) },
    cwd,
    ...(system.user !== null && { user: system.user }),
  })
}

const createSpec = (system: Parts, service: string) => ({
  name: service,
  stopSignal: 'SIGTERM' as const,
  logFile: getLogPath(system, service),
  ready: async (logged: () => string) =>
    getService(service).healthcheck === undefined
      ? logged().includes('"msg":"worker ready"')
      : isHealthy(system, service),
})

/** True if the service's own health check passes. */
function isHealthy(system: Parts, service: string): Promise<boolean> {
  const [, , ...args] = (getService(service).healthcheck?.test ?? []).map((part) => here(system, part, service))
  return new Promise((resolve) => execFile(process.execPath, args, (error) => resolve(error === null)))
}

export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}

export const databaseUrl = (system: Parts, user: string, database = 'pinrail'): string =>
  `postgres://${user}:${PASSWORD}@${addressOfHost(system, 'postgres:5432')}/${database}`

function setFolderModes(folder: string, mode: number): void {
  for (const item of readdirSync(folder, { withFileTypes: true }))
    if (item.isDirectory()) setFolderModes(join(folder, item.name), mode)
  chmodSync(folder, mode)
}

const listFiles = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' })

/** Tries to write a file as the user of the image. */
export function mayWrite({ user }: Parts, path: string): Promise<boolean> {
  const script = `require('node:fs').writeFileSync(${JSON.stringify(path)}, '', { flag: 'a' })`
  return new Promise((resolve) =>
    execFile(process.execPath, ['-e', script], { cwd: '/', env: {}, ...user }, (error) => resolve(error === null)),
  )
}
