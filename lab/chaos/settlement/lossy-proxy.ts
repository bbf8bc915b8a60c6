import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Random } from '../../../test/support/random.ts'

export type LossyNode = {
  readonly url: string
  readonly lost: { requests: number; responses: number }
  close(): Promise<void>
}

/** Loses whole HTTP requests before the node has them, and answers after it has acted on them. */
export async function startLossyNode(
  target: string,
  chances: { readonly random: Random; readonly request: number; readonly response: number },
): Promise<LossyNode> {
  const { random } = chances
  const lost = { requests: 0, responses: 0 }
  const server = createServer((incoming, outgoing) => {
    const losesRequest = random.chance(chances.request)
    const losesResponse = random.chance(chances.response)
    if (losesRequest) {
      lost.requests += 1
      outgoing.destroy()
      return
    }
    const forward = request(target, { method: 'POST', headers: { 'content-type': 'application/json' } }, (answer) => {
      if (losesResponse) {
        lost.responses += 1
        answer.resume()
        outgoing.destroy()
        return
      }
      outgoing.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' })
      answer.pipe(outgoing)
    })
    forward.on('error', () => outgoing.destroy())
    incoming.pipe(forward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lost,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
