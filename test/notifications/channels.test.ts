import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals'
import { leaveNotice } from '../../src/db/accounts/account-notices.ts'
import type { Tenant } from '../../src/db/db.ts'
import { type Channel, mendChannel, removeChannel } from '../../src/db/notifications/channels.ts'
import { insertTestMessage, takeDueChannels } from '../../src/db/notifications/messages.ts'
import { type ChannelKind, NOTIFICATION_EVENTS } from '../../src/domain/notification/channel.ts'
import { newId } from '../../src/ids.ts'
import { addEvent, rows, secretBox } from '../webhooks/seed.ts'
import { countWaiting, createWorld, listMessages, newTenant, type World } from './world.ts'

let world: World
let tenant: Tenant
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world?.close())
// Each test has its own merchant, and the services have forgotten the requests of the test before.
beforeEach(async () => {
  tenant = await newTenant(world)
  world.clock.now += 120_000
  for (const service of Object.values(world.services)) {
    service.taken.length = 0
    service.mood = () => 'as documented'
  }
  world.mail.taken.length = 0
  world.mail.mood = () => 'takes'
})
const iso = (): string => new Date(world.clock.now).toISOString()

describe('Notifications to a channel', () => {
  /** True if the worker's sweep would start its workflow now. */
  const isDue = async ({ id }: Channel): Promise<boolean> =>
    (await takeDueChannels(world.db, { now: iso(), againSeconds: 10, limit: 500 })).includes(id)
  const notice = (kind: string, data: object): Promise<void> =>
    world.db.transaction((tx) => leaveNotice(tx, tenant, { kind, data: { ...data } }))

  describe('Notifications about a payment', () => {
    it.each(['telegram', 'discord', 'slack'] as const)(
      'a channel by %s receives a payment’s amount, net, reference and link',
      async (kind) => {
        const channel = await world.addChannel(tenant, kind)
        await world.pay(tenant)
        expect(await isDue(channel)).toBe(true)
        await world.run(channel.id, 5)
        expect(world.services[kind].taken).toHaveLength(1)
        const { text } = world.services[kind].taken[0]!
        expect(text).toContain(
          'Shop (test): Payment succeeded'.replace(/[()]/g, (c) => (kind === 'discord' ? `\\${c}` : c)),
        )
        expect(text).toContain('49.90 EUR, 51.23 USDC arrives')
        expect(text).toContain(kind === 'telegram' ? 'Reference: order-1' : 'Reference: `order-1`')
        expect(text).toContain('https://pay.pinrail.example/dashboard/payments/pay_')
        expect(await listMessages(world, channel)).toMatchObject([{ state: 'sent', kind: 'single', count: 1 }])
        expect(await isDue(channel)).toBe(false)
      },
    )

    it('a channel by mail receives a payment although the server first asks to try later', async () => {
      const channel = await world.addChannel(tenant, 'email')
      world.mail.mood = (() => {
        let asked = 0
        return () => (++asked === 1 ? 'grey' : 'takes')
      })()
      await world.pay(tenant)
      await world.run(channel.id, 3)
      expect(await listMessages(world, channel)).toMatchObject([
        { state: 'waiting', failure: 'the mail server responded 451', unanswered: 0 },
      ])
      await world.run(channel.id, 10)
      expect(world.mail.taken.map(({ text }) => /^subject: (.*)$/im.exec(text)?.[1])).toEqual([
        'Shop (test): Payment succeeded',
      ])
      expect(world.mail.taken[0]!.text).not.toContain('Sent again')
    })

    it('no other merchant receives the notification, and no channel that did not subscribe to it', async () => {
      const [other, stranger] = [await newTenant(world), await world.addChannel(tenant, 'slack', { events: [] })]
      const foreign = await world.addChannel(other, 'discord')
      await world.pay(tenant)
      expect(await countWaiting(world, stranger)).toBe(0)
      expect(await countWaiting(world, foreign)).toBe(0)
    })
  })

  test('a channel that asks for a pause of 35 seconds gets it', async () => {
    const channel = await world.addChannel(tenant, 'telegram')
    const { telegram } = world.services
    // Another sender has used up the minute of this chat.
    for (let n = 0; n < 20; n++) telegram.taken.push({ at: world.clock.now - 30_000, text: 'of another bot', body: {} })
    await world.pay(tenant)
    const before = telegram.seen.limited
    expect((await world.round(channel.id)).againAfterMs).toBe(35_000)
    expect(telegram.seen.limited - before).toBe(1)
    world.clock.now += 34_000
    // Only this chat waits.
    expect((await world.round(channel.id)).againAfterMs).toBe(1000)
    expect(await isDue(channel)).toBe(false)
    expect(telegram.seen.limited - before).toBe(1)
    world.clock.now += 1000
    await world.round(channel.id)
    expect(telegram.taken.at(-1)!.text).toContain('Payment succeeded')
    expect(telegram.taken.at(-1)!.text).not.toContain('Sent again')
  })

  describe('A lost response', () => {
    it.each(['telegram', 'discord', 'slack'] as const)(
      'a message whose answer by %s is lost arrives again and reports it',
      async (kind) => {
        const channel = await world.addChannel(tenant, kind)
        const service = world.services[kind]
        const from = service.seen.requests
        service.mood = (request) => (request === from + 1 ? 'lost' : 'as documented')
        await world.pay(tenant, { reference: 'lost-one' })
        await world.round(channel.id)
        expect(await listMessages(world, channel)).toMatchObject([{ state: 'unknown', unanswered: 1 }])
        await world.run(channel.id, 20)
        expect(service.taken.map(({ text }) => text.includes('Sent again'))).toEqual([false, true])
        expect(service.taken.every(({ text }) => text.includes('lost-one'))).toBe(true)
        expect(await listMessages(world, channel)).toMatchObject([{ state: 'sent', unanswered: 1 }])
      },
    )

    it('a mail whose answer is lost arrives again with the same Message-ID', async () => {
      const channel = await world.addChannel(tenant, 'email')
      world.mail.mood = () => (world.mail.taken.length === 0 ? 'lost' : 'takes')
      await world.pay(tenant)
      await world.run(channel.id, 20)
      expect(world.mail.taken).toHaveLength(2)
      expect(new Set(world.mail.taken.map(({ id }) => id)).size).toBe(1)
      expect(world.mail.taken.map(({ text }) => text.includes('Sent again'))).toEqual([false, true])
    })

    it('a message whose sender died is sent again after a minute, and reports that', async () => {
      const channel = await world.addChannel(tenant, 'slack')
      await world.pay(tenant)
      const { slack } = world.services
      await world.db.query('update channel set paused_until = null where id = $1', [channel.id])
      // The state that a sender leaves that is killed after its request: the message has begun, and has no outcome.
      await world.round(channel.id)
      await world.db.query(
        `update channel_message set state = 'sending', sent_at = null, tries = 0, next_at = $2 where channel_id = $1`,
        [channel.id, new Date(world.clock.now + 60_000)],
      )
      world.clock.now += 5000
      expect((await world.round(channel.id)).againAfterMs).toBe(55_000)
      expect(slack.taken).toHaveLength(1)
      await world.run(channel.id, 70)
      expect(slack.taken.map(({ text }) => text.includes('Sent again'))).toEqual([false, true])
      expect(await listMessages(world, channel)).toMatchObject([{ state: 'sent', unanswered: 1 }])
    })
  })

  test('every chat receives security notices, and other notices only if it subscribes; channels by mail receive none twice', async () => {
    const [quiet, curious] = [
      await world.addChannel(tenant, 'slack', { events: [] }),
      await world.addChannel(tenant, 'discord', { events: [...NOTIFICATION_EVENTS] }),
    ]
    const mail = await world.addChannel(tenant, 'email', { events: [...NOTIFICATION_EVENTS] })
    const notices = NOTIFICATION_EVENTS.filter(
      (kind) => !kind.startsWith('payment.') && kind !== 'payment_link.completed',
    )
    for (const kind of notices) await notice(kind, {})
    for (const kind of ['wallet.kept', 'channel.added', 'a.kind.of.tomorrow']) await notice(kind, {})
    expect([await countWaiting(world, quiet), await countWaiting(world, curious)]).toEqual([3, notices.length + 3])
    expect(await countWaiting(world, mail)).toBe(0)
  })

  describe('A channel that refuses', () => {
    it.each([
      ['telegram', 403, 'Telegram says "Forbidden: bot was blocked by the user"'],
      ['discord', 404, 'Discord says "Unknown Webhook"'],
      ['slack', 404, 'Slack says "no_service"'],
    ] as const)(
      'a channel by %s that answers %i is switched off, all people are notified, and nothing is lost',
      async (kind, status, reason) => {
        const channel = await world.addChannel(tenant, kind)
        const other = await world.addChannel(tenant, kind === 'slack' ? 'discord' : 'slack', { events: [] })
        const service = world.services[kind]
        service.mood = () => status
        for (let n = 0; n < 3; n++) await world.pay(tenant, { reference: `kept-${n}` })
        await world.run(channel.id, 5)
        const asked = service.seen.requests
        await world.pay(tenant, { reference: 'kept-3' })
        await world.run(channel.id, 300)
        expect(service.seen.requests).toBe(asked)
        const [row] = await rows<{ broken_reason: string }>(world.db, 'select * from channel where id = $1', [
          channel.id,
        ])
        expect(row!.broken_reason).toBe(reason)
        await world.run(other.id, 5)
        const told = world.services[kind === 'slack' ? 'discord' : 'slack'].taken.map(({ text }) => text)
        expect(told).toHaveLength(1)
        expect(told[0]).toContain('A notification channel is failing')
        expect(told[0]).toContain(`Our ${kind}`)

        service.mood = () => 'as documented'
        await world.db.transaction((tx) => mendChannel(tx, tenant, { id: channel.id, at: iso() }))
        expect(await isDue(channel)).toBe(true)
        await world.run(channel.id, 60)
        const texts = service.taken.map(({ text }) => text)
        for (const n of [0, 1, 2, 3]) expect(texts.filter((text) => text.includes(`kept-${n}`))).toHaveLength(1)
      },
    )

    it('a channel whose URL cannot be decrypted is switched off, and all people are notified', async () => {
      const channel = await world.addChannel(tenant, 'slack', { sealed: 'of a key that is gone' })
      const other = await world.addChannel(tenant, 'discord', { events: [] })
      await world.pay(tenant)
      await world.run(channel.id, 5)
      await world.run(other.id, 5)
      expect(world.services.slack.taken).toEqual([])
      expect(world.services.discord.taken.map(({ text }) => text)).toEqual([
        expect.stringContaining('A notification channel is failing'),
      ])
      // The payment, and the notice about the channel itself.
      expect(await countWaiting(world, channel)).toBe(2)
    })

    it('a channel that refuses one message marks that one, and sends the next', async () => {
      const channel = await world.addChannel(tenant, 'discord')
      const { discord } = world.services
      const from = discord.seen.requests
      discord.mood = (request) => (request === from + 1 ? 400 : 'as documented')
      await world.pay(tenant, { reference: 'first' })
      await world.pay(tenant, { reference: 'second' })
      await world.run(channel.id, 10)
      expect(discord.taken.map(({ text }) => text.includes('second'))).toEqual([true])
      expect(await listMessages(world, channel)).toMatchObject([{ state: 'refused' }, { state: 'sent' }])
    })

    it('a channel that refuses for three days is switched off; another channel of the merchant is notified during that time', async () => {
      const [down, up] = [await world.addChannel(tenant, 'discord'), await world.addChannel(tenant, 'slack')]
      world.services.discord.mood = () => 503
      await world.pay(tenant)
      await world.run(down.id, 3 * 86_400)
      await world.run(up.id, 5)
      expect(world.services.slack.taken[0]!.text).toContain('Payment succeeded')
      await world.run(down.id, 7200)
      const [row] = await rows<{ broken_reason: string }>(world.db, 'select * from channel where id = $1', [down.id])
      expect(row!.broken_reason).toBe('HTTP 503')
    })
  })

  test('a channel in quiet hours receives waiting notifications in one message at their end, and a change of the wallet at once', async () => {
    // 12:02 in UTC is 13:02 in Oslo in November.
    const quiet = { from: 13 * 60, to: 14 * 60, zone: 'Europe/Oslo' }
    world.clock.now = Date.UTC(2029, 0, 5, 12, 2)
    const channel = await world.addChannel(tenant, 'slack', { quiet })
    for (let n = 0; n < 3; n++) await world.pay(tenant, { reference: `quiet-${n}` })
    await notice('wallet.changed', { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', at: null })
    await world.run(channel.id, 60)
    expect(world.services.slack.taken.map(({ text }) => text.split('\n')[0])).toEqual([
      '*Shop (test): The wallet was set*',
    ])
    expect(await isDue(channel)).toBe(false)
    world.clock.now = Date.UTC(2029, 0, 5, 13, 0)
    expect(await isDue(channel)).toBe(true)
    await world.run(channel.id, 10)
    expect(world.services.slack.taken[1]!.text).toContain('3 notifications')
    expect(world.services.slack.taken).toHaveLength(2)
  })

  test('a planned change of the wallet can be stopped from the chat, by its own link', async () => {
    const channel = await world.addChannel(tenant, 'telegram')
    const [person] = await rows<{ id: string }>(
      world.db,
      `with p as (insert into person (id, email) values ('per_' || $1, $1 || '@shop.example') returning id)
     insert into membership (merchant_id, person_id, role) select $1, id, 'owner' from p returning person_id as id`,
      [tenant.merchantId],
    )
    await world.db.query('update channel set person_id = $2 where id = $1', [channel.id, person!.id])
    const at = new Date(world.clock.now + 86_400_000).toISOString()
    await notice('wallet.changed', { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', at })
    await world.round(channel.id)
    const { text } = world.services.telegram.taken[0]!
    expect(text).toContain('The wallet is about to change')
    expect(text).toMatch(/https:\/\/pay\.pinrail\.example\/wallet\/stop\/[\w-]{43}$/)
  })

  test('a channel that was removed receives nothing, not even waiting notifications', async () => {
    const channel = await world.addChannel(tenant, 'discord')
    await world.pay(tenant)
    await world.db.transaction((tx) => removeChannel(tx, tenant, { id: channel.id, at: iso() }))
    await world.pay(tenant)
    expect(await isDue(channel)).toBe(false)
    expect(await world.round(channel.id)).toEqual({ againAfterMs: null })
    expect(world.services.discord.taken).toEqual([])
  })

  test('a payment costs no further statement when there are channels, nor when there are none', async () => {
    let statements = 0
    const counted = {
      ...world.db,
      transaction: (work: Parameters<typeof world.db.transaction>[0]) =>
        world.db.transaction((tx) =>
          work({
            ...tx,
            query: (text: string, values?: unknown[]) => {
              statements += 1
              return tx.query(text, values)
            },
          }),
        ),
    } as typeof world.db
    await addEvent(counted, tenant, { at: iso() })
    await world.addChannel(tenant, 'slack')
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
    const channel = await world.addChannel(tenant, kind)
    await world.pay(tenant, { reference: EVIL })
    await world.run(channel.id, 2)
    return world.services[kind].taken[0]!.body
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

  test('the chat of a person whose data was deleted receives nothing more', async () => {
    const account = await newTenant(world)
    const channel = await world.addChannel(account, 'telegram')
    await world.db.query('delete from person where id = $1', [channel.person_id])
    await world.pay(account, { reference: 'after the end' })
    await world.run(channel.id, 5)
    expect(world.services.telegram.taken.filter(({ text }) => text.includes('after the end'))).toEqual([])
  })

  test('the stored failures of a channel never contain its URL', async () => {
    const channel = await world.addChannel(tenant, 'discord', { events: ['payment.failed'] })
    world.services.discord.mood = () => 404
    await world.pay(tenant, { type: 'payment.failed' })
    await world.run(channel.id, 2)
    const kept = JSON.stringify([
      await listMessages(world, channel),
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
  ])('a channel whose URL got past the form is not called either: %s', async (url) => {
    const channel = await world.addChannel(tenant, 'slack', { events: ['payment.expired'] })
    await world.db.query('update channel set sealed = $2 where id = $1', [channel.id, secretBox.seal(url, channel.id)])
    await world.pay(tenant, { type: 'payment.expired' })
    await world.run(channel.id, 2)
    const [row] = (await world.db.query('select broken_reason from channel where id = $1', [channel.id])).rows
    expect(row).toEqual({ broken_reason: 'requests to its address are not allowed' })
  })

  test('a URL that was sealed for another channel cannot be opened: copying a merchant’s row gains nothing', async () => {
    const theirs = await world.addChannel(await newTenant(world), 'slack')
    const mine = await world.addChannel(tenant, 'slack', { sealed: theirs.sealed, events: ['payment.refunded'] })
    const before = world.services.slack.seen.requests
    await world.pay(tenant, { type: 'payment.refunded' })
    await world.run(mine.id, 2)
    expect(world.services.slack.seen.requests).toBe(before)
  })
})

describe('The channels that are due', () => {
  beforeEach(async () => {
    await world.db.query('update channel set removed_at = now()')
  })

  /** Fewer than the waiting notifications of the channels that cannot be reached. */
  const LIMIT = 3
  const due = () => takeDueChannels(world.db, { now: iso(), againSeconds: 10, limit: LIMIT })
  const test = ({ id }: Channel, whose: Tenant): Promise<void> =>
    insertTestMessage(world.db, whose, { id: newId('channelMessage'), channelId: id, now: iso() })

  async function another(kind: ChannelKind): Promise<{ channel: Channel; whose: Tenant }> {
    const whose = await newTenant(world)
    return { channel: await world.addChannel(whose, kind), whose }
  }

  describe('Waiting notifications of unreachable channels never delay the channel of another merchant', () => {
    it('channels of a service that is down do not delay others: behind a message that is repeated only urgent ones are due', async () => {
      const down = await world.addChannel(tenant, 'slack')
      world.services.slack.mood = () => 503
      await world.pay(tenant)
      await world.run(down.id, 800)
      for (let n = 0; n <= LIMIT; n++) await world.pay(tenant)
      world.clock.now += 20_000
      const { channel, whose } = await another('discord')
      await world.pay(whose)
      expect(await due()).toEqual([channel.id])
      await world.db.transaction((tx) => leaveNotice(tx, tenant, { kind: 'wallet.kept', data: {} }))
      expect(await due()).toEqual([down.id])
    })

    it('channels of a service that asked for a pause do not delay others', async () => {
      const paused = await world.addChannel(tenant, 'discord')
      for (let n = 0; n <= LIMIT; n++) await world.pay(tenant)
      const until = new Date(world.clock.now + 86_400_000)
      await world.db.query('update channel set paused_until = $2 where id = $1', [paused.id, until])
      const { channel, whose } = await another('slack')
      await world.pay(whose)
      expect(await due()).toEqual([channel.id])
    })

    it('removed channels with a message that had begun do not delay others', async () => {
      for (let n = 0; n <= LIMIT; n++) {
        const removed = await world.addChannel(tenant, 'slack')
        await test(removed, tenant)
        await world.db.transaction((tx) => removeChannel(tx, tenant, { id: removed.id, at: iso() }))
      }
      world.clock.now += 20_000
      const { channel, whose } = await another('slack')
      await test(channel, whose)
      expect(await due()).toEqual([channel.id])
    })
  })

  it('a message that failed before the quiet hours is repeated at their end; urgent ones are sent during them', async () => {
    const { discord } = world.services
    world.clock.now = Date.UTC(2031, 0, 5, 21, 59, 50)
    const quiet = { from: 22 * 60, to: 7 * 60, zone: 'UTC' }
    const channel = await world.addChannel(tenant, 'discord', { quiet })
    discord.taken.length = 0
    discord.mood = () => 503
    await world.pay(tenant)
    await world.run(channel.id, 5)
    discord.mood = () => 'as documented'
    world.clock.now = Date.UTC(2031, 0, 5, 23, 0)
    await world.run(channel.id, 60)
    expect(discord.taken).toEqual([])
    await world.db.transaction((tx) =>
      leaveNotice(tx, tenant, { kind: 'api_key.created', data: { key: 'k', name: 'k' } }),
    )
    await world.run(channel.id, 60)
    expect(discord.taken.map(({ text }) => text.includes('key'))).toEqual([true])
    expect(await due()).toEqual([])
    world.clock.now = Date.UTC(2031, 0, 6, 7, 0)
    expect(await due()).toEqual([channel.id])
    await world.run(channel.id, 10)
    expect(discord.taken.map(({ text }) => text.includes('Payment succeeded'))).toEqual([false, true])
  })
})
