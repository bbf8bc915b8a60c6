import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { insertMembership } from '../../../src/db/accounts/people.ts'
import { execute, sql } from '../../../src/db/db.ts'
import { insertChannel } from '../../../src/db/notifications/channels.ts'
import { type Ability, may, ROLES, type Role } from '../../../src/domain/account/roles.ts'
import { ABSOLUTE_MS, CONFIRMED_MS, IDLE_MS } from '../../../src/domain/account/session.ts'
import { newId } from '../../../src/ids.ts'
import { type Furnished, furnish } from '../support/furnished.ts'
import { openShop, type Shop } from '../support/shop.ts'
import { composedPages } from './pages.ts'
import { type PageAnswer, signIn, Visitor } from './visitor.ts'

let shop: Shop
let own: Furnished
let channel: string
let ahead = 0
const visitors = new Map<Role, Visitor>()
beforeAll(async () => {
  shop = await openShop({ deps: () => ({ clock: () => Date.now() + ahead }) })
  own = await furnish(shop)
  channel = await addChannel(shop)
  for (const role of ROLES) visitors.set(role, await member(role, `${role}@shop.example`))
})
afterAll(() => shop?.close())

/** Somebody with the role in the shop's own account. */
async function member(role: Role, email: string): Promise<Visitor> {
  await signIn(shop, email)
  await execute(
    shop.db,
    sql`insert into membership (merchant_id, person_id, role)
        select ${shop.tenant.merchantId}, id, ${role} from person where email = ${email} on conflict do nothing`,
  )
  return signIn(shop, email)
}

async function addChannel({ db, tenant }: Shop): Promise<string> {
  const id = newId('channel')
  const [kind, language, quiet] = ['slack', 'en', null] as const
  const at = new Date().toISOString()
  await insertChannel(db, tenant, {
    id,
    kind,
    name: '#ours',
    sealed: '',
    person_id: null,
    events: [],
    language,
    quiet,
    at,
  })
  return id
}

const pages = composedPages()
/** The path with ids of nothing: who is refused must be so before anything is looked for. */
const pathOf = (path: string): string => path.replaceAll(/:\w+/g, 'nothing')
/** What an id in a path is of, by the beginning of the path. */
const ID_OF: readonly (readonly [string, Exclude<keyof Furnished, 'merchant'>])[] = [
  ['/dashboard/keys', 'apiKey'],
  ['/dashboard/webhooks', 'endpoint'],
  ['/dashboard/events', 'event'],
  ['/dashboard/links', 'link'],
]
/** The path with ids of what the shop has. */
function ownPathOf(path: string): string {
  if (path.startsWith('/dashboard/notifications')) return path.replace(':id', channel)
  const [, kind = 'payment'] = ID_OF.find(([start]) => path.startsWith(start)) ?? []
  return path.replace(':id', own[kind]).replace(':event', own.event)
}
const isRefused = ({ status, to }: PageAnswer): boolean =>
  status === 403 || (status === 303 && to !== null && /^\/(?:sign-in|dashboard\/(?:confirm|welcome))/.test(to))

/** What a browser says about a form of another site, or of a site beside ours; and a program that says nothing. */
const FOREIGN: readonly Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'none' },
  { 'sec-fetch-site': '' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: 'http://127.0.0.1.evil.example' },
  { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
  {},
]

/** What a form may send in place of its hidden field; `others` is that of somebody else. */
const FORGED: readonly ((own: string, others: string) => string)[] = [
  () => '',
  () => 'x',
  (own) => own.slice(1),
  (own) => `${own}A`,
  swapCase,
  (_own, others) => others,
]

/** The cookie of somebody who has signed out. */
async function endedSession(): Promise<string> {
  const visitor = await member('owner', 'ended@shop.example')
  const cookie = visitor.cookies.get('pinrail_session') ?? ''
  await visitor.submit('/dashboard/sign-out')
  return cookie
}

/** The cookie of a session that began more than a day ago and was used a moment ago. */
async function oldSession(): Promise<string> {
  const visitor = await member('owner', 'old@shop.example')
  await execute(
    shop.db,
    sql`update session set created_at = ${new Date(Date.now() - ABSOLUTE_MS - 1000).toISOString()}::timestamptz
        where person_id = (select id from person where email = 'old@shop.example')`,
  )
  return visitor.cookies.get('pinrail_session') ?? ''
}

