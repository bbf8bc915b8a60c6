import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { CONFIRMED_MS, MOST_PASSKEYS } from '../../../src/domain/account/session.ts'
import { openShop, type Shop } from '../support/shop.ts'
import { createAuthenticator, type Lies } from './authenticator.ts'
import { askToConfirm, linkIn, signUp, Visitor } from './visitor.ts'

const site = { origin: 'http://localhost:4242', rpId: 'localhost' }
let shop: Shop
let ahead = 0
beforeAll(async () => {
  shop = await openShop({ deps: () => ({ publicUrl: site.origin, clock: () => Date.now() + ahead }) })
})
afterAll(() => shop?.close())

const CHALLENGE_MS = 600_000
/** What a dishonest or broken device, or one that is asked by another site, may answer. */
const LIES: readonly [string, Lies][] = [
  ['of another site', { origin: 'https://evil.example' }],
  ['of a site whose name begins as ours', { origin: 'http://localhost:4242.evil.example' }],
  ['for another relying party', { rpId: 'evil.example' }],
  ['of the other ceremony', { type: 'payment.get' }],
  ['to a challenge of nobody', { challenge: Buffer.alloc(56).toString('base64url') }],
  ['to an empty challenge', { challenge: '' }],
]

async function optionsOn(visitor: Visitor, path: string): Promise<string> {
  const found = /data-options="([^"]+)"/.exec((await visitor.get(path)).html)?.[1] ?? ''
  return found.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
const passkeys = async (): Promise<number> =>
  Number((await shop.db.query('select count(*)::int as n from passkey')).rows[0]?.n)

/** Somebody with an account and a passkey. */
async function withPasskey(email: string) {
  const visitor = await signUp(shop, email)
  const device = createAuthenticator(site)
  const answer = device.create(await optionsOn(visitor, '/dashboard/passkey'))
  expect((await visitor.submit('/dashboard/passkeys', { answer })).to).toBe('/dashboard/account')
  return { visitor, device, email }
}
const enter = (answer: string) => new Visitor(shop).post('/sign-in/passkey', { answer })

const confirmPage = (asked: string): string => `/dashboard/confirm?asked=${asked}`

test('a passkey signs in; each answer counts once, within ten minutes, and for its purpose', async () => {
  const { visitor, device } = await withPasskey('pk-one@shop.example')
  const options = await optionsOn(new Visitor(shop), '/sign-in')
  const answer = device.get(options)
  const answers = await Promise.all(Array.from({ length: 5 }, () => enter(answer)))
  expect(answers.filter(({ to }) => to === '/dashboard')).toHaveLength(1)
  expect((await enter(device.get(options))).to).toContain('/sign-in')
  const late = device.get(await optionsOn(new Visitor(shop), '/sign-in'))
  ahead = CHALLENGE_MS + 1000
  expect((await enter(late)).to).toContain('/sign-in')
  ahead = 0
  const addition = device.get(await optionsOn(visitor, '/dashboard/passkey'))
  expect((await enter(addition)).to).toContain('/sign-in')
  const confirmation = device.get(await optionsOn(visitor, confirmPage(await askToConfirm(shop, visitor))))
  expect((await enter(confirmation)).to).toContain('/sign-in')
})

test.each([
  ...LIES,
  ['of somebody who was not verified', { flags: 0x01 }],
  ['of a copied device', { counter: 1 }],
] as const)('an answer %s signs nobody in and confirms nothing', async (_name, lies) => {
  const { visitor, device } = await withPasskey(`pk-${Math.random()}@shop.example`)
  await enter(device.get(await optionsOn(new Visitor(shop), '/sign-in')))
  const entered = await enter(device.get(await optionsOn(new Visitor(shop), '/sign-in'), lies))
  expect([entered.to, entered.headers.getSetCookie()]).toEqual([expect.stringContaining('/sign-in'), []])
  ahead = CONFIRMED_MS + 1000
  const asked = await askToConfirm(shop, visitor)
  const answer = device.get(await optionsOn(visitor, confirmPage(asked)), lies)
  await visitor.submit('/dashboard/confirm/passkey', { answer, asked })
  expect((await visitor.get('/dashboard/passkey')).to).toContain('/dashboard/confirm')
  ahead = 0
})

