import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals'
import { leaveNotice, takeNotices } from '../../../src/db/accounts/account-notices.ts'
import { insertMembership } from '../../../src/db/accounts/people.ts'
import type { Tenant } from '../../../src/db/db.ts'
import { listChannels, listMessages } from '../../../src/db/notifications/channels.ts'
import { breakChannel, takeDueChannels } from '../../../src/db/notifications/messages.ts'
import { newId } from '../../../src/ids.ts'
import { noticeMail } from '../../../src/notify/notice-mail.ts'
import { readChannelUrl } from '../../../src/webhooks/channel-url.ts'
import { createNoticeRound } from '../../../src/worker/notify/notice-round.ts'
import { type Account, openAccount } from '../site/account.ts'
import { linkIn, mailsTo, signIn, Visitor } from '../site/visitor.ts'
import { type Merchant, openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop?.close())

describe('Notices', () => {
  async function noticesOf({ tenant }: Pick<Merchant, 'tenant'>): Promise<unknown[]> {
    const { rows } = await shop.db.query('select kind, data from notice where merchant_id = $1 order by id', [
      tenant.merchantId,
    ])
    return rows
  }

  const notifier = () =>
    createNoticeRound({
      db: shop.db,
      clock: Date.now,
      seal: (text, id) => shop.secretBox.seal(text, id),
      newMailId: () => newId('mail'),
      publicUrl: 'https://pay.example',
      noticeMail,
    })
  const tell = (): Promise<number> => notifier()()

  /** Also behind mails that wait for their first try. */
  async function tellAll(): Promise<void> {
    do await shop.db.query('update mail set tries = 1')
    while ((await tell()) > 0)
  }

  test('people are told of a key that is made, replaced and revoked, each once', async () => {
    const account = await openAccount(shop, 'keys@shop.example')
    const { key } = account
    const made = await shop.ask('POST', '/v1/api_keys', {
      key,
      body: { name: 'Shop' },
      headers: { 'idempotency-key': '1' },
    })
    await shop.ask('POST', '/v1/api_keys', { key, body: { name: 'Shop' }, headers: { 'idempotency-key': '1' } })
    const id = String(made.body['id'])
    const rotated = await shop.ask('POST', `/v1/api_keys/${id}/rotate`, { key, body: {} })
    for (let n = 0; n < 2; n++) expect((await shop.ask('DELETE', `/v1/api_keys/${id}`, { key })).status).toBe(200)
    expect(await noticesOf(account)).toEqual([
      { kind: 'api_key.created', data: { key: id, name: 'Shop' } },
      { kind: 'api_key.created', data: { key: rotated.body['id'], name: 'Shop' } },
      { kind: 'api_key.revoked', data: { key: id, name: 'Shop' } },
    ])
    await tell()
    const subjects = (await mailsTo(shop, 'keys@shop.example')).map(({ subject }) => subject)
    expect(subjects.filter((subject) => subject.includes('API key')).toSorted()).toEqual([
      'Halden Coffee (test): An API key was created',
      'Halden Coffee (test): An API key was created',
      'Halden Coffee (test): An API key was revoked',
    ])
  })

  test('a sign-in with a browser that is new is told, to the person alone by mail; the same browser is not', async () => {
    const [email, other] = ['new@shop.example', 'colleague@shop.example']
    const account = await openAccount(shop, email)
    const colleague = await openAccount(shop, other)
    const { rows } = await shop.db.query('select person_id from membership where merchant_id = $1', [
      colleague.tenant.merchantId,
    ])
    const personId = String((rows[0] as { person_id: string }).person_id)
    await insertMembership(shop.db, { merchantId: account.tenant.merchantId, personId, role: 'developer' })
    await signIn(shop, email)
    expect(await noticesOf(account)).toEqual([])

    const visitor = new Visitor(shop)
    const headers = { 'sec-fetch-site': 'same-origin', 'user-agent': 'Another/1.0' }
    for (let n = 0; n < 2; n++) {
      await visitor.post('/sign-in', { email }, headers)
      const { path } = await linkIn(shop, email)
      await visitor.post(path.split('?')[0] ?? path, {}, headers)
    }
    expect(await noticesOf(account)).toMatchObject([{ kind: 'sign_in.new', data: { email } }])
    await tell()
    const subject = 'Halden Coffee (test): Sign-in from a new device'
    const [mine, theirs] = [await mailsTo(shop, email), await mailsTo(shop, other)]
    expect(mine.filter((mail) => mail.subject === subject)).toHaveLength(1)
    expect(theirs.filter((mail) => mail.subject === subject)).toEqual([])
  })

  test('people read of their account in the language of their own channel, else in that of the account, else in English', async () => {
    const [email, other] = ['deutsch@shop.example', 'francais@shop.example']
    const account = await openAccount(shop, email)
    const { tenant } = await openAccount(shop, other)
    const { rows } = await shop.db.query('select person_id from membership where merchant_id = $1', [tenant.merchantId])
    const personId = String((rows[0] as { person_id: string }).person_id)
    await insertMembership(shop.db, { merchantId: account.tenant.merchantId, personId, role: 'developer' })
    const lastSubjects = async (): Promise<(string | undefined)[]> => {
      // What came before is told first.
      await tell()
      await shop.ask('POST', '/v1/api_keys', { key: account.key, body: { name: 'Server <1>' } })
      await tell()
      return [(await mailsTo(shop, email)).at(-1)?.subject, (await mailsTo(shop, other)).at(-1)?.subject]
    }
    const english = 'Halden Coffee (test): An API key was created'
    expect(await lastSubjects()).toEqual([english, english])

    const body = { kind: 'slack', name: '#payments', webhook_url: 'https://hooks.slack.com/services/T1/B1/x' }
    await shop.ask('POST', '/v1/notification_channels', { key: account.key, body: { ...body, language: 'fr' } })
    const french = 'Halden Coffee (test): Une clé API a été créée'
    expect(await lastSubjects()).toEqual([french, french])

    const own = { kind: 'email', email, language: 'de' }
    expect((await shop.ask('POST', '/v1/notification_channels', { key: account.key, body: own })).status).toBe(201)
    expect(await lastSubjects()).toEqual(['Halden Coffee (test): Ein API-Schlüssel wurde erstellt', french])
    const { text } = (await mailsTo(shop, email)).at(-1) ?? { text: '' }
    expect(text).toMatch(/^Der API-Schlüssel „Server <1>“ \(key_\w{12}\) von „Halden Coffee“ wurde erstellt\./)
    expect(text).toContain('https://pay.example/dashboard/keys')
  })

  test('an account that is told much holds up no other: its notices wait for those of each, and for the mails that wait', async () => {
    const [loud, quiet] = ['loud@shop.example', 'quiet@shop.example']
    const [{ tenant: many }, { tenant: one }] = [await openAccount(shop, loud), await openAccount(shop, quiet)]
    const leave = (of: Tenant, number: number) =>
      shop.db.transaction(async (tx) => {
        for (let count = 0; count < number; count++)
          await leaveNotice(tx, of, { kind: 'api_key.created', data: { key: `key_${count}`, name: 'Server' } })
      })
    const toldOf = async (address: string): Promise<number> =>
      (await mailsTo(shop, address)).filter(({ subject }) => subject.includes('API key')).length
    while ((await tell()) > 0);
    await leave(many, 300)
    await leave(one, 1)
    await tell()
    expect([await toldOf(loud), await toldOf(quiet)]).toEqual([19, 1])

    while ((await tell()) > 0);
    const waiting = await toldOf(loud)
    expect(waiting).toBeLessThan(120)
    await shop.db.query('update mail set tries = 1')
    await leave(one, 1)
    await tell()
    expect([await toldOf(loud), await toldOf(quiet)]).toEqual([waiting + 19, 2])
  })

  test('accounts that are told without end hold up no other, however many they are: each has its turn', async () => {
    await tellAll()
    const many = Array.from({ length: 25 }, () => newId('merchant'))
    await shop.db.query(`insert into merchant (id, name) select unnest($1::text[]), 'Told much'`, [many])
    await shop.db.query(
      `insert into notice (merchant_id, livemode, kind, data, created_at)
       select id, $2, 'api_key.created', '{}', now() - number * interval '1 minute'
       from unnest($1::text[]) as account(id), generate_series(1, 5) as number`,
      [many, shop.db.livemode],
    )
    const { tenant } = await openAccount(shop, 'one-of-many@shop.example')
    await shop.db.transaction((tx) => leaveNotice(tx, tenant, { kind: 'api_key.created', data: {} }))
    const round = notifier()
    for (let count = 0; count < 2; count++) await round()
    const { rows } = await shop.db.query(
      'select distinct merchant_id from notice where sent_at is not null and merchant_id = any($1)',
      [[...many, tenant.merchantId]],
    )
    expect(rows).toHaveLength(many.length + 1)
    await tellAll()
  })

  test('what an account has left costs no more to read than what is taken of it', async () => {
    const { tenant } = await openAccount(shop, 'without-end@shop.example')
    const { tenant: other } = await openAccount(shop, 'beside-it@shop.example')
    await shop.db.query(
      `insert into notice (merchant_id, livemode, kind, data)
       select '${tenant.merchantId}', ${tenant.livemode}, 'api_key.created', '{}' from generate_series(1, 5000)`,
    )
    await shop.db.transaction((tx) => leaveNotice(tx, other, { kind: 'api_key.created', data: {} }))
    await shop.db.query('analyze notice')
    const [taken, read] = await shop.db.transaction(async (tx) => {
      // Of this connection, and also of what it has read shortly before.
      const countRead = async (): Promise<number> => {
        const { rows } = await tx.query(
          `select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = 'notice'`,
        )
        return (rows[0] as { read: number }).read
      }
      const before = await countRead()
      const notices = await takeNotices(tx, new Date().toISOString(), { limit: 20, after: '' })
      return [notices, (await countRead()) - before]
    })
    expect([taken.length, taken.some(({ merchantId }) => merchantId === other.merchantId)]).toEqual([20, true])
    expect(read).toBeLessThan(500)
  })
})

describe('The page of notifications', () => {
  let account: Account
  beforeAll(async () => {
    shop = await shop.asNewMerchant()
    // No channel of the tests before is due.
    await shop.db.query('update channel set removed_at = now()')
    account = await openAccount(shop, 'connects@shop.example')
  })

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

    const settings = {
      name: '#money',
      language: 'de',
      quiet_from: '22:00',
      quiet_to: '07:00',
      quiet_zone: 'Europe/Oslo',
    }
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
      [{ quiet_to: '' }, 'Enter both times'],
      [{ quiet_zone: 'Nowhere/Land' }, 'Enter the time zone as a city'],
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
    expect(await textOf(owner, PATH)).toContain(
      'Slack says &quot;no_service&quot;. 1 notification is waiting, none is lost.',
    )
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
    expect(channels.map(({ kind, name }) => [kind, name])).toEqual([['email', 'connects@shop.example']])
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
})
