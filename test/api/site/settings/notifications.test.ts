import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals'
import { listChannels, listMessages } from '../../../../src/db/notifications/channels.ts'
import { breakChannel, takeDueChannels } from '../../../../src/db/notifications/messages.ts'
import { readChannelUrl } from '../../../../src/webhooks/channel-url.ts'
import { openShop, type Shop } from '../../support/shop.ts'
import { type Account, openAccount } from '../account.ts'
import type { Visitor } from '../visitor.ts'

let shop: Shop
let account: Account
beforeAll(async () => {
  shop = await openShop()
  account = await openAccount(shop, 'told@shop.example')
})
afterAll(() => shop?.close())

const PATH = '/dashboard/notifications'
const SLACK = 'https://hooks.slack.com/services/T0001/B0001/secretOfSlack'
const textOf = async (visitor: Visitor, path: string): Promise<string> =>
  (await visitor.get(path)).html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
const noticesOf = async ({ tenant }: Account): Promise<string[]> => {
  const { rows } = await shop.db.query('select kind from notice where merchant_id = $1 order by id', [
    tenant.merchantId,
  ])
  return rows.map(({ kind }: { kind: string }) => kind)
}

test('a person connects Slack, says what it is told, tests it, mends it and removes it; people are told of it', async () => {
  const { owner, tenant } = account
  expect(await textOf(owner, PATH)).toContain('No channel yet')
  const added = await owner.submit(PATH, { kind: 'slack', name: '#payments', url: SLACK })
  expect([added.status, added.to]).toEqual([303, expect.stringMatching(/^\/dashboard\/notifications\/nch_/)])
  const one = added.to ?? ''
  const [channel] = await listChannels(shop.db, tenant)
  expect(channel).toMatchObject({ kind: 'slack', name: '#payments', language: 'en', broken_at: null })
  // At rest nobody reads where it is, and no page shows it.
  expect(channel?.sealed).not.toContain('secretOfSlack')
  expect(shop.secretBox.open(channel?.sealed ?? '', channel?.id ?? '')).toBe(SLACK)
  for (const path of [PATH, one]) expect((await owner.get(path)).html).not.toContain('secretOfSlack')

  const settings = { name: '#money', language: 'de', quiet_from: '22:00', quiet_to: '07:00', quiet_zone: 'Europe/Oslo' }
  expect((await owner.submit(`${one}/change`, { ...settings, event: 'payment.failed' })).status).toBe(303)
  expect((await listChannels(shop.db, tenant))[0]).toMatchObject({
    name: '#money',
    events: ['payment.failed'],
    language: 'de',
    quiet_from: 1320,
    quiet_to: 420,
    quiet_zone: 'Europe/Oslo',
  })
  for (const [wrong, text] of [
    [{ quiet_to: '' }, 'Write both times'],
    [{ quiet_zone: 'Nowhere/Land' }, 'Name the time zone by a city'],
    [{ name: '\u202epayments' }, 'The name must have'],
  ] as const) {
    const refused = await owner.submit(`${one}/change`, { ...settings, ...wrong })
    expect([refused.status, refused.html.includes(text)]).toEqual([400, true])
  }

  await owner.submit(`${one}/test`)
  await owner.submit(`${one}/test`)
  const messages = await listMessages(shop.db, tenant, { channelId: channel!.id, limit: 10 })
  expect(messages).toMatchObject([{ kind: 'test', state: 'waiting' }])
  const due = { now: new Date(Date.now() + 1000).toISOString(), againSeconds: 10, limit: 10 }
  expect(await takeDueChannels(shop.db, due)).toEqual([channel!.id])

  const reason = 'Slack says "no_service"'
  await shop.db.transaction((tx) => breakChannel(tx, channel!.id, { reason, now: new Date().toISOString() }))
  // It is told of itself: that it was added.
  expect(await textOf(owner, PATH)).toContain('Slack says &quot;no_service&quot;. 1 notification waits, none is lost.')
  await owner.submit(`${one}/mend`)
  expect(await textOf(owner, PATH)).not.toContain('no_service')

  expect((await owner.submit(`${one}/remove`)).to).toBe(PATH)
  expect(await listChannels(shop.db, tenant)).toEqual([])
  expect((await owner.get(one)).status).toBe(404)
  expect(await noticesOf(account)).toEqual(['channel.added', 'channel.removed'])
})

test('a channel by mail goes to the own address of whoever makes it, once, whatever the form says', async () => {
  const { owner, tenant } = account
  const form = { kind: 'email', name: 'x', url: 'mailto:victim@other.example' }
  const [first, second] = [await owner.submit(PATH, form), await owner.submit(PATH, form)]
  expect(second.to).toBe(first.to)
  const channels = await listChannels(shop.db, tenant)
  expect(channels.map(({ kind, name }) => [kind, name])).toEqual([['email', 'told@shop.example']])
})

test('a channel of another account is not there: it is neither shown nor tested, mended, changed or removed', async () => {
  const stranger = await openAccount(shop, 'stranger@other.example')
  const { to } = await stranger.owner.submit(PATH, { kind: 'slack', name: '#theirs', url: SLACK })
  const { owner } = account
  expect((await owner.get(to ?? '')).status).toBe(404)
  const settings = { name: 'mine', language: 'en', quiet_from: '', quiet_to: '', quiet_zone: '' }
  for (const act of ['test', 'mend', 'change', 'remove'])
    expect([act, (await owner.submit(`${to}/${act}`, settings)).status]).toEqual([act, 404])
  expect(await textOf(owner, PATH)).not.toContain('#theirs')
  expect((await listChannels(shop.db, stranger.tenant)).map(({ name }) => name)).toEqual(['#theirs'])
})

describe('an address of a chat', () => {
  const live = { mode: 'live', testTargets: [] } as const
  const accepted = [
    ['slack', SLACK],
    ['discord', 'https://discord.com/api/webhooks/123456789012345678/a-Token_of-68-characters'],
    ['discord', 'https://discordapp.com/api/v10/webhooks/123456789012345678/token'],
  ] as const
  it.each(accepted)('of %s is taken: %s', (kind, url) => {
    expect(readChannelUrl(kind, url, live)).toEqual({ url })
  })

  it.each([
    ['slack', 'http://hooks.slack.com/services/T0001/B0001/x'],
    ['slack', 'https://hooks.slack.com.evil.example/services/T0001/B0001/x'],
    ['slack', 'https://hooks.slack.com@evil.example/services/T0001/B0001/x'],
    ['slack', 'https://evil.example/services/T0001/B0001/x'],
    ['slack', 'https://hooks.slack.com:8443/services/T0001/B0001/x'],
    ['slack', 'https://hooks.slack.com/services/T0001/../../api/x'],
    ['slack', 'https://hooks.slack.com/services/T0001/B0001/x?next=1'],
    ['slack', 'https://discord.com/api/webhooks/1/x'],
    ['discord', 'https://discord.com/api/webhooks/1/x/../../users/@me'],
    ['discord', 'https://discord.com/api/webhooks/1/x#fragment'],
    ['discord', 'https://169.254.169.254/api/webhooks/1/x'],
    ['discord', 'https://[::ffff:127.0.0.1]/api/webhooks/1/x'],
    ['discord', 'https://localhost/api/webhooks/1/x'],
    ['discord', 'https://discord。com/api/webhooks/1/x\n'],
  ] as const)('of %s is refused in live mode: %s', (kind, url) => {
    expect(readChannelUrl(kind, url, live)).toEqual({ must: expect.any(String) })
  })
})