test.each([...LIES, ['of somebody who was not verified', { flags: 0x41 }]] as const)(
  'a new passkey %s is not stored',
  async (_name, lies) => {
    const visitor = await signUp(shop, `new-${Math.random()}@shop.example`)
    const before = await passkeys()
    const answer = createAuthenticator(site).create(await optionsOn(visitor, '/dashboard/passkey'), lies)
    expect((await visitor.submit('/dashboard/passkeys', { answer })).to).toBe('/dashboard/passkey?problem=failed')
    expect(await passkeys()).toBe(before)
  },
)

test('only the own passkey confirms, in the session that asked; a confirmation leads on', async () => {
  const { visitor, device } = await withPasskey('pk-own@shop.example')
  const other = await withPasskey('pk-other@shop.example')
  ahead = CONFIRMED_MS + 1000
  const to = '/dashboard/passkey'
  const asked = await askToConfirm(shop, visitor)
  const foreign = other.device.get(await optionsOn(visitor, confirmPage(asked)))
  await visitor.submit('/dashboard/confirm/passkey', { answer: foreign, asked })
  expect((await visitor.get(to)).to).toContain('/dashboard/confirm')
  const elsewhere = device.get(await optionsOn(other.visitor, confirmPage(await askToConfirm(shop, other.visitor))))
  await visitor.submit('/dashboard/confirm/passkey', { answer: elsewhere, asked })
  expect((await visitor.get(to)).to).toContain('/dashboard/confirm')
  const answer = device.get(await optionsOn(visitor, confirmPage(asked)))
  expect((await visitor.submit('/dashboard/confirm/passkey', { answer, asked })).to).toBe(to)
  expect((await visitor.get(to)).status).toBe(200)
  ahead = 0
})

test('one is added only after a confirmation, in the session that asked; a known one leaves no trace', async () => {
  const { device } = await withPasskey('pk-known@shop.example')
  const visitor = await signUp(shop, 'pk-thief@shop.example')
  const other = await signUp(shop, 'pk-third@shop.example')
  const before = await passkeys()
  const elsewhere = createAuthenticator(site).create(await optionsOn(other, '/dashboard/passkey'))
  await visitor.submit('/dashboard/passkeys', { answer: elsewhere })
  expect(await passkeys()).toBe(before)
  const known = device.create(await optionsOn(visitor, '/dashboard/passkey'))
  expect((await visitor.submit('/dashboard/passkeys', { answer: known })).to).toBe('/dashboard/passkey?problem=known')
  expect(await passkeys()).toBe(before)
  expect((await visitor.get('/dashboard/team')).html).not.toContain('passkey added')
  const fresh = createAuthenticator(site).create(await optionsOn(visitor, '/dashboard/passkey'))
  ahead = CONFIRMED_MS + 1000
  expect((await visitor.submit('/dashboard/passkeys', { answer: fresh })).to).toContain('/dashboard/confirm')
  expect(await passkeys()).toBe(before)
  ahead = 0
})

test('one of another is not removed; without any, the link by mail is the way in that is always there', async () => {
  const mine = await withPasskey('pk-remove@shop.example')
  const other = await withPasskey('pk-keep@shop.example')
  const before = await passkeys()
  await mine.visitor.submit('/dashboard/passkeys/remove', { id: other.device.id })
  expect(await passkeys()).toBe(before)
  await mine.visitor.submit('/dashboard/passkeys/remove', { id: mine.device.id })
  expect(await passkeys()).toBe(before - 1)
  expect((await enter(mine.device.get(await optionsOn(new Visitor(shop), '/sign-in')))).to).toContain('/sign-in')
  const again = new Visitor(shop)
  await again.post('/sign-in', { email: mine.email })
  expect((await again.post((await linkIn(shop, mine.email)).path)).to).toBe('/dashboard')
})

test('adding one ends the sessions from before, so that a stolen one does not outlive it', async () => {
  const visitor = await signUp(shop, 'pk-stolen@shop.example')
  const thief = new Visitor(shop)
  thief.cookies.set('pinrail_session', visitor.cookies.get('pinrail_session') ?? '')
  await visitor.post('/sign-in', { email: 'pk-stolen@shop.example' })
  await visitor.post((await linkIn(shop, 'pk-stolen@shop.example')).path)
  const answer = createAuthenticator(site).create(await optionsOn(visitor, '/dashboard/passkey'))
  await visitor.submit('/dashboard/passkeys', { answer })
  expect((await thief.get('/dashboard')).to).toContain('/sign-in')
  expect((await visitor.get('/dashboard')).status).toBe(200)
})

