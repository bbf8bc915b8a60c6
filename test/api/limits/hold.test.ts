import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import express, { type ErrorRequestHandler } from 'express'
import { Problem } from '../../../src/api/http/problems.ts'
import { holding } from '../../../src/api/limits/hold.ts'

/** How many refusals may wait at the same moment. */

let close: () => Promise<unknown> = async () => undefined
afterEach(() => close())

/** Refuses everybody as one who has asked too often, and holds so many answers. Counts who asked, and who waited at once. */
async function refusing(most: number) {
  const seen = { asked: 0, answered: 0, waited: 0 }
  const app = express()
  app.use(() => {
    seen.asked += 1
    seen.waited = Math.max(seen.waited, seen.asked - seen.answered)
    throw new Problem('rate_limited', 'Ask again later.', { isHeld: true })
  })
  const answer: ErrorRequestHandler = (_error, _request, response, _next) => {
    seen.answered += 1
    response.status(429).end()
  }
  app.use(holding(answer, most))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  close = () => new Promise((resolve) => server.close(resolve))
  return { port: (server.address() as AddressInfo).port, seen }
}

test('beyond the answers that may wait, a refusal is told at once, and its connection ends', async () => {
  const { port } = await refusing(2)
  const told: string[] = []
  const ask = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/`)
    told.push(response.headers.get('connection') ?? '')
    return response.status
  }
  const answers = [ask(), ask(), ask(), ask()]
  expect(await Promise.all(answers)).toEqual([429, 429, 429, 429])
  expect(told).toEqual(['close', 'close', 'keep-alive', 'keep-alive'])
  // Their places are free again.
  await ask()
  expect(told.at(-1)).toBe('keep-alive')
})

test('one connection with thousands of requests under way holds no more of them than may wait', async () => {
  const { port, seen } = await refusing(10)
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined).resume()
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(5000))
  await once(socket, 'close')
  expect(seen.asked).toBeGreaterThan(100)
  // One of them is being answered.
  expect(seen.waited).toBe(11)
})
