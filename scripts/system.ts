import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { cachedPath } from './setup/cache.ts'
import { tryLock, waitForLock } from './setup/lock.mjs'
import type { Progress } from './setup/progress.mjs'
import { firstLine } from './setup/run.ts'
import { ensureTemporalServer, type TemporalServer } from './setup/temporal/temporal-server.ts'
import { anvilSpec, DEVELOPMENT_CHAIN_ID, keepWholeState } from './system/anvil.ts'
import { APP_NAMES, type AppName, appSpec } from './system/apps.ts'
import { type DataFolder, openDataFolder, readMemory } from './system/data-folder.ts'
import {
  type Addresses,
  createAddresses,
  createEnvironments,
  deriveAddress,
  USDC_ADDRESS,
} from './system/environment.ts'
import { choosePorts, DEFAULT_PORTS, type Ports, withFreePorts } from './system/ports.ts'
import { postgresSpec } from './system/postgres/server.ts'
import { prepare, requireChainNotBehind, schemaFingerprint, TREASURY_START } from './system/prepare.ts'
import { ChildRecords } from './system/recorded.ts'
import type { Secrets } from './system/secrets.ts'
import { type Child, type ProcessSpec, supervise } from './system/supervisor.ts'
import { prepareGivenTemporal, temporalSpec } from './system/temporal.ts'

export type ChildName = AppName | 'postgres' | 'temporal' | 'anvil'

export type SystemOptions = {
  dataFolder: string
  /** `default`: 4242 and so on, or the next free ones; `free`: any, for systems side by side. Kept once chosen. */
  ports: 'default' | 'free'
  progress: Progress
  /** Aborts the start, and ends everything that it has started. */
  signal?: AbortSignal
  /** Parts that run elsewhere, used instead of the system's own. */
  databaseUrl?: string | undefined
  rpcUrls?: string | undefined
  /** PUBLIC_URL, such as the name of a tunnel; `http://localhost` and the port unless given. */
  publicUrl?: string | undefined
  /** The chain's URL for the worker alone, such as a proxy in front of it. */
  workerRpcUrls?: string | undefined
  /** Notifies the demo merchant of its payments by mail and chat. Off in measurements. */
  channels?: boolean
  /** Found or built if absent. */
  temporal?: TemporalServer
}

/** The JSON that `npm start -- --json` prints. */
export type SystemInfo = {
  api_url: string
  dashboard_url: string
  temporal_ui_url: string
  temporal_address: string
  inbox_url: string
  rpc_url: string
  chain_id: number
  usdc_address: string
  merchant_wallet: string
  secret_key: string
  webhook_secret: string
  database_url: string
}

export type System = {
  info: SystemInfo
  children: ReadonlyMap<ChildName, Child>
  /** The URL of the partner simulators and their controls. */
  sandboxUrl: string
  /** Ends everything within three seconds; the data stays. */
  stop(): Promise<void>
}

const KEEP_CHAIN_EVERY_MS = 5000
/** Together below three seconds, and above what Temporal takes to close its database (1.1 s). */
const APP_GRACE_MS = 1300
const SERVER_GRACE_MS = 1400

/** Starts the whole system on a new or used data folder. Resolves when all of it is ready. */
export function startSystem(options: SystemOptions): Promise<System> {
  const onRetry = () => options.progress.line('another process has taken a port; starting again')
  return withFreePorts(() => startOnce(options), onRetry)
}

async function startOnce(options: SystemOptions): Promise<System> {
  options.signal?.throwIfAborted()
  const folder = await openDataFolder(resolve(options.dataFolder))
  const starting = new Starting(folder, options)
  const aborted = new Promise<never>((_resolve, reject) => {
    options.signal?.addEventListener('abort', () => reject(new Error('the start was ended')))
  })
  try {
    return await Promise.race([starting.run(), aborted])
  } catch (error) {
    await starting.stop()
    throw error
  }
}

