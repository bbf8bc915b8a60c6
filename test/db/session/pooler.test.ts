import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { openFolderFor, removeOpenFolder } from '../../../scripts/system/data-folder.ts'
import { onFreePort } from '../../../scripts/system/ports.ts'
import { poolerSpec } from '../../../scripts/system/postgres/pooler.ts'
import { type Child, supervise } from '../../../scripts/system/supervisor.ts'
import { newPayment } from '../../../scripts/test/new-payment.ts'
import { createTestDatabase, setForUser, type TestDatabase } from '../../../scripts/test/services/databases.ts'
import { until } from '../../../scripts/test/until.ts'
import { asProblem } from '../../../src/api/http/problems.ts'
import { readMigrationUrl } from '../../../src/config/config.ts'
import { assertSession, assertSessionAt, SessionRefusal } from '../../../src/db/assert-session.ts'
import { createDb, type Db, type Session } from '../../../src/db/db.ts'
import { claimMode, ModeRefusal } from '../../../src/db/deployment.ts'
import { createNotifier, listen, PAYMENTS_CHANNEL } from '../../../src/db/notices.ts'
import { insertPayment } from '../../../src/db/payments/payments.ts'
import { newId } from '../../../src/ids.ts'
import { OTHERWISE } from './otherwise.ts'

const MERCHANT = { merchantId: 'mer_01hzy3v7t8e4a9v2b6q5r0c1d2', livemode: false }

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.drop())

/** Passes bytes on, and records the first ones of each client: the parameters of its session. */
async function listenIn(): Promise<{ url: string; starts: string[]; close: () => void }> {
  const target = new URL(database.url)
  const starts: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    client.once('data', (bytes: Buffer) => starts.push(bytes.toString('latin1')))
    client.pipe(upstream)
    upstream.pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(database.url)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  const close = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { url: url.href, starts, close }
}

const readLimits = async (db: { query: (text: string) => Promise<{ rows: unknown[] }> }) =>
  (await db.query("select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock"))
    .rows[0]

const POOLED = { pooled: true }

describe('A pooler of transactions', () => {
  test('a session through a pooler has no parameters, which it would refuse, and each transaction sets its own limits', async () => {
    const wire = await listenIn()
    const options = { url: wire.url, livemode: false, pool: 2, lockTimeoutMs: 2000 }
    const [through, direct] = [createDb({ ...options, pooled: true }), createDb(options)]
    try {
      expect(await through.transaction(readLimits)).toEqual({ statement: '15s', lock: '2s' })
      expect(await through.as(MERCHANT).transaction(readLimits)).toEqual({ statement: '15s', lock: '2s' })
      expect(await through.lists(MERCHANT).transaction(readLimits)).toEqual({ statement: '2s', lock: '2s' })
      // No setting stays on the connection, which the next client gets.
      expect(await readLimits(through)).toEqual({ statement: '0', lock: '0' })
      expect(wire.starts.join(' ')).not.toContain('timeout')
      expect(await readLimits(direct)).toEqual({ statement: '15s', lock: '2s' })
      expect(wire.starts.join(' ')).toContain('statement_timeout')
    } finally {
      await through.close()
      await direct.close()
      wire.close()
    }
  })

  test('a database user without its own limit is refused, with the statement that sets one', async () => {
    const db = createDb({ url: database.url, livemode: false, pool: 1, pooled: true })
    const limited = new URL(database.url)
    // As `alter role` does for every session, but only for this one.
    limited.searchParams.set('options', '-c statement_timeout=15s')
    const other = createDb({ url: limited.href, livemode: false, pool: 1, pooled: true })
    try {
      const statement = /alter role \S+ in database \S+ set statement_timeout = '15s';/
      await expect(assertSession(db, POOLED)).rejects.toThrow(statement)
      await expect(assertSession(other, POOLED)).resolves.toBeUndefined()
    } finally {
      await db.close()
      await other.close()
    }
  })
})

