import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { csvLine } from '../../../src/api/exports/csv.ts'
import { insertMembership } from '../../../src/db/accounts/people.ts'
import { lockMerchant } from '../../../src/db/merchants/merchants.ts'
import { openShop, type Shop } from '../support/shop.ts'
import { mailsTo, signIn, signUp, type Visitor } from './visitor.ts'

let shop: Shop
let ahead = 0
beforeAll(async () => {
  shop = await openShop({ deps: () => ({ clock: () => Date.now() + ahead }) })
})
afterAll(() => shop?.close())

const idOf = async (email: string): Promise<string> =>
  String((await shop.db.query('select id from person where email = $1', [email])).rows[0]?.id)
const accountOf = async (email: string): Promise<string> =>
  String(
    (
      await shop.db.query(
        'select merchant_id from membership join person on person.id = person_id where email = $1 order by membership.created_at desc',
        [email],
      )
    ).rows[0]?.merchant_id,
  )
const invite = (by: Visitor, email: string, role = 'viewer') => by.submit('/dashboard/team/invite', { email, role })

describe('invitations', () => {
  test('one account mails an address once an hour, and all accounts together five times', async () => {
    const target = 'flooded@shop.example'
    const owner = await signUp(shop, 'flood-0@shop.example')
    for (let round = 0; round < 8; round++) expect((await invite(owner, target)).to).toBe('/dashboard/team')
    expect(await mailsTo(shop, target)).toHaveLength(1)
    for (let round = 0; round < 3; round++) {
      await owner.submit('/dashboard/team/withdraw', { email: target })
      await invite(owner, target)
    }
    expect(await mailsTo(shop, target)).toHaveLength(1)
    for (let index = 1; index < 8; index++) await invite(await signUp(shop, `flood-${index}@shop.example`), target)
    expect(await mailsTo(shop, target)).toHaveLength(5)
    ahead = 3_600_000 + 1000
    await invite(await signIn(shop, 'flood-0@shop.example'), target)
    expect(await mailsTo(shop, target)).toHaveLength(6)
    ahead = 0
  })

  test('an account mails fifty addresses a day, however many it withdraws', async () => {
    const owner = await signUp(shop, 'many@shop.example')
    const _form = await owner.formField('/dashboard/team')
    for (let index = 0; index < 50; index++) {
      const email = `guest-${index}@shop.example`
      await owner.post('/dashboard/team/invite', { _form, email, role: 'viewer' })
      expect((await owner.post('/dashboard/team/withdraw', { _form, email })).to).toBe('/dashboard/team')
    }
    const more = await owner.post('/dashboard/team/invite', { _form, email: 'guest-50@shop.example', role: 'viewer' })
    expect([more.status, more.html.includes('at most 50 invitations in a day')]).toEqual([400, true])
    expect(await mailsTo(shop, 'guest-50@shop.example')).toEqual([])
  })

  test('one that was withdrawn is joined by nobody, and the log says so without the address', async () => {
    const owner = await signUp(shop, 'withdraws@shop.example')
    const account = await accountOf('withdraws@shop.example')
    await invite(owner, 'guest@shop.example', 'owner')
    const guest = await signIn(shop, 'guest@shop.example')
    expect((await owner.get('/dashboard/team')).html).toContain('Withdraw')
    await owner.submit('/dashboard/team/withdraw', { email: 'guest@shop.example' })
    const joined = await guest.post('/dashboard/accounts/join', {
      _form: await guest.formField('/dashboard/welcome'),
      account,
    })
    expect(joined.status).toBe(404)
    const team = (await owner.get('/dashboard/team')).html
    expect(team).toContain('invitation withdrawn')
    expect(team).not.toContain('guest@shop.example')
    expect((await owner.submit('/dashboard/team/withdraw', { email: 'guest@shop.example' })).status).toBe(404)
  })

  test('one to another address, of another account, or that has ended is joined by nobody', async () => {
    const owner = await signUp(shop, 'inviter@shop.example')
    const account = await accountOf('inviter@shop.example')
    await invite(owner, 'right@shop.example')
    const wrong = await signIn(shop, 'wrong@shop.example')
    expect((await wrong.submit('/dashboard/accounts/join', { account, email: 'right@shop.example' })).status).toBe(404)
    expect((await wrong.get('/dashboard/welcome')).html).not.toContain('invites you')
    ahead = 7 * 86_400_000 + 1000
    const late = await signIn(shop, 'right@shop.example')
    expect((await late.submit('/dashboard/accounts/join', { account })).status).toBe(404)
    ahead = 0
  })

  test('the name of an account cannot carry a web address into the mail, nor lines of its own', async () => {
    const owner = await signIn(shop, 'namer@shop.example')
    for (const name of ['Win: https://evil.example', 'www.evil.example', 'a\r\nBcc: x@evil.example', ' ', '\u202e'])
      expect([name, (await owner.submit('/dashboard/accounts', { name })).status]).toEqual([name, 400])
  })
})

