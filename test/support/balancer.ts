import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** Passes connections on to the targets in turn. It reads none of the bytes. */
export type Balancer = {
  readonly port: number
  readonly close: () => Promise<void>
}

const CHECK_EVERY_MS = 500
const CHECK_TIMEOUT_MS = 2000

type Target = { readonly port: number; healthy: boolean }

/**
 * A target receives connections while `isHealthy` is true; without it, always. One that refuses a connection is skipped
 * at once, so that a client notices only what breaks in the middle.
 */
export async function startBalancer(
  of: { readonly port: number; readonly targets: readonly number[] },
  isHealthy?: (port: number) => Promise<boolean>,
): Promise<Balancer> {
  const targets: Target[] = of.targets.map((port) => ({ port, healthy: true }))
  const open = new Set<Socket>()
  let turn = 0
  const inTurn = (): Target[] => {
    turn += 1
    const order = targets
      .map((_each, index) => targets[(turn + index) % targets.length])
      .filter((one) => one !== undefined)
    // If none is known to be healthy, any may have become so.
    const healthy = order.filter((target) => target.healthy)
    return healthy.length > 0 ? healthy : order
  }
  const server = createServer((client) => {
    keep(open, client)
    void pass(client, inTurn(), open)
  })
  server.listen(of.port, '127.0.0.1')
  await once(server, 'listening')
  const timer = isHealthy === undefined ? undefined : setInterval(() => void check(targets, isHealthy), CHECK_EVERY_MS)
  return { port: getPort(server), close: () => end(server, open, timer) }
}

async function check(targets: readonly Target[], isHealthy: (port: number) => Promise<boolean>): Promise<void> {
  await Promise.all(
    targets.map(async (target) => {
      const late = new Promise<false>((resolve) => setTimeout(resolve, CHECK_TIMEOUT_MS, false).unref())
      target.healthy = await Promise.race([isHealthy(target.port).catch(() => false), late])
    }),
  )
}

async function pass(client: Socket, targets: readonly Target[], open: Set<Socket>): Promise<void> {
  for (const { port } of targets) {
    const upstream = await dial(port)
    if (upstream === null) continue
    keep(open, upstream)
    client.pipe(upstream).pipe(client)
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
    return
  }
  client.destroy()
}

/** True if a server listens on the port. */
export async function takesConnections(port: number): Promise<boolean> {
  const socket = await dial(port)
  socket?.destroy()
  return socket !== null
}

function dial(port: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => resolve(null))
  })
}

function keep(open: Set<Socket>, socket: Socket): void {
  open.add(socket)
  socket.on('error', () => socket.destroy())
  socket.once('close', () => open.delete(socket))
}

function getPort(server: Server): number {
  const address = server.address()
  return address !== null && typeof address === 'object' ? address.port : 0
}

async function end(server: Server, open: ReadonlySet<Socket>, timer: NodeJS.Timeout | undefined): Promise<void> {
  clearInterval(timer)
  for (const socket of open) socket.destroy()
  server.close()
  await once(server, 'close')
}
