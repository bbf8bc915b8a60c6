import { execFileSync } from 'node:child_process'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'

/** A listener on 127.0.0.1 and, if available, ::1, that counts connections. */
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

export type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void | Promise<void>

/** A receiver of webhooks that behaves as the handler does. */
export async function startReceiver(handler: Handler): Promise<Receiver> {
  const server = http.createServer((request, response) => void handler(request, response))
  const port = await listen(server, 0, '127.0.0.1')
  return receiver(port, async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
}

/** A receiver that speaks raw TCP: for responses that no HTTP server would give. */
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

/** Sends the head, then a drop every 20 ms for as long as the client reads. */
export function drip(socket: net.Socket, head: string, drop: string): void {
  socket.write(head)
  const timer = setInterval(() => socket.write(drop), 20)
  socket.on('close', () => clearInterval(timer))
}

/** A key and a certificate that no authority has signed. */
export function selfSigned(): { key: string; cert: string } {
  const made = execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      '-',
      '-out',
      '-',
    ].concat(['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']),
    { stdio: ['ignore', 'pipe', 'ignore'] },
  ).toString()
  const part = (name: string) => made.match(new RegExp(`-----BEGIN ${name}-----[^]*?-----END ${name}-----`))![0]
  return { key: part('PRIVATE KEY'), cert: part('CERTIFICATE') }
}

/** Waits for a condition that must become true soon. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 5_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('it did not happen within 5 s')
    await new Promise((resolve) => setImmediate(resolve))
  }
}
