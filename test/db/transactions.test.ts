import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createTestDatabase } from '../../scripts/test/services/databases.ts'
import { until } from '../../scripts/test/until.ts'
import { createDb, type Db } from '../../src/db/db.ts'

let db: Db
let database: Awaited<ReturnType<typeof createTestDatabase>>
beforeAll(async () => {
  database = await createTestDatabase()
  db = createDb({ url: database.url, livemode: false, pool: 2 })
}, 60_000)
afterAll(async () => {
  await db?.close()
  await database?.drop()
})

test('what is to be done after the commit is done when others can see the change', async () => {
  await db.query('create table seen (id int)')
  let others = Promise.resolve<unknown>(null)
  let isTold = false
  const answer = await db.transaction(async (tx) => {
    tx.afterCommit(() => {
      isTold = true
      others = db.query('select id from seen').then(({ rows }) => rows)
    })
    await tx.query('insert into seen values (1)')
    expect(isTold).toBe(false)
    return 'done'
  })
  expect(answer).toBe('done')
  expect(await others).toEqual([{ id: 1 }])
})

test('and never when the transaction was rolled back', async () => {
  let told = 0
  const refused = db.transaction((tx) => {
    tx.afterCommit(() => told++)
    return Promise.reject(new Error('no'))
  })
  await expect(refused).rejects.toThrow('no')
  expect(told).toBe(0)
})

test('a connection that breaks between two statements fails its transaction with its own reason, and ends no process', async () => {
  let reached: (pid: number) => void = () => undefined
  let goOn: () => void = () => undefined
  const pid = new Promise<number>((resolve) => {
    reached = resolve
  })
  const broken = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const work = db.transaction(async (tx) => {
    reached((await tx.query('select pg_backend_pid() as pid')).rows[0].pid)
    await broken
    await tx.query('insert into seen values (2)')
  })
  const refused = expect(work).rejects.toMatchObject({ code: '57P01' })
  const gone = await pid
  await db.query('select pg_terminate_backend($1)', [gone])
  const alive = () => db.query('select 1 from pg_stat_activity where pid = $1', [gone])
  await until(alive, ({ rowCount }) => rowCount === 0)
  // One more answer on another connection: by now the process has read what the server said on the broken one.
  await db.query('select 1')
  goOn()
  await refused
  expect((await db.query('select id from seen')).rows).toEqual([{ id: 1 }])
})

test('a database whose connections are all in use is busy, and answers whoever asks whether it is there', async () => {
  let end: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    end = resolve
  })
  const holding = [1, 2].map(() => db.transaction(() => held))
  try {
    await until(
      async () => db.poolUse(),
      ({ total, idle }) => total - idle === 2,
    )
    const waits = db.query('select 1')
    expect(db.poolUse().waiting).toBe(1)
    await db.answers()
    expect(db.poolUse().waiting).toBe(1)
    end()
    await waits
  } finally {
    end()
    await Promise.all(holding)
  }
})

test('one that is gone does not answer', async () => {
  const gone = createDb({ url: 'postgres://nobody@127.0.0.1:9/none', livemode: false, pool: 1 })
  await expect(gone.answers()).rejects.toThrow('ECONNREFUSED')
  await gone.close()
})

describe('a server that goes away without a word', () => {
  test('is given up after the time of a statement, and its connections are made anew', async () => {
    const way = await openWay(database.url)
    const over = createDb({ url: way.url, livemode: false, pool: 2, statementTimeoutMs: 100 })
    try {
      await Promise.all([over.query('select 1'), over.query('select 1'), over.answers()])
      way.fallSilent()
      const asked = [over.query('select 1'), over.transaction((tx) => tx.query('select 1')), over.answers()]
      for (const answer of asked) await expect(answer).rejects.toThrow('Query read timeout')
      await over.answers()
      expect((await over.transaction((tx) => tx.query('select 2 as two'))).rows).toEqual([{ two: 2 }])
    } finally {
      await over.close()
      way.close()
    }
  }, 20_000)
})

/** A way to the server on which what was sent before may get lost, and nobody hears of it. */
async function openWay(url: string) {
  const target = new URL(url)
  const pairs: Socket[][] = []
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    pairs.push([client, upstream])
    client.on('data', (data) => upstream.write(data)).on('error', () => undefined)
    upstream.on('data', (data) => client.write(data)).on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    fallSilent() {
      for (const socket of pairs.flat()) socket.removeAllListeners('data').resume()
    },
    close() {
      for (const socket of pairs.flat()) socket.destroy()
      server.close()
    },
  }
}

test('the locks of a machine that is lost within a transaction are over when Postgres has heard nothing of it for a while', async () => {
  await db.query('create table locked (id int primary key)')
  await db.query('insert into locked values (1)')
  const lost = createDb({ url: database.url, livemode: false, pool: 1, idleInTransactionMs: 500 })
  let isLost = (): void => undefined
  const losing = new Promise<void>((resolve) => {
    isLost = resolve
  })
  const ended = new AbortController()
  const silent = lost.transaction(async (tx) => {
    await tx.query('update locked set id = 1')
    isLost()
    await once(ended.signal, 'abort')
  })
  await losing
  expect((await db.query('update locked set id = 2')).rowCount).toBe(1)
  ended.abort()
  await expect(silent).rejects.toThrow()
  await lost.close()
})