class Starting {
  readonly #folder: DataFolder
  readonly #options: SystemOptions
  readonly #records: ChildRecords
  readonly #children = new Map<ChildName, Child>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(folder: DataFolder, options: SystemOptions) {
    this.#folder = folder
    this.#options = options
    this.#records = new ChildRecords(folder.path)
  }

  async run(): Promise<System> {
    const { progress } = this.#options
    await this.#records.endLeftovers(progress.line)
    await mkdir(join(this.#folder.path, 'logs'), { recursive: true })
    const temporal = this.#options.temporal ?? (await ensureTemporalServer(progress))
    if (this.#options.ports === 'free') return this.#startWith(temporal)
    // Two starts at once would choose the same ports, and each could take the other's servers for its own.
    const release = await waitForLock(cachedPath('start.lock'), ({ pid }) =>
      progress.line(`waiting for process ${pid}, which is also starting`),
    )
    return this.#startWith(temporal).finally(release)
  }

  async #startWith(temporal: TemporalServer): Promise<System> {
    if (this.#stopped) throw new Error('stopped')
    const { progress } = this.#options
    const ports = await choosePorts({
      kept: this.#folder.remembered.ports,
      mode: this.#options.ports,
      log: progress.line,
    })
    this.#folder.remember({ ports })
    const addresses = createAddresses(ports, this.#folder.remembered.secrets, {
      ...this.#options,
      temporalAddress: temporal.kind === 'address' ? temporal.address : undefined,
    })
    const secretKey = await this.#startAll(temporal, ports, addresses)
    const { secrets } = this.#folder.remembered
    return {
      info: describeSystem({
        addresses,
        secrets,
        secretKey,
        temporalUiUrl: temporal.kind === 'program' ? uiUrl(ports) : '',
      }),
      children: this.#children,
      sandboxUrl: addresses.sandboxUrl,
      stop: () => this.stop(),
    }
  }

  /**
   * Starts all parts. Databases and chain must be prepared before api and worker use them. If an earlier start has done
   * so and no migration is new, api and worker need not wait until it is checked again.
   */
  async #startAll(temporal: TemporalServer, ports: Ports, addresses: Addresses): Promise<string> {
    const app = this.#appStarter(ports, addresses)
    const schema = await schemaFingerprint()
    const stores = Promise.all([this.#startPostgres(ports), this.#startChain(ports)])
    const isKnown = this.#folder.remembered.schema === schema
    const checked = stores.then(() =>
      requireChainNotBehind(addresses.databaseUrl, addresses.rpcUrl, DEVELOPMENT_CHAIN_ID),
    )
    const prepared = checked.then(() => this.#prepare(addresses, schema))
    const orchestration = this.#startTemporal(temporal, ports)
    const ready = Promise.all([isKnown ? checked : prepared, orchestration])
    const users = ready.then(() => Promise.all([app('api'), app('worker')]))
    const others = Promise.all([app('sandbox'), app('inbox')])
    // All starts end before the first failure is reported, so that nothing continues in the background.
    const results = await Promise.allSettled([prepared, orchestration, users, others])
    for (const result of results) if (result.status === 'rejected') throw result.reason
    return prepared
  }

  async #startPostgres(ports: Ports): Promise<void> {
    if (this.#options.databaseUrl !== undefined) return
    const { postgresFolder, secrets } = this.#folder.remembered
    const spec = await postgresSpec({
      folder: postgresFolder,
      port: ports.postgres,
      password: secrets.postgresPassword,
      logFile: this.#logFile('postgres'),
    })
    await this.#start('postgres', spec, `port ${ports.postgres}, ${postgresFolder}`)
  }

  async #startChain(ports: Ports): Promise<void> {
    if (this.#options.rpcUrls !== undefined) return
    const stateFile = join(this.#folder.path, 'anvil.json')
    const spec = anvilSpec({ stateFile, port: ports.anvil, logFile: this.#logFile('anvil') })
    await this.#start('anvil', spec, `port ${ports.anvil}, chain ${DEVELOPMENT_CHAIN_ID}`)
    this.#timer = setInterval(() => {
      keepWholeState(stateFile).catch((error: Error) => this.#options.progress.line(`anvil's state: ${error.message}`))
    }, KEEP_CHAIN_EVERY_MS).unref()
  }

  async #startTemporal(server: TemporalServer, ports: Ports): Promise<void> {
    if (server.kind === 'address') return prepareGivenTemporal()
    const spec = temporalSpec({
      program: server.path,
      databaseFile: join(this.#folder.path, 'temporal.db'),
      port: ports.temporal,
      uiPort: ports.temporalUi,
      logFile: this.#logFile('temporal'),
    })
    await this.#start('temporal', spec, `port ${ports.temporal}, ${server.origin}`)
  }

  #appStarter(ports: Ports, addresses: Addresses): (name: AppName) => Promise<void> {
    const dataFolder = this.#folder.path
    const environments = createEnvironments({ addresses, ports, secrets: this.#folder.remembered.secrets, dataFolder })
    const urls: Partial<Record<AppName, string>> = {
      api: addresses.apiUrl,
      sandbox: addresses.sandboxUrl,
      inbox: addresses.inboxUrl,
    }
    return (name) => {
      const url = urls[name]
      const spec = appSpec(name, { environments, dataFolder, ...(url === undefined ? {} : { url }) })
      return this.#start(name, spec, url ?? '')
    }
  }

  async #prepare(addresses: Addresses, schema: string): Promise<string> {
    const step = this.#options.progress.step('schema, chain, demo')
    const { secrets, secretKey } = this.#folder.remembered
    try {
      const result = await prepare({
        databaseUrl: addresses.databaseUrl,
        demo: {
          apiKeyPepper: secrets.apiKeyPepper,
          webhookEncryptionKey: secrets.webhookEncryptionKey,
          webhookSecret: secrets.webhookSecret,
          webhookUrl: `${addresses.inboxUrl}/webhooks`,
          wallet: deriveAddress(secrets.merchantKey),
          chainId: DEVELOPMENT_CHAIN_ID,
          secretKey,
          ...(this.#options.channels === true && { channelsAt: addresses.inboxUrl }),
        },
        chain:
          this.#options.rpcUrls !== undefined
            ? null
            : {
                rpcUrl: addresses.rpcUrl,
                treasury: deriveAddress(secrets.treasuryKey),
                relayers: secrets.relayerKeys.map(deriveAddress),
                mintMicroUsdc: TREASURY_START,
              },
      })
      this.#folder.remember({ secretKey: result.secretKey, schema })
      step.done()
      return result.secretKey
    } catch (error) {
      step.fail(firstLine(error))
      throw error
    }
  }

  async #start(name: ChildName, spec: ProcessSpec, detail: string): Promise<void> {
    if (this.#stopped) throw new Error('stopped')
    const { progress } = this.#options
    const child = supervise(spec, { log: progress.line, onPid: (of, pid) => this.#records.set(of, pid) })
    this.#children.set(name, child)
    const step = progress.step(name)
    try {
      await child.start()
      step.done(detail)
    } catch (error) {
      step.fail(firstLine(error))
      throw error
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    const isApp = (name: ChildName): boolean => (APP_NAMES as readonly string[]).includes(name)
    const end = async (apps: boolean, graceMs: number): Promise<void> => {
      const group = [...this.#children].filter(([name]) => isApp(name) === apps)
      await Promise.all(group.map(([, child]) => child.stop(graceMs)))
    }
    // The apps end first, so that they can finish their work while the databases run.
    await end(true, APP_GRACE_MS)
    await end(false, SERVER_GRACE_MS)
    this.#folder.release()
  }

  #logFile(name: ChildName): string {
    return join(this.#folder.path, 'logs', `${name}.log`)
  }
}

type InfoParts = {
  readonly addresses: Addresses
  readonly secrets: Secrets
  readonly secretKey: string
  /** Empty if Temporal runs elsewhere: then its UI does too. */
  readonly temporalUiUrl: string
}

const uiUrl = (ports: Ports): string => `http://127.0.0.1:${ports.temporalUi}`

/** Returns the URLs of the parts of the system, and its secrets of development. */
export function describeSystem({ addresses, secrets, secretKey, temporalUiUrl }: InfoParts): SystemInfo {
  return {
    api_url: addresses.apiUrl,
    dashboard_url: `${addresses.publicUrl}/dashboard`,
    temporal_ui_url: temporalUiUrl,
    temporal_address: addresses.temporalAddress,
    inbox_url: addresses.inboxUrl,
    rpc_url: addresses.rpcUrl,
    chain_id: DEVELOPMENT_CHAIN_ID,
    usdc_address: USDC_ADDRESS,
    merchant_wallet: deriveAddress(secrets.merchantKey),
    secret_key: secretKey,
    webhook_secret: secrets.webhookSecret,
    database_url: addresses.databaseUrl,
  }
}

/** Returns the system that another process runs on the data folder; null if none does. Its `stop` leaves it running. */
export function findRunning(dataFolder: string): Omit<System, 'children'> | null {
  const path = resolve(dataFolder)
  const memory = readMemory(path)
  if (memory === null || memory.secretKey === null) return null
  const lock = tryLock(join(path, 'lock'))
  if (lock.ok) {
    lock.release()
    return null
  }
  const { secrets, secretKey } = memory
  const ports = { ...DEFAULT_PORTS, ...memory.ports }
  const { DATABASE_URL: databaseUrl, POLYGON_RPC_URLS: rpcUrls, PUBLIC_URL: publicUrl } = process.env
  const addresses = createAddresses(ports, secrets, { databaseUrl, rpcUrls, publicUrl: publicUrl || undefined })
  const info = describeSystem({ addresses, secrets, secretKey, temporalUiUrl: uiUrl(ports) })
  return { info, sandboxUrl: addresses.sandboxUrl, stop: async () => undefined }
}
