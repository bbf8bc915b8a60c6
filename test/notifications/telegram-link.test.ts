import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { listChannels } from '../../src/db/notifications/channels.ts'
import { composeTelegram } from '../../src/deps/notify/telegram.ts'
import { newId } from '../../src/ids.ts'
import type { Loop } from '../../src/worker/loop.ts'
import { type Account, openAccount } from '../api/site/account.ts'
import { openTestApi, type TestApi } from '../api/support/test-api.ts'
import { type BotApi, startBotApi } from './bot-api.ts'

const TOKEN = '123456789:AAbot-token_of-the-tests'
const PATH = '/dashboard/notifications/telegram'

let testApi: TestApi
let bot: BotApi
let readers: { loop: Loop; close: () => void }[]
let account: Account
const clock = { now: Date.now() }
beforeAll(async () => {
  bot = await startBotApi(TOKEN)
  testApi = await openTestApi({ deps: () => ({ clock: () => clock.now }) })
  // Two workers, as in a deployment.
  readers = [1, 2].map(() =>
    composeTelegram(
      { apiUrl: bot.url, token: TOKEN },
      {
        db: testApi.db,
        clock: () => clock.now,
        log: pino({ level: 'silent' }),
        channels: {
          secretBox: testApi.secretBox,
          webhookTargets: { mode: 'test', testTargets: [] },
          newChannelId: () => newId('channel'),
          newChannelMessageId: () => newId('channelMessage'),
          clock: () => clock.now,
        },
        botTurn: () => Promise.resolve(),
        everyMs: 1000,
      },
    ),
  )
}, 60_000)
afterAll(async () => {
  for (const reader of readers ?? []) reader.close()
  await testApi?.close()
  await bot?.close()
})
beforeEach(async () => {
  account = await openAccount(testApi, `${newId('person').slice(4)}@shop.example`)
  bot.refuse = null
  bot.calls.length = 0
})

const tick = (reader = 0): Promise<unknown> => readers[reader]!.loop.tick()
/** The token that the page shows once. */
async function askLink(of: Account = account): Promise<string> {
  const { html, status } = await of.owner.submit(PATH)
  const token = /t\.me\/pinrail_test_bot\?start=([\w-]{43})/.exec(html)?.[1]
  if (token === undefined) throw new Error(`no link: ${status}`)
  return token
}
const listAccountChannels = async ({ tenant }: Account) =>
  (await listChannels(testApi.db, tenant)).map(({ id, kind, name, sealed }) => [
    kind,
    name,
    testApi.secretBox.open(sealed, id),
  ])

test('a person gets a link, presses Start, and the chat receives a message that it is linked', async () => {
  await tick()
  expect((await account.owner.get('/dashboard/notifications')).html).toContain(PATH)
  expect((await account.owner.get(PATH)).html).toContain('@pinrail_test_bot')
  const token = await askLink()
  // The database has only its digest.
  const { rows } = await testApi.db.query('select * from telegram_link t where t::text like $1', [`%${token}%`])
  expect(rows).toEqual([])
  bot.say('hello')
  bot.say(`/start ${token}`)
  await tick()
  expect(await listAccountChannels(account)).toEqual([['telegram', '@kari', '4711']])
  const messages = await testApi.db.query('select kind, state from channel_message where merchant_id = $1', [
    account.tenant.merchantId,
  ])
  expect(messages.rows).toEqual([{ kind: 'test', state: 'waiting' }])
  const notices = await testApi.db.query('select kind from notice where merchant_id = $1', [account.tenant.merchantId])
  expect(notices.rows).toEqual([{ kind: 'channel.added' }])
  expect((await account.owner.get('/dashboard/notifications')).html).toContain('@kari')
})

test('a group is linked by its own form, and its name stays on its line', async () => {
  bot.say(`/start@pinrail_test_bot ${await askLink()}`, { id: -100_4711, type: 'group', title: 'Our\nshop \u202e' })
  await tick()
  expect(await listAccountChannels(account)).toEqual([['telegram', 'Telegram', '-1004711']])
})

test('only the latest link works, once, for 15 minutes', async () => {
  const first = await askLink()
  const second = await askLink()
  bot.say(`/start ${first}`)
  await tick()
  expect(await listAccountChannels(account)).toEqual([])
  bot.say(`/start ${second}`)
  bot.say(`/start ${second}`, { id: 666, type: 'private', first_name: 'Mallory' })
  await tick()
  expect((await listAccountChannels(account)).map(([, , chat]) => chat)).toEqual(['4711'])

  const late = await askLink()
  clock.now += 15 * 60_000
  await tick()
  // Another link is open, so updates are read.
  const other = await openAccount(testApi, `${newId('person').slice(4)}@shop.example`)
  await askLink(other)
  bot.say(`/start ${late}`, { id: 777, type: 'private', first_name: 'Late' })
  await tick()
  expect((await listAccountChannels(account)).map(([, , chat]) => chat)).toEqual(['4711'])
})

