import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openTestApi, type TestApi } from './support/test-api.ts'

let testApi: TestApi
beforeAll(async () => {
  testApi = await openTestApi({ temporalDown: true })
}, 60_000)
afterAll(() => testApi?.close())

test('a cancellation that Temporal cannot accept is not promised: the response asks the merchant to try again', async () => {
  const { id } = (await testApi.ask('POST', '/v1/payments', { body: { amount: 10, currency: 'EUR' } })).body
  const answer = await testApi.ask('POST', `/v1/payments/${String(id)}/cancel`)
  expect([answer.status, answer.body['code'], answer.headers.get('retry-after')]).toEqual([
    503,
    'temporarily_unavailable',
    '2',
  ])
  expect((await testApi.ask('GET', `/v1/payments/${String(id)}`)).body['status']).toBe('created')
}, 60_000)
