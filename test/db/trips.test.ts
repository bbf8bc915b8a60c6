import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import { until } from '../../scripts/test/until.ts'
import { createDb, type Db } from '../../src/db/db.ts'

/** The number of times that a transaction waits for the server, and the state that it leaves after a failure. */

const MERCHANT = { merchantId: 'mer_01hzy9k3m2n4p5q6r7s8t9v0wx', livemode: false }

let database: TestDatabase
let db: Db
beforeAll(async () => {
  database = await createTestDatabase()
  db = createDb({ url: database.url, livemode: false, pool: 2 })
  await db.query('create table written (id int primary key)')
  await db.query('grant select, insert on written to pinrail_tenant')
})
beforeEach(() => db.query('delete from written'))
afterAll(async () => {
  await db?.close()
  await database?.drop()
})

const written = async () => (await db.query('select id from written order by id')).rows.map(({ id }) => id)

describe('A statement of a merchant', () => {
  test('a merchant’s statement is sent with its role and its commit before the server has answered any of them', async () => {
    const way = await openWay(database.url)
    const over = createDb({ url: way.url, livemode: false, pool: 1 })
    try {
      await over.query('select 1')
      way.holdAnswersUntil('commit')
      const answer = await over.as(MERCHANT).query('insert into written values ($1) returning current_user', [1])
      expect(answer.rows).toEqual([{ current_user: 'pinrail_tenant' }])
      expect(await written()).toEqual([1])
    } finally {
      await over.close()
      way.close()
    }
  })

  test('a merchant’s statement leaves neither a change nor its role on the connection if it fails', async () => {
    const one = createDb({ url: database.url, livemode: false, pool: 1 })
    try {
      const merchant = one.as(MERCHANT)
      await merchant.query('insert into written values ($1)', [1])
      await expect(merchant.query('insert into written values (2), ($1)', [1])).rejects.toMatchObject({ code: '23505' })
      expect(await written()).toEqual([1])
      const { rows } = await one.query(
        "select current_user = session_user as own, current_setting('pinrail.merchant_id', true) as merchant",
      )
      expect(rows).toEqual([{ own: true, merchant: '' }])
    } finally {
      await one.close()
    }
  })

  test('a merchant’s statement is not run if its transaction cannot begin', async () => {
    // Behind a pooler each transaction sets its limits, and a limit is not negative.
    const refused = createDb({ url: database.url, livemode: false, pool: 1, pooled: true, lockTimeoutMs: -5 })
    try {
      const merchant = refused.as(MERCHANT)
      await expect(merchant.query('insert into written values (1)')).rejects.toMatchObject({ code: '22023' })
      const work = merchant.transaction((tx) => tx.query('insert into written values (1)'))
      await expect(work).rejects.toMatchObject({ code: '22023' })
      await expect(merchant.transaction(async () => 'done')).rejects.toMatchObject({ code: '22023' })
      expect(await written()).toEqual([])
    } finally {
      await refused.close()
    }
  })

  test('a merchant’s statement throws if the connection breaks before the commit is confirmed, although the change is stored', async () => {
    const way = await openWay(database.url)
    const over = createDb({ url: way.url, livemode: false, pool: 1 })
    try {
      await over.query('select 1')
      way.breakAfter('commit')
      await expect(over.as(MERCHANT).query('insert into written values (1)')).rejects.toThrow(/terminated/)
      await until(written, (rows) => rows.length === 1)
    } finally {
      await over.close()
      way.close()
    }
  })
})

test('the first statement of a transaction is sent with its beginning', async () => {
  const way = await openWay(database.url)
  const over = createDb({ url: way.url, livemode: false, pool: 1 })
  try {
    await over.query('select 1')
    way.holdAnswersUntil('insert into written')
    await over.transaction((tx) => tx.query('insert into written values (1)'))
    expect(await written()).toEqual([1])
  } finally {
    await over.close()
    way.close()
  }
})

/** A connection to the server that looks for a text in the client's bytes. */
async function openWay(url: string) {
  const target = new URL(url)
  const sockets: Socket[] = []
  let awaited: string | null = null
  let isBreaking = false
  let held: (() => void)[] = []
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    sockets.push(client, upstream)
    client.on('error', () => undefined).on('close', () => upstream.end())
    upstream.on('error', () => undefined).on('close', () => client.destroy())
    client.on('data', (data) => {
      upstream.write(data)
      if (awaited === null || !data.includes(awaited)) return
      awaited = null
      if (isBreaking) client.destroy()
      else for (const answer of held.splice(0)) answer()
    })
    upstream.on('data', (data) => {
      const answer = (): void => void client.write(data)
      if (awaited === null) answer()
      else held.push(answer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    /** The server's responses reach the client when it has sent the text. */
    holdAnswersUntil(text: string) {
      awaited = text
    },
    /** The connection ends when the client has sent the text, which the server receives. */
    breakAfter(text: string) {
      awaited = text
      isBreaking = true
      held = []
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
