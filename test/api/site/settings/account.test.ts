import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals'
import { privateKeyToAccount } from 'viem/accounts'
import { until } from '../../../../scripts/test/until.ts'
import { leaveNotice, takeNotices } from '../../../../src/db/accounts/account-notices.ts'
import { insertMembership } from '../../../../src/db/accounts/people.ts'
import { execute, sql, type Tenant } from '../../../../src/db/db.ts'
import { listChannels, listMessages } from '../../../../src/db/notifications/channels.ts'
import { breakChannel, takeDueChannels } from '../../../../src/db/notifications/messages.ts'
import { newId } from '../../../../src/ids.ts'
import { noticeMail } from '../../../../src/notify/notice-mail.ts'
import { readChannelUrl } from '../../../../src/webhooks/channel-url.ts'
import { createNoticeRound } from '../../../../src/worker/notify/notice-round.ts'
import { insertOwnAddresses } from '../../support/own-addresses.ts'
import { type Merchant, openTestApi, type TestApi, WALLET } from '../../support/test-api.ts'
import { type Account, openAccount } from '../account.ts'
import { linkIn, mailsTo, signIn, Visitor } from '../visitor.ts'

let testApi: TestApi
beforeAll(async () => {
  testApi = await openTestApi()
})
afterAll(() => testApi?.close())