describe('the team', () => {
  test('whoever lost the role while the request waited changes nothing', async () => {
    const email = 'demoted@shop.example'
    const owner = await signUp(shop, email)
    const merchantId = await accountOf(email)
    await signIn(shop, 'other-owner@shop.example')
    await insertMembership(shop.db, { merchantId, personId: await idOf('other-owner@shop.example'), role: 'owner' })
    const _form = await owner.formField('/dashboard/team')
    const personId = await idOf(email)
    const before = await shop.db.query('select count(*)::int as n from invitation')
    let answers: Promise<{ status: number }[]> = Promise.resolve([])
    await shop.db.transaction(async (tx) => {
      await lockMerchant(tx, merchantId)
      answers = Promise.all([
        owner.post('/dashboard/team/invite', { _form, email: 'accomplice@shop.example', role: 'owner' }),
        owner.post('/dashboard/team/role', { _form, person: personId, role: 'owner' }),
        owner.post('/dashboard/team/withdraw', { _form, email: 'accomplice@shop.example' }),
        owner.post('/dashboard/team/remove', { _form, person: await idOf('other-owner@shop.example') }),
      ])
      // Until all four wait for the lock, so that each has passed the guard of the page.
      for (let waiting = 0; waiting < 4; ) {
        const { rows } = await shop.db.query(
          `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        waiting = Number(rows[0]?.n)
      }
      await tx.query('update membership set role = $1 where merchant_id = $2 and person_id = $3', [
        'viewer',
        merchantId,
        personId,
      ])
    })
    expect((await answers).map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect((await shop.db.query('select count(*)::int as n from invitation')).rows).toEqual(before.rows)
    expect((await owner.get('/dashboard/team')).html).not.toContain('Invite somebody')
  })

  test('two owners who remove each other at once leave one', async () => {
    const [a, b] = ['duel-a@shop.example', 'duel-b@shop.example']
    const first = await signUp(shop, a)
    const merchantId = await accountOf(a)
    await signIn(shop, b)
    await insertMembership(shop.db, { merchantId, personId: await idOf(b), role: 'owner' })
    const second = await signIn(shop, b)
    await Promise.all([
      first.submit('/dashboard/team/remove', { person: await idOf(b) }),
      second.submit('/dashboard/team/remove', { person: await idOf(a) }),
    ])
    const { rows } = await shop.db.query('select role from membership where merchant_id = $1', [merchantId])
    expect(rows).toEqual([{ role: 'owner' }])
  })
})

describe('payments', () => {
  test('nonsense and payments of others leave nothing in the audit log, and are not canceled', async () => {
    const owner = await signUp(shop, 'canceler@shop.example')
    const foreign = await shop.ask('POST', '/v1/payments', { body: { amount: 5, currency: 'EUR' } })
    const before = await shop.db.query('select count(*)::int as n from audit_entry')
    for (const id of [String(foreign.body['id']), 'pay_01m804v6xffqc8dqr8b1t1nxw5', 'x'.repeat(5000), 'a%00b'])
      expect((await owner.submit(`/dashboard/payments/${id}/cancel`)).status).toBeGreaterThanOrEqual(400)
    expect((await shop.db.query('select count(*)::int as n from audit_entry')).rows).toEqual(before.rows)
    const after = await shop.ask('GET', `/v1/payments/${String(foreign.body['id'])}`)
    expect(after.body['status']).toBe('created')
  })

  test.each([
    ['a;=1+1', '"a;\'=1+1"'],
    ['a\n=1+1', '"a\n\'=1+1"'],
    ['a\t@x', '"a\t\'@x"'],
    ['=1+1', "'=1+1"],
    ['\uff1d1+1', "'\uff1d1+1"],
    ['\uff0b1', "'\uff0b1"],
    ['\t=1', '"\'\t\'=1"'],
    ['a=b, c-d', '"a=b, c-d"'],
    ['plain', 'plain'],
  ])('in the export %j begins no formula, at whatever sign a program divides the line', (text, cell) => {
    expect(csvLine(['id', text])).toBe(`id,${cell}\r\n`)
  })
})
