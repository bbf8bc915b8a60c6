import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Tenant } from '../../src/db/db.ts'
import { mendChannel } from '../../src/db/notifications/channels.ts'
import { rows, secretBox } from '../webhooks/seed.ts'
import { createWorld, messagesOf, newTenant, type World } from './world.ts'

let world: World
let tenant: Tenant
beforeAll(async () => {
  world = await createWorld()
  tenant = await newTenant(world)
})
afterAll(() => world?.close())

/** A buyer may fill in the reference where the link allows it. */
const EVIL =
  '`@everyone` <!channel> <@U1> [click](https://evil.example) **x**\n# big <https://evil.example|bank> \u202e\u200b||'
const HARMLESS = '@everyone <!channel> <@U1> [click](https://evil.example) **x**'

async function bodyAt(kind: 'telegram' | 'discord' | 'slack'): Promise<Readonly<Record<string, unknown>>> {
  const channel = await world.addChannel(tenant, kind)
  await world.pay(tenant, { reference: EVIL })
  await world.run(channel.id, 2)
  return world.services[kind].taken[0]!.body
}

test('what a buyer typed is code in Telegram: no markup, no link, no mention, and one line', async () => {
  const body = await bodyAt('telegram')
  const text = String(body['text'])
  const [{ offset, length, type }] = body['entities'] as [{ offset: number; length: number; type: string }]
  expect(body).not.toHaveProperty('parse_mode')
  expect(type).toBe('code')
  const code = text.slice(offset, offset + length)
  expect(code).toContain('<!channel> <@U1> [click](https://evil.example)')
  expect(text.replace(code, '')).not.toMatch(/evil|everyone|channel/)
  expect(code).not.toMatch(/[`\n\u202e\u200b]/)
  expect(code.length).toBeLessThanOrEqual(64)
})

test('what a buyer typed is code in Discord, and nobody is ever mentioned', async () => {
  const body = await bodyAt('discord')
  expect(body['allowed_mentions']).toEqual({ parse: [] })
  const [before, code, after] = String(body['content']).split('`')
  expect(code).toContain(HARMLESS.slice(1, 40))
  expect(`${before}${after}`).not.toMatch(/evil|everyone/)
})

test('what a buyer typed opens no link and no mention in Slack', async () => {
  const body = await bodyAt('slack')
  const [block] = body['blocks'] as { text: { text: string; verbatim: boolean } }[]
  expect(block!.text.verbatim).toBe(true)
  // Whatever opens something there begins with <, and only our own link does.
  expect(block!.text.text.match(/<[^>]*>/g)).toEqual([
    expect.stringMatching(/^<https:\/\/pay\.pinrail\.example\/dashboard/),
  ])
  expect(String(body['text'])).not.toMatch(/[<>]/)
})

test('the chat of somebody who has left the account is told nothing more; a group that they linked is', async () => {
  const account = await newTenant(world)
  const person = (await world.addChannel(account, 'email', { events: [] })).person_id
  const channel = await world.addChannel(account, 'telegram', { person_id: person })
  const references = () =>
    world.services.telegram.taken.flatMap(({ text }) => ['before', 'after'].filter((word) => text.includes(word)))
  await world.pay(account, { reference: 'before' })
  await world.run(channel.id, 5)
  await world.db.query('delete from membership where merchant_id = $1', [account.merchantId])
  await world.pay(account, { reference: 'after' })
  await world.run(channel.id, 5)
  expect(references()).toEqual(['before'])
  const [off] = await rows<{ broken_reason: string }>(world.db, 'select * from channel where id = $1', [channel.id])
  expect(off?.broken_reason).toContain('its person has left the account')

  const group = secretBox.seal('-1004711', channel.id)
  await world.db.query('update channel set sealed = $2 where id = $1', [channel.id, group])
  const at = new Date(world.clock.now).toISOString()
  await world.db.transaction((tx) => mendChannel(tx, account, { id: channel.id, at }))
  const told = world.services.telegram.taken.length
  await world.run(channel.id, 30)
  const chats = world.services.telegram.taken.slice(told).map(({ body }) => body['chat_id'])
  expect(new Set(chats)).toEqual(new Set(['-1004711']))
})

test('the chat of somebody who is forgotten is told nothing more', async () => {
  const account = await newTenant(world)
  const channel = await world.addChannel(account, 'telegram')
  await world.db.query('delete from person where id = $1', [channel.person_id])
  await world.pay(account, { reference: 'after the end' })
  await world.run(channel.id, 5)
  expect(world.services.telegram.taken.filter(({ text }) => text.includes('after the end'))).toEqual([])
})

test('no address of a channel stands in what is kept of its failures', async () => {
  const channel = await world.addChannel(tenant, 'discord', { events: ['payment.failed'] })
  world.services.discord.mood = () => 404
  await world.pay(tenant, { type: 'payment.failed' })
  await world.run(channel.id, 2)
  const kept = JSON.stringify([
    await messagesOf(world, channel),
    (await world.db.query('select * from notice')).rows,
    (await world.db.query('select * from channel where id = $1', [channel.id])).rows,
  ])
  expect(kept).toContain('Unknown Webhook')
  expect(kept).not.toContain('secret-of-discord')
})

test.each([
  'http://169.254.169.254/latest/meta-data',
  'http://127.0.0.1:9/api/webhooks/1/x',
  'https://10.0.0.1/services/T/B/x',
])('a channel whose address got past the form is not called either: %s', async (url) => {
  const channel = await world.addChannel(tenant, 'slack', { events: ['payment.expired'] })
  await world.db.query('update channel set sealed = $2 where id = $1', [channel.id, secretBox.seal(url, channel.id)])
  await world.pay(tenant, { type: 'payment.expired' })
  await world.run(channel.id, 2)
  const [row] = (await world.db.query('select broken_reason from channel where id = $1', [channel.id])).rows
  expect(row).toEqual({ broken_reason: 'its address may not be called' })
})

test("an address that was sealed for another channel does not open: one merchant's row is of no use in another's", async () => {
  const theirs = await world.addChannel(await newTenant(world), 'slack')
  const mine = await world.addChannel(tenant, 'slack', { sealed: theirs.sealed, events: ['payment.refunded'] })
  const before = world.services.slack.seen.requests
  await world.pay(tenant, { type: 'payment.refunded' })
  await world.run(mine.id, 2)
  expect(world.services.slack.seen.requests).toBe(before)
})