describe('The wallet', () => {
  const HOLDER = privateKeyToAccount('0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a')
  const OTHER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

  let live: TestApi
  beforeAll(async () => {
    live = await openTestApi({ mode: 'live' })
  })
  afterAll(() => live?.close())

  const PATH = '/dashboard/wallet'
  const ask = (visitor: Visitor, address: string, more = {}) =>
    visitor.submit(PATH, { address, again: address, ...more })
  const shows = async (visitor: Visitor, ...texts: string[]): Promise<boolean[]> => {
    const { html } = await visitor.get(PATH)
    return texts.map((text) => html.replaceAll(/<[^>]+>/g, '').includes(text))
  }
  const grouped = (address: string): string => `0x${address.slice(2).match(/.{4}/g)?.join(' ')}`

  async function addMember(to: TestApi, { tenant }: Account, email: string, role: string): Promise<Visitor> {
    const visitor = await signIn(to, email)
    await execute(
      to.db,
      sql`insert into membership (merchant_id, person_id, role) select ${tenant.merchantId}, id, ${role} from person
          where email = ${email}`,
    )
    return visitor
  }

  const notify = (): Promise<number | null> =>
    createNoticeRound({
      db: live.db,
      seal: (text, id) => live.secretBox.seal(text, id),
      newMailId: () => newId('mail'),
      publicUrl: 'https://pay.pinrail.example',
      noticeMail,
      clock: Date.now,
    })()

  async function stopPath(email: string): Promise<string> {
    const text = (await mailsTo(live, email)).map((mail) => mail.text).findLast((one) => one.includes('/wallet/stop/'))
    return /\/wallet\/stop\/\S+/.exec(text ?? '')?.[0] ?? ''
  }

  test('the wallet form shows the character that differs, refuses invalid addresses and the platform’s in every spelling, and accepts a signature as proof', async () => {
    const { owner, tenant } = await openAccount(testApi, 'wallet@shop.example')
    const wrong = async (form: Record<string, string>): Promise<string> => {
      const answer = await owner.submit(PATH, form)
      expect(answer.status).toBe(400)
      return answer.html
    }
    expect(await wrong({ address: OTHER, again: `${OTHER.slice(0, -1)}1` })).toContain(
      'The last character differs: 6 above, 1 here.',
    )
    expect(await wrong({ address: OTHER, again: OTHER.slice(0, -1) })).toContain(
      'It is 41 characters long here, and 42',
    )
    for (const [address, text] of [
      [OTHER.replace('F79bf6', 'F79Bf6'), 'a character was probably mistyped'],
      [`0x${'0'.repeat(40)}`, 'Must be an address whose key somebody has'],
      ['0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'not the contract of a token'],
      ['0xcA11bde05977b3631167028862bE2a173976CA11', 'not a shared contract'],
      ['shop.eth', 'a name cannot be used'],
    ] as const)
      expect(await wrong({ address, again: address })).toContain(text)
    for (const own of await insertOwnAddresses(testApi))
      expect(await wrong({ address: own, again: own })).toContain('this one belongs to the platform')
    const proofText =
      /aria-label="Text to sign"><code[^>]*>([^<]+)/.exec((await owner.get(`${PATH}/change`)).html)?.[1] ?? ''
    expect(proofText).toContain(tenant.merchantId)
    const signature = await HOLDER.signMessage({ message: proofText })
    expect(await wrong({ address: OTHER, again: OTHER, signature })).toContain(
      `Must be of proof_text, by the wallet ${OTHER}`,
    )
    expect(await shows(owner, grouped(WALLET), 'Ownership proved')).toEqual([true, false])
    expect((await ask(owner, HOLDER.address, { signature })).to).toBe(PATH)
    expect(await shows(owner, grouped(HOLDER.address), 'Ownership proved')).toEqual([true, true])
    await ask(owner, OTHER)
    expect(await shows(owner, grouped(OTHER), 'Ownership proved')).toEqual([true, false])
  })

  test('in live mode a new wallet waits a day: payments created before and during that day keep the old wallet, later ones get the new one', async () => {
    const account = await openAccount(live, 'waits@shop.example')
    const { owner, key, pay, tenant } = account
    const destinations = async (): Promise<string[]> =>
      (
        await live.db.query('select destination from payment where merchant_id = $1 order by id', [tenant.merchantId])
      ).rows.map((row) => String(row.destination))
    const payment = { amount: 10, currency: 'EUR' }
    await pay(payment)
    expect((await ask(owner, OTHER)).to).toBe(PATH)
    await pay(payment)
    expect(await shows(owner, 'Your wallet changes in', grouped(WALLET), grouped(OTHER))).toEqual([true, true, true])
    const { html } = await owner.get(PATH)
    expect(Number(/data-left="(\d+)"/.exec(html)?.[1])).toBeGreaterThan(23.9 * 3_600_000)
    const read = await live.ask('GET', '/v1/settings/wallet', { key })
    expect(read.body).toMatchObject({ address: WALLET, change: { address: OTHER, proved: false } })
    // A day later.
    await live.db.query(`update wallet set next_at = now() where merchant_id = $1`, [tenant.merchantId])
    await pay(payment)
    expect(await destinations()).toEqual([WALLET, WALLET, OTHER])
    expect(await shows(owner, 'Your wallet changes in', grouped(OTHER))).toEqual([false, true])
  })

  test('a new wallet is mailed to everybody with a link that stops the change: opening it does nothing, one press stops it, once', async () => {
    const account = await openAccount(live, 'notified@shop.example')
    await addMember(live, account, 'support@shop.example', 'support')
    await ask(account.owner, OTHER)
    expect(await Promise.all([notify(), notify()])).toContain(0)
    const mails = (await mailsTo(live, 'support@shop.example')).filter(({ text }) => text.includes('/wallet/stop/'))
    expect([mails.length, mails[0]?.subject]).toEqual([1, 'Halden Coffee: The wallet is about to change'])
    expect(mails[0]?.text).toContain(OTHER)
    const path = await stopPath('support@shop.example')
    const stranger = new Visitor(live)
    expect((await stranger.get(path)).html).toContain('Stop this change')
    expect((await stranger.get('/wallet/stop/guessed')).status).toBe(404)
    expect((await stranger.post(path, {}, { origin: 'https://evil.example' })).status).toBe(403)
    expect(await shows(account.owner, 'Your wallet changes in')).toEqual([true])
    expect((await stranger.post(path)).html).toContain('The change is stopped')
    expect((await stranger.post(path)).status).toBe(404)
    expect(
      await shows(
        account.owner,
        'Your wallet changes in',
        grouped(WALLET),
        'A change was stopped from a mail by support@',
      ),
    ).toEqual([false, true, true])
    await notify()
    expect((await mailsTo(live, 'notified@shop.example')).at(-1)?.subject).toContain('The wallet change was stopped')
  })

  const readLog = async (merchantId: string, email: string): Promise<unknown[]> => {
    const { rows } = await live.db.query(
      `select action, data from audit_entry join person on person.id = actor
       where merchant_id = $1 and email = $2 order by audit_entry.id`,
      [merchantId, email],
    )
    return rows
  }

  test('the account’s log names each person who exported payments or a statement from the dashboard', async () => {
    const account = await openAccount(live, 'exports@shop.example')
    for (const path of [
      'payments.csv?status=succeeded,failed&currency=EUR',
      'payments.csv?for=excel',
      'payments.json?q=tea',
      'balance.csv?month=2026-10',
      'balance.csv?year=2026&for=excel',
    ])
      expect((await account.owner.get(`/dashboard/${path}`)).status).toBe(200)
    const exported = (await readLog(account.tenant.merchantId, 'exports@shop.example')) as { action: string }[]
    expect(exported.filter(({ action }) => action.startsWith('export'))).toEqual([
      { action: 'exportPayments', data: { format: 'csv', status: 'succeeded,failed', currency: 'EUR' } },
      { action: 'exportPayments', data: { format: 'excel' } },
      { action: 'exportPayments', data: { format: 'json', search: 'tea' } },
      { action: 'exportStatement', data: { format: 'csv', period: '2026-10' } },
      { action: 'exportStatement', data: { format: 'excel', period: '2026' } },
    ])
  })

  test('the account’s log has a refused press and a failed sign-in once an hour, however often they are tried', async () => {
    const account = await openAccount(live, 'patient@shop.example')
    const viewer = await addMember(live, account, 'pushy@shop.example', 'viewer')
    const invite = { email: 'x@shop.example', role: 'owner' }
    for (let press = 0; press < 3; press++)
      expect((await viewer.submit('/dashboard/team/invite', invite)).status).toBe(403)
    await viewer.submit('/dashboard/keys', {})
    const guesser = new Visitor(live)
    await guesser.post('/sign-in', { email: 'pushy@shop.example' })
    for (let guess = 0; guess < 3; guess++) await guesser.post('/sign-in/code', { code: '000000' })
    await new Visitor(live).post('/sign-in/code', { code: '000000' })
    const logged = await until(
      () => readLog(account.tenant.merchantId, 'pushy@shop.example'),
      (rows) => JSON.stringify(rows).includes('person.sign_in_failed'),
    )
    expect(logged).toEqual([
      { action: 'person.refused', data: { path: '/dashboard/team/invite', role: 'viewer' } },
      { action: 'person.refused', data: { path: '/dashboard/keys', role: 'viewer' } },
      { action: 'person.sign_in_failed', data: { how: 'code' } },
    ])
  })

  test('the account’s log names each person who signed in, and whose role did not allow a press', async () => {
    const account = await openAccount(live, 'logged@shop.example')
    const viewer = await addMember(live, account, 'curious@shop.example', 'viewer')
    expect((await viewer.submit('/dashboard/team/invite', { email: 'x@shop.example', role: 'owner' })).status).toBe(403)
    await signIn(live, 'curious@shop.example')
    const { rows } = await live.db.query(
      `select action, data from audit_entry join person on person.id = actor
       where merchant_id = $1 and email = 'curious@shop.example' order by audit_entry.id`,
      [account.tenant.merchantId],
    )
    expect(rows).toEqual([
      { action: 'person.refused', data: { path: '/dashboard/team/invite', role: 'viewer' } },
      { action: 'person.signed_in', data: { how: 'link' } },
    ])
  })

  test('a link stops only the wallet change that it was sent for, not a later one; each person of the team and a live key can stop it too', async () => {
    const account = await openAccount(live, 'later@shop.example')
    const viewer = await addMember(live, account, 'looks@shop.example', 'viewer')
    await ask(account.owner, OTHER)
    await notify()
    const old = await stopPath('later@shop.example')
    expect((await viewer.submit(`${PATH}/stop`)).to).toBe(PATH)
    await ask(account.owner, HOLDER.address)
    expect((await account.owner.post(old)).status).toBe(404)
    expect(await shows(viewer, grouped(HOLDER.address))).toEqual([true])
    const stopped = await live.ask('POST', '/v1/settings/wallet/stop_change', { key: account.key })
    expect([stopped.status, stopped.body['change']]).toEqual([200, null])
    const again = await live.ask('POST', '/v1/settings/wallet/stop_change', { key: account.key })
    expect(again.status).toBe(200)
    const put = await live.ask('PUT', '/v1/settings/wallet', { key: account.key, body: { address: OTHER } })
    expect([put.status, put.body['page']]).toEqual([403, `https://pay.pinrail.example${PATH}`])
  })

  test('entering the current wallet stops a change that waits', async () => {
    const { owner } = await openAccount(live, 'same@shop.example')
    await ask(owner, OTHER)
    await ask(owner, WALLET)
    expect(await shows(owner, 'Your wallet changes in', grouped(WALLET))).toEqual([false, true])
  })
})

describe('The data of a person', () => {
  // Personal data: exported as a file, and deleted.
  const PATH = '/dashboard/account/delete'
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  })

  const traces = async (email: string): Promise<string[]> => {
    const { rows } = await testApi.db.query(
      `select 'person' as at from person where email = $1 union all
       select 'link' from sign_in_link where email = $1 union all
       select 'invitation' from invitation where email = $1 union all
       select 'channel' from channel where name = $1 union all
       select 'notice' from notice where data::text like '%' || $1 || '%' union all
       select 'audit' from audit_entry where data::text like '%' || $1 || '%'`,
      [email],
    )
    return rows.map(({ at }) => String(at))
  }

  test('a person exports their stored data as a file, without secrets and data of others', async () => {
    const { owner, key } = await openAccount(testApi, 'own@shop.example')
    await openAccount(testApi, 'other@shop.example')
    const own = await testApi.db.query(
      'select action from audit_entry join person on person.id = actor where email = $1',
      ['own@shop.example'],
    )
    const body = { kind: 'email', email: 'own@shop.example' }
    expect((await testApi.ask('POST', '/v1/notification_channels', { key, body })).status).toBe(201)
    expect((await owner.get('/dashboard/account')).html).toContain('href="/dashboard/account/data.json"')
    const { status, headers, html } = await owner.get('/dashboard/account/data.json')
    expect([status, headers.get('content-disposition')]).toEqual([200, 'attachment; filename="pinrail-about-me.json"'])
    const data = JSON.parse(html) as Record<string, Record<string, unknown>[]>
    expect(data['person']).toMatchObject({ email: 'own@shop.example' })
    expect(data['accounts']).toMatchObject([{ name: 'Halden Coffee', role: 'owner' }])
    expect(data['sessions']).toHaveLength(1)
    expect(data['channels']).toMatchObject([{ kind: 'email', account: 'Halden Coffee' }])
    expect(own.rows.map(({ action }) => String(action))).toContain('account.created')
    expect(data['changes']).toMatchObject(own.rows)
    expect(data['changes']).toHaveLength(own.rows.length)
    expect(html).not.toMatch(/digest|sealed|public_key|other@shop\.example/)
  })

  test('a person can be deleted once no account needs them, and then cannot sign in again', async () => {
    const email = 'leaves@shop.example'
    const { owner, tenant, keyId } = await openAccount(testApi, email)
    const needed = await owner.get(PATH)
    expect(needed.html).toContain('You are the only owner of Halden Coffee')
    expect((await owner.submit(PATH, { email })).status).toBe(409)
    await testApi.db.query('update api_key set revoked_at = now() where id = $1', [keyId])
    // In another account they are invited, are notified of a change, and have a channel.
    const { tenant: other } = await openAccount(testApi, 'invites-who-leaves@shop.example')
    await testApi.db.query(
      `with person as (select id from person where email = $2),
         invited as (insert into invitation (merchant_id, email, role, expires_at)
           values ($1, $2, 'viewer', now() + interval '1 day')),
         noticed as (insert into notice (merchant_id, livemode, kind, data)
           select $1, false, 'sign_in.new', jsonb_build_object('person', id, 'email', $2::text) from person)
       insert into channel (id, merchant_id, livemode, kind, person_id, name, sealed, events, language, created_at, updated_at)
       select 'chan_01k9z3v7t8e4a9v2b6q5r0c1d2', $1, false, 'email', id, $2, 'sealed', '{}', 'en', now(), now() from person`,
      [other.merchantId, email],
    )

    expect((await owner.submit(PATH, { email: 'somebody@else.example' })).status).toBe(400)
    expect((await traces(email)).toSorted()).toEqual(['channel', 'invitation', 'link', 'notice', 'person'])
    const gone = await owner.submit(PATH, { email: ' Leaves@shop.example ' })
    expect([gone.status, gone.html.includes('Sign-in deleted')]).toEqual([200, true])
    expect(await traces(email)).toEqual([])
    expect((await owner.get('/dashboard')).to).toMatch(/^\/sign-in/)
    const { rows } = await testApi.db.query(
      'select action from audit_entry where merchant_id = $1 order by id desc limit 1',
      [tenant.merchantId],
    )
    expect(rows).toEqual([{ action: 'member.left' }])
    // A new sign-up with this address starts from zero.
    expect((await (await signIn(testApi, email)).get('/dashboard')).to).toBe('/dashboard/welcome')
  })

  test('deleting a person deletes their own Telegram chat and their address in notices; a group chat remains', async () => {
    const email = 'chats@shop.example'
    const { owner, tenant, key, keyId } = await openAccount(testApi, email)
    expect(
      (await testApi.ask('POST', '/v1/notification_channels', { key, body: { kind: 'email', email } })).status,
    ).toBe(201)
    const chats = { chan_01k9z3v7t8e4a9v2b6q5r0c1d3: '4711', chan_01k9z3v7t8e4a9v2b6q5r0c1d4: '-4711' }
    for (const [id, chat] of Object.entries(chats))
      await testApi.db.query(
        `insert into channel (id, merchant_id, livemode, kind, person_id, name, sealed, events, language, created_at, updated_at)
         select $1, $2, false, 'telegram', id, 'Chat of ' || $1, $3, '{}', 'en', now(), now() from person where email = $4`,
        [id, tenant.merchantId, testApi.secretBox.seal(chat, id), email],
      )
    await testApi.db.query('update api_key set revoked_at = now() where id = $1', [keyId])
    expect((await owner.submit(PATH, { email })).status).toBe(200)
    const { rows } = await testApi.db.query(
      `select id, removed_at is null as active from channel where kind = 'telegram' and merchant_id = $1 order by id`,
      [tenant.merchantId],
    )
    expect(rows.map(({ active }) => Boolean(active))).toEqual([false, true])
    expect(await traces(email)).toEqual([])
  })

  test('an account with other people keeps an owner', async () => {
    const { owner, tenant, keyId } = await openAccount(testApi, 'last-owner@shop.example')
    await testApi.db.query('update api_key set revoked_at = now() where id = $1', [keyId])
    await signIn(testApi, 'viewer-of-it@shop.example')
    const join = (email: string, role: string) =>
      testApi.db.query(
        `insert into membership (merchant_id, person_id, role) select $1, id, $2 from person where email = $3`,
        [tenant.merchantId, role, email],
      )
    await join('viewer-of-it@shop.example', 'viewer')
    expect((await owner.submit(PATH, { email: 'last-owner@shop.example' })).status).toBe(409)
    await signIn(testApi, 'second-owner@shop.example')
    await join('second-owner@shop.example', 'owner')
    expect((await owner.submit(PATH, { email: 'last-owner@shop.example' })).status).toBe(200)
  })

  test.each([
    ['a link that takes payments', 'payment_link', 'active = true', 'active = false'],
    ['a key that works', 'api_key', 'expires_at = null', "expires_at = now() - interval '1 second'"],
    ['money on its way', 'payment', "status = 'processing'", "status = 'expired'"],
  ])('the only person of an account with %s cannot be deleted until it is over', async (what, table, open, over) => {
    const email = `${table}@shop.example`
    const { owner, tenant, key, keyId, pay } = await openAccount(testApi, email)
    await pay({ amount: '49.99', currency: 'EUR' })
    const link = { amount: '49.99', currency: 'EUR', title: 'Coffee' }
    expect((await testApi.ask('POST', '/v1/payment_links', { key, body: link })).status).toBe(201)
    await testApi.db.query('update payment_link set active = false where merchant_id = $1', [tenant.merchantId])
    if (what !== 'a key that works')
      await testApi.db.query('update api_key set revoked_at = now() where id = $1', [keyId])
    const set = (to: string) =>
      testApi.db.query(`update ${table} set ${to} where merchant_id = $1`, [tenant.merchantId])
    await set(open)
    expect((await owner.submit(PATH, { email })).status).toBe(409)
    await set(over)
    expect((await owner.submit(PATH, { email })).status).toBe(200)
  })
})

