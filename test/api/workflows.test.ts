import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { PARTNER_SECRET } from '../../scripts/test/environment.ts'
import { startDevServer } from '../../scripts/test/services/temporal.ts'
import { until } from '../../scripts/test/until.ts'
import { createBackground } from '../../src/api/limits/background.ts'
import { MOST_LARGE } from '../../src/api/routes/callbacks.ts'
import { connectRefunds, loadStart } from '../../src/deps/shared.ts'
import { paymentWorkflowId } from '../../src/domain/ids.ts'
import type { CallbackSubject } from '../../src/domain/payment/partner.ts'
import { newId } from '../../src/ids.ts'
import { hmacSha256 } from '../../src/partners/signature.ts'
import { createPaymentWorkflows } from '../../src/temporal/payments.ts'
import { createRelay } from '../../src/worker/relay.ts'
import { plant } from '../deps/two-modes.ts'
import { rowsFor, type SeededApi, seedApi } from './support/seeded-api.ts'
import { type Answer, expectProblem, openTestApi, type TestApi } from './support/test-api.ts'

/** Sends the head of a large callback, and nothing of its body. */
function sendSlowly(port: string, from: string): Socket {
  const socket = connect(Number(port), '127.0.0.1')
  const head = `POST /callbacks/wallet_app HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${from}\r\n`
  socket.write(`${head}content-length: 1048576\r\n\r\n`)
  return socket
}

