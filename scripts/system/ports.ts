import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { getMessage } from '../setup/run.ts'

/** The addresses of this machine, either of which `localhost` may mean. */
const HOSTS = ['127.0.0.1', '::1']
/** Operating systems choose ports for their programs above these: from 32768 on Linux, from 49152 on others. */
const FREE_PORTS = [10_000, 32_000] as const
/** Node, Go, Java, Rust and Postgres report it in the operating system's words. */
const IN_USE = /address already in use|EADDRINUSE/i
const STARTS = 5

/** Returns a random port that is free now. Another process can take it before it is used: see `onFreePort`. */
export function freePort(): Promise<number> {
  return nextFreePort(randomInt(...FREE_PORTS))
}

/** Runs a start on a free port, and on another one if a process takes the port before the start uses it. */
export function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  return withFreePorts(async () => start(await freePort()))
}

/** Runs a start that chooses its ports. Runs it again, up to four times, if it fails because a port is in use. */
export async function withFreePorts<T>(start: () => Promise<T>, onRetry: () => void = () => undefined): Promise<T> {
  for (let left = STARTS - 1; ; left -= 1)
    try {
      return await start()
    } catch (error) {
      if (left === 0 || !IN_USE.test(getMessage(error))) throw error
      onRetry()
    }
}

const NONE: ReadonlySet<number> = new Set()

/** Returns the port itself if it is free, otherwise the next one above that is free and not among `taken`. */
export async function nextFreePort(wanted: number, taken = NONE): Promise<number> {
  for (let port = wanted; port <= 65_535; port += 1) if (!taken.has(port) && (await isFree(port))) return port
  throw new Error(`no free port above ${wanted}`)
}

async function isFree(port: number): Promise<boolean> {
  for (const host of HOSTS) if (!(await isFreeAt(port, host))) return false
  return true
}

function isFreeAt(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    // A machine without IPv6 has no ::1 that could be taken.
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EADDRINUSE' && host === '::1'))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

export const DEFAULT_PORTS = {
  api: 4242,
  sandbox: 4300,
  inbox: 4301,
  mail: 4302,
  postgres: 54_329,
  temporal: 7233,
  temporalUi: 8233,
  anvil: 8545,
}
export type Ports = typeof DEFAULT_PORTS

export type PortChoice = {
  /** Chosen at an earlier start, and used again if free. */
  kept: Partial<Ports>
  /** `default`: those above or the next free ones; `free`: random ones, for systems that run at the same time. */
  mode: 'default' | 'free'
  log: (line: string) => void
}

export async function choosePorts({ kept, mode, log }: PortChoice): Promise<Ports> {
  const chosen: Ports = { ...DEFAULT_PORTS }
  const taken = new Set<number>()
  for (const name of Object.keys(DEFAULT_PORTS) as (keyof Ports)[]) {
    const wanted = kept[name] ?? (mode === 'free' ? await freePort() : DEFAULT_PORTS[name])
    const port = await nextFreePort(wanted, taken)
    if (port !== wanted) log(`port ${wanted} (${name}) is busy; ${port} it is`)
    chosen[name] = port
    taken.add(port)
  }
  return chosen
}
