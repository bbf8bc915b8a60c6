import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import express from 'express'
import { pino } from 'pino'
import { until } from '../../../scripts/test/until.ts'
import { createCookies } from '../../../src/api/accounts/cookies.ts'
import { mountPages } from '../../../src/api/routes/dashboard/mount.ts'
import { definePage, type Page, type PageCall } from '../../../src/api/routes/dashboard/page.ts'
import { siteProblemHandler } from '../../../src/api/routes/site-problem.ts'
import { openShop, type Shop } from '../support/shop.ts'
import { composedPages } from './pages.ts'
import { signUp, Visitor } from './visitor.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop?.close())

test('a page whose query forgets whose rows it reads sees nothing of another account', async () => {
  await shop.ask('POST', '/v1/payments', { body: { amount: 5, currency: 'EUR' } })
  const owner = await signUp(shop, 'forgetful@shop.example')
  const page = definePage({
    method: 'get',
    path: '/dashboard/forgets',
    needs: 'look',
    handle: async ({ db }) => {
      const seen = await db.query(
        `select (select count(*) from payment) + (select count(*) from api_key) + (select count(*) from attention) as n`,
      )
      const people = await db.query('select count(*) from person').catch((error: Error) => error.message)
      return { html: JSON.stringify([Number(seen.rows[0]?.n), people]) }
    },
  })
  await visiting(page, owner, async (visitor) => {
    expect(JSON.parse((await visitor.get('/dashboard/forgets')).html)).toEqual([
      0,
      'permission denied for table person',
    ])
  })
})

test('a page of a list reads one moment, and a file a new one for each piece', async () => {
  const owner = await signUp(shop, 'moments@shop.example')
  for (const [lists, moments] of [
    ['at once', 1],
    ['in pieces', 2],
  ] as const) {
    const handle = async ({ db }: PageCall) => {
      const began = async () => String((await db.query('select now()::text as at')).rows[0]?.at)
      return { html: JSON.stringify([await began(), await began()]) }
    }
    const page = definePage({ method: 'get', path: '/dashboard/moments', needs: 'look', lists, handle })
    await visiting(page, owner, async (visitor) => {
      const seen = JSON.parse((await visitor.get('/dashboard/moments')).html) as string[]
      expect(new Set(seen).size).toBe(moments)
    })
  }
})

test('of the files that one person loads at once six are made or wait, whichever account they are of', async () => {
  const owner = await signUp(shop, 'loads@shop.example')
  let [running, most] = [0, 0]
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const page = definePage({
    method: 'get',
    path: '/dashboard/all.csv',
    needs: 'look',
    makes: 'file',
    handle: async () => {
      running += 1
      most = Math.max(most, running)
      await ended
      running -= 1
      return { html: 'made' }
    },
  })
  await visiting(page, owner, async (visitor) => {
    const load = () => visitor.get('/dashboard/all.csv').then(({ status }) => status)
    const statuses: number[] = []
    const loads = Array.from({ length: 4 }, load)
    await until(
      async () => running,
      (count) => count === 2,
    )
    expect((await owner.submit('/dashboard/accounts', { name: 'Second shop' })).status).toBe(303)
    const others = Array.from({ length: 3 }, load)
    for (const each of [...loads, ...others]) void each.then((status) => statuses.push(status))
    await until(
      async () => statuses.length,
      (count) => count > 0,
    )
    expect(statuses).toEqual([429])
    end()
    expect((await Promise.all([...loads, ...others])).toSorted((a, b) => a - b)).toEqual([
      200, 200, 200, 200, 200, 200, 429,
    ])
    expect(most).toBe(2)
  })
})

