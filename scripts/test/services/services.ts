import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../../src/db/migrate.ts'
import { tryLock } from '../../setup/lock.mjs'
import { createProgress } from '../../setup/progress.mjs'
import { ensureTemporalServer } from '../../setup/temporal/temporal-server.ts'
import { ensureTestServer } from '../../setup/temporal/test-server.ts'
import { openFolderFor, removeOpenFolder } from '../../system/data-folder.ts'
import { onFreePort } from '../../system/ports.ts'
import { postgresSpec, postgresUrl } from '../../system/postgres/server.ts'
import { ChildRecords } from '../../system/recorded.ts'
import { type Child, type ProcessSpec, supervise } from '../../system/supervisor.ts'
import { TEMPORAL_NAMESPACE, temporalSpec } from '../../system/temporal.ts'
import { makeResettable, type ResettableChain, sharedChainSpec } from './chain.ts'
import { removeLeftovers } from './leftovers.ts'
import { timeSkippingSpec } from './time-skipping-server.ts'

/**
 * The servers of a run of tests: Postgres with a migrated template, one real Temporal server, a chain with USDC for
 * each of Jest's workers, reset for each file, and a time-skipping server for each test file that needs one, because a
 * workflow that one file leaves running would stop the time of the next. Each starts when a test first requests it.
 * Tests use HTTP, because Jest's workers are processes.
 */
export type Services = { url: string; stop(): Promise<void> }

export type PostgresService = { adminUrl: string; template: string }
export type TimeSkippingService = { port: number }
export type ChainService = { url: string }
export type TemporalService = { address: string; namespace: string }

const FOLDER_PREFIX = 'pinrail-test-'
const TEMPLATE = 'pinrail_template'

export async function startServices(): Promise<Services> {
  await removeLeftovers(FOLDER_PREFIX)
  const broker = new Broker(mkdtempSync(join(tmpdir(), FOLDER_PREFIX)))
  await broker.open()
  const server = createServer((request, response) => {
    // The server may close an idle connection at the moment in which the client uses it.
    response.setHeader('connection', 'close')
    broker.answer(request.url ?? '').then(
      (value) => response.end(JSON.stringify(value)),
      (error: Error) => response.writeHead(500).end(error.message),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // Open connections must not keep the run alive after its tests.
  server.unref()
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await broker.stop()
    },
  }
}

class Broker {
  readonly #folder: string
  readonly #records: ChildRecords
  readonly #progress = createProgress(process.stderr)
  readonly #children: Child[] = []
  readonly #started = new Map<string, Promise<unknown>>()
  /** By the number of Jest's worker, which runs one file at a time. */
  readonly #timeSkippers = new Map<string, Child>()
  readonly #chains = new Map<string, ResettableChain>()
  #postgresFolder = ''
  #release = (): void => undefined

  constructor(folder: string) {
    this.#folder = folder
    this.#records = new ChildRecords(folder)
  }

  async open(): Promise<void> {
    const lock = tryLock(join(this.#folder, 'lock'))
    if (lock.ok) this.#release = lock.release
    // A temporary folder is closed to other users; as root, Postgres runs as another user.
    await chmod(this.#folder, 0o755)
    // Ctrl-C ends Jest without its teardown.
    process.once('exit', () => this.#killAll())
  }

  answer(path: string): Promise<unknown> {
    const known = this.#started.get(path)
    if (known !== undefined) return known
    const starting = this.#begin(path)
    this.#started.set(path, starting)
    return starting
  }

  async #begin(path: string): Promise<unknown> {
    if (path === '/postgres') return this.#postgres()
    if (path === '/temporal') return this.#temporal()
    if (path.startsWith('/time-skipping/')) return this.#timeSkipping(path.split('/')[2] ?? '')
    if (path.startsWith('/chain/')) return this.#chain(path.split('/')[2] ?? '')
    throw new Error(`no such service: ${path}`)
  }

  async #postgres(): Promise<PostgresService> {
    const folder = await openFolderFor(this.#folder, 'pg')
    this.#postgresFolder = folder
    const password = randomBytes(16).toString('hex')
    const logFile = join(this.#folder, 'postgres.log')
    const { port } = await this.#start((on) =>
      postgresSpec({ port: on, password, folder, logFile, forgetful: true, database: TEMPLATE }),
    )
    const address = { port, password }
    await migrate(postgresUrl(address, TEMPLATE))
    return { adminUrl: postgresUrl(address, 'postgres'), template: TEMPLATE }
  }

  async #temporal(): Promise<TemporalService> {
    const server = await ensureTemporalServer(this.#progress)
    if (server.kind === 'address') return { address: server.address, namespace: TEMPORAL_NAMESPACE }
    const files = { databaseFile: join(this.#folder, 'temporal.db'), logFile: join(this.#folder, 'temporal.log') }
    const { port } = await this.#start((on) => temporalSpec({ program: server.path, port: on, uiPort: null, ...files }))
    return { address: `127.0.0.1:${port}`, namespace: TEMPORAL_NAMESPACE }
  }

  async #timeSkipping(worker: string): Promise<TimeSkippingService> {
    await this.#timeSkippers.get(worker)?.stop(3000)
    const program = await ensureTestServer(this.#progress)
    const { child, port } = await this.#start((on) => {
      const name = `time-skipping-${worker}-${on}`
      return timeSkippingSpec({ program, port: on, logFile: join(this.#folder, `${name}.log`), name })
    })
    this.#timeSkippers.set(worker, child)
    return { port }
  }

  async #chain(worker: string): Promise<ChainService> {
    const chain = this.#chains.get(worker) ?? (await this.#startChain(`chain-${worker}`))
    this.#chains.set(worker, chain)
    await chain.reset()
    return { url: chain.url }
  }

  async #startChain(name: string): Promise<ResettableChain> {
    const files = { states: join(this.#folder, name), logFile: join(this.#folder, `${name}.log`) }
    const { port } = await this.#start((on) => sharedChainSpec({ name, port: on, ...files }))
    return makeResettable(`http://127.0.0.1:${port}`)
  }

  #start(specOn: (port: number) => ProcessSpec | Promise<ProcessSpec>): Promise<{ child: Child; port: number }> {
    const log = (line: string): void => this.#progress.line(line)
    return onFreePort(async (port) => {
      const child = supervise(await specOn(port), { log, onPid: (of, pid) => this.#records.set(of, pid) })
      this.#children.push(child)
      await child.start()
      return { child, port }
    })
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.stop(3000)))
    this.#release()
    rmSync(this.#folder, { recursive: true, force: true })
    if (this.#postgresFolder !== '') removeOpenFolder(this.#postgresFolder)
  }

  #killAll(): void {
    for (const child of this.#children) {
      const pid = child.pid()
      if (pid !== null) process.kill(pid, 'SIGKILL')
    }
  }
}
