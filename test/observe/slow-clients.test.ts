import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Registry } from 'prom-client'
import { createApiServer } from '../../src/api/http/server.ts'
import { createInternalServer } from '../../src/observe/internal-server.ts'
import type { Patience } from '../../src/patience.ts'
import { createPayloadCodec } from '../../src/temporal/codec.ts'
import { createCodecServer } from '../../src/temporal/codec-server.ts'

/** Each of our servers, with clients that say something now and then and never come to an end. */

const codec = createPayloadCodec([{ id: 'a', key: randomBytes(32) }])
const signed = { token: randomBytes(32).toString('base64'), allowedOrigins: [], secure: true, clock: Date.now }

const SERVERS: Readonly<Record<string, (patience?: Patience) => Server>> = {
  'the public port': (patience) =>
    createApiServer((request, response) => void request.resume().on('end', () => response.end()), {
      publicUrl: 'http://127.0.0.1',
      newRequestId: () => 'req_1',
      ...(patience !== undefined && { patience }),
    }),
  'the internal port': (patience) =>
    createInternalServer({ checks: [], registry: new Registry(), ...(patience !== undefined && { patience }) }),
  'the codec server': (patience) =>
    createCodecServer({ codec, ...signed, ...(patience !== undefined && { patience }) }),
}

describe.each(Object.entries(SERVERS))('%s', (_name, create) => {
  const patience = { headersMs: 300, requestMs: 900 }
  const server = create(patience)
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(() => {
    server.close()
    server.closeAllConnections()
  })

  /** Sends the beginning and then a byte now and then. Answers after how long it was cut off (ms), and what was said. */
  async function drip(beginning: string): Promise<{ took: number; said: string }> {
    const began = performance.now()
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    let said = ''
    socket.on('data', (bytes) => {
      said += bytes
    })
    socket.on('error', () => undefined)
    socket.write(beginning)
    const drop = setInterval(() => socket.write('x'), 50)
    await once(socket, 'close')
    clearInterval(drop)
    return { took: performance.now() - began, said }
  }

  test('cuts off who does not come to the end of the headers, when their time is over', async () => {
    const { took, said } = await drip('POST /encode HTTP/1.1\r\nhost: x\r\na: ')
    expect(said).toMatch(/^HTTP\/1\.1 408 /)
    // Not at Node's next look, which would be 30 s later.
    expect(took).toBeGreaterThan(patience.headersMs * 0.9)
    expect(took).toBeLessThan(patience.headersMs + 5000)
  })

  test('waits 10 seconds for the headers, where nothing else is said', () => {
    const usual = create()
    expect([usual.headersTimeout, usual.requestTimeout]).toEqual([10_000, 30_000])
    usual.close()
  })
})