/** Everything that changes something when it is let through. */
async function snapshot(): Promise<string> {
  const { rows } = await shop.db.query(
    `select (select json_agg(t order by t.id) from api_key t)::text || (select json_agg(w) from wallet w)::text
      || (select count(*) from webhook_endpoint) || (select count(*) from membership) || (select count(*) from invitation)
      || (select count(*) from session where ended_at is null) || (select count(*) from audit_entry)
      || (select count(*) from passkey) || (select json_agg(m order by m.id) from merchant m) as all`,
  )
  return String(rows[0]?.all)
}

test('every page and action is refused to nobody, to a wrong, ended, idle and foreign session, and from elsewhere', async () => {
  let attempts = 0
  const through: string[] = []
  // For its own reason: what is let through once may end the session, and the rest would be refused for that.
  const note = (what: string, answer: PageAnswer, reason: 'nobody' | 'foreign'): void => {
    attempts += 1
    const refused = reason === 'foreign' ? answer.status === 403 : (answer.to ?? '').startsWith('/sign-in?to=')
    if (!refused) through.push(`${what}: ${answer.status} ${answer.to}`)
  }
  const withCookie = (value: string | null): Visitor => {
    const visitor = new Visitor(shop)
    if (value !== null) visitor.cookies.set('pinrail_session', value)
    return visitor
  }
  const forms = new Map<Role, string>()
  for (const role of ROLES) forms.set(role, await (visitors.get(role) as Visitor).formField())
  const form = (role: Role): string => forms.get(role) ?? ''
  const as = (role: Role): Visitor => withCookie(visitors.get(role)?.cookies.get('pinrail_session') ?? '')
  // Every page receives each header and each field once. The role that sends it changes from page to page.
  const nthRole = (n: number): Role => ROLES[n % ROLES.length] as Role
  const session = visitors.get('owner')?.cookies.get('pinrail_session') ?? ''
  const _form = form('owner')
  const states = [
    ['no session', null],
    ['a made-up session', 'B'.repeat(43)],
    ['a cut session', session.slice(0, 42)],
    ['a session in other case', swapCase(session)],
    ['a session that was signed out', await endedSession()],
    ['a session of a day, still in use', await oldSession()],
  ] as const
  const before = await snapshot()
  for (const { method, path } of pages) {
    const at = pathOf(path)
    const enter = async ([state, cookie]: (typeof states)[number]): Promise<void> => {
      const visitor = withCookie(cookie)
      const answer = method === 'get' ? await visitor.get(at) : await visitor.post(at, { _form })
      note(`${method} ${path} with ${state}`, answer, 'nobody')
    }
    await Promise.all(states.map(enter))
  }
  for (const [turn, { path }] of pages.filter(({ method }) => method === 'post').entries()) {
    const at = pathOf(path)
    const foreign = FOREIGN.map(async (header, index) => {
      const role = nthRole(turn + index)
      const name = `post ${path} by ${role} from ${JSON.stringify(header)}`
      note(name, await as(role).post(at, { _form: form(role) }, header), 'foreign')
    })
    const forgeries = FORGED.map(async (forge, index) => {
      const role = nthRole(turn + index)
      const forged = forge(form(role), form(nthRole(turn + index + 1)))
      note(`post ${path} by ${role} with ${forged}`, await as(role).post(at, { _form: forged }), 'foreign')
    })
    await Promise.all([...foreign, ...forgeries])
  }
  ahead = IDLE_MS + 60_000
  for (const { method, path } of pages) {
    const visitor = withCookie(session)
    const at = pathOf(path)
    note(
      `${method} ${path} idle`,
      method === 'get' ? await visitor.get(at) : await visitor.post(at, { _form }),
      'nobody',
    )
  }
  ahead = 0
  expect(through).toEqual([])
  expect(attempts).toBeGreaterThan(1000)
  expect(await snapshot()).toBe(before)
}, 180_000)

