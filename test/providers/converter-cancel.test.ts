import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { newId } from '../../src/ids.ts'
import type { Converter } from '../../src/providers/converter/converter.ts'
import { createConverter } from '../../src/providers/converter/simple-converter.ts'
import { listen, type SandboxServer, soon, startSandboxServer } from './sandbox-server.ts'

let server: SandboxServer
let converter: Converter
beforeAll(async () => {
  server = await startSandboxServer()
  converter = server.converter()
})
afterAll(() => server.close())

const newOrder = () => ({
  key: `${newId('payment')}:convert`,
  amount: { minor: '499900', currency: 'EUR' } as const,
  rate: '1.16',
})

describe('an order that is not wanted any more', () => {
  test('that was never seen is canceled, and the key buys nothing afterwards, even after a restart', async () => {
    const order = newOrder()
    expect(await converter.cancel(order.key, soon())).toEqual({ kind: 'canceled' })
    await server.restart()
    expect(await converter.convert(order, soon())).toEqual({ kind: 'refused', reason: 'the order was canceled' })
    expect(await converter.cancel(order.key, soon())).toEqual({ kind: 'canceled' })
  })

  test('that is filled answers its fill', async () => {
    const order = newOrder()
    const fill = await converter.convert(order, soon())
    expect(await converter.cancel(order.key, soon())).toEqual(fill)
  })

  test('that is being filled is pending until it is filled', async () => {
    const order = newOrder()
    await server.fault('converter', { fault: 'delay', attemptId: order.key, seconds: 90, times: 1 })
    await converter.convert(order, soon())
    expect(await converter.cancel(order.key, soon())).toEqual({ kind: 'pending', retryAfterSeconds: 90 })
    server.advance(90)
    expect((await converter.cancel(order.key, soon())).kind).toBe('filled')
  })

  test('a converter that does not know the call is unknown, never canceled', async () => {
    const old = createServer((_request, response) => {
      response.statusCode = 404
      response.end('{"error":"not found"}')
    })
    const elsewhere = createConverter({ url: await listen(old), secret: 'x' })
    await expect(elsewhere.cancel('pay_1:convert', soon())).rejects.toMatchObject({ kind: 'unknown' })
    old.closeAllConnections()
    old.close()
  })
})