test('a chat that is linked again works again, and receives one message about it', async () => {
  for (let n = 0; n < 2; n++) {
    bot.say(`/start ${await askLink()}`)
    await tick()
    await testApi.db.query("update channel set broken_at = now(), broken_reason = 'blocked' where merchant_id = $1", [
      account.tenant.merchantId,
    ])
  }
  bot.say(`/start ${await askLink()}`)
  await tick()
  const channels = await listChannels(testApi.db, account.tenant)
  expect(channels.map(({ broken_at }) => broken_at)).toEqual([null])
})

test('a chat whose bot is missing says so on its pages and in the API, and works again with the bot', async () => {
  bot.say(`/start ${await askLink()}`)
  await tick()
  const [channel] = await listChannels(testApi.db, account.tenant)
  const at = `/v1/notification_channels/${channel?.id}`
  const statuses = async (): Promise<unknown[]> => {
    const { body } = await testApi.ask('GET', at, { key: account.key })
    const list = await testApi.ask('GET', '/v1/notification_channels', { key: account.key })
    return [body['status'], (list.body['data'] as { status: string }[])[0]?.status]
  }
  const pages = async (): Promise<string[]> =>
    Promise.all(
      ['/dashboard/notifications', `/dashboard/notifications/${channel?.id}`].map(
        async (path) => (await account.owner.get(path)).html,
      ),
    )
  expect(await statuses()).toEqual(['on', 'on'])
  // The token was removed from the configuration: no page mentions the bot any more.
  clock.now += 5 * 60_000
  expect(await statuses()).toEqual(['unavailable', 'unavailable'])
  for (const page of await pages()) {
    expect(page).toContain('This system currently has no Telegram bot.')
    expect(page).not.toContain('Works')
  }
  expect((await account.owner.get(PATH)).status).toBe(404)
  await tick()
  expect(await statuses()).toEqual(['on', 'on'])
  for (const page of await pages()) expect(page).toContain('Works')
})

test('a person who cannot add channels any more links nothing', async () => {
  const token = await askLink()
  await testApi.db.query("update membership set role = 'viewer' where merchant_id = $1", [account.tenant.merchantId])
  bot.say(`/start ${token}`)
  await tick()
  expect(await listAccountChannels(account)).toEqual([])
})

test('no worker asks Telegram while no link is open, and only one of two otherwise', async () => {
  await testApi.db.query('delete from telegram_link')
  await tick()
  expect(bot.calls.filter(({ method }) => method === 'getUpdates')).toEqual([])
  const token = await askLink()
  bot.say(`/start ${token}`)
  await Promise.all([tick(0), tick(1)])
  expect(bot.calls.filter(({ method }) => method === 'getUpdates')).toHaveLength(1)
  expect(await listAccountChannels(account)).toHaveLength(1)
})

test('strangers’ messages delay nothing, however many there are, and are not read twice', async () => {
  const token = await askLink()
  for (let n = 0; n < 25; n++) bot.say('😀'.repeat(2000), { id: n, type: 'private', first_name: 'Stranger' })
  bot.say(`/start ${token}`)
  const { loop } = readers[0]!
  // A full round is followed by the next at once.
  for (const read of [10, 10, 6]) expect([await loop.tick(), loop.idle?.pageSize]).toEqual([read, 10])
  expect(await listAccountChannels(account)).toHaveLength(1)
  const offsets = bot.calls.flatMap(({ method, offset }) => (method === 'getUpdates' ? [offset] : []))
  expect(new Set(offsets).size).toBe(offsets.length)
})

test('a chat is linked after weeks without messages, whatever number Telegram continues with', async () => {
  bot.say(`/start ${await askLink()}`)
  await tick()
  expect(await listAccountChannels(account)).toHaveLength(1)
  bot.renumber(1000)
  const other = await openAccount(testApi, `${newId('person').slice(4)}@shop.example`)
  const token = await askLink(other)
  await tick()
  bot.say(`/start ${token}`)
  await tick()
  expect(await listAccountChannels(other)).toHaveLength(1)
})

test('a pause that Telegram asks for is observed, and no error contains the token', async () => {
  const token = await askLink()
  bot.say(`/start ${token}`)
  bot.refuse = { status: 429, parameters: { retry_after: 60 } }
  await tick()
  bot.refuse = null
  clock.now += 59_000
  await tick()
  expect(await listAccountChannels(account)).toEqual([])
  clock.now += 1000
  await tick()
  expect(await listAccountChannels(account)).toHaveLength(1)

  const dead = composeTelegram(
    { apiUrl: 'http://127.0.0.1:1', token: TOKEN },
    {
      ...({ db: testApi.db, clock: () => clock.now, log: pino({ level: 'silent' }) } as const),
      channels: {} as never,
      botTurn: () => Promise.resolve(),
      everyMs: 1000,
    },
  )
  const error = await Promise.resolve(dead.loop.tick()).catch((thrown: unknown) => thrown)
  expect(String(error)).toMatch(/^Error: Telegram did not answer getMe/)
  expect(String(error)).not.toContain('AAbot')
  dead.close()
})
