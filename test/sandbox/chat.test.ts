import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { sendToDiscord } from '../../src/notify/discord.ts'
import type { Post } from '../../src/notify/outcome.ts'
import { sendToSlack } from '../../src/notify/slack.ts'
import { typed, words } from '../../src/notify/text.ts'
import { openChat } from '../../src/sandbox/inbox/chat.ts'
import { startInbox } from './inbox-server.ts'

let folder: string
let url: string
let stop: () => Promise<void>
const start = async (): Promise<void> => {
  const chat = await openChat({ dataFile: join(folder, 'chats.jsonl') })
  ;({ url, stop } = await startInbox({ secrets: [], dataFile: join(folder, 'deliveries.jsonl'), chat }))
}
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'chat-'))
  await start()
})
afterEach(async () => {
  await stop()
  rmSync(folder, { recursive: true })
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

test('what a channel of Slack or Discord is sent stands on the page of the chat, and stays after a restart', async () => {
  const message = { title: 'Demo Shop: Payment succeeded', lines: [[words('Reference: '), typed('<b>1042</b> & co')]] }
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
