import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import express from 'express'
import { z } from 'zod'
import type { ApiDeps } from '../../../src/api/app.ts'
import { createAuthenticate } from '../../../src/api/auth/auth.ts'
import { createTurns } from '../../../src/api/limits/turns.ts'
import { defineRoute, mountRoutes, type Route } from '../../../src/api/route.ts'
import { plant } from '../../deps/two-modes.ts'
import { type Furnished, furnish } from '../support/furnished.ts'
import { type Merchant, openShop, type Shop } from '../support/shop.ts'

/**
 * The second wall between merchants where a request meets it: routes that forgot to ask whose rows they read, mounted
 * as every other route is. What they show, row-level security lets through.
 */

const TABLES = [
  'payment',
  'payment_link',
  'timeline_entry',
  'wallet',
  'api_key',
  'event',
  'delivery',
  'webhook_endpoint',
  'channel',
  'audit_entry',
  'merchant',
]

const careless = (operationId: string, path: string, handle: Route['handle']): Route =>
  defineRoute({
    method: 'get',
    path,
    operationId,
    tag: 'Payments',
    summary: operationId,
    scope: 'payments:read',
    params: z.object({ table: z.string() }),
    answers: { 200: z.unknown() },
    handle,
  })

const ROUTES = [
  careless('readAll', '/careless/{table}', async ({ db, params }) => {
    const { table } = params as { table: string }
    return { status: 200, body: (await db.query(`select * from ${table}`)).rows }
  }),
  careless('readAllInTransaction', '/careless-transaction/{table}', ({ db, params }) => {
    const { table } = params as { table: string }
    return db.transaction(async (tx) => ({ status: 200, body: (await tx.query(`select * from ${table}`)).rows }))
  }),
]

let shop: Shop
let mine: Furnished
let theirs: Furnished
let newcomer: Merchant
let read: (path: string, as: Merchant) => Promise<string>
let close: () => Promise<void>
beforeAll(async () => {
  let composed: ApiDeps | undefined
  shop = await openShop({
    deps: (deps) => {
      composed = deps
      return {}
    },
  })
  mine = await furnish(shop)
  theirs = await furnish(shop, await shop.addMerchant())
  await plant(shop.db, { ...mine.merchant.tenant, livemode: true })
  newcomer = await shop.addMerchant({ wallet: null })
  if (composed === undefined) throw new Error('the shop was opened without its parts')
  const app = express()
  const { db, limits } = composed
  mountRoutes(app, ROUTES, { db, limits, turns: createTurns(), authenticate: createAuthenticate(composed) })
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  read = async (path, { key }) => {
    const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
    return answer.text()
  }
  close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}, 60_000)
afterAll(async () => {
  await close?.()
  await shop?.close()
})

describe.each(['careless', 'careless-transaction'])('a route that selects without a condition (%s)', (path) => {
  test.each(TABLES)('shows of %s the rows of its caller in its mode, and no others', async (table) => {
    const [seen, all] = [
      JSON.parse(await read(`/${path}/${table}`, mine.merchant)) as object[],
      await everything(table),
    ]
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.length).toBeLessThan(all.length)
    expect(JSON.stringify(seen)).not.toContain(theirs.merchant.tenant.merchantId)
    for (const id of [theirs.payment, theirs.link, theirs.endpoint, theirs.event, theirs.apiKey.slice(4)])
      expect(JSON.stringify(seen)).not.toContain(id)
    expect(JSON.stringify(seen)).not.toContain('"livemode":true')
  })

  test('shows a merchant that has nothing nothing', async () => {
    for (const table of [
      'payment',
      'payment_link',
      'timeline_entry',
      'wallet',
      'event',
      'delivery',
      'webhook_endpoint',
    ])
      expect([table, await read(`/${path}/${table}`, newcomer)]).toEqual([table, '[]'])
  })
})

/** The rows that are there: as the owner of the tables sees them. */
async function everything(table: string): Promise<unknown[]> {
  return (await shop.db.query(`select * from ${table}`)).rows
}
