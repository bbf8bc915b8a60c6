import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ensurePgbouncer } from '../../scripts/setup/programs/pgbouncer.ts'
import type { Progress } from '../../scripts/setup/progress.mjs'
import { type ClusterPrograms, ensureClusterPrograms } from '../../scripts/setup/temporal/cluster-programs.ts'
import { anvilSpec, DEVELOPMENT_CHAIN_ID } from '../../scripts/system/anvil.ts'
import { type AppName, appSpec } from '../../scripts/system/apps.ts'
import { type DataFolder, openDataFolder } from '../../scripts/system/data-folder.ts'
import {
  type Addresses,
  createAddresses,
  createEnvironments,
  deriveAddress,
  type Environments,
} from '../../scripts/system/environment.ts'
import { choosePorts, freePort, type Ports, withFreePorts } from '../../scripts/system/ports.ts'
import { prepare, TREASURY_START } from '../../scripts/system/prepare.ts'
import { ChildRecords } from '../../scripts/system/recorded.ts'
import { type Child, type ProcessSpec, supervise } from '../../scripts/system/supervisor.ts'
import { answersOk } from '../../scripts/system/waiting.ts'
import { describeSystem, type SystemInfo } from '../../scripts/system.ts'
import { removeLeftovers } from '../../scripts/test/services/leftovers.ts'
import { createPinrail, type Pinrail } from '../../src/client/index.ts'
import { temporaryFolder } from '../../test/e2e/harness/test-system.ts'
import { type Balancer, startBalancer } from '../../test/support/balancer.ts'
import { type Databases, startDatabases } from './databases.ts'
import { startTemporal } from './temporal.ts'

const FOLDER_PREFIX = 'pinrail-cluster-'
const APIS = 2

export type Cluster = {
  readonly folder: string
  readonly info: SystemInfo
  readonly sandboxUrl: string
  /** Tries each request once, so that every failure is visible. */
  readonly merchant: Pinrail['payments']
  readonly databases: Databases
  readonly environments: Environments
  /** Every process but the balancers, which are in this one. */
  readonly children: ReadonlyMap<string, Child>
  /** Sets the number of workers that run; resolves when they are ready. */
  readonly scaleWorkers: (count: number) => Promise<void>
  readonly stop: (options: { keep: boolean }) => Promise<void>
}

/** Starts the whole system as a company runs it, each part at least twice if more than one can run. */
export async function startCluster(progress: Progress): Promise<Cluster> {
  await ensurePgbouncer(progress)
  const programs = await ensureClusterPrograms(progress)
  await removeLeftovers(FOLDER_PREFIX)
  return withFreePorts(() => startOnce(programs, progress))
}

async function startOnce(programs: ClusterPrograms, progress: Progress): Promise<Cluster> {
  const folder = await openDataFolder(temporaryFolder(FOLDER_PREFIX))
  const processes = createProcesses(folder, progress)
  try {
    await mkdir(join(folder.path, 'logs'), { recursive: true })
    const ports = await choosePorts({ kept: {}, mode: 'free', log: progress.line })
    const [databases] = await Promise.all([
      startDatabases(folder.path, folder.remembered.secrets.postgresPassword, processes.run),
      processes.run(
        anvilSpec({
          stateFile: join(folder.path, 'anvil.json'),
          port: ports.anvil,
          logFile: join(folder.path, 'logs', 'anvil.log'),
        }),
      ),
    ])
    const temporal = await startTemporal({ folder: folder.path, programs, databases, run: processes.run })
    processes.balancers.push(temporal.balancer)
    return await startApps({ folder, ports, databases, processes, temporalAddress: temporal.address })
  } catch (error) {
    await processes.stop({ keep: true })
    throw error
  }
}

type Processes = ReturnType<typeof createProcesses>

function createProcesses(folder: DataFolder, progress: Progress) {
  const children = new Map<string, Child>()
  const records = new ChildRecords(folder.path)
  const balancers: Balancer[] = []
  return {
    children,
    balancers,
    run: async (spec: ProcessSpec): Promise<Child> => {
      const child = supervise(spec, { log: () => undefined, onPid: (of, pid) => records.set(of, pid) })
      children.set(spec.name, child)
      const step = progress.step(spec.name)
      await child.start()
      step.done()
      return child
    },
    stop: async ({ keep }: { keep: boolean }): Promise<void> => {
      const all = [...children.values()].toReversed()
      // Processes that use the databases end before them.
      for (const isStore of [false, true])
        await Promise.all(all.filter(({ name }) => STORES.has(name) === isStore).map((child) => child.stop(3000)))
      await Promise.all(balancers.map((balancer) => balancer.close()))
      folder.release()
      if (keep) return
      const { postgresFolder } = folder.remembered
      if (!postgresFolder.startsWith(folder.path)) await rm(dirname(postgresFolder), { recursive: true, force: true })
      await rm(folder.path, { recursive: true, force: true })
    },
  }
}

