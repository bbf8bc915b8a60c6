import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import express from 'express'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { until } from '../../scripts/test/until.ts'
import { accessLog } from '../../src/api/http/metrics.ts'
import { createDurations } from '../../src/observe/metrics.ts'
import { NO_TRACING } from '../../src/observe/traces.ts'

const registry = new Registry()
const lines: { status: number; msg: string; route: string }[] = []
const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })

/** Told for each request that has come. */
let came: () => void = () => undefined
let server: Server
beforeAll(async () => {
  const app = express()
  app.use(accessLog({ durations: createDurations(registry), tracing: NO_TRACING, log }))
  app.get('/v1/payments', () => came())
  app.get('/v1/providers', (_request, response) => void response.json({}))
  app.get('/c/:token/live', (_request, response) => {
    response.type('text/event-stream').flushHeaders()
    came()
  })
  server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})

/** Asks, and goes away when the request has come. */
async function leave(path: string): Promise<void> {
  const arrived = new Promise<void>((resolve) => {
    came = resolve
  })
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
  await arrived
  socket.destroy()
}

test('who goes away before the answer is counted as having waited, with a status of its own', async () => {
  await leave('/v1/payments')
  await until(
    () => registry.metrics(),
    (text) =>
      text.includes('http_request_duration_seconds_count{method="GET",route="/v1/payments",status="499"} 1') &&
      lines.some(({ status, msg }) => status === 499 && msg === 'left before the answer'),
  )
})

test('an answer is counted once, and a page that hears of changes not at all', async () => {
  const { port } = server.address() as AddressInfo
  await leave('/c/a/live')
  expect((await fetch(`http://127.0.0.1:${port}/v1/providers`, { headers: { connection: 'close' } })).status).toBe(200)
  await until(
    async () => lines,
    (all) => all.some(({ route }) => route === '/v1/providers'),
  )
  // Another one has come to its end meanwhile.
  await leave('/v1/payments')
  await until(
    async () => lines.filter(({ status }) => status === 499).length,
    (count) => count === 2,
  )
  const text = await registry.metrics()
  expect(text).toContain('_count{method="GET",route="/v1/providers",status="200"} 1')
  expect(text).not.toContain('/c/:token/live')
})
