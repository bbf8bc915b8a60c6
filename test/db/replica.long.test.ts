import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openFolderFor, removeOpenFolder } from '../../scripts/system/data-folder.ts'
import { freePort, withFreePorts } from '../../scripts/system/ports.ts'
import { type PostgresOptions, postgresUrl } from '../../scripts/system/postgres/server.ts'
import { pairSpecs, promote } from '../../scripts/system/postgres/standby.ts'
import { type Child, supervise } from '../../scripts/system/supervisor.ts'
import { until } from '../../scripts/test/until.ts'
import { createReplica } from '../../src/db/connection/replica.ts'
import { createDb, type Db, type Session, type Tx } from '../../src/db/db.ts'
import { migrate } from '../../src/db/migrate.ts'
import { listEvents } from '../../src/db/webhooks/event-log.ts'

/** A real server and a real standby that streams from it. */

const MERCHANT = { merchantId: 'mer_01hzy3v7t8e4a9v2b6q5r0c1d2', livemode: false }

let primary: Child
let standby: Child
let standbyOptions: PostgresOptions
let db: Db
let skippedMs = 0
const folders: string[] = []
beforeAll(async () => {
  const work = mkdtempSync(join(tmpdir(), 'pinrail-replica-'))
  const [main, copy] = [await openFolderFor(work, 'main'), await openFolderFor(work, 'copy')]
  folders.push(work, main, copy)
  const createOptions = async (name: string, folder: string): Promise<PostgresOptions> => ({
    folder,
    port: await freePort(),
    password: 'replica-of-a-test',
    logFile: join(work, `${name}.log`),
    forgetful: true,
  })
  const [mainOptions, copyOptions] = await withFreePorts(async () => {
    await primary?.stop(5000)
    const [own, copied] = [await createOptions('primary', main), await createOptions('standby', copy)]
    const specs = await pairSpecs({ primary: own, standby: copied })
    const hooks = { log: () => undefined, onPid: () => undefined }
    primary = supervise(specs.primary, hooks)
    standby = supervise(specs.standby, hooks)
    await primary.start()
    await standby.start()
    return [own, copied]
  })
  standbyOptions = copyOptions
  await migrate(postgresUrl(mainOptions))
  db = createDb({
    url: postgresUrl(mainOptions),
    readUrl: postgresUrl(copyOptions),
    livemode: false,
    pool: 2,
    statementTimeoutMs: 5000,
    clock: () => Date.now() + skippedMs,
  })
  await db.query('insert into merchant (id, name) values ($1, $2)', [MERCHANT.merchantId, 'Shop'])
}, 60_000)
afterAll(async () => {
  await db?.close()
  await Promise.all([primary?.stop(5000), standby?.stop(5000)])
  for (const folder of folders) removeOpenFolder(folder)
}, 30_000)

const isReplica = async (session: Session): Promise<boolean> =>
  (await session.query('select pg_is_in_recovery() as it')).rows[0].it
const named = async (session: Session): Promise<string[]> =>
  (await session.query('select name from merchant')).rows.map(({ name }) => name)

test('lists are read from the replica, as their merchant, and everything else is not', async () => {
  await until(
    () => named(db.lists(MERCHANT)),
    (names) => names.includes('Shop'),
  )
  expect(await isReplica(db.lists(MERCHANT))).toBe(true)
  const inTransaction = (tx: Tx) => tx.query('select pg_is_in_recovery() as it').then(({ rows }) => rows[0].it)
  expect(await db.lists(MERCHANT).transaction(inTransaction)).toBe(true)
  for (const session of [db, db.as(MERCHANT)]) expect(await isReplica(session)).toBe(false)
  expect(await named(db.lists({ ...MERCHANT, merchantId: 'mer_another' }))).toEqual([])
})

test('without the replica lists are read from the main database, and from the replica when it is up again', async () => {
  await standby.kill9({ stayDown: true })
  expect(await named(db.lists(MERCHANT))).toEqual(['Shop'])
  expect(await isReplica(db.lists(MERCHANT))).toBe(false)
  await standby.start()
  // The replica rests after the failure.
  skippedMs += 5000
  await until(() => isReplica(db.lists(MERCHANT)), Boolean)
}, 30_000)

test('the main database answers what the replica has not replayed yet, such as a column of the newest schema', async () => {
  const replica = createDb({ url: postgresUrl(standbyOptions), livemode: false, pool: 1 })
  try {
    await replica.query('select pg_wal_replay_pause()')
    await db.query('alter table merchant add column new_column text')
    expect((await db.lists(MERCHANT).query('select new_column from merchant')).rows).toEqual([{ new_column: null }])
  } finally {
    await replica.query('select pg_wal_replay_resume()')
    await replica.close()
  }
})