const STORES: ReadonlySet<string> = new Set(['primary', 'standby', 'pgbouncer'])

type AppParts = {
  readonly folder: DataFolder
  readonly ports: Ports
  readonly databases: Databases
  readonly processes: Processes
  readonly temporalAddress: string
}

async function startApps({ folder, ports, databases, processes, temporalAddress }: AppParts): Promise<Cluster> {
  const { secrets } = folder.remembered
  const addresses = createAddresses(ports, secrets, { databaseUrl: databases.url, temporalAddress })
  const environments = clusterEnvironments({ folder, ports, databases, addresses })
  const { secretKey } = await prepareAll({ folder, databases, addresses })
  const apiPorts = await Promise.all(Array.from({ length: APIS }, () => freePort()))
  processes.balancers.push(
    await startBalancer({ port: ports.api, targets: apiPorts }, (port) =>
      answersOk(`http://127.0.0.1:${port}/healthz`),
    ),
  )
  const start = (name: AppName, as: string, port?: number): Promise<Child> => {
    const url = port === undefined ? {} : { url: `http://127.0.0.1:${port}` }
    const own =
      name === 'api' ? { ...environments, api: { ...environments.api, API_PORT: String(port) } } : environments
    const spec = appSpec(name, { environments: own, dataFolder: folder.path, ...url })
    return processes.run({ ...spec, name: as, logFile: join(folder.path, 'logs', `${as}.log`) })
  }
  const scaleWorkers = async (count: number): Promise<void> => {
    const isMore = ([name]: [string, Child]): boolean => Number(/^worker-(\d+)$/.exec(name)?.[1] ?? 0) > count
    await Promise.all([...processes.children].filter(isMore).map(([, child]) => child.stop(30_000)))
    for (let number = 1; number <= count; number += 1) {
      const name = `worker-${number}`
      const child = processes.children.get(name)
      await (child === undefined ? start('worker', name) : child.start())
    }
  }
  await Promise.all([start('sandbox', 'partners', ports.sandbox), start('inbox', 'inbox', ports.inbox)])
  await Promise.all(apiPorts.map((port, index) => start('api', `api-${index + 1}`, port)))
  await scaleWorkers(2)
  const info = describeCluster({ folder, databases, addresses, secretKey })
  const { sandboxUrl } = addresses
  return {
    folder: folder.path,
    info,
    sandboxUrl,
    merchant: createPinrail({ apiKey: secretKey, baseUrl: info.api_url, retries: 0 }).payments,
    databases,
    environments,
    children: processes.children,
    scaleWorkers,
    stop: processes.stop,
  }
}

type Known = { readonly folder: DataFolder; readonly databases: Databases; readonly addresses: Addresses }

/** The environments of `npm start`, and what a pooler, a replica and a second process of each kind need. */
function clusterEnvironments(of: Known & { readonly ports: Ports }): Environments {
  const { folder, ports, databases, addresses } = of
  const plain = createEnvironments({ addresses, ports, secrets: folder.remembered.secrets, dataFolder: folder.path })
  const both = {
    DATABASE_POOLER: 'transaction',
    DATABASE_DIRECT_URL: databases.directUrl,
    LOG_LEVEL: 'info',
  }
  return {
    ...plain,
    // Each ends as in a deployment: work in progress is finished.
    api: { ...plain.api, ...both, DATABASE_READ_URL: databases.readUrl, API_DRAIN_MS: '10000' },
    worker: { ...plain.worker, ...both, SETTLEMENT_TICK_MS: '250', WORKER_SHUTDOWN_GRACE_MS: '10000' },
  }
}

function prepareAll({ folder, databases, addresses }: Known): Promise<{ secretKey: string }> {
  const { secrets } = folder.remembered
  return prepare({
    databaseUrl: databases.ownerUrl,
    demo: {
      apiKeyPepper: secrets.apiKeyPepper,
      webhookEncryptionKey: secrets.webhookEncryptionKey,
      webhookSecret: secrets.webhookSecret,
      webhookUrl: `${addresses.inboxUrl}/webhooks`,
      wallet: deriveAddress(secrets.merchantKey),
      chainId: DEVELOPMENT_CHAIN_ID,
      secretKey: null,
    },
    chain: {
      rpcUrl: addresses.rpcUrl,
      treasury: deriveAddress(secrets.treasuryKey),
      relayers: secrets.relayerKeys.map(deriveAddress),
      mintMicroUsdc: TREASURY_START,
    },
  })
}

function describeCluster({
  folder,
  databases,
  addresses,
  secretKey,
}: Known & { readonly secretKey: string }): SystemInfo {
  const { secrets } = folder.remembered
  const info = describeSystem({ addresses, secrets, secretKey, temporalUiUrl: '' })
  return { ...info, database_url: databases.directUrl }
}
