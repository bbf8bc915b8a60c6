import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type ApiRouteDeps, apiRoutes } from '../../../src/api/routes/v1/index.ts'
import { furnish, rowsFor } from '../support/furnished.ts'
import { openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
}, 60_000)
afterAll(() => shop?.close())

type Entry = { actor: string; action: string; data: Record<string, unknown>; ip: string }
const entries = async (): Promise<Entry[]> => (await shop.ask('GET', '/v1/audit_log?limit=100')).body['data'] as Entry[]

/** They change nothing of the account: they send again, or try out. */
const NO_CHANGE = ['testWebhookEndpoint', 'redeliverEvent', 'redeliverFailed', 'testNotificationChannel']
const ROUTES = apiRoutes({ webhookTargets: { mode: 'test', testTargets: [] } } as unknown as ApiRouteDeps).filter(
  ({ method, scope, operationId }) =>
    method !== 'get' && scope !== 'payments:write' && scope.endsWith(':write') && !NO_CHANGE.includes(operationId),
)

test('whatever a key changes of the account is in its log, under the name of the key', async () => {
  const furnished = rowsFor(await furnish(shop))
  // What is taken away comes last: the others need it.
  const last = ROUTES.toSorted((a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'))
  await shop.db.query(
    `update wallet set next_address = $2, next_at = now() + interval '1 day' where merchant_id = $1`,
    [shop.tenant.merchantId, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
  )
  for (const { method, operationId } of last.toSorted((a) => (a.operationId === 'stopWalletChange' ? -1 : 0))) {
    const { path, body } = furnished[operationId] ?? { path: '' }
    const before = (await entries()).length
    const answer = await shop.ask(method.toUpperCase(), path, { body })
    const added = (await entries()).slice(0, (await entries()).length - before)
    const actors = [...new Set(added.map(({ actor }) => actor))]
    expect([operationId, answer.status < 300, actors]).toEqual([operationId, true, [`key_${shop.keyId}`]])
  }
})

test('it says what was changed, and keeps no secret and no picture', async () => {
  const wallet = await shop.ask('PUT', '/v1/settings/wallet', { body: { address: `0x${'ab'.repeat(20)}` } })
  const endpoint = await shop.ask('POST', '/v1/webhook_endpoints', { body: { url: 'https://shop.example/in' } })
  const [made, set] = await entries()
  expect(set).toMatchObject({ action: 'setWallet', data: { address: `0x${'ab'.repeat(20)}` } })
  expect(made).toMatchObject({ action: 'createWebhookEndpoint', data: { url: 'https://shop.example/in' } })
  expect([wallet.status, endpoint.status]).toEqual([200, 201])
  expect(JSON.stringify(await entries())).not.toContain(String(endpoint.body['secret']))
})

test('it has the origins of an embedding as they are stored, whatever stands around them', async () => {
  const origins = ['https://shop.example/\0', 'HTTPS://www.shop.example/\ud83d']
  const answer = await shop.ask('PUT', '/v1/settings/embedding', { body: { origins } })
  expect(answer.body['origins']).toEqual(['https://shop.example', 'https://www.shop.example'])
  expect((await entries())[0]).toMatchObject({ action: 'setEmbedding', data: { origins: answer.body['origins'] } })
})

test('what is refused, asked for again, or stops nothing leaves no entry', async () => {
  const before = await entries()
  const once = { body: { name: 'once' }, headers: { 'idempotency-key': 'audit-1' } }
  await shop.ask('POST', '/v1/api_keys', once)
  await shop.ask('POST', '/v1/api_keys', once)
  await shop.ask('POST', '/v1/settings/wallet/stop_change')
  await shop.ask('DELETE', '/v1/webhook_endpoints/we_01k9z3v7t8e4a9v2b6q5r0c1d2')
  await shop.ask('PUT', '/v1/settings/wallet', { body: { address: '0x0' } })
  expect((await entries()).slice(0, -before.length).map(({ action }) => action)).toEqual(['createApiKey'])
})
