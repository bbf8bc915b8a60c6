import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { postJson } from '../providers/sandbox-server.ts'
import { startInbox } from './inbox-server.ts'

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

let folder: string
let secret: string
let url: string
let stop: () => Promise<void>
const start = async (): Promise<void> => {
  ;({ url, stop } = await startInbox({ secrets: [secret], dataFile: join(folder, 'deliveries.jsonl') }))
}
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'inbox-'))
  secret = newSecret()
  await start()
})
afterEach(async () => {
  await stop()
  rmSync(folder, { recursive: true })
})

const deliver = (changes: { secret?: string; body?: string; at?: Date } = {}, signal?: AbortSignal) => {
  const body = '{"type":"payment.succeeded",  "data":{"note":"<b>é</b>"}}'
  const at = changes.at ?? new Date()
  const id = 'evt_1'
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': Math.floor(at.getTime() / 1000).toString(),
    'webhook-signature': new Webhook(changes.secret ?? secret).sign(id, at, body),
  }
  return fetch(`${url}/webhook`, {
    method: 'POST',
    headers,
    body: changes.body ?? body,
    ...(signal === undefined ? {} : { signal }),
  })
}
const deliveries = async () => (await (await fetch(`${url}/deliveries`)).json()) as Record<string, unknown>[]

test('a right signature is verified, and the text is kept as it came', async () => {
  expect((await deliver()).status).toBe(200)
  expect(await deliveries()).toMatchObject([
    {
      received_at: expect.stringMatching(/^\d{4}-.*Z$/),
      headers: { 'webhook-id': 'evt_1' },
      body: '{"type":"payment.succeeded",  "data":{"note":"<b>é</b>"}}',
      status: 200,
      verified: true,
    },
  ])
})

test('a wrong secret, a changed body and an old timestamp are refused, and the verdict is kept', async () => {
  expect((await deliver({ secret: newSecret() })).status).toBe(401)
  expect((await deliver({ body: '{}' })).status).toBe(401)
  expect((await deliver({ at: new Date(Date.now() - 400_000) })).status).toBe(401)
  expect((await deliveries()).map((each) => each['verified'])).toEqual([false, false, false])
})

test('deliveries survive a restart', async () => {
  await deliver()
  await stop()
  await start()
  expect(await deliveries()).toHaveLength(1)
})

test('it can be told how to answer, for a number of deliveries', async () => {
  await postJson(`${url}/behaviour`, { answer: 500, times: 2 })
  const statuses = [await deliver(), await deliver(), await deliver()].map((answer) => answer.status)
  expect(statuses).toEqual([500, 500, 200])
  await postJson(`${url}/behaviour`, { answer: 429, times: 1, retryAfterSeconds: 9 })
  expect((await deliver()).headers.get('retry-after')).toBe('9')
  await postJson(`${url}/behaviour`, { answer: 'close', times: 1 })
  await expect(deliver()).rejects.toThrow('fetch failed')
  await postJson(`${url}/behaviour`, { answer: 'hang', times: 1 })
  const giveUp = new AbortController()
  const hanging = deliver({}, giveUp.signal)
  while ((await deliveries()).length < 6) await new Promise((resolve) => setImmediate(resolve))
  giveUp.abort()
  await expect(hanging).rejects.toThrow('This operation was aborted')
  expect((await deliveries()).map((each) => each['status'])).toEqual([500, 500, 200, 429, 0, 0])
  expect((await postJson(`${url}/behaviour`, { answer: 'dance' })).status).toBe(400)
})

test('the secret can be replaced while it runs, and two are taken during a rotation', async () => {
  const next = newSecret()
  expect((await postJson(`${url}/secret`, { secrets: [secret, next] })).status).toBe(204)
  expect((await deliver({ secret: next })).status).toBe(200)
  expect((await deliver()).status).toBe(200)
  await postJson(`${url}/secret`, { secrets: [next] })
  expect((await deliver()).status).toBe(401)
  expect((await postJson(`${url}/secret`, { secrets: ['plain'] })).status).toBe(400)
})

test('the page lists what came, escaped', async () => {
  await deliver()
  const text = await (await fetch(url)).text()
  expect(text).toContain('payment.succeeded')
  expect(text).toContain('verified')
  expect(text).toContain('&lt;b&gt;é&lt;/b&gt;')
  expect(text).not.toContain('<b>é</b>')
})