/** The page alone, asked by the owner's browser. */
async function visiting(page: Page, owner: Visitor, work: (visitor: Visitor) => Promise<void>): Promise<void> {
  const publicUrl = 'http://127.0.0.1:4242'
  const cookies = createCookies(publicUrl)
  const limits = { countPerson: () => undefined }
  const deps = { db: shop.db, cookies, clock: Date.now, newSessionId: () => '', publicUrl, otherModeUrl: null, limits }
  const app = express().use(mountPages([page], deps))
  app.use(siteProblemHandler({ publicUrl, log: pino({ level: 'silent' }) }))
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const visitor = new Visitor({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    visitor.cookies.set('pinrail_session', owner.cookies.get('pinrail_session') ?? '')
    await work(visitor)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

// The matrix asks each page what it needs, so a page that asks for less would pass it.
test('what each page asks of a person is as it was decided', () => {
  const table = composedPages().map(
    ({ method, path, needs, fresh, makes }) =>
      `${method} ${path}: ${needs}${fresh === undefined ? '' : ', confirmed'}${makes === undefined ? '' : `, a ${makes}`}`,
  )
  expect(table.toSorted()).toEqual([
    'get /dashboard/account/data.json: person, confirmed, a file',
    'get /dashboard/account/delete: person, confirmed',
    'get /dashboard/account: person',
    'get /dashboard/balance.csv: look, a file',
    'get /dashboard/balance: look',
    'get /dashboard/brand/preview: look',
    'get /dashboard/brand: look',
    'get /dashboard/confirm: person',
    'get /dashboard/embedding: look',
    'get /dashboard/events/:id: look',
    'get /dashboard/events: look',
    'get /dashboard/keys/:id: look',
    'get /dashboard/keys/new: develop, confirmed',
    'get /dashboard/keys: look',
    'get /dashboard/links/:id/edit: sell',
    'get /dashboard/links/:id: look',
    'get /dashboard/links/claim/:ticket: own, confirmed',
    'get /dashboard/links/new: sell',
    'get /dashboard/links/preview: sell',
    'get /dashboard/links: look',
    'get /dashboard/notifications/:id: look',
    'get /dashboard/notifications/new/:kind: develop, confirmed',
    'get /dashboard/notifications/telegram: develop, confirmed',
    'get /dashboard/notifications: look',
    'get /dashboard/passkey: person, confirmed',
    'get /dashboard/payments.csv: look, a file',
    'get /dashboard/payments.json: look, a file',
    'get /dashboard/payments/:id: look',
    'get /dashboard/payments: look',
    'get /dashboard/requests: look',
    'get /dashboard/team: look',
    'get /dashboard/wallet/change: own, confirmed',
    'get /dashboard/wallet: look',
    'get /dashboard/webhooks/:id/delete: develop, confirmed',
    'get /dashboard/webhooks/:id/deliveries/:event: look',
    'get /dashboard/webhooks/:id/edit: develop, confirmed',
    'get /dashboard/webhooks/:id/rotate: develop, confirmed',
    'get /dashboard/webhooks/:id: look',
    'get /dashboard/webhooks/new: develop, confirmed',
    'get /dashboard/webhooks: look',
    'get /dashboard/welcome: person',
    'get /dashboard: look',
    'post /dashboard/account/delete: person, confirmed',
    'post /dashboard/accounts/choose: person',
    'post /dashboard/accounts/join: person',
    'post /dashboard/accounts: person',
    'post /dashboard/brand: own, confirmed',
    'post /dashboard/confirm/passkey: person',
    'post /dashboard/confirm: person',
    'post /dashboard/embedding: develop, confirmed',
    'post /dashboard/keys/:id/revoke: develop, confirmed',
    'post /dashboard/keys/:id/roll: develop, confirmed, a key',
    'post /dashboard/keys: develop, confirmed, a key',
    'post /dashboard/links/:id/pause: sell',
    'post /dashboard/links/:id/resume: sell',
    'post /dashboard/links/:id: sell',
    'post /dashboard/links/claim/:ticket: own, confirmed',
    'post /dashboard/links: sell',
    'post /dashboard/notifications/:id/change: develop',
    'post /dashboard/notifications/:id/mend: develop',
    'post /dashboard/notifications/:id/remove: develop, confirmed',
    'post /dashboard/notifications/:id/test: develop',
    'post /dashboard/notifications/telegram: develop, confirmed',
    'post /dashboard/notifications: develop, confirmed',
    'post /dashboard/passkeys/remove: person, confirmed',
    'post /dashboard/passkeys: person, confirmed',
    'post /dashboard/payments/:id/cancel: sell',
    'post /dashboard/sessions/end-others: person',
    'post /dashboard/sessions/end: person',
    'post /dashboard/sign-out: person',
    'post /dashboard/team/invite: own, confirmed',
    'post /dashboard/team/remove: own, confirmed',
    'post /dashboard/team/role: own, confirmed',
    'post /dashboard/team/withdraw: own, confirmed',
    'post /dashboard/wallet/stop: look',
    'post /dashboard/wallet: own, confirmed',
    'post /dashboard/webhooks/:id/delete: develop, confirmed',
    'post /dashboard/webhooks/:id/deliveries/:event/redeliver: develop',
    'post /dashboard/webhooks/:id/disable: develop',
    'post /dashboard/webhooks/:id/edit: develop, confirmed',
    'post /dashboard/webhooks/:id/enable: develop',
    'post /dashboard/webhooks/:id/redeliver: develop',
    'post /dashboard/webhooks/:id/rotate: develop, confirmed',
    'post /dashboard/webhooks/:id/test: develop',
    'post /dashboard/webhooks: develop, confirmed',
  ])
})