describe('Requests that count once', () => {
  /** The calls of the workflows, and what the next cancellation waits for. */
  let effects: string[] = []
  let gate: Promise<void> = Promise.resolve()
  let testApi: TestApi
  beforeAll(async () => {
    testApi = await openTestApi({
      deps: ({ workflows, db }) => ({
        // Hundreds of requests must wait for the key, and not for the row that says when the API key was last used.
        onStarted: () => undefined,
        onKeyUsed: () => undefined,
        workflows: {
          ...workflows,
          start: async (payment) => effects.push(`start ${payment.id}`) > 0,
          cancel: async (id) => {
            effects.push(`cancel ${id}`)
            await gate
            await db.query("update payment set status = 'canceled', canceled_at = now() where id = $1", [id])
            return { status: 'canceled' as const }
          },
          openAttempt: async (_id, { attemptId }) => ({
            kind: 'redirect' as const,
            attemptId,
            url: 'https://p.example',
          }),
        },
        deliveries: {
          deliverNow: async ({ eventId }) => effects.push(`deliver ${eventId}`) > 0,
          diagnose: async () => ({ cause: 'none', requests: 1 }),
        },
        simulate: async () => {
          effects.push('simulate')
          return { done: true }
        },
      }),
    })
  })
  afterAll(() => testApi?.close())

  describe('Idempotency keys', () => {
    const BODY = { amount: '49.99', currency: 'EUR', reference: 'A-1' }
    const create = (key: string, body: unknown = BODY, apiKey = testApi.key) =>
      testApi.ask('POST', '/v1/payments', { body, key: apiKey, headers: { 'idempotency-key': key } })

    describe('A repeated request with the same Idempotency-Key', () => {
      test('a repeated request gets the first response again, byte for byte, and makes nothing', async () => {
        const first = await create('again')
        const before = await testApi.count('payment')
        const second = await create('again')
        expect([second.status, second.text, second.headers.get('location')]).toEqual([
          201,
          first.text,
          first.headers.get('location'),
        ])
        expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true'])
        expect(await testApi.count('payment')).toBe(before)
        expect(await testApi.count('timeline_entry')).toBe(before)
      })

      test('a request is a repetition whatever the order of its fields, its defaults, its quotes, and number or text', async () => {
        const first = await create('order', { amount: '49.99', currency: 'EUR', metadata: { a: '1', b: '2' } })
        const second = await create('"order"', {
          metadata: { b: '2', a: '1' },
          fallback: 'picker',
          expires_in: 86_400,
          currency: 'EUR',
          amount: 49.99,
        })
        expect(second.text).toBe(first.text)
      })

      test('a repeated key with another body is refused', async () => {
        await create('other body')
        const key = 'other-body'
        await create(key)
        const answer = await create(key, { ...BODY, amount: '50' })
        expectProblem(answer, 422, 'idempotency_key_reused')
        expect(answer.body['param']).toBe('Idempotency-Key')
      })

      test('a repeated request that would be refused now is answered as before', async () => {
        const merchant = await testApi.addMerchant()
        const first = await create('wallet-gone', BODY, merchant.key)
        await testApi.db.query('delete from wallet where merchant_id = $1', [merchant.tenant.merchantId])
        const second = await create('wallet-gone', BODY, merchant.key)
        expect([second.status, second.text]).toEqual([201, first.text])
        expectProblem(await create('wallet-gone-2', BODY, merchant.key), 422, 'wallet_not_configured')
      })

      test('a key of another merchant or another mode makes another request', async () => {
        const other = await testApi.addMerchant()
        const ids = await Promise.all(
          [testApi.key, other.key].map(async (key) => (await create('scope', BODY, key)).body['id']),
        )
        expect(new Set(ids).size).toBe(2)
        // As in a database that two modes shared before it was stamped.
        await testApi.db.query(
          `insert into idempotency_key (merchant_id, livemode, route, key, fingerprint, status, location, body)
         select merchant_id, true, route, 'other-mode', fingerprint, status, location, body from idempotency_key
         where merchant_id = $1 and key = 'scope'`,
          [testApi.tenant.merchantId],
        )
        const own = await create('other-mode')
        expect([own.status, own.headers.get('idempotent-replayed'), ids.includes(own.body['id'])]).toEqual([
          201,
          null,
          false,
        ])
      })

      test('another API key of the merchant makes the same request', async () => {
        const second = await testApi.addKey(testApi.tenant)
        expect((await create('rotated', BODY, second.key)).text).toBe((await create('rotated')).text)
      })
    })

    test('a refused request does not use up its Idempotency-Key', async () => {
      expectProblem(await create('second-try', { ...BODY, amount: 'x' }), 400, 'validation_failed')
      expectProblem(await create('second-try', { ...BODY, amount: '0.01' }), 422, 'amount_too_small')
      expect((await create('second-try')).status).toBe(201)
    })

    test.each(['', ' ', 'a b', 'ü', 'x'.repeat(256), '""'])('the Idempotency-Key %p is refused', async (key) => {
      const answer = await testApi.ask('POST', '/v1/payments', {
        body: BODY,
        headers: { 'idempotency-key': encodeURI(key) === key ? key : Buffer.from(key).toString('latin1') },
      })
      expectProblem(answer, 400, 'validation_failed')
      expect(answer.body['param']).toBe('Idempotency-Key')
    })

    test('while the first request has not ended, the second waits two seconds and gets an error that asks to try again', async () => {
      const claimed = withResolvers()
      const release = withResolvers()
      const first = testApi.db.transaction(async (tx) => {
        await tx.query(
          `insert into idempotency_key (merchant_id, livemode, route, key, fingerprint, status, body)
         values ($1, false, 'POST /v1/payments', 'slow', $2, 201, '{}')`,
          [testApi.tenant.merchantId, Buffer.alloc(32)],
        )
        claimed.resolve()
        await release.promise
        throw new Error('rolled back')
      })
      await claimed.promise
      const asked = performance.now()
      const answer = await create('slow')
      const waitedMs = performance.now() - asked
      release.resolve()
      await expect(first).rejects.toThrow('rolled back')
      expectProblem(answer, 409, 'idempotency_key_in_use')
      expect(answer.headers.get('retry-after')).toBe('1')
      // The response shows that the wait for the lock ended, and the clock that it was not given up earlier.
      expect(waitedMs).toBeGreaterThanOrEqual(2000)
      expect((await create('slow')).status).toBe(201)
    })

    test('a request without a key that waited in vain gets an error that does not mention a key', async () => {
      expect((await testApi.ask('POST', '/v1/payments', { body: BODY })).status).toBe(201)
      const before = await testApi.count('payment')
      const answer = await testApi.db.transaction(async (tx) => {
        await tx.query('select 1 from event_sequence where merchant_id = $1 for update', [testApi.tenant.merchantId])
        return testApi.ask('POST', '/v1/payments', { body: BODY })
      })
      expectProblem(answer, 503, 'temporarily_unavailable')
      expect(answer.headers.get('retry-after')).not.toBeNull()
      expect(await testApi.count('payment')).toBe(before)
    })

    function withResolvers(): { promise: Promise<void>; resolve: () => void } {
      let resolve = (): void => undefined
      const promise = new Promise<void>((done) => {
        resolve = done
      })
      return { promise, resolve }
    }
  })

  describe('Every POST', () => {
    let own: SeededApi
    beforeAll(async () => {
      testApi = await testApi.asNewMerchant()
      own = await seedApi(testApi)
    }, 60_000)

    type Operations = Record<string, Record<string, { operationId: string }>>
    const post = (path: string, key: string, body?: unknown): Promise<Answer> =>
      testApi.ask('POST', path, { headers: { 'idempotency-key': key }, ...(body !== undefined && { body }) })

    test('every POST with the same Idempotency-Key is answered as before, and does nothing more', async () => {
      const document = JSON.parse((await testApi.ask('GET', '/openapi.json')).text) as { paths: Operations }
      const posts = Object.values(document.paths).flatMap(({ post: found }) => (found === undefined ? [] : [found]))
      expect(posts.length).toBeGreaterThan(10)
      for (const { operationId } of posts) {
        const fresh = await seedApi(testApi)
        const { path, body } = rowsFor(fresh)[operationId]!
        const first = await post(path, operationId, body)
        expect([operationId, Math.floor(first.status / 100)]).toEqual([operationId, 2])
        await testApi.written()
        effects = []
        const stored = await everything()
        const second = await post(path, operationId, body)
        expect([operationId, second.status, second.text]).toEqual([operationId, first.status, first.text])
        expect([operationId, second.headers.get('idempotent-replayed')]).toEqual([operationId, 'true'])
        expect([operationId, effects, await everything()]).toEqual([operationId, [], stored])
        await testApi.db.query('delete from webhook_endpoint where id = $1', [fresh.endpoint])
        for (const table of ['membership', 'invitation']) await testApi.db.query(`delete from ${table}`)
        await testApi.db.query('update channel set removed_at = now()')
        await testApi.db.query('update api_key set revoked_at = now() where id <> $1', [testApi.keyId])
      }
    }, 60_000)

    async function everything(): Promise<string> {
      const tables = ['payment', 'refund', 'api_key', 'webhook_endpoint', 'event', 'delivery', 'idempotency_key']
      tables.push('channel', 'channel_message', 'notice', 'invitation', 'mail', 'audit_entry')
      const rows = await Promise.all(tables.map((table) => testApi.db.query(`select count(*) from ${table}`)))
      return JSON.stringify(rows.map((result) => result.rows))
    }

    describe('An effect outside the database', () => {
      async function cancelable() {
        const made = await testApi.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR' } })
        const id = String(made.body['id'])
        return { id, path: `/v1/payments/${id}/cancel`, simulate: `/v1/test/payments/${id}/simulate` }
      }

      test('the effect happens once for two concurrent requests: the second waits for the response of the first', async () => {
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

      test('a request that is still running is reported after two seconds, and another request with its key is refused', async () => {
        const { id, path, simulate } = await cancelable()
        await claimed(id, 'running', "now() + interval '1 minute'")
        const asked = performance.now()
        expectProblem(await post(path, 'running'), 409, 'idempotency_key_in_use')
        expect(performance.now() - asked).toBeGreaterThanOrEqual(2000)
        await post(simulate, 'other', { action: 'pay' })
        expectProblem(await post(simulate, 'other', { action: 'decline' }), 422, 'idempotency_key_reused')
      })

      test('the effect is requested again by the same request when the process of the first has died', async () => {
        const { id, path } = await cancelable()
        await claimed(id, 'died', "now() - interval '1 second'")
        effects = []
        expect((await post(path, 'died')).status).toBe(200)
        expect(effects).toEqual([`cancel ${id}`])
      })

      test('a refused request releases its key, also to another request', async () => {
        const redeliver = `/v1/webhook_endpoints/${own.endpoint}/redeliver_failed`
        const disable = (at: string) =>
          testApi.db.query(
            `update webhook_endpoint set disabled_at = ${at}, disabled_reason = case when ${at} is null then null else 'merchant' end where id = $1`,
            [own.endpoint],
          )
        await disable('now()')
        expectProblem(await post(redeliver, 'refused', { since: '2026-11-01T00:00:00Z' }), 409, 'not_possible_now')
        await disable('null')
        expect((await post(redeliver, 'refused', { since: '2026-11-02T00:00:00Z' })).status).toBe(202)
      })

      test('an effect at an id of thousands of characters, or with NUL in it, is the 404 of an unknown one', async () => {
        for (const id of ['x'.repeat(8000), '%00', '%F0%9F%98%80'.repeat(300)])
          expectProblem(await post(`/v1/payments/${id}/cancel`, 'long'), 404, 'resource_missing')
      })

      /** A key that a cancellation has claimed and not answered: made from an answered one. */
      async function claimed(id: string, key: string, until: string): Promise<void> {
        await post(`/v1/payments/${id}/cancel`, key)
        await testApi.db.query(
          `update idempotency_key set status = 0, body = '', claimed_until = ${until} where key = $1`,
          [key],
        )
        await testApi.db.query("update payment set status = 'created', canceled_at = null where id = $1", [id])
      }

      async function untilAsked(): Promise<void> {
        while (effects.length === 0) await new Promise((resolve) => setImmediate(resolve))
      }
    })
  })
})

describe('Requests of partners', () => {
  /** Partners' callbacks as HTTP requests: their response, the stored row, and the message to the workflow. */

  let passedOn: string[][] = []
  /** True while Temporal accepts messages. */
  let isReachable = true
  /** The subject of authentic callbacks; null: their attempt. */
  let named: CallbackSubject | 'dispute' | null = null
  let testApi: TestApi
  beforeAll(async () => {
    testApi = await openTestApi({
      deps: ({ workflows, readCallback }) => ({
        trustProxyHops: 1,
        readCallback: (provider, request) => {
          const reading = readCallback(provider, request)
          if (reading.kind !== 'order' || named === null) return reading
          return named === 'dispute' ? { kind: named } : { ...reading, subject: named }
        },
        workflows: {
          ...workflows,
          signalOrderChanged: async (...ids) => {
            if (!isReachable) throw new Error('Temporal does not answer')
            passedOn.push(ids)
          },
        },
      }),
    })
  })
  afterAll(() => testApi?.close())

  describe('Callbacks of partners', () => {
    let payment: Awaited<ReturnType<typeof plant>>
    let eventId = ''
    let occurredAt = ''
    beforeEach(async () => {
      payment = await plant(testApi.db, testApi.tenant)
      await testApi.db.query('delete from partner_callback')
      eventId = newId('partnerCallback')
      occurredAt = new Date().toISOString()
      passedOn = []
      isReachable = true
      named = null
    })

    /** An authentic callback of the banking app: signed over its bytes, now; a repeated one is equal. */
    function send({
      event = eventId,
      attemptId = payment.attemptId,
      secret = PARTNER_SECRET as string,
      account = 'pinrail',
      more = {},
      from = '127.0.0.1',
    } = {}): Promise<Answer> {
      const now = Math.floor(Date.now() / 1000)
      const body = JSON.stringify({
        event_id: event,
        event: 'order.state_changed',
        ...more,
        occurred_at: occurredAt,
        merchant_id: account,
        order: {
          id: 'wo_1',
          merchant_order_ref: attemptId,
          state: 'COMPLETED',
          amount: { value: '1.00', currency: 'EUR' },
        },
      })
      const signature = hmacSha256(secret, `wallet-app-callback\n${now}\n${body}`, 'hex')
      const headers = {
        'x-callback-timestamp': `${now}`,
        'x-callback-signature': signature,
        'x-forwarded-for': from,
      }
      return testApi.ask('POST', '/callbacks/wallet_app', { key: null, body, headers })
    }
    type Stored = { provider_event_id: string; attempt_id: string; applied: boolean }
    const stored = async (): Promise<Stored[]> =>
      (
        await testApi.db.query(
          'select provider_event_id, attempt_id, applied_at is not null as applied from partner_callback order by seq',
        )
      ).rows as Stored[]
    const unread = () => ({ provider_event_id: eventId, attempt_id: payment.attemptId, applied: false })

    test('a callback is stored, passed on, and only then answered with 200', async () => {
      const answer = await send()
      expect([answer.status, answer.body]).toEqual([200, { received: true }])
      expect(await stored()).toEqual([unread()])
      expect(passedOn).toEqual([[payment.id, payment.attemptId]])
    })

    test('a callback that is stored but could not be passed on gets 503, so that the partner sends it again', async () => {
      isReachable = false
      const refused = await send()
      expectProblem(refused, 503, 'temporarily_unavailable')
      expect(refused.headers.get('retry-after')).toBe('5')
      expect(await stored()).toEqual([unread()])
      isReachable = true
      expect((await send()).status).toBe(200)
      expect(passedOn).toEqual([[payment.id, payment.attemptId]])
      expect(await stored()).toEqual([unread()])
    })

    test('a repeated callback is passed on again until it was applied, and then no more', async () => {
      await send()
      await send()
      expect(passedOn).toHaveLength(2)
      await testApi.db.query('update partner_callback set applied_at = now()')
      expect((await send()).status).toBe(200)
      expect(passedOn).toHaveLength(2)
      expect(await stored()).toEqual([{ ...unread(), applied: true }])
    })

    test('a callback with 600,000 characters of evidence is read, and one of more than 1 MiB is not', async () => {
      expect((await send({ more: { evidence: 'x'.repeat(600_000) } })).status).toBe(200)
      expectProblem(await send({ more: { evidence: 'x'.repeat(1_100_000) } }), 413, 'body_too_large')
    })

    test('large callbacks that are sent slowly take few places, and keep no usual callback out', async () => {
      const { port } = new URL(testApi.url)
      const slow = Array.from({ length: MOST_LARGE + 4 }, (_, nth) => sendSlowly(port, `203.0.113.${nth}`))
      const more = { evidence: 'x'.repeat(600_000) }
      await until(
        async () => (await send({ more })).status,
        (status) => status === 413,
      )
      expect((await send()).status).toBe(200)
      for (const socket of slow) socket.destroy()
      await until(
        async () => (await send({ more })).status,
        (status) => status === 200,
      )
    })

    test('slow large callbacks from one network keep no large callback from elsewhere out', async () => {
      const { port } = new URL(testApi.url)
      const stranger = '198.51.100.9'
      const slow = Array.from({ length: MOST_LARGE + 4 }, () => sendSlowly(port, stranger))
      const more = { evidence: 'x'.repeat(600_000) }
      await until(
        async () => (await send({ more, from: stranger })).status,
        (status) => status === 413,
      )
      expect((await send({ more, from: '198.51.101.9' })).status).toBe(200)
      for (const socket of slow) socket.destroy()
      await until(
        async () => (await send({ more, from: stranger })).status,
        (status) => status === 200,
      )
    })

    test('a callback with another signature stores nothing and is not passed on', async () => {
      expectProblem(await send({ secret: 'another secret' }), 401, 'invalid_callback')
      expect([await stored(), passedOn]).toEqual([[], []])
    })

    test('an authentic callback about an order of somebody else gets 200 and changes nothing', async () => {
      for (const foreign of [{ attemptId: newId('attempt') }, { account: 'somebody-else' }]) {
        const answer = await send(foreign)
        expect([answer.status, answer.body]).toEqual([200, { received: true }])
      }
      expect([await stored(), passedOn]).toEqual([[], []])
    })

    test('a callback about a dispute makes its partner’s disputes due, at most every 15 seconds', async () => {
      named = 'dispute'
      const later = "now() + interval '1 hour'"
      const dueIn = async (begunAt: string) => {
        await testApi.db.query(`update dispute_sweep set due_at = ${later}, begun_at = ${begunAt}`)
        expect((await send()).status).toBe(200)
        const { rows } = await testApi.db.query(
          'select provider, ceil(extract(epoch from due_at - now()))::int as seconds from dispute_sweep order by 2, 1',
        )
        return rows as { provider: string; seconds: number }[]
      }
      const [first, ...others] = await dueIn("'-infinity'")
      expect(first).toEqual({ provider: 'wallet_app', seconds: 0 })
      expect(others.map(({ seconds }) => seconds)).toEqual([3600, 3600])
      const [again] = await dueIn('now()')
      expect(again?.provider).toBe('wallet_app')
      expect(again?.seconds).toBeGreaterThan(10)
      expect(again?.seconds).toBeLessThanOrEqual(15)
      expect([await stored(), passedOn]).toEqual([[], []])
    })

    test('a callback that names only a payment at the partner finds its attempt once that payment was read', async () => {
      named = { payment: 'pi_1' }
      expect((await send()).status).toBe(200)
      expect([await stored(), passedOn]).toEqual([[], []])
      await testApi.db.query("update attempt set partner_payments = '{ch_1,pi_1}' where id = $1", [payment.attemptId])
      expect((await send()).status).toBe(200)
      expect(await stored()).toEqual([unread()])
      expect(passedOn).toEqual([[payment.id, payment.attemptId]])
    })
  })

  describe('NUL in a request', () => {
    // Postgres refuses a text with NUL.
    beforeAll(async () => {
      testApi = await testApi.asNewMerchant()
    })

    test.each(['/c/%00', '/c/a%00b', '/c/%00/status', '/c/%00/code.svg'])(
      'a request with NUL in its path gets the response of an unknown checkout: %s',
      async (path) => {
        const [answer, unknown] = await Promise.all(
          [path, path.replaceAll('%00', 'x')].map((at) => testApi.ask('GET', at, { key: null })),
        )
        expect(answer!.status).toBe(404)
        expect(answer!.text.replaceAll(/req_\w+/g, '')).toBe(unknown!.text.replaceAll(/req_\w+/g, ''))
      },
    )

    test.each(['/v1/payments/%00', '/v1/events/%00', '/v1/webhook_endpoints/%00', '/v1/api_keys/%00'])(
      'a request with NUL in an id gets the response of an unknown one: %s',
      async (path) => {
        expect((await testApi.ask('GET', path)).status).toBeLessThan(500)
      },
    )
  })
})

describe('Starts of workflows', () => {
  const BODY = { amount: '49.99', currency: 'EUR' }
  let testApi: TestApi
  let connection: Connection
  let client: Client
  beforeAll(async () => {
    testApi = await openTestApi({ temporalDown: true })
    const { address, namespace } = await startDevServer()
    connection = await Connection.connect({ address })
    client = new Client({ connection, namespace })
  }, 60_000)
  afterAll(async () => {
    await testApi?.close()
    await connection?.close()
  })

  const create = (at: TestApi, of = at.key) => at.ask('POST', '/v1/payments', { body: BODY, key: of })
  const relayTo = (taskQueue: string, of: TestApi) => {
    const { db, log } = of
    const workflows = createPaymentWorkflows({ client, taskQueue, load: loadStart(db) })
    return createRelay({
      db,
      client,
      workflows,
      refunds: connectRefunds(db, client, taskQueue),
      clock: Date.now,
      log,
      graceMs: 0,
    })
  }

  test('a payment is answered although Temporal is down, and the relay starts its workflow later, once', async () => {
    const created = await create(testApi)
    expect(created.status).toBe(201)
    await testApi.written()
    expect(await testApi.count('outbox')).toBe(1)

    const relay = relayTo('nobody-takes-these', testApi)
    expect(await relay.startPayments()).toBe(1)
    expect(await testApi.count('outbox')).toBe(0)
    const { status, workflowId } = await client.workflow
      .getHandle(paymentWorkflowId(String(created.body['id'])))
      .describe()
    expect([status.name, workflowId]).toEqual(['RUNNING', created.body['id']])
    expect(await relay.startPayments()).toBe(0)
  })

  test('two relays at the same moment start each payment once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => create(testApi)))
    await testApi.written()
    const started: string[] = []
    const { db, log, workflows } = testApi
    const refunds = connectRefunds(db, client, 'nobody-takes-these')
    const watched = { ...workflows, resume: async ({ id }: { id: string }) => started.push(id) > 0 }
    const relays = [1, 2].map(() =>
      createRelay({ db, client, workflows: watched, refunds, clock: Date.now, log, graceMs: 0 }).startPayments(),
    )
    const counts = await Promise.all(relays)
    expect(counts.toSorted((a, b) => b - a)).toEqual([16, 4])
    expect(started).toHaveLength(made.length)
    expect(new Set(started)).toEqual(new Set(made.map(({ body }) => body['id'])))
    expect(await testApi.count('outbox')).toBe(0)
  })

  test('while Temporal is up, the workflow runs and the outbox is empty soon after the response', async () => {
    const up = await openTestApi()
    try {
      const { id } = (await create(up)).body
      await up.written()
      const { status } = await client.workflow.getHandle(paymentWorkflowId(String(id))).describe()
      expect(status.name).toBe('RUNNING')
      expect(await up.count('outbox')).toBe(0)
    } finally {
      await up.close()
    }
  })

  test('a run that starts from the row before a change, at that moment, receives the change', async () => {
    const id = String((await create(testApi)).body['id'])
    await testApi.written()
    const taskQueue = 'nobody-takes-these'
    const load = loadStart(testApi.db)
    const { start } = createPaymentWorkflows({ client, taskQueue, load })
    const startMeanwhile = async (paymentId: string) => {
      const row = await load(paymentId)
      await start(row)
      return row
    }
    await createPaymentWorkflows({ client, taskQueue, load: startMeanwhile }).signalRowChanged(id)
    const { events } = await client.workflow.getHandle(paymentWorkflowId(id)).fetchHistory()
    const signals = events?.map((event) => event.workflowExecutionSignaledEventAttributes?.signalName)
    expect(signals?.filter(Boolean)).toEqual(['rowChanged'])
  })

  describe('Many payments at once', () => {
    let open = (): void => undefined
    let atOnce = 0
    let most = 0
    let busy: TestApi
    beforeAll(async () => {
      const gate = new Promise<void>((resolve) => {
        open = resolve
      })
      busy = await openTestApi({
        deps: ({ workflows }) => ({
          background: createBackground({ running: 2, queued: 3 }, () => undefined),
          workflows: {
            ...workflows,
            start: async (payment) => {
              most = Math.max(most, ++atOnce)
              await gate
              return workflows.start(payment).finally(() => atOnce--)
            },
          },
        }),
      })
    })
    afterAll(() => busy?.close())

    test('all payments are answered while none is started, no more than the bound start at once, and the relay starts the rest', async () => {
      const made = await Promise.all(Array.from({ length: 8 }, () => create(busy)))
      expect(made.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201))
      expect([atOnce, await busy.count('outbox')]).toEqual([2, 8])
      open()
      await busy.written()
      // Two had a place, three waited for one, and for three there was no room.
      expect([most, await busy.count('outbox')]).toEqual([2, 3])
      expect(await relayTo(busy.taskQueue, busy).startPayments()).toBe(3)
      const statuses = made.map(({ body }) =>
        client.workflow.getHandle(paymentWorkflowId(String(body['id']))).describe(),
      )
      expect((await Promise.all(statuses)).map(({ status }) => status.name)).toEqual(made.map(() => 'RUNNING'))
    })
  })
})