describe('A replica that is behind', () => {
  let replica: Db
  const addEvents = (from: number, to: number) =>
    db.query(
      `insert into event (id, merchant_id, livemode, sequence, type, body, created_at)
       select 'evt_' || n, $1, false, n, 'payment.succeeded', convert_to(n::text, 'UTF8'), now()
       from generate_series($2::int, $3::int) as n`,
      [MERCHANT.merchantId, from, to],
    )
  const known = (session: Session): Promise<number> =>
    session.query('select count(*)::int as known from event').then(({ rows }) => rows[0].known)
  beforeAll(async () => {
    replica = createDb({ url: postgresUrl(standbyOptions), livemode: false, pool: 1 })
    await until(() => isReplica(db.lists(MERCHANT)), Boolean)
    await addEvents(1, 10)
    await until(
      () => known(replica),
      (count) => count === 10,
    )
    await replica.query('select pg_wal_replay_pause()')
    await addEvents(11, 20)
  }, 30_000)
  afterAll(async () => {
    await replica.query('select pg_wal_replay_resume()')
    await replica.close()
  })

  class NoCursor extends Error {}
  /** The numbers of a page, as the api reads it. */
  const page = (session: Session, after: string | null): Promise<number[]> =>
    session.transaction(async (tx) => {
      const wanted = { filters: {}, page: { limit: 4, after, before: null }, afterSequence: null }
      const found = await listEvents(tx, MERCHANT, wanted)
      if (found === null) throw new NoCursor()
      return found.rows.map((body) => Number(body.toString()))
    })

  test('a list lacks new rows, and a list whose cursor the replica lacks continues without a gap', async () => {
    expect(await page(db.lists(MERCHANT), null)).toEqual([10, 9, 8, 7])
    // The page before was read while the replica did not answer.
    expect(await page(db, null)).toEqual([20, 19, 18, 17])
    expect(await page(db.lists(MERCHANT), 'evt_17')).toEqual([16, 15, 14, 13])
    expect(await page(db.lists(MERCHANT), 'evt_7')).toEqual([6, 5, 4, 3])
  })

  test('an unknown cursor is refused, and does not make the replica rest', async () => {
    await expect(page(db.lists(MERCHANT), 'evt_none')).rejects.toThrow(NoCursor)
    expect(await isReplica(db.lists(MERCHANT))).toBe(true)
  })

  test('a client that reads by sequence gets the missing events when they are replicated', async () => {
    const pull = (after: number) =>
      db.lists(MERCHANT).transaction(async (tx) => {
        const wanted = { filters: {}, page: { limit: 100, after: null, before: null }, afterSequence: after }
        const found = await listEvents(tx, MERCHANT, wanted)
        return (found?.rows ?? []).map((body) => Number(body.toString()))
      })
    expect(await pull(8)).toEqual([9, 10])
    expect(await pull(10)).toEqual([])
    await replica.query('select pg_wal_replay_resume()')
    await until(
      () => pull(10),
      (found) => found.length > 0,
    )
    expect(await pull(10)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20])
  })

  test('a list is from one moment, whatever changes in between', async () => {
    await db.lists(MERCHANT).transaction(async (tx) => {
      const before = await tx.query('select count(*)::int as known from event')
      await addEvents(21, 21)
      await until(
        () => known(replica),
        (count) => count === 21,
      )
      expect((await tx.query('select count(*)::int as known from event')).rows).toEqual(before.rows)
    })
  })
})

test('a query that is too slow is not repeated at the main database', async () => {
  class TooSlow extends Error {}
  const asked: string[] = []
  const answer = (name: string, error?: Error) => async (): Promise<void> => {
    asked.push(name)
    if (error !== undefined) throw error
  }
  const either = createReplica(TooSlow, () => 0)
  await expect(either(answer('replica', new TooSlow()), answer('main'))).rejects.toThrow(TooSlow)
  expect(asked).toEqual(['replica'])
  await either(answer('replica', new Error('gone')), answer('main'))
  await either(answer('replica'), answer('main'))
  // It rests after a failure: no request waits for it again at once.
  expect(asked).toEqual(['replica', 'replica', 'main', 'main'])
})

test('a replica that was promoted to main database accepts writes', async () => {
  await primary.kill9({ stayDown: true })
  await promote(standbyOptions)
  const promoted = createDb({ url: postgresUrl(standbyOptions), livemode: false, pool: 1 })
  try {
    await promoted.query('update merchant set name = $1 where id = $2', ['Shop after', MERCHANT.merchantId])
    expect(await named(promoted)).toEqual(['Shop after'])
  } finally {
    await promoted.close()
  }
}, 30_000)
