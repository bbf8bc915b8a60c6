import type { Server } from 'node:http'

/** Listens and resolves with the URL. Port 0 means any free port. */
export async function listen(server: Server, at: { readonly host: string; readonly port: number }): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(at.port, at.host, resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : at.port
  return `http://${at.host}:${port}`
}

/** Accepts no more requests and closes the open connections. */
export async function stopListening(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
}
