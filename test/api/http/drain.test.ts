import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Agent, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { createApiServer, stopApiServer } from '../../../src/api/http/server.ts'

/** A server whose requests wait until the test answers them. */
async function slowServer() {
  const waiting: ServerResponse[] = []
  const server = createApiServer((_request, response) => void waiting.push(response), {
    publicUrl: 'http://127.0.0.1',
    newRequestId: () => 'req_1',
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  const ask = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const asked = request({ port, host: '127.0.0.1', agent }, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += String(chunk)))
        response.on('end', () => resolve(text))
      })
      asked.on('error', reject)
      asked.end()
    })
  return { server, port, waiting, ask, agent }
}

test('a request that a buyer waits for is answered, however long its partner takes, and then the server ends', async () => {
  const { server, port, waiting, ask, agent } = await slowServer()
  const answer = ask()
  await once(server, 'request')
  const stopped = stopApiServer(server, 60_000)
  await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  waiting[0]!.end('to the partner')
  expect(await answer).toBe('to the partner')
  // The client keeps its connection, and must not keep the server with it.
  await stopped
  agent.destroy()
})

test('a request into a connection that was idle when the end began is answered, and its client comes by another one', async () => {
  const { server, waiting, ask, agent } = await slowServer()
  const first = ask()
  await once(server, 'request')
  waiting[0]!.end('before')
  expect(await first).toBe('before')
  const stopped = stopApiServer(server, 60_000, 60_000)
  const second = ask()
  await once(server, 'request')
  expect(waiting[1]!.getHeader('connection')).toBe('close')
  waiting[1]!.end('while it ends')
  expect(await second).toBe('while it ends')
  await stopped
  agent.destroy()
})

test('a request without end does not keep the server', async () => {
  const { server, ask } = await slowServer()
  const answer = ask()
  await once(server, 'request')
  const cut = expect(answer).rejects.toThrow('socket hang up')
  await stopApiServer(server, 1)
  await cut
})
