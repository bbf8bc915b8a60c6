import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Furnished, furnish, rowsFor } from '../support/furnished.ts'
import { type Answer, expectProblem, openShop, type Shop } from '../support/shop.ts'

/** What was asked of the workflows, and what the next cancellation waits for. */
let effects: string[] = []
let gate: Promise<void> = Promise.resolve()
let shop: Shop
let own: Furnished
beforeAll(async () => {
  shop = await openShop({
    deps: ({ workflows, db }) => ({
      workflows: {
        ...workflows,
        start: async (payment) => effects.push(`start ${payment.id}`) > 0,
        cancel: async (id) => {
          effects.push(`cancel ${id}`)
          await gate
          await db.query("update payment set status = 'canceled', canceled_at = now() where id = $1", [id])
          return { status: 'canceled' as const }
        },
        openAttempt: async (_id, { attemptId }) => ({ kind: 'redirect' as const, attemptId, url: 'https://p.example' }),
      },
      deliveries: { deliverNow: async ({ eventId }) => effects.push(`deliver ${eventId}`) > 0 },
      simulate: async () => {
        effects.push('simulate')
        return { done: true }
      },
    }),
  })
  own = await furnish(shop)
}, 60_000)
afterAll(() => shop?.close())

type Operations = Record<string, Record<string, { operationId: string }>>
const post = (path: string, key: string, body?: unknown): Promise<Answer> =>
  shop.ask('POST', path, { headers: { 'idempotency-key': key }, ...(body !== undefined && { body }) })

test('every POST with the same Idempotency-Key is answered as before, and does nothing more', async () => {
  const document = JSON.parse((await shop.ask('GET', '/openapi.json')).text) as { paths: Operations }
  const posts = Object.values(document.paths).flatMap(({ post: found }) => (found === undefined ? [] : [found]))
  expect(posts.length).toBeGreaterThan(10)
  for (const { operationId } of posts) {
    const fresh = await furnish(shop)
    const { path, body } = rowsFor(fresh)[operationId]!
    const first = await post(path, operationId, body)
    expect([operationId, Math.floor(first.status / 100)]).toEqual([operationId, 2])
    effects = []
    const stored = await everything()
    const second = await post(path, operationId, body)
    expect([operationId, second.status, second.text]).toEqual([operationId, first.status, first.text])
    expect([operationId, second.headers.get('idempotent-replayed')]).toEqual([operationId, 'true'])
    expect([operationId, effects, await everything()]).toEqual([operationId, [], stored])
    await shop.db.query('delete from webhook_endpoint where id = $1', [fresh.endpoint])
    for (const table of ['membership', 'invitation']) await shop.db.query(`delete from ${table}`)
    await shop.db.query('update channel set removed_at = now()')
    await shop.db.query('update api_key set revoked_at = now() where id <> $1', [shop.keyId])
  }
}, 60_000)

async function everything(): Promise<string> {
  const tables = ['payment', 'api_key', 'webhook_endpoint', 'event', 'delivery', 'idempotency_key']
  tables.push('channel', 'channel_message', 'notice', 'invitation', 'mail', 'audit_entry')
  const rows = await Promise.all(tables.map((table) => shop.db.query(`select count(*) from ${table}`)))
  return JSON.stringify(rows.map((result) => result.rows))
}

describe('an effect outside of the database', () => {
  async function cancelable() {
    const made = await shop.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR' } })
    const id = String(made.body['id'])
    return { id, path: `/v1/payments/${id}/cancel`, simulate: `/v1/test/payments/${id}/simulate` }
  }

  test('happens once when two ask at the same time: the second waits for the answer of the first', async () => {
    const { id, path } = await cancelable()
    effects = []
    let open = (): void => undefined
    gate = new Promise((resolve) => {
      open = resolve
    })
    const both = [post(path, 'both'), post(path, 'both')]
    await untilAsked()
    open()
    const [first, second] = await Promise.all(both)
    expect(first!.text).toBe(second!.text)
    expect(effects).toEqual([`cancel ${id}`])
  })

  test('that is still running is told so after two seconds, and another request with its key is refused', async () => {
    const { id, path, simulate } = await cancelable()
    await claimed(id, 'running', "now() + interval '1 minute'")
    const asked = performance.now()
    expectProblem(await post(path, 'running'), 409, 'idempotency_key_in_use')
    expect(performance.now() - asked).toBeGreaterThanOrEqual(2000)
    await post(simulate, 'other', { action: 'pay' })
    expectProblem(await post(simulate, 'other', { action: 'decline' }), 422, 'idempotency_key_reused')
  })

  test('is asked for again by the same request when the process of the first has died', async () => {
    const { id, path } = await cancelable()
    await claimed(id, 'died', "now() - interval '1 second'")
    effects = []
    expect((await post(path, 'died')).status).toBe(200)
    expect(effects).toEqual([`cancel ${id}`])
  })

  test('that was refused gives its key back, also to another request', async () => {
    const redeliver = `/v1/webhook_endpoints/${own.endpoint}/redeliver_failed`
    const disable = (at: string) =>
      shop.db.query(
        `update webhook_endpoint set disabled_at = ${at}, disabled_reason = case when ${at} is null then null else 'merchant' end where id = $1`,
        [own.endpoint],
      )
    await disable('now()')
    expectProblem(await post(redeliver, 'refused', { since: '2026-11-01T00:00:00Z' }), 409, 'not_possible_now')
    await disable('null')
    expect((await post(redeliver, 'refused', { since: '2026-11-02T00:00:00Z' })).status).toBe(202)
  })

  test('at an id of thousands of characters, or with NUL in it, is the 404 of an unknown one', async () => {
    for (const id of ['x'.repeat(8000), '%00', '%F0%9F%98%80'.repeat(300)])
      expectProblem(await post(`/v1/payments/${id}/cancel`, 'long'), 404, 'resource_missing')
  })

  /** As a cancellation leaves its key that has claimed it and not answered: made of one that was answered. */
  async function claimed(id: string, key: string, until: string): Promise<void> {
    await post(`/v1/payments/${id}/cancel`, key)
    await shop.db.query(`update idempotency_key set status = 0, body = '', claimed_until = ${until} where key = $1`, [
      key,
    ])
    await shop.db.query("update payment set status = 'created', canceled_at = null where id = $1", [id])
  }

  async function untilAsked(): Promise<void> {
    while (effects.length === 0) await new Promise((resolve) => setImmediate(resolve))
  }
})
