import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals'
import { leaveNotice } from '../../src/db/accounts/account-notices.ts'
import type { Tenant } from '../../src/db/db.ts'
import { type Channel, mendChannel, removeChannel } from '../../src/db/notifications/channels.ts'
import { insertTestMessage, takeDueChannels } from '../../src/db/notifications/messages.ts'
import { type ChannelKind, NOTIFICATION_EVENTS } from '../../src/domain/notification/channel.ts'
import { newId } from '../../src/ids.ts'
import { addEvent, rows, secretBox } from '../webhooks/seed.ts'
import { countWaiting, createFixture, type Fixture, listMessages, newTenant } from './fixture.ts'

let fixture: Fixture
let tenant: Tenant
beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture?.close())
// Each test has its own merchant, and the services have forgotten the requests of the test before.
beforeEach(async () => {
  tenant = await newTenant(fixture)
  fixture.clock.now += 120_000
  for (const service of Object.values(fixture.services)) {
    service.taken.length = 0
    service.mood = () => 'as documented'
  }
  fixture.mail.taken.length = 0
  fixture.mail.mood = () => 'takes'
})
const iso = (): string => new Date(fixture.clock.now).toISOString()

describe('Notifications to a channel', () => {
  /** True if the worker's sweep would start its workflow now. */
  const isDue = async ({ id }: Channel): Promise<boolean> =>
    (await takeDueChannels(fixture.db, { now: iso(), againSeconds: 10, limit: 500 })).includes(id)
  const notice = (kind: string, data: object): Promise<void> =>
    fixture.db.transaction((tx) => leaveNotice(tx, tenant, { kind, data: { ...data } }))

  describe('Notifications about a payment', () => {
    it.each(['telegram', 'discord', 'slack'] as const)(
      'a channel by %s receives a payment’s amount, net, reference and link',
      async (kind) => {
        const channel = await fixture.addChannel(tenant, kind)
        await fixture.pay(tenant)
        expect(await isDue(channel)).toBe(true)
        await fixture.run(channel.id, 5)
        expect(fixture.services[kind].taken).toHaveLength(1)
        const { text } = fixture.services[kind].taken[0]!
        expect(text).toContain(
          'Shop (test): Payment succeeded'.replace(/[()]/g, (c) => (kind === 'discord' ? `\\${c}` : c)),
        )
        expect(text).toContain('49.90 EUR, 51.23 USDC arrives')
        expect(text).toContain(kind === 'telegram' ? 'Reference: order-1' : 'Reference: `order-1`')
        expect(text).toContain('https://pay.pinrail.example/dashboard/payments/pay_')
        expect(await listMessages(fixture, channel)).toMatchObject([{ state: 'sent', kind: 'single', count: 1 }])
        expect(await isDue(channel)).toBe(false)
      },
    )

    it('a channel by mail receives a payment although the server first asks to try later', async () => {
      const channel = await fixture.addChannel(tenant, 'email')
      fixture.mail.mood = (() => {
        let asked = 0
        return () => (++asked === 1 ? 'grey' : 'takes')
      })()
      await fixture.pay(tenant)
      await fixture.run(channel.id, 3)
      expect(await listMessages(fixture, channel)).toMatchObject([
        { state: 'waiting', failure: 'the mail server responded 451', unanswered: 0 },
      ])
      await fixture.run(channel.id, 10)
      expect(fixture.mail.taken.map(({ text }) => /^subject: (.*)$/im.exec(text)?.[1])).toEqual([
        'Shop (test): Payment succeeded',
      ])
      expect(fixture.mail.taken[0]!.text).not.toContain('Sent again')
    })

    it('no other merchant receives the notification, and no channel that did not subscribe to it', async () => {
      const [other, stranger] = [await newTenant(fixture), await fixture.addChannel(tenant, 'slack', { events: [] })]
      const foreign = await fixture.addChannel(other, 'discord')
      await fixture.pay(tenant)
      expect(await countWaiting(fixture, stranger)).toBe(0)
      expect(await countWaiting(fixture, foreign)).toBe(0)
    })
  })

  test('a channel that asks for a pause of 35 seconds gets it', async () => {
    const channel = await fixture.addChannel(tenant, 'telegram')
    const { telegram } = fixture.services
    // Another sender has used up the minute of this chat.
    for (let n = 0; n < 20; n++)
      telegram.taken.push({ at: fixture.clock.now - 30_000, text: 'of another bot', body: {} })
    await fixture.pay(tenant)
    const before = telegram.seen.limited
    expect((await fixture.round(channel.id)).againAfterMs).toBe(35_000)
    expect(telegram.seen.limited - before).toBe(1)
    fixture.clock.now += 34_000
    // Only this chat waits.
    expect((await fixture.round(channel.id)).againAfterMs).toBe(1000)
    expect(await isDue(channel)).toBe(false)
    expect(telegram.seen.limited - before).toBe(1)
    fixture.clock.now += 1000
    await fixture.round(channel.id)
    expect(telegram.taken.at(-1)!.text).toContain('Payment succeeded')
    expect(telegram.taken.at(-1)!.text).not.toContain('Sent again')
  })

  describe('A lost response', () => {
    it.each(['telegram', 'discord', 'slack'] as const)(
      'a message whose answer by %s is lost arrives again and reports it',
      async (kind) => {
        const channel = await fixture.addChannel(tenant, kind)
        const service = fixture.services[kind]
        const from = service.seen.requests
        service.mood = (request) => (request === from + 1 ? 'lost' : 'as documented')
        await fixture.pay(tenant, { reference: 'lost-one' })
        await fixture.round(channel.id)
        expect(await listMessages(fixture, channel)).toMatchObject([{ state: 'unknown', unanswered: 1 }])
        await fixture.run(channel.id, 20)
        expect(service.taken.map(({ text }) => text.includes('Sent again'))).toEqual([false, true])
        expect(service.taken.every(({ text }) => text.includes('lost-one'))).toBe(true)
        expect(await listMessages(fixture, channel)).toMatchObject([{ state: 'sent', unanswered: 1 }])
      },
    )

    it('a mail whose answer is lost arrives again with the same Message-ID', async () => {
      const channel = await fixture.addChannel(tenant, 'email')
      fixture.mail.mood = () => (fixture.mail.taken.length === 0 ? 'lost' : 'takes')
      await fixture.pay(tenant)
      await fixture.run(channel.id, 20)
      expect(fixture.mail.taken).toHaveLength(2)
      expect(new Set(fixture.mail.taken.map(({ id }) => id)).size).toBe(1)
      expect(fixture.mail.taken.map(({ text }) => text.includes('Sent again'))).toEqual([false, true])
    })

    it('a message whose sender died is sent again after a minute, and reports that', async () => {
      const channel = await fixture.addChannel(tenant, 'slack')
      await fixture.pay(tenant)
      const { slack } = fixture.services
      await fixture.db.query('update channel set paused_until = null where id = $1', [channel.id])
      // The state that a sender leaves that is killed after its request: the message has begun, and has no outcome.
      await fixture.round(channel.id)
      await fixture.db.query(
        `update channel_message set state = 'sending', sent_at = null, tries = 0, next_at = $2 where channel_id = $1`,
        [channel.id, new Date(fixture.clock.now + 60_000)],
      )
      fixture.clock.now += 5000
      expect((await fixture.round(channel.id)).againAfterMs).toBe(55_000)
      expect(slack.taken).toHaveLength(1)
      await fixture.run(channel.id, 70)
      expect(slack.taken.map(({ text }) => text.includes('Sent again'))).toEqual([false, true])
      expect(await listMessages(fixture, channel)).toMatchObject([{ state: 'sent', unanswered: 1 }])
    })
  })

  test('every chat receives security notices, and other notices only if it subscribes; channels by mail receive none twice', async () => {
    const [quiet, curious] = [
      await fixture.addChannel(tenant, 'slack', { events: [] }),
      await fixture.addChannel(tenant, 'discord', { events: [...NOTIFICATION_EVENTS] }),
    ]
    const mail = await fixture.addChannel(tenant, 'email', { events: [...NOTIFICATION_EVENTS] })
    const notices = NOTIFICATION_EVENTS.filter(
      (kind) =>
        !/^(?:payment|refund|reserve)\.|^dispute\.(?:created|closed)$/.test(kind) && kind !== 'payment_link.completed',
    )
    for (const kind of notices) await notice(kind, {})
    for (const kind of ['wallet.kept', 'channel.added', 'a.kind.of.tomorrow']) await notice(kind, {})
    expect([await countWaiting(fixture, quiet), await countWaiting(fixture, curious)]).toEqual([3, notices.length + 3])
    expect(await countWaiting(fixture, mail)).toBe(0)
  })

  describe('A channel that refuses', () => {
    it.each([
      ['telegram', 403, 'Telegram says "Forbidden: bot was blocked by the user"'],
      ['discord', 404, 'Discord says "Unknown Webhook"'],
      ['slack', 404, 'Slack says "no_service"'],
    ] as const)(
      'a channel by %s that answers %i is switched off, all people are notified, and nothing is lost',
      async (kind, status, reason) => {
        const channel = await fixture.addChannel(tenant, kind)
        const other = await fixture.addChannel(tenant, kind === 'slack' ? 'discord' : 'slack', { events: [] })
        const service = fixture.services[kind]
        service.mood = () => status
        for (let n = 0; n < 3; n++) await fixture.pay(tenant, { reference: `kept-${n}` })
        await fixture.run(channel.id, 5)
        const asked = service.seen.requests
        await fixture.pay(tenant, { reference: 'kept-3' })
        await fixture.run(channel.id, 300)
        expect(service.seen.requests).toBe(asked)
        const [row] = await rows<{ broken_reason: string }>(fixture.db, 'select * from channel where id = $1', [
          channel.id,
        ])
        expect(row!.broken_reason).toBe(reason)
        await fixture.run(other.id, 5)
        const reports = fixture.services[kind === 'slack' ? 'discord' : 'slack'].taken.map(({ text }) => text)
        expect(reports).toHaveLength(1)
        expect(reports[0]).toContain('A notification channel is failing')
        expect(reports[0]).toContain(`Our ${kind}`)

        service.mood = () => 'as documented'
        await fixture.db.transaction((tx) => mendChannel(tx, tenant, { id: channel.id, at: iso() }))
        expect(await isDue(channel)).toBe(true)
        await fixture.run(channel.id, 60)
        const texts = service.taken.map(({ text }) => text)
        for (const n of [0, 1, 2, 3]) expect(texts.filter((text) => text.includes(`kept-${n}`))).toHaveLength(1)
      },
    )

    it('a channel whose URL cannot be decrypted is switched off, and all people are notified', async () => {
      const channel = await fixture.addChannel(tenant, 'slack', { sealed: 'of a key that is gone' })
      const other = await fixture.addChannel(tenant, 'discord', { events: [] })
      await fixture.pay(tenant)
      await fixture.run(channel.id, 5)
      await fixture.run(other.id, 5)
      expect(fixture.services.slack.taken).toEqual([])
      expect(fixture.services.discord.taken.map(({ text }) => text)).toEqual([
        expect.stringContaining('A notification channel is failing'),
      ])
      // The payment, and the notice about the channel itself.
      expect(await countWaiting(fixture, channel)).toBe(2)
    })

    it('a channel that refuses one message marks that one, and sends the next', async () => {
      const channel = await fixture.addChannel(tenant, 'discord')
      const { discord } = fixture.services
      const from = discord.seen.requests
      discord.mood = (request) => (request === from + 1 ? 400 : 'as documented')
      await fixture.pay(tenant, { reference: 'first' })
      await fixture.pay(tenant, { reference: 'second' })
      await fixture.run(channel.id, 10)
      expect(discord.taken.map(({ text }) => text.includes('second'))).toEqual([true])
      expect(await listMessages(fixture, channel)).toMatchObject([{ state: 'refused' }, { state: 'sent' }])
    })

    it('a channel that refuses for three days is switched off; another channel of the merchant is notified during that time', async () => {
      const [down, up] = [await fixture.addChannel(tenant, 'discord'), await fixture.addChannel(tenant, 'slack')]
      fixture.services.discord.mood = () => 503
      await fixture.pay(tenant)
      await fixture.run(down.id, 3 * 86_400)
      await fixture.run(up.id, 5)
      expect(fixture.services.slack.taken[0]!.text).toContain('Payment succeeded')
      await fixture.run(down.id, 7200)
      const [row] = await rows<{ broken_reason: string }>(fixture.db, 'select * from channel where id = $1', [down.id])
      expect(row!.broken_reason).toBe('HTTP 503')
    })
  })

  test('a channel in quiet hours receives waiting notifications in one message at their end, and a change of the wallet at once', async () => {
    // 12:02 in UTC is 13:02 in Oslo in November.
    const quiet = { from: 13 * 60, to: 14 * 60, zone: 'Europe/Oslo' }
    fixture.clock.now = Date.UTC(2029, 0, 5, 12, 2)
    const channel = await fixture.addChannel(tenant, 'slack', { quiet })
    for (let n = 0; n < 3; n++) await fixture.pay(tenant, { reference: `quiet-${n}` })
    await notice('wallet.changed', { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', at: null })
    await fixture.run(channel.id, 60)
    expect(fixture.services.slack.taken.map(({ text }) => text.split('\n')[0])).toEqual([
      '*Shop (test): The wallet was set*',
    ])
    expect(await isDue(channel)).toBe(false)
    fixture.clock.now = Date.UTC(2029, 0, 5, 13, 0)
    expect(await isDue(channel)).toBe(true)
    await fixture.run(channel.id, 10)
    expect(fixture.services.slack.taken[1]!.text).toContain('3 notifications')
    expect(fixture.services.slack.taken).toHaveLength(2)
  })

  test('a planned change of the wallet can be stopped from the chat, by its own link', async () => {
    const channel = await fixture.addChannel(tenant, 'telegram')
    const [person] = await rows<{ id: string }>(
      fixture.db,
      `with p as (insert into person (id, email) values ('per_' || $1, $1 || '@shop.example') returning id)
     insert into membership (merchant_id, person_id, role) select $1, id, 'owner' from p returning person_id as id`,
      [tenant.merchantId],
    )
    await fixture.db.query('update channel set person_id = $2 where id = $1', [channel.id, person!.id])
    const at = new Date(fixture.clock.now + 86_400_000).toISOString()
    await notice('wallet.changed', { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', at })
    await fixture.round(channel.id)
    const { text } = fixture.services.telegram.taken[0]!
    expect(text).toContain('The wallet is about to change')
    expect(text).toMatch(/https:\/\/pay\.pinrail\.example\/wallet\/stop\/[\w-]{43}$/)
  })

  test('a channel that was removed receives nothing, not even waiting notifications', async () => {
    const channel = await fixture.addChannel(tenant, 'discord')
    await fixture.pay(tenant)
    await fixture.db.transaction((tx) => removeChannel(tx, tenant, { id: channel.id, at: iso() }))
    await fixture.pay(tenant)
    expect(await isDue(channel)).toBe(false)
    expect(await fixture.round(channel.id)).toEqual({ againAfterMs: null })
    expect(fixture.services.discord.taken).toEqual([])
  })

  test('a payment costs no further statement when there are channels, nor when there are none', async () => {
    let statements = 0
    const counted = {
      ...fixture.db,
      transaction: (work: Parameters<typeof fixture.db.transaction>[0]) =>
        fixture.db.transaction((tx) =>
          work({
            ...tx,
            query: (text: string, values?: unknown[]) => {
              statements += 1
              return tx.query(text, values)
            },
          }),
        ),
    } as typeof fixture.db
    await addEvent(counted, tenant, { at: iso() })
    await fixture.addChannel(tenant, 'slack')
    await addEvent(counted, tenant, { at: iso() })
    expect(statements).toBe(2)
  })
})

describe('Texts that a buyer typed', () => {
  /** A buyer can fill in the reference if the link allows it. */
  const EVIL =
    '`@everyone` <!channel> <@U1> [click](https://evil.example) **x**\n# big <https://evil.example|bank> \u202e\u200b||'
  const HARMLESS = '@everyone <!channel> <@U1> [click](https://evil.example) **x**'

  async function bodyAt(kind: 'telegram' | 'discord' | 'slack'): Promise<Readonly<Record<string, unknown>>> {
    const channel = await fixture.addChannel(tenant, kind)
    await fixture.pay(tenant, { reference: EVIL })
    await fixture.run(channel.id, 2)
    return fixture.services[kind].taken[0]!.body
  }

  test('a buyer’s text is code in Telegram: no markup, no link, no mention, and one line', async () => {
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

  test('a buyer’s text is code in Discord, and mentions nobody', async () => {
    const body = await bodyAt('discord')
    expect(body['allowed_mentions']).toEqual({ parse: [] })
    const [before, code, after] = String(body['content']).split('`')
    expect(code).toContain(HARMLESS.slice(1, 40))
    expect(`${before}${after}`).not.toMatch(/evil|everyone/)
  })

  test('a buyer’s text opens no link and no mention in Slack', async () => {
    const body = await bodyAt('slack')
    const [block] = body['blocks'] as { text: { text: string; verbatim: boolean } }[]
    expect(block!.text.verbatim).toBe(true)
    // Markup begins with < there, and only the platform's own link has it.
    expect(block!.text.text.match(/<[^>]*>/g)).toEqual([
      expect.stringMatching(/^<https:\/\/pay\.pinrail\.example\/dashboard/),
    ])
    expect(String(body['text'])).not.toMatch(/[<>]/)
  })

  test('the chat of a person who has left the account receives nothing more; a group that they linked does', async () => {
    const account = await newTenant(fixture)
    const person = (await fixture.addChannel(account, 'email', { events: [] })).person_id
    const channel = await fixture.addChannel(account, 'telegram', { person_id: person })
    const references = () =>
      fixture.services.telegram.taken.flatMap(({ text }) => ['before', 'after'].filter((word) => text.includes(word)))
    await fixture.pay(account, { reference: 'before' })
    await fixture.run(channel.id, 5)
    await fixture.db.query('delete from membership where merchant_id = $1', [account.merchantId])
    await fixture.pay(account, { reference: 'after' })
    await fixture.run(channel.id, 5)
    expect(references()).toEqual(['before'])
    const [off] = await rows<{ broken_reason: string }>(fixture.db, 'select * from channel where id = $1', [channel.id])
    expect(off?.broken_reason).toContain('its person has left the account')

    const group = secretBox.seal('-1004711', channel.id)
    await fixture.db.query('update channel set sealed = $2 where id = $1', [channel.id, group])
    const at = new Date(fixture.clock.now).toISOString()
    await fixture.db.transaction((tx) => mendChannel(tx, account, { id: channel.id, at }))
    const before = fixture.services.telegram.taken.length
    await fixture.run(channel.id, 30)
    const chats = fixture.services.telegram.taken.slice(before).map(({ body }) => body['chat_id'])
    expect(new Set(chats)).toEqual(new Set(['-1004711']))
  })

  test('the chat of a person whose data was deleted receives nothing more', async () => {
    const account = await newTenant(fixture)
    const channel = await fixture.addChannel(account, 'telegram')
    await fixture.db.query('delete from person where id = $1', [channel.person_id])
    await fixture.pay(account, { reference: 'after the end' })
    await fixture.run(channel.id, 5)
    expect(fixture.services.telegram.taken.filter(({ text }) => text.includes('after the end'))).toEqual([])
  })

  test('the stored failures of a channel never contain its URL', async () => {
    const channel = await fixture.addChannel(tenant, 'discord', { events: ['payment.failed'] })
    fixture.services.discord.mood = () => 404
    await fixture.pay(tenant, { type: 'payment.failed' })
    await fixture.run(channel.id, 2)
    const kept = JSON.stringify([
      await listMessages(fixture, channel),
      (await fixture.db.query('select * from notice')).rows,
      (await fixture.db.query('select * from channel where id = $1', [channel.id])).rows,
    ])
    expect(kept).toContain('Unknown Webhook')
    expect(kept).not.toContain('secret-of-discord')
  })

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://127.0.0.1:9/api/webhooks/1/x',
    'https://10.0.0.1/services/T/B/x',
  ])('a channel whose URL got past the form is not called either: %s', async (url) => {
    const channel = await fixture.addChannel(tenant, 'slack', { events: ['payment.expired'] })
    await fixture.db.query('update channel set sealed = $2 where id = $1', [
      channel.id,
      secretBox.seal(url, channel.id),
    ])
    await fixture.pay(tenant, { type: 'payment.expired' })
    await fixture.run(channel.id, 2)
    const [row] = (await fixture.db.query('select broken_reason from channel where id = $1', [channel.id])).rows
    expect(row).toEqual({ broken_reason: 'requests to its address are not allowed' })
  })

  test('a URL that was sealed for another channel cannot be opened: copying a merchant’s row gains nothing', async () => {
    const theirs = await fixture.addChannel(await newTenant(fixture), 'slack')
    const mine = await fixture.addChannel(tenant, 'slack', { sealed: theirs.sealed, events: ['payment.refunded'] })
    const before = fixture.services.slack.seen.requests
    await fixture.pay(tenant, { type: 'payment.refunded' })
    await fixture.run(mine.id, 2)
    expect(fixture.services.slack.seen.requests).toBe(before)
  })
})

describe('The channels that are due', () => {
  beforeEach(async () => {
    await fixture.db.query('update channel set removed_at = now()')
  })

  /** Fewer than the waiting notifications of the channels that cannot be reached. */
  const LIMIT = 3
  const due = () => takeDueChannels(fixture.db, { now: iso(), againSeconds: 10, limit: LIMIT })
  const test = ({ id }: Channel, whose: Tenant): Promise<void> =>
    insertTestMessage(fixture.db, whose, { id: newId('channelMessage'), channelId: id, now: iso() })

  async function another(kind: ChannelKind): Promise<{ channel: Channel; whose: Tenant }> {
    const whose = await newTenant(fixture)
    return { channel: await fixture.addChannel(whose, kind), whose }
  }

  describe('Waiting notifications of unreachable channels never delay the channel of another merchant', () => {
    it('channels of a service that is down do not delay others: behind a message that is repeated only urgent ones are due', async () => {
      const down = await fixture.addChannel(tenant, 'slack')
      fixture.services.slack.mood = () => 503
      await fixture.pay(tenant)
      await fixture.run(down.id, 800)
      for (let n = 0; n <= LIMIT; n++) await fixture.pay(tenant)
      fixture.clock.now += 20_000
      const { channel, whose } = await another('discord')
      await fixture.pay(whose)
      expect(await due()).toEqual([channel.id])
      await fixture.db.transaction((tx) => leaveNotice(tx, tenant, { kind: 'wallet.kept', data: {} }))
      expect(await due()).toEqual([down.id])
    })

    it('channels of a service that asked for a pause do not delay others', async () => {
      const paused = await fixture.addChannel(tenant, 'discord')
      for (let n = 0; n <= LIMIT; n++) await fixture.pay(tenant)
      const until = new Date(fixture.clock.now + 86_400_000)
      await fixture.db.query('update channel set paused_until = $2 where id = $1', [paused.id, until])
      const { channel, whose } = await another('slack')
      await fixture.pay(whose)
      expect(await due()).toEqual([channel.id])
    })

    it('removed channels with a message that had begun do not delay others', async () => {
      for (let n = 0; n <= LIMIT; n++) {
        const removed = await fixture.addChannel(tenant, 'slack')
        await test(removed, tenant)
        await fixture.db.transaction((tx) => removeChannel(tx, tenant, { id: removed.id, at: iso() }))
      }
      fixture.clock.now += 20_000
      const { channel, whose } = await another('slack')
      await test(channel, whose)
      expect(await due()).toEqual([channel.id])
    })
  })

  it('a message that failed before the quiet hours is repeated at their end; urgent ones are sent during them', async () => {
    const { discord } = fixture.services
    fixture.clock.now = Date.UTC(2031, 0, 5, 21, 59, 50)
    const quiet = { from: 22 * 60, to: 7 * 60, zone: 'UTC' }
    const channel = await fixture.addChannel(tenant, 'discord', { quiet })
    discord.taken.length = 0
    discord.mood = () => 503
    await fixture.pay(tenant)
    await fixture.run(channel.id, 5)
    discord.mood = () => 'as documented'
    fixture.clock.now = Date.UTC(2031, 0, 5, 23, 0)
    await fixture.run(channel.id, 60)
    expect(discord.taken).toEqual([])
    await fixture.db.transaction((tx) =>
      leaveNotice(tx, tenant, { kind: 'api_key.created', data: { key: 'k', name: 'k' } }),
    )
    await fixture.run(channel.id, 60)
    expect(discord.taken.map(({ text }) => text.includes('key'))).toEqual([true])
    expect(await due()).toEqual([])
    fixture.clock.now = Date.UTC(2031, 0, 6, 7, 0)
    expect(await due()).toEqual([channel.id])
    await fixture.run(channel.id, 10)
    expect(discord.taken.map(({ text }) => text.includes('Payment succeeded'))).toEqual([false, true])
  })
})
