import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { expectProblem, openShop, type Shop } from '../support/shop.ts'

/** Postgres refuses a text with NUL: nobody may make an answer of 500 with one. */

let shop: Shop
beforeAll(async () => {
  shop = await openShop({
    // The callback is authentic: its first line is the event, the second the order.
    deps: () => ({
      readCallback: (_provider, { body }) => {
        const [eventId = '', attemptId = ''] = Buffer.from(body).toString().split('\n')
        return { kind: 'news', eventId, attemptId }
      },
    }),
  })
}, 60_000)
afterAll(() => shop?.close())

test.each(['/c/%00', '/c/a%00b', '/c/%00/status', '/c/%00/go'])('a checkout that cannot be: %s', async (path) => {
  const [answer, unknown] = await Promise.all(
    [path, path.replaceAll('%00', 'x')].map((at) => shop.ask('GET', at, { key: null })),
  )
  expect(answer!.status).toBe(404)
  expect(answer!.text.replaceAll(/req_\w+/g, '')).toBe(unknown!.text.replaceAll(/req_\w+/g, ''))
})

test.each(['event\0\natt_1', 'event\natt_\0'])('an authentic callback with NUL in an id: %j', async (body) => {
  const headers = { 'content-type': 'application/octet-stream' }
  expectProblem(await shop.ask('POST', '/callbacks/wallet_app', { key: null, body, headers }), 400, 'invalid_request')
})

test.each(['/v1/payments/%00', '/v1/events/%00', '/v1/webhook_endpoints/%00', '/v1/api_keys/%00'])(
  'an id that cannot be: %s',
  async (path) => {
    expect((await shop.ask('GET', path)).status).toBeLessThan(500)
  },
)
