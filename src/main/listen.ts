import type { Server } from 'node:http'

/** `localhost` is both addresses of this machine, because a client may try either. */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = { localhost: ['127.0.0.1', '::1'] }

/** A machine without IPv6 has no ::1. */
const MISSING = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']

/** Opens a server on each address of the host. Throws if the port is taken on one of them. */
export async function listen(create: () => Server, { host, port }: { host: string; port: number }): Promise<Server[]> {
  const servers: Server[] = []
  for (const address of ADDRESSES[host] ?? [host])
    try {
      servers.push(await listenAt(create(), { host: address, port }))
    } catch (error) {
      if (servers.length === 0 || !MISSING.includes(String((error as NodeJS.ErrnoException).code))) throw error
    }
  return servers
}

function listenAt(server: Server, at: { host: string; port: number }): Promise<Server> {
  return new Promise((resolve, reject) => server.once('error', reject).listen(at, () => resolve(server)))
}
