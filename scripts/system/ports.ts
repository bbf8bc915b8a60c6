import { createServer } from 'node:net'

const HOST = '127.0.0.1'

/** A port that nobody listens on, given by the operating system. */
export function freePort(): Promise<number> {
  return listenOnce(0)
}

/** The port itself when it is free, otherwise the next one above that is and is not among `taken`. */
export async function nextFreePort(wanted: number, taken: ReadonlySet<number>): Promise<number> {
  for (let port = wanted; port <= 65_535; port += 1) if (!taken.has(port) && (await isFree(port))) return port
  throw new Error(`no free port above ${wanted}`)
}

export async function isFree(port: number): Promise<boolean> {
  try {
    await listenOnce(port)
    return true
  } catch {
    return false
  }
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, host: HOST, exclusive: true }, () => {
      const address = server.address()
      server.close(() => (address !== null && typeof address === 'object' ? resolve(address.port) : reject()))
    })
  })
}

/** What listens, and its port when that is free. */
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
  /** Chosen at an earlier start, and used again when free. */
  kept: Partial<Ports>
  /** `default`: the well-known ones or the next free; `free`: whatever is free, for tests that run side by side. */
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