describe('Notices', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  })

  async function listNotices({ tenant }: Pick<Merchant, 'tenant'>): Promise<unknown[]> {
    const { rows } = await testApi.db.query('select kind, data from notice where merchant_id = $1 order by id', [
      tenant.merchantId,
    ])
    return rows
  }

  const notifier = () =>
    createNoticeRound({
      db: testApi.db,
      clock: Date.now,
      seal: (text, id) => testApi.secretBox.seal(text, id),
      newMailId: () => newId('mail'),
      publicUrl: 'https://pay.example',
      noticeMail,
    })
  const notify = (): Promise<number | null> => notifier()()

  /** Notifies until no notice is left, also behind mails that wait for their first try. */
  async function notifyAll(): Promise<void> {
    do await testApi.db.query('update mail set tries = 1')
    while (((await notify()) ?? 0) > 0)
  }

  test('people are notified once of a key that is made, rotated and revoked', async () => {
    const account = await openAccount(testApi, 'keys@shop.example')
    const { key } = account
    const made = await testApi.ask('POST', '/v1/api_keys', {
      key,
      body: { name: 'Shop' },
      headers: { 'idempotency-key': '1' },
    })
    await testApi.ask('POST', '/v1/api_keys', { key, body: { name: 'Shop' }, headers: { 'idempotency-key': '1' } })
    const id = String(made.body['id'])
    const rotated = await testApi.ask('POST', `/v1/api_keys/${id}/rotate`, { key, body: {} })
    for (let n = 0; n < 2; n++) expect((await testApi.ask('DELETE', `/v1/api_keys/${id}`, { key })).status).toBe(200)
    expect(await listNotices(account)).toEqual([
      { kind: 'api_key.created', data: { key: id, name: 'Shop' } },
      { kind: 'api_key.created', data: { key: rotated.body['id'], name: 'Shop' } },
      { kind: 'api_key.revoked', data: { key: id, name: 'Shop' } },
    ])
    await notify()
    const subjects = (await mailsTo(testApi, 'keys@shop.example')).map(({ subject }) => subject)
    expect(subjects.filter((subject) => subject.includes('API key')).toSorted()).toEqual([
      'Halden Coffee (test): An API key was created',
      'Halden Coffee (test): An API key was created',
      'Halden Coffee (test): An API key was revoked',
    ])
  })

  test('a sign-in with a new browser is mailed to the person alone; one with the same browser is not', async () => {
    const [email, other] = ['new@shop.example', 'colleague@shop.example']
    const account = await openAccount(testApi, email)
    const colleague = await openAccount(testApi, other)
    const { rows } = await testApi.db.query('select person_id from membership where merchant_id = $1', [
      colleague.tenant.merchantId,
    ])
    const personId = String((rows[0] as { person_id: string }).person_id)
    await insertMembership(testApi.db, { merchantId: account.tenant.merchantId, personId, role: 'developer' })
    await signIn(testApi, email)
    expect(await listNotices(account)).toEqual([])

    const visitor = new Visitor(testApi)
    const headers = { 'sec-fetch-site': 'same-origin', 'user-agent': 'Another/1.0' }
    for (let n = 0; n < 2; n++) {
      await visitor.post('/sign-in', { email }, headers)
      const { path } = await linkIn(testApi, email)
      await visitor.post(path.split('?')[0] ?? path, {}, headers)
    }
    expect(await listNotices(account)).toMatchObject([{ kind: 'sign_in.new', data: { email } }])
    await notify()
    const subject = 'Halden Coffee (test): Sign-in from a new device'
    const [mine, theirs] = [await mailsTo(testApi, email), await mailsTo(testApi, other)]
    expect(mine.filter((mail) => mail.subject === subject)).toHaveLength(1)
    expect(theirs.filter((mail) => mail.subject === subject)).toEqual([])
  })

  test('people read notices in their channel’s language, else in that of the account, else in English', async () => {
    const [email, other] = ['deutsch@shop.example', 'francais@shop.example']
    const account = await openAccount(testApi, email)
    const { tenant } = await openAccount(testApi, other)
    const { rows } = await testApi.db.query('select person_id from membership where merchant_id = $1', [
      tenant.merchantId,
    ])
    const personId = String((rows[0] as { person_id: string }).person_id)
    await insertMembership(testApi.db, { merchantId: account.tenant.merchantId, personId, role: 'developer' })
    const lastSubjects = async (): Promise<(string | undefined)[]> => {
      // Earlier notices are sent first.
      await notify()
      await testApi.ask('POST', '/v1/api_keys', { key: account.key, body: { name: 'Server <1>' } })
      await notify()
      return [(await mailsTo(testApi, email)).at(-1)?.subject, (await mailsTo(testApi, other)).at(-1)?.subject]
    }
    const english = 'Halden Coffee (test): An API key was created'
    expect(await lastSubjects()).toEqual([english, english])

    const body = { kind: 'slack', name: '#payments', webhook_url: 'https://hooks.slack.com/services/T1/B1/x' }
    await testApi.ask('POST', '/v1/notification_channels', { key: account.key, body: { ...body, language: 'fr' } })
    const french = 'Halden Coffee (test): Une clé API a été créée'
    expect(await lastSubjects()).toEqual([french, french])

    const own = { kind: 'email', email, language: 'de' }
    expect((await testApi.ask('POST', '/v1/notification_channels', { key: account.key, body: own })).status).toBe(201)
    expect(await lastSubjects()).toEqual(['Halden Coffee (test): Ein API-Schlüssel wurde erstellt', french])
    const { text } = (await mailsTo(testApi, email)).at(-1) ?? { text: '' }
    expect(text).toMatch(/^Der API-Schlüssel „Server <1>“ \(key_\w{12}\) von „Halden Coffee“ wurde erstellt\./)
    expect(text).toContain('https://pay.example/dashboard/keys')
  })

  test('an account with many notices does not delay others: each account’s notices and waiting mails are bounded', async () => {
    const [loud, quiet] = ['loud@shop.example', 'quiet@shop.example']
    const [{ tenant: many }, { tenant: one }] = [await openAccount(testApi, loud), await openAccount(testApi, quiet)]
    const leave = (of: Tenant, number: number) =>
      testApi.db.transaction(async (tx) => {
        for (let count = 0; count < number; count++)
          await leaveNotice(tx, of, { kind: 'api_key.created', data: { key: `key_${count}`, name: 'Server' } })
      })
    const countMails = async (address: string): Promise<number> =>
      (await mailsTo(testApi, address)).filter(({ subject }) => subject.includes('API key')).length
    while (((await notify()) ?? 0) > 0);
    await leave(many, 300)
    await leave(one, 1)
    await notify()
    expect([await countMails(loud), await countMails(quiet)]).toEqual([19, 1])

    while (((await notify()) ?? 0) > 0);
    const waiting = await countMails(loud)
    expect(waiting).toBeLessThan(120)
    await testApi.db.query('update mail set tries = 1')
    await leave(one, 1)
    await notify()
    expect([await countMails(loud), await countMails(quiet)]).toEqual([waiting + 19, 2])
  })

  test('accounts with endless notices do not delay others, however many they are: each has its turn', async () => {
    await notifyAll()
    const many = Array.from({ length: 25 }, () => newId('merchant'))
    await testApi.db.query(`insert into merchant (id, name) select unnest($1::text[]), 'Many notices'`, [many])
    await testApi.db.query(
      `insert into notice (merchant_id, livemode, kind, data, created_at)
       select id, $2, 'api_key.created', '{}', now() - number * interval '1 minute'
       from unnest($1::text[]) as account(id), generate_series(1, 5) as number`,
      [many, testApi.db.livemode],
    )
    const { tenant } = await openAccount(testApi, 'one-of-many@shop.example')
    await testApi.db.transaction((tx) => leaveNotice(tx, tenant, { kind: 'api_key.created', data: {} }))
    const round = notifier()
    for (let count = 0; count < 2; count++) await round()
    const { rows } = await testApi.db.query(
      'select distinct merchant_id from notice where sent_at is not null and merchant_id = any($1)',
      [[...many, tenant.merchantId]],
    )
    expect(rows).toHaveLength(many.length + 1)
    await notifyAll()
  })

  test('the backlog of an account does not make reading its next notices slower', async () => {
    const { tenant } = await openAccount(testApi, 'without-end@shop.example')
    const { tenant: other } = await openAccount(testApi, 'beside-it@shop.example')
    await testApi.db.query(
      `insert into notice (merchant_id, livemode, kind, data)
       select '${tenant.merchantId}', ${tenant.livemode}, 'api_key.created', '{}' from generate_series(1, 5000)`,
    )
    await testApi.db.transaction((tx) => leaveNotice(tx, other, { kind: 'api_key.created', data: {} }))
    await testApi.db.query('analyze notice')
    const [taken, read] = await testApi.db.transaction(async (tx) => {
      // Counts of this connection, including its recent reads.
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
    testApi = await testApi.asNewMerchant()
    // No channel of an earlier test is due.
    await testApi.db.query('update channel set removed_at = now()')
    account = await openAccount(testApi, 'connects@shop.example')
  })

  const PATH = '/dashboard/notifications'
  const SLACK = 'https://hooks.slack.com/services/T0001/B0001/secretOfSlack'
  const readText = async (visitor: Visitor, path: string): Promise<string> =>
    (await visitor.get(path)).html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
  const listNotices = async ({ tenant }: Account): Promise<string[]> => {
    const { rows } = await testApi.db.query('select kind from notice where merchant_id = $1 order by id', [
      tenant.merchantId,
    ])
    return rows.map(({ kind }: { kind: string }) => kind)
  }

  test('a person connects Slack, chooses its events, tests, resumes and removes it; people are notified', async () => {
    const { owner, tenant } = account
    expect(await readText(owner, PATH)).toContain('No channel yet')
    const added = await owner.submit(PATH, { kind: 'slack', name: '#payments', url: SLACK })
    expect([added.status, added.to]).toEqual([303, expect.stringMatching(/^\/dashboard\/notifications\/nch_/)])
    const one = added.to ?? ''
    const [channel] = await listChannels(testApi.db, tenant)
    expect(channel).toMatchObject({ kind: 'slack', name: '#payments', language: 'en', broken_at: null })
    // The stored URL is encrypted, and no page shows it.
    expect(channel?.sealed).not.toContain('secretOfSlack')
    expect(testApi.secretBox.open(channel?.sealed ?? '', channel?.id ?? '')).toBe(SLACK)
    for (const path of [PATH, one]) expect((await owner.get(path)).html).not.toContain('secretOfSlack')

    const settings = {
      name: '#money',
      language: 'de',
      quiet_from: '22:00',
      quiet_to: '07:00',
      quiet_zone: 'Europe/Oslo',
    }
    expect((await owner.submit(`${one}/change`, { ...settings, event: 'payment.failed' })).status).toBe(303)
    expect((await listChannels(testApi.db, tenant))[0]).toMatchObject({
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
    const messages = await listMessages(testApi.db, tenant, { channelId: channel!.id, limit: 10 })
    expect(messages).toMatchObject([{ kind: 'test', state: 'waiting' }])
    const due = { now: new Date(Date.now() + 1000).toISOString(), againSeconds: 10, limit: 10 }
    expect(await takeDueChannels(testApi.db, due)).toEqual([channel!.id])

    const reason = 'Slack says "no_service"'
    await testApi.db.transaction((tx) => breakChannel(tx, channel!.id, { reason, now: new Date().toISOString() }))
    // The channel receives the notice that it was added.
    expect(await readText(owner, PATH)).toContain(
      'Slack says &quot;no_service&quot;. 1 notification is waiting; none is lost.',
    )
    await owner.submit(`${one}/mend`)
    expect(await readText(owner, PATH)).not.toContain('no_service')

    expect((await owner.submit(`${one}/remove`)).to).toBe(PATH)
    expect(await listChannels(testApi.db, tenant)).toEqual([])
    expect((await owner.get(one)).status).toBe(404)
    expect(await listNotices(account)).toEqual(['channel.added', 'channel.removed'])
  })

  test('a mail channel goes to the person’s own address, once, whatever the form sends', async () => {
    const { owner, tenant } = account
    const form = { kind: 'email', name: 'x', url: 'mailto:victim@other.example' }
    const [first, second] = [await owner.submit(PATH, form), await owner.submit(PATH, form)]
    expect(second.to).toBe(first.to)
    const channels = await listChannels(testApi.db, tenant)
    expect(channels.map(({ kind, name }) => [kind, name])).toEqual([['email', 'connects@shop.example']])
  })

  test('a channel of another account is not found: it is neither shown nor tested, resumed, changed or removed', async () => {
    const stranger = await openAccount(testApi, 'stranger@other.example')
    const { to } = await stranger.owner.submit(PATH, { kind: 'slack', name: '#theirs', url: SLACK })
    const { owner } = account
    expect((await owner.get(to ?? '')).status).toBe(404)
    const settings = { name: 'mine', language: 'en', quiet_from: '', quiet_to: '', quiet_zone: '' }
    for (const act of ['test', 'mend', 'change', 'remove'])
      expect([act, (await owner.submit(`${to}/${act}`, settings)).status]).toEqual([act, 404])
    expect(await readText(owner, PATH)).not.toContain('#theirs')
    expect((await listChannels(testApi.db, stranger.tenant)).map(({ name }) => name)).toEqual(['#theirs'])
  })

  describe('The URL of a chat', () => {
    const live = { mode: 'live', testTargets: [] } as const
    const accepted = [
      ['slack', SLACK],
      ['discord', 'https://discord.com/api/webhooks/123456789012345678/a-Token_of-68-characters'],
      ['discord', 'https://discordapp.com/api/v10/webhooks/123456789012345678/token'],
    ] as const
    it.each(accepted)('a URL of %s is accepted: %s', (kind, url) => {
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
    ] as const)('a URL of %s is refused in live mode: %s', (kind, url) => {
      expect(readChannelUrl(kind, url, live)).toEqual({ must: expect.any(String) })
    })
  })
})
