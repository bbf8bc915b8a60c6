import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { readApiConfig } from '../../src/config.ts'
import { deadlinesOf } from '../../src/temporal/calls.ts'
import { createTemporalClient } from '../../src/temporal/connect.ts'

const UNAVAILABLE = '14'

/** A Temporal server that says who it is, and is unavailable for everything else. */
async function startUnavailable() {
  let asked: () => void = () => undefined
  const wasAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  const server = createServer((request, response) => {
    const isGreeting = request.url.endsWith('/GetSystemInfo')
    response.writeHead(200, { 'content-type': 'application/grpc', ...(!isGreeting && { 'grpc-status': UNAVAILABLE }) })
    if (!isGreeting) asked()
    if (isGreeting) {
      // One message without a byte.
      response.write(Buffer.alloc(5))
      response.addTrailers({ 'grpc-status': '0' })
    }
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, wasAsked, close: () => server.close() }
}

test('a connection that is closed while a call is to be tried again lets the call end first', async () => {
  const server = await startUnavailable()
  const config = readApiConfig({
    ...TEST_ENVIRONMENT,
    DATABASE_URL: 'postgres://127.0.0.1:9/none',
    TEMPORAL_ADDRESS: server.address,
  })
  const temporal = createTemporalClient(config)
  const within = deadlinesOf(temporal.client)
  const call = within(1000, () => temporal.client.workflow.getHandle('pay_1').describe()).then(
    () => 'answered',
    () => 'failed',
  )
  await server.wasAsked
  await temporal.close()
  // Closed first, the next try would throw in a timer: no test could catch it, and the call would never end.
  expect(await call).toBe('failed')
  server.close()
}, 20_000)