test('removing one ends all other sessions: one that was signed in with it does not outlive it', async () => {
  const { visitor, device, email } = await withPasskey('pk-lost@shop.example')
  const finder = new Visitor(shop)
  await finder.post('/sign-in', { email })
  await finder.post((await linkIn(shop, email)).path)
  expect((await finder.get('/dashboard/account')).status).toBe(200)
  await visitor.submit('/dashboard/passkeys/remove', { id: device.id })
  expect((await finder.get('/dashboard/account')).to).toContain('/sign-in')
  expect((await visitor.get('/dashboard/account')).status).toBe(200)
})

describe('What a passkey says', () => {
  test('a removed passkey says at the sign-in that it was removed, and what to do', async () => {
    const { visitor, device } = await withPasskey('pk-says@shop.example')
    await visitor.submit('/dashboard/passkeys/remove', { id: device.id })
    const asking = new Visitor(shop)
    const refused = await enter(device.get(await optionsOn(asking, '/sign-in')))
    const { html } = await asking.get(refused.to ?? '')
    expect(html).toContain('This passkey does not work any more: it was removed from its account.')
  })

  test('a page that was open for too long says so, and is not taken for a removed passkey', async () => {
    const { device } = await withPasskey('pk-slow@shop.example')
    const asking = new Visitor(shop)
    const late = device.get(await optionsOn(asking, '/sign-in'))
    ahead = CHALLENGE_MS + 1000
    const refused = await enter(late)
    ahead = 0
    expect((await asking.get(refused.to ?? '')).html).toContain('the page was open for more than 10 minutes')
  })

  test('a second passkey on the same device is answered in words', async () => {
    const { visitor, device } = await withPasskey('pk-twice@shop.example')
    const answer = device.create(await optionsOn(visitor, '/dashboard/passkey'))
    const again = await visitor.submit('/dashboard/passkeys', { answer })
    const { html } = await visitor.get(again.to ?? '')
    expect(html).toContain('This device already has a passkey for you. You can sign in with it.')
  })

  test('another person’s passkey does not confirm, and the page says whose it is not', async () => {
    const mine = await withPasskey('pk-mine@shop.example')
    const other = await withPasskey('pk-theirs@shop.example')
    const asked = await askToConfirm(shop, mine.visitor)
    const answer = other.device.get(await optionsOn(mine.visitor, confirmPage(asked)))
    const refused = await mine.visitor.submit('/dashboard/confirm/passkey', { answer, asked })
    expect((await mine.visitor.get(refused.to ?? '')).html).toContain('This passkey belongs to another person.')
  })

  test('a person has at most twenty passkeys, and the page says to remove one', async () => {
    const { visitor } = await withPasskey('pk-many@shop.example')
    await shop.db.query(
      `insert into passkey (id, person_id, public_key, counter, transports, name)
       select 'many-' || n, person.id, ''::bytea, 0, '{}', 'x' from person, generate_series(2, $1) n where email = $2`,
      [MOST_PASSKEYS, 'pk-many@shop.example'],
    )
    const before = await passkeys()
    const answer = createAuthenticator(site).create(await optionsOn(visitor, '/dashboard/passkey'))
    const refused = await visitor.submit('/dashboard/passkeys', { answer })
    expect((await visitor.get(refused.to ?? '')).html).toContain('You have 20 passkeys, which is the most.')
    expect(await passkeys()).toBe(before)
  })

  test('an answer whose id has NUL is refused as any other, and the server does not fail', async () => {
    const { device } = await withPasskey('pk-nul@shop.example')
    const answer = JSON.parse(device.get(await optionsOn(new Visitor(shop), '/sign-in'))) as { id: string }
    const refused = await enter(JSON.stringify({ ...answer, id: `${answer.id}\0` }))
    expect([refused.status, refused.to]).toEqual([303, '/sign-in?passkey=failed&to=%2Fdashboard'])
  })
})
