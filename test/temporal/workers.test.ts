import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { seedDemo } from '../../scripts/system/seed.ts'
import { BOX_KEY, PEPPER, TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import { until } from '../../scripts/test/until.ts'
import { createApp } from '../../src/api/app.ts'
import { readApiConfig, readCodecConfig, readWorkerConfig } from '../../src/config/config.ts'
import { composeApi } from '../../src/deps/api.ts'
import { composeCodecServer } from '../../src/deps/codec.ts'
import { composeWorker } from '../../src/deps/worker.ts'
import { runPinrail } from '../../src/operator/command.ts'
import { useTemporal } from './temporal-server.ts'

const log = pino({ level: 'silent' })

const temporal = useTemporal()

let database: TestDatabase

/**
 * A system whose payloads are encrypted, and an operator with Temporal's CLI: without the codec server, and with it.
 */
describe('encrypted payloads', () => {
  const CODEC_SERVER_TOKEN = randomBytes(32).toString('base64')
  const key = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`
  const [oldKey, newKey] = [key('2026-01'), key('2026-02')]
  let api: Awaited<ReturnType<typeof composeApi>>
  let worker: Awaited<ReturnType<typeof composeWorker>>
  let running: Promise<void>[]
  let servers: Server[] = []
  let apiUrl = ''
  let codecUrl = ''
  let secretKey = ''

  const environment = (keys: string) => ({
    ...TEST_ENVIRONMENT,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_CODEC_KEYS: keys,
    TREASURY_KEY: `0x${randomBytes(32).toString('hex')}`,
    RELAYER_KEYS: `0x${randomBytes(32).toString('hex')}`,
    WORKER_SHUTDOWN_GRACE_MS: '0',
  })

  async function listen(server: Server): Promise<string> {
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  beforeAll(async () => {
    database = await createTestDatabase()
    const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    const demo = {
      apiKeyPepper: PEPPER,
      webhookEncryptionKey: BOX_KEY,
      webhookSecret: 'whsec_',
      wallet,
      secretKey: null,
    }
    secretKey = (await seedDemo({ ...demo, webhookUrl: 'http://127.0.0.1:9' }, database.url)).secretKey
    // In the middle of a rotation: all have both keys, workers write with the new one, and this api with the old one.
    api = await composeApi(readApiConfig(environment(`${oldKey},${newKey}`)), log, {
      deps: () => ({ rates: { current: async () => ({ rate: '1', source: 'test' }) } }),
    })
    worker = await composeWorker(readWorkerConfig(environment(`${newKey},${oldKey}`)), log)
    running = worker.workers.map((each) => each.run())
    apiUrl = await listen(createServer(createApp(api.deps)))
    const codec = { TEMPORAL_CODEC_KEYS: `${newKey},${oldKey}`, CODEC_SERVER_TOKEN }
    codecUrl = await listen(composeCodecServer(readCodecConfig(codec)))
  }, 120_000)
  afterAll(async () => {
    for (const each of worker?.workers ?? []) each.shutdown()
    await Promise.allSettled(running ?? [])
    await worker?.close()
    await api?.close()
    for (const server of servers) server.close()
    await database?.drop()
  }, 60_000)

  async function ask(path: string, body: object, signal?: AbortSignal): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' }
    const answer = await fetch(`${apiUrl}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: signal ?? null,
    })
    return (await answer.json()) as Record<string, unknown>
  }

  async function newPayment(): Promise<string> {
    const { id } = await ask('/v1/payments', { amount: 10, currency: 'EUR' })
    return String(id)
  }

  const NOTE = '{"operator":"ada","reason":"to be looked at"}'
  const withCodec = () => ['--codec-endpoint', codecUrl, '--codec-auth', `Bearer ${CODEC_SERVER_TOKEN}`]
  const HOLD = ['workflow', 'update', 'execute', '--name', 'hold', '--input', NOTE]
  const hold = (id: string, ...more: string[]) => temporal.cli(...HOLD, '--workflow-id', id, ...more)
  const readHistory = async (id: string, ...more: string[]): Promise<string> =>
    (await temporal.cli('workflow', 'show', '--workflow-id', id, '--output', 'json', ...more)).text
  const heldBy = async (id: string): Promise<unknown[]> =>
    (await api.deps.db.query(`select data from timeline_entry where payment_id = $1 and data::text like '%ada%'`, [id]))
      .rows

  test('an operator decides with the documented command and the codec server, and the history keeps it secret', async () => {
    const id = await newPayment()
    expect(await hold(id, ...withCodec())).toMatchObject({ code: 0 })
    expect(await heldBy(id)).toHaveLength(1)
    const note = Buffer.from(NOTE).toString('base64')
    expect(await readHistory(id)).not.toContain(note)
    expect(await readHistory(id)).toMatch(/binary\/encrypted|YmluYXJ5L2VuY3J5cHRlZA==/)
    expect(await readHistory(id, ...withCodec())).toContain(note)
  }, 60_000)

  /** As an operator types it, with only the worker's variables. */
  async function pinrail(...args: string[]): Promise<{ code: number; text: string }> {
    let text = ''
    const add = (more: string): void => void (text += more)
    const code = await runPinrail({ args, env: environment(`${newKey},${oldKey}`) }, { out: add, err: add })
    return { code, text }
  }
  const decide = (id: string, decision: string, ...more: string[]) =>
    pinrail('payments', 'decide', id, decision, '--operator', 'ada', '--reason', 'to be looked at', ...more)

  test('pinrail payments decide encrypts its message, and reports a refusal with the reason', async () => {
    const id = await newPayment()
    expect(await decide(id, 'hold')).toEqual({ code: 0, text: expect.stringContaining(`${id} is created: `) })
    expect(await heldBy(id)).toHaveLength(1)
    const readable = Buffer.from(JSON.stringify({ operator: 'ada', reason: 'to be looked at' })).toString('base64')
    expect(await readHistory(id)).not.toContain(readable)
    const { text } = await pinrail('payments', 'explain', id)
    expect(text).toContain('An operator holds the payment (by ada: to be looked at)')
    expect(text).toContain('held by ada: to be looked at')
    const [, version = ''] = /release --version (\d+) --operator/.exec(text) ?? []
    expect(await decide(id, 'settle', '--version', version)).toEqual({
      code: 1,
      text: 'refused: The payment is created, and settle changes nothing. Decide with release\n',
    })
    expect((await decide(id, 'release')).text).toContain('Add "version"')
    const changed = await decide(id, 'release', '--version', String(Number(version) - 1))
    expect(changed.text).toMatch(
      /^refused: The payment has changed .*\. Newest: \S+Z {2}An operator holds the payment \(by ada: to be looked at\)$/m,
    )
    expect(await decide(id, 'release', '--version', version)).toEqual({
      code: 0,
      text: expect.stringMatching(
        /: release: recorded\. No money has arrived\. .*\nLook again with `pinrail payments explain pay_/,
      ),
    })
    await temporal.cli('workflow', 'terminate', '--workflow-id', id, '--reason', 'lost')
    expect(await decide(id, 'hold')).toMatchObject({ code: 1, text: expect.stringContaining('is running') })
  }, 60_000)

  test('the command without the codec server is refused with the reason, and leaves nothing in the history', async () => {
    const id = await newPayment()
    const refused = await hold(id)
    expect(refused.code).not.toBe(0)
    expect(refused.text).toContain('refused a payload that is not encrypted: use the codec server')
    expect(await heldBy(id)).toEqual([])
    expect(await readHistory(id)).not.toContain('WORKFLOW_EXECUTION_UPDATE')
    expect(await hold(id, ...withCodec())).toMatchObject({ code: 0 })
  }, 60_000)

  test.each([
    ['orderChanged', '{"attemptId":"att_of_nobody"}'],
    ['a signal that nobody knows', '"garbage"'],
  ])(
    'a plaintext signal changes nothing and stops nothing: %s',
    async (name, input) => {
      const id = await newPayment()
      const sent = await temporal.cli('workflow', 'signal', '--workflow-id', id, '--name', name, '--input', input)
      expect(sent.code).toBe(0)
      expect(await ask(`/v1/payments/${id}/cancel`, {})).toMatchObject({ id, status: 'canceled' })
      expect(await readHistory(id)).not.toContain('WORKFLOW_TASK_FAILED')
    },
    60_000,
  )

  test('a run that somebody starts in plaintext ends at once, so that the right one can replace it', async () => {
    const id = await newPayment()
    await temporal.cli('workflow', 'terminate', '--workflow-id', id, '--reason', 'lost')
    const start = ['--type', 'payment', '--task-queue', 'payments', '--workflow-id', id]
    await temporal.cli('workflow', 'start', ...start, '--input', `{"id":"${id}","expiresAt":1,"resume":true}`)
    await until(
      () => readHistory(id),
      (history) => history.includes('EVENT_TYPE_WORKFLOW_EXECUTION_FAILED'),
    )
    expect(await readHistory(id)).toContain('refused a payload that is not encrypted')
    expect(await ask(`/v1/payments/${id}/cancel`, {})).toMatchObject({ id, status: 'canceled' })
  }, 60_000)

  test('the error of an activity is readable only with the codec server', async () => {
    const id = await newPayment()
    const merchant = new AbortController()
    const asked = ask(`/v1/test/payments/${id}/simulate`, { action: 'pay' }, merchant.signal)
    const describe = (...more: string[]) =>
      temporal.cli('workflow', 'describe', '--workflow-id', id, '--output', 'json', ...more)
    const failed = await until(
      async () => (await describe()).text,
      (text) => text.includes('lastFailure'),
    )
    expect(failed).toContain('Encoded failure')
    expect(failed).not.toMatch(/no answer|failure\.ts/)
    expect((await describe(...withCodec())).text).toContain('card_partner: no answer')
    // The partner never answers, so the merchant stops waiting.
    merchant.abort()
    await expect(asked).rejects.toThrow('aborted')
  }, 60_000)

  test('after the rotation an operator still reads and decides payments from before it', async () => {
    const id = await newPayment()
    const history = await readHistory(id)
    expect(history).toContain(Buffer.from('2026-01').toString('base64'))
    expect(await hold(id, ...withCodec())).toMatchObject({ code: 0 })
    expect(await readHistory(id)).toContain(Buffer.from('2026-02').toString('base64'))
    const readable = await readHistory(id, ...withCodec())
    expect(readable).toContain('EVENT_TYPE_WORKFLOW_EXECUTION_STARTED')
    expect(readable).not.toContain(Buffer.from('binary/encrypted').toString('base64'))
  }, 60_000)
})