test('every page and action is refused to every role that lacks the ability, and to a confirmation that is old', async () => {
  const before = await snapshot()
  const through: string[] = []
  const shut: string[] = []
  for (const role of ROLES) {
    const visitor = visitors.get(role) as Visitor
    const _form = await visitor.formField()
    for (const { method, path, needs } of pages) {
      if (needs === 'person') continue
      const at = pathOf(path)
      const allowed = may(role, needs as Ability)
      if (allowed && method === 'post') continue
      const answer = method === 'get' ? await visitor.get(at) : await visitor.post(at, { _form })
      if (allowed && isRefused(answer)) shut.push(`${role} ${method} ${path}: ${answer.status} ${answer.to}`)
      if (!allowed && answer.status !== 403) through.push(`${role} ${method} ${path}: ${answer.status}`)
    }
  }
  const owner = visitors.get('owner') as Visitor
  const _form = await owner.formField()
  ahead = CONFIRMED_MS + 60_000
  for (const { method, path, fresh } of pages) {
    if (fresh === undefined) continue
    const answer = method === 'get' ? await owner.get(pathOf(path)) : await owner.post(pathOf(path), { _form })
    if (!(answer.to ?? '').startsWith('/dashboard/confirm'))
      through.push(`unconfirmed ${method} ${path}: ${answer.status}`)
  }
  ahead = 0
  expect(through).toEqual([])
  expect(shut).toEqual([])
  expect(await snapshot()).toBe(before)
})

test('somebody of another account sees and changes nothing of this one', async () => {
  const other = await shop.addMerchant()
  const stranger = await signIn(shop, 'stranger@shop.example')
  const { rows } = await shop.db.query(`select id from person where email = 'stranger@shop.example'`)
  await insertMembership(shop.db, { merchantId: other.tenant.merchantId, personId: String(rows[0]?.id), role: 'owner' })
  const payments = await shop.ask('GET', '/v1/payments')
  const [payment] = payments.body['data'] as { id: string }[]
  const list = await (visitors.get('viewer') as Visitor).get('/dashboard/payments')
  expect(list.html).toContain(payment?.id)
  for (const path of ['/dashboard', '/dashboard/payments', '/dashboard/payments.csv', '/dashboard/payments.json'])
    expect((await stranger.get(path)).html).not.toContain(payment?.id)
  const changes = await shop.db.query('select count(*)::int as n from audit_entry')
  for (const { method, path } of pages.filter(({ path: one }) => one.includes(':id'))) {
    const at = ownPathOf(path)
    if (method === 'get') expect([at, (await (visitors.get('owner') as Visitor).get(at)).status]).toEqual([at, 200])
    const answer = method === 'get' ? await stranger.get(at) : await stranger.submit(at)
    expect([path, answer.status, answer.html.includes('order-')]).toEqual([path, 404, false])
  }
  expect((await shop.db.query('select count(*)::int as n from audit_entry')).rows).toEqual(changes.rows)
  expect((await stranger.submit('/dashboard/accounts/choose', { account: shop.tenant.merchantId })).status).toBe(404)
  expect((await stranger.submit('/dashboard/accounts/join', { account: shop.tenant.merchantId })).status).toBe(404)
})

test('a session of the test deployment is none of the live one', async () => {
  const live = await openShop({ mode: 'live' })
  try {
    const owner = visitors.get('owner') as Visitor
    const _form = await owner.formField()
    const through: string[] = []
    const enter = async (name: string, { method, path }: (typeof pages)[number]): Promise<void> => {
      const visitor = new Visitor(live)
      visitor.cookies.set(name, owner.cookies.get('pinrail_session') ?? '')
      const answer = method === 'get' ? await visitor.get(pathOf(path)) : await visitor.post(pathOf(path), { _form })
      if (!isRefused(answer)) through.push(`${method} ${path}: ${answer.status}`)
    }
    for (const page of pages) for (const name of ['pinrail_session', '__Host-pinrail_session']) await enter(name, page)
    expect(through).toEqual([])
  } finally {
    await live.close()
  }
})

function swapCase(text: string): string {
  return text.replace(/[a-zA-Z]/, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
}
