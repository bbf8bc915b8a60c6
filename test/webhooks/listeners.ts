import http from 'node:http'
import net, { type AddressInfo } from 'node:net'

/** A listener on 127.0.0.1 and, where there is one, ::1, that counts who connects. */
export type Honeypot = { readonly port: number; connections(): number; close(): Promise<void> }

export async function startHoneypot(): Promise<Honeypot> {
  let connections = 0
  const count = (socket: net.Socket) => {
    connections++
    socket.destroy()
  }
  const v4 = net.createServer(count)
  const port = await listen(v4, 0, '127.0.0.1')
  const v6 = net.createServer(count)
  const servers = (await listen(v6, port, '::1').catch(() => null)) === null ? [v4] : [v4, v6]
  return {
    port,
    connections: () => connections,
    close: async () => {
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    },
  }
}

export type Receiver = { readonly port: number; readonly url: string; readonly target: string; close(): Promise<void> }

/** A receiver of webhooks that behaves as the handler does. */
export async function startReceiver(handler: http.RequestListener): Promise<Receiver> {
  const server = http.createServer(handler)
  const port = await listen(server, 0, '127.0.0.1')
  return receiver(port, async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
}

/** A receiver that speaks raw TCP: for answers that no HTTP server would give. */
export async function startRawReceiver(handler: (socket: net.Socket) => void): Promise<Receiver> {
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    handler(socket)
  })
  const port = await listen(server, 0, '127.0.0.1')
  return receiver(port, async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
}

function receiver(port: number, close: () => Promise<void>): Receiver {
  return { port, url: `http://127.0.0.1:${port}/hooks`, target: `127.0.0.1:${port}`, close }
}

function listen(server: net.Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}