describe('PgBouncer in transaction mode', () => {
  let pgbouncer: Child
  let folder = ''
  let url = ''
  let name = ''
  let through: Db
  beforeAll(async () => {
    const work = mkdtempSync(join(tmpdir(), 'pinrail-pooler-'))
    folder = await openFolderFor(work, 'pgbouncer')
    const target = new URL(database.url)
    name = target.pathname.slice(1)
    const pooled = new URL(database.url)
    await onFreePort(async (port) => {
      const spec = await poolerSpec({
        folder,
        port,
        target: { port: Number(target.port), user: target.username, password: target.password },
        // One connection for everybody: the next transaction would find whatever one leaves.
        databases: [{ name, database: name, mode: 'transaction', size: 1 }],
        logFile: join(work, 'pgbouncer.log'),
      })
      pgbouncer = supervise(spec, { log: () => undefined, onPid: () => undefined })
      await pgbouncer.start()
      pooled.port = String(port)
    })
    url = pooled.href
    through = createDb({ url, livemode: false, pool: 4, pooled: true, lockTimeoutMs: 2000 })
  }, 30_000)
  /** As an administrator does after a change of the user: RECONNECT, on the pooler's own console. */
  const reconnect = async (): Promise<void> => {
    const console = new URL(url)
    console.pathname = 'pgbouncer'
    const admin = new pg.Client({ connectionString: console.href })
    await admin.connect()
    await admin.query('reconnect')
    await admin.end()
  }
  afterAll(async () => {
    await through?.close()
    await pgbouncer?.stop(3000)
    if (folder !== '') removeOpenFolder(folder)
  })

  test('settings of a session would be refused by the pooler', async () => {
    const settings = createDb({ url, livemode: false, pool: 1 })
    try {
      await expect(settings.query('select 1')).rejects.toThrow('unsupported startup parameter')
    } finally {
      await settings.close()
    }
  })

  test('a user with other settings is refused until the statements of the refusal were run', async () => {
    const wrong = { ...OTHERWISE, statement_timeout: '5s', lock_timeout: '1ms', synchronous_commit: 'off' }
    await setForUser(database, wrong)
    await reconnect()
    const refusal = await assertSessionAt({ url, ...POOLED }).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(SessionRefusal)
    const statements = [...String(refusal).matchAll(/Run: (alter role \S+ in database \S+ set (\S+) = .*;)$/gm)]
    expect(new Set(statements.map(([, , setting]) => setting))).toEqual(new Set(Object.keys(wrong)))
    const admin = new pg.Client({ connectionString: database.url, options: '-c default_transaction_read_only=off' })
    await admin.connect()
    for (const [, statement] of statements) await admin.query(statement!)
    await admin.end()
    await reconnect()
    await expect(assertSessionAt({ url, ...POOLED })).resolves.toBeUndefined()
  })

  test('merchants who share the pooler’s one connection read their own rows, also at the same moment', async () => {
    const merchants = Array.from({ length: 4 }, () => ({ merchantId: newId('merchant'), livemode: false }))
    for (const { merchantId } of merchants)
      await through.query("insert into merchant (id, name) values ($1, 'Shop')", [merchantId])
    const payments = await Promise.all(
      merchants.map(async (tenant) => {
        const payment = newPayment({ id: newId('payment'), createdAt: new Date().toISOString() })
        await insertPayment(through, tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
        return payment.id
      }),
    )
    const ids = async (session: Session): Promise<string[]> =>
      (await session.query('select id from payment order by id')).rows.map(({ id }) => id)
    for (let round = 0; round < 5; round += 1) {
      const seen = await Promise.all(
        merchants.flatMap((tenant) => [ids(through.as(tenant)), ids(through.lists(tenant)), readLimits(through)]),
      )
      for (const [index, id] of payments.entries()) {
        expect(seen[index * 3]).toEqual([id])
        expect(seen[index * 3 + 1]).toEqual([id])
        expect(seen[index * 3 + 2]).toEqual({ statement: '15s', lock: '0' })
      }
      expect(await ids(through)).toEqual([...payments].sort())
    }
  })

  test('eight concurrent payments are created, with texts in every script and times that are read back', async () => {
    const tenant = { merchantId: newId('merchant'), livemode: false }
    await through.query("insert into merchant (id, name) values ($1, '花')", [tenant.merchantId])
    const createdAt = new Date().toISOString()
    const made = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const payment = newPayment({ id: newId('payment'), createdAt, description: '花 É' })
        await insertPayment(through, tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
        return payment.id
      }),
    )
    const { rows } = await through
      .as(tenant)
      .query("select id, created_at from payment where description ilike '花 é' order by id")
    expect(rows).toEqual(made.sort().map((id) => ({ id, created_at: new Date(createdAt) })))
  })

  test('a process of the other mode is refused as without the pooler', async () => {
    await claimMode(through)
    const live = createDb({ url, livemode: true, pool: 1, pooled: true })
    try {
      await expect(claimMode(live)).rejects.toThrow(ModeRefusal)
    } finally {
      await live.close()
    }
  })

  test('a caller is asked to come again while the pooler turns everybody away', async () => {
    const console = new URL(url)
    console.pathname = 'pgbouncer'
    const admin = new pg.Client({ connectionString: console.href })
    await admin.connect()
    const db = createDb({ url, livemode: false, pool: 1, pooled: true })
    try {
      await admin.query(`disable ${name}`)
      const error = await db.query('select 1').catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: '08P01' })
      expect(asProblem(error).code).toBe('temporarily_unavailable')
    } finally {
      await admin.query(`enable ${name}`)
      await admin.end()
      await db.close()
    }
  })

  test('notices bypass the pooler', async () => {
    const received: (readonly string[] | null)[] = []
    const notices = listen(database.url, { [PAYMENTS_CHANNEL]: (ids) => received.push(ids) })
    try {
      // Null: it is connected.
      await until(
        async () => received.length,
        (count) => count > 0,
      )
      createNotifier(through, PAYMENTS_CHANNEL, 1)('pay_1')
      await until(
        async () => received.flat(),
        (ids) => ids.includes('pay_1'),
      )
    } finally {
      await notices.close()
    }
  })
})

test('migrations use the owner of the schema and bypass the pooler, if a URL for it is set', () => {
  const [owner, pooler] = ['postgres://owner@db:5432/pinrail', 'postgres://app@pooler:6432/pinrail']
  expect(readMigrationUrl({ MIGRATION_DATABASE_URL: owner, DATABASE_URL: pooler })).toBe(owner)
  expect(readMigrationUrl({ MIGRATION_DATABASE_URL: owner })).toBe(owner)
  expect(readMigrationUrl({ DATABASE_URL: owner })).toBe(owner)
  expect(() => readMigrationUrl({})).toThrow('DATABASE_URL: must be set')
})
