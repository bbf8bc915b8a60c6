import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { sendToDiscord } from '../../src/notify/discord.ts'
import type { Post } from '../../src/notify/outcome.ts'
import { sendToSlack } from '../../src/notify/slack.ts'
import { typed, words } from '../../src/notify/text.ts'
import { openChat } from '../../src/sandbox/inbox/chat.ts'
import { postJson } from '../partners/sandbox-server.ts'
import { startInbox } from './inbox-server.ts'

let folder: string
let url: string
let stop: () => Promise<void>
afterEach(async () => {
  await stop()
  rmSync(folder, { recursive: true })
})

describe('the inbox of webhooks', () => {
  const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`
  let secret: string
  const start = async (): Promise<void> => {
    ;({ url, stop } = await startInbox({ secrets: [secret], dataFile: join(folder, 'deliveries.jsonl') }))
  }
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'inbox-'))
    secret = newSecret()
    await start()
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

  test('the inbox verifies with every secret that it was given, also after a restart', async () => {
    const other = newSecret()
    expect((await deliver({ secret: other })).status).toBe(401)
    expect((await postJson(`${url}/secrets`, { secret: other })).status).toBe(204)
    expect([(await deliver({ secret: other })).status, (await deliver()).status]).toEqual([200, 200])
    await stop()
    await start()
    expect((await deliver({ secret: other })).status).toBe(200)
  })

  test('a right signature is verified, and the text is stored as it arrived', async () => {
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

  test('a wrong secret, a changed body and an old timestamp are refused, and the verdict is stored', async () => {
    expect((await deliver({ secret: newSecret() })).status).toBe(401)
    expect((await deliver({ body: '{}' })).status).toBe(401)
    expect((await deliver({ at: new Date(Date.now() - 400_000) })).status).toBe(401)
    expect((await deliveries()).map((each) => each['verified'])).toEqual([false, false, false])
  })

  test('deliveries survive a restart of the inbox', async () => {
    await deliver()
    await stop()
    await start()
    expect(await deliveries()).toHaveLength(1)
  })

  test('the inbox can be set to give a response to a number of deliveries', async () => {
    await postJson(`${url}/behavior`, { answer: 500, times: 2 })
    const statuses = [await deliver(), await deliver(), await deliver()].map((answer) => answer.status)
    expect(statuses).toEqual([500, 500, 200])
    await postJson(`${url}/behavior`, { answer: 429, times: 1, retryAfterSeconds: 9 })
    expect((await deliver()).headers.get('retry-after')).toBe('9')
    await postJson(`${url}/behavior`, { answer: 'close', times: 1 })
    await expect(deliver()).rejects.toThrow('fetch failed')
    await postJson(`${url}/behavior`, { answer: 'hang', times: 1 })
    const giveUp = new AbortController()
    const hanging = deliver({}, giveUp.signal)
    while ((await deliveries()).length < 6) await new Promise((resolve) => setImmediate(resolve))
    giveUp.abort()
    await expect(hanging).rejects.toThrow('This operation was aborted')
    expect((await deliveries()).map((each) => each['status'])).toEqual([500, 500, 200, 429, 0, 0])
    expect((await postJson(`${url}/behavior`, { answer: 'dance' })).status).toBe(400)
  })

  test('the secret can be replaced while the inbox runs, and two are accepted during a rotation', async () => {
    const next = newSecret()
    expect((await postJson(`${url}/secret`, { secrets: [secret, next] })).status).toBe(204)
    expect((await deliver({ secret: next })).status).toBe(200)
    expect((await deliver()).status).toBe(200)
    await postJson(`${url}/secret`, { secrets: [next] })
    expect((await deliver()).status).toBe(401)
    expect((await postJson(`${url}/secret`, { secrets: ['plain'] })).status).toBe(400)
  })

  test('the page of the inbox lists all requests, escaped', async () => {
    await deliver()
    const text = await (await fetch(url)).text()
    expect(text).toContain('payment.succeeded')
    expect(text).toContain('verified')
    expect(text).toContain('&lt;b&gt;é&lt;/b&gt;')
    expect(text).not.toContain('<b>é</b>')
  })
})

describe('The inbox of chats', () => {
  const start = async (): Promise<void> => {
    const chat = await openChat({ dataFile: join(folder, 'chats.jsonl') })
    ;({ url, stop } = await startInbox({ secrets: [], dataFile: join(folder, 'deliveries.jsonl'), chat }))
  }
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'chat-'))
    await start()
  })

  const post: Post = async ({ url: to, body, signal }) => {
    const answer = await fetch(to, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
    const headers = Object.fromEntries(answer.headers)
    return {
      status: answer.status,
      body: await answer.text(),
      headers,
      retryAfterSeconds: null,
      error: null,
      wasSent: true,
    }
  }

  test('a message for a Slack or Discord channel is on the page of the chat, and stays after a restart', async () => {
    const message = {
      title: 'Demo Shop: Payment succeeded',
      lines: [[words('Reference: '), typed('<b>1042</b> & co')]],
    }
    const line = { channelId: 'nch_1', signal: AbortSignal.timeout(5000) }
    const slack = await sendToSlack(post, { ...line, url: `${url}/services/TDEMO/BDEMO/inbox` }, message)
    const discord = await sendToDiscord(post, { ...line, url: `${url}/api/webhooks/1/inbox` }, message)
    expect([slack.kind, discord.kind]).toEqual(['accepted', 'accepted'])
    await stop()
    await start()
    const page = await (await fetch(`${url}/chat`)).text()
    expect(page).toContain('2 messages')
    expect(page.match(/Payment succeeded/g)).toHaveLength(2)
    expect(page).toContain('&lt;b&gt;1042&lt;/b&gt; &amp; co')
    expect(page).not.toContain('<b>1042')
    const empty = await fetch(`${url}/services/TDEMO/BDEMO/inbox`, { method: 'POST', body: '{}' })
    expect([empty.status, await empty.text()]).toEqual([400, 'invalid_payload'])
  })
})
