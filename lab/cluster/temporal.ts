import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Connection } from '@temporalio/client'
import { run as runOnce } from '../../scripts/setup/run.ts'
import type { ClusterPrograms } from '../../scripts/setup/temporal/cluster-programs.ts'
import { nextFreePort } from '../../scripts/system/ports.ts'
import type { ProcessSpec } from '../../scripts/system/supervisor.ts'
import { poll } from '../../scripts/system/waiting.ts'
import { registerSearchAttributes } from '../../src/temporal/namespace.ts'
import { type Balancer, startBalancer, takesConnections } from '../../test/support/balancer.ts'
import type { Databases, Run } from './databases.ts'

/** A Temporal cluster: each service as separate processes, two of each that payments need, on the system's Postgres. */

const SERVICES = ['frontend', 'frontend', 'history', 'history', 'matching', 'matching', 'worker'] as const
/** Temporal stores the port of a member in a column of two bytes. */
const PORTS_FROM = 20_000 + Math.floor(Math.random() * 8000)

type Place = {
  readonly service: (typeof SERVICES)[number]
  readonly name: string
  readonly grpc: number
  readonly membership: number
  readonly http: number
}

export type TemporalCluster = {
  readonly address: string
  readonly names: readonly string[]
  readonly balancer: Balancer
}

export async function startTemporal(of: {
  readonly folder: string
  readonly programs: ClusterPrograms
  readonly databases: Databases
  readonly run: Run
}): Promise<TemporalCluster> {
  await makeStores(of.programs.schemaTool, of.databases)
  const dynamicConfig = join(of.folder, 'temporal.yaml')
  await writeFile(dynamicConfig, DYNAMIC_CONFIG)
  const { places, port } = await choosePlaces()
  const frontends = places.filter(({ service }) => service === 'frontend').map(({ grpc }) => grpc)
  const balancer = await startBalancer({ port, targets: frontends })
  const address = `127.0.0.1:${balancer.port}`
  const createSpec = (place: Place): ProcessSpec =>
    serviceSpec(place, { ...of, program: of.programs.server, dynamicConfig, address })
  await Promise.all(places.filter(({ service }) => service !== 'worker').map((place) => of.run(createSpec(place))))
  await makeNamespace(address)
  await Promise.all(places.filter(({ service }) => service === 'worker').map((place) => of.run(createSpec(place))))
  return { address, names: places.map(({ name }) => name), balancer }
}

/** As on a local server: strangers share nothing here. */
const DYNAMIC_CONFIG = [
  ['system.enableActivityEagerExecution', true],
  ['matching.enableFairness', true],
  ['matching.rps', 20_000],
  ['frontend.rps', 20_000],
  ['frontend.namespaceRPS', 20_000],
  ['history.rps', 30_000],
]
  .map(([name, value]) => `${name}:\n  - value: ${value}\n`)
  .join('')

async function makeStores(tool: string, { port, user, password }: Databases): Promise<void> {
  const stores = [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ] as const
  for (const [database, schema] of stores) {
    const to = ['--plugin', 'postgres12', '--ep', '127.0.0.1', '-p', String(port), '-u', user, '--pw', password]
    const ask = (...words: string[]) => runOnce(tool, [...to, '--db', database, ...words], { timeoutMs: 60_000 })
    await ask('setup-schema', '-v', '0.0')
    await ask('update-schema', '--schema-name', `postgresql/v12/${schema}`)
  }
}

async function choosePlaces(): Promise<{ places: Place[]; port: number }> {
  const taken = new Set<number>()
  const next = async (): Promise<number> => {
    const port = await nextFreePort(PORTS_FROM, taken)
    taken.add(port)
    return port
  }
  const places: Place[] = []
  for (const [index, service] of SERVICES.entries()) {
    const number = SERVICES.slice(0, index + 1).filter((other) => other === service).length
    const ports = { grpc: await next(), membership: await next(), http: await next() }
    places.push({ service, name: service === 'worker' ? 'temporal-worker' : `${service}-${number}`, ...ports })
  }
  return { places, port: await next() }
}

function serviceSpec(
  place: Place,
  of: { folder: string; program: string; databases: Databases; dynamicConfig: string; address: string },
): ProcessSpec {
  const prefix = place.service.toUpperCase()
  return {
    name: place.name,
    command: of.program,
    args: ['--allow-no-auth', 'start', '--service', place.service],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      LOG_LEVEL: 'warn',
      DB: 'postgres12',
      DB_PORT: String(of.databases.port),
      POSTGRES_SEEDS: '127.0.0.1',
      POSTGRES_USER: of.databases.user,
      POSTGRES_PWD: of.databases.password,
      SQL_MAX_CONNS: '8',
      SQL_MAX_IDLE_CONNS: '8',
      SQL_VIS_MAX_CONNS: '4',
      SQL_VIS_MAX_IDLE_CONNS: '4',
      NUM_HISTORY_SHARDS: '16',
      BIND_ON_IP: '127.0.0.1',
      TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
      DYNAMIC_CONFIG_FILE_PATH: of.dynamicConfig,
      PUBLIC_FRONTEND_ADDRESS: of.address,
      [`${prefix}_GRPC_PORT`]: String(place.grpc),
      [`${prefix}_MEMBERSHIP_PORT`]: String(place.membership),
      [`${prefix}_HTTP_PORT`]: String(place.http),
    },
    cwd: of.folder,
    stopSignal: 'SIGTERM',
    logFile: join(of.folder, 'logs', `${place.name}.log`),
    ready: () => takesConnections(place.grpc),
    // Each writes the name of the cluster, and ends if another one writes it at the same moment.
    notYet: /cluster metadata/,
  }
}

/** Repeats: a frontend takes a moment to find the other services, and a namespace to reach all of them. */
async function makeNamespace(address: string): Promise<void> {
  await poll(() => tryNamespace(address), { withinMs: 90_000, everyMs: 500, what: "Temporal's namespace" })
}

async function tryNamespace(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 5000 }).catch(() => null)
  if (connection === null) return false
  try {
    const retention = { seconds: 86_400 as never }
    await connection.workflowService
      .registerNamespace({ namespace: 'default', workflowExecutionRetentionPeriod: retention })
      .catch((error: { code?: number }) => {
        if (error.code !== 6) throw error
      })
    await registerSearchAttributes(connection, 'default')
    await connection.workflowService.listWorkflowExecutions({ namespace: 'default', pageSize: 1 })
    return true
  } catch {
    return false
  } finally {
    await connection.close().catch(() => undefined)
  }
}
