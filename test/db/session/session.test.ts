import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { pino } from 'pino'
import { USDC_ADDRESS } from '../../../scripts/system/environment.ts'
import { TEST_ENVIRONMENT } from '../../../scripts/test/environment.ts'
import { LIVE_ENVIRONMENT } from '../../../scripts/test/live-environment.ts'
import { createTestDatabase, setForUser, type TestDatabase } from '../../../scripts/test/services/databases.ts'
import { readApiConfig, readWorkerConfig } from '../../../src/config/config.ts'
import { assertSession, assertSessionAt, SessionRefusal } from '../../../src/db/assert-session.ts'
import { directConnection, SETTINGS } from '../../../src/db/connection/session.ts'
import { createDb } from '../../../src/db/db.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { composeApi } from '../../../src/deps/api.ts'
import { composeWorker } from '../../../src/deps/worker.ts'
import { runPinrail } from '../../../src/operator/command.ts'
import { openTestApi, type TestApi } from '../../api/support/test-api.ts'
import { OTHERWISE } from './otherwise.ts'

/** Databases and users with unusual settings: a payment works anyway, or the database is refused. */

/** The limits of a process, and those of the driver. */
const ALSO_OTHERWISE = {
  statement_timeout: '1ms',
  lock_timeout: '1ms',
  idle_in_transaction_session_timeout: '1ms',
  client_encoding: 'LATIN1',
}

const databases: TestDatabase[] = []
async function newDatabase(how?: string, settings: Readonly<Record<string, string>> = {}): Promise<TestDatabase> {
  const database = await createTestDatabase(how)
  databases.push(database)
  await setForUser(database, settings)
  return database
}
afterAll(() => Promise.all(databases.map((database) => database.drop())))

/** The setting as a session of the driver alone has it. */
async function showSetting(config: pg.ClientConfig, name: string): Promise<string> {
  const client = new pg.Client(config)
  await client.connect()
  try {
    return (await client.query('select current_setting($1) as value', [name])).rows[0].value
  } finally {
    await client.end()
  }
}

describe('A user whose settings all differ', () => {
  let testApi: TestApi
  beforeAll(async () => {
    const database = await createTestDatabase()
    await setForUser(database, { ...OTHERWISE, ...ALSO_OTHERWISE })
    testApi = await openTestApi({ database })
  })
  afterAll(() => testApi?.close())

  test.each(SETTINGS)('a session has $name = $must for a user with another setting', async ({ name, must }) => {
    const driver = { connectionString: testApi.databaseUrl, options: '-c statement_timeout=0' }
    expect(await showSetting(driver, name)).not.toBe(must)
    const { rows } = await testApi.db.query('select current_setting($1) as value', [name])
    expect(rows).toEqual([{ value: must }])
  })

  test('a session has the time limits of the process', async () => {
    const { rows } = await testApi.db.query(
      `select name, setting from pg_settings where name like any('{statement_timeout,lock_timeout,idle_in_trans%}') order by 1`,
    )
    expect(rows).toEqual([
      { name: 'idle_in_transaction_session_timeout', setting: '30000' },
      { name: 'lock_timeout', setting: '2000' },
      { name: 'statement_timeout', setting: '15000' },
    ])
  })

  test('a user with other settings creates eight payments at once, finds them by a letter of the other case, and reads their times', async () => {
    const from = Date.now() - 1000
    const body = { amount: '49.99', currency: 'EUR', description: '花 École \\ "', metadata: { note: "d'Or \\n 花" } }
    const made = await Promise.all(Array.from({ length: 8 }, () => testApi.ask('POST', '/v1/payments', { body })))
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
    const found = await testApi.ask('GET', `/v1/payments?limit=20&search=${encodeURIComponent('花 école')}`)
    const payments = found.body['data'] as { id: string; description: string; metadata: object; created_at: string }[]
    expect(payments).toHaveLength(8)
    expect(new Set(payments.map(({ id }) => id))).toEqual(new Set(made.map((answer) => answer.body['id'])))
    for (const { description, metadata, created_at: createdAt } of payments) {
      expect({ description, metadata }).toEqual({ description: body.description, metadata: body.metadata })
      expect(Date.parse(createdAt)).toBeGreaterThan(from)
    }
  })

  test('a user with other settings receives the error of a statement in a transaction, not that of a lost connection', async () => {
    await expect(testApi.db.transaction((tx) => tx.query('select 1 / 0'))).rejects.toThrow('division by zero')
  })

  test('a user with other settings migrates an empty database into the schema public, however long it takes', async () => {
    const { url } = await newDatabase('template template0', { ...OTHERWISE, ...ALSO_OTHERWISE })
    await migrate(url)
    const db = createDb({ url, livemode: false, pool: 1 })
    try {
      const { rows } = await db.query("select schemaname from pg_tables where tablename in ('payment', 'migration')")
      expect(rows).toEqual([{ schemaname: 'public' }, { schemaname: 'public' }])
    } finally {
      await db.close()
    }
  })
})

test('the tests have a harmful value for each setting', () => {
  expect(Object.keys(OTHERWISE).sort()).toEqual(SETTINGS.map(({ name }) => name).sort())
})

test('options in the URL of a database remain, but do not override those of the process', async () => {
  const { url } = await newDatabase()
  const own = new URL(url)
  own.searchParams.set('options', '-c work_mem=5MB -c TimeZone=Asia/Kolkata')
  own.searchParams.set('application_name', 'till')
  const limits = { statement_timeout: 1234, idle_in_transaction_session_timeout: 0, lock_timeout: 0 }
  const connection = directConnection(own.href, limits)
  const names = ['work_mem', 'TimeZone', 'application_name', 'statement_timeout']
  const values = await Promise.all(names.map((name) => showSetting(connection, name)))
  expect(values).toEqual(['5MB', 'UTC', 'till', '1234ms'])
})

const ENCODED = (encoding: string): string =>
  `encoding '${encoding}' locale 'C' locale_provider libc template template0`

describe('A database that is refused', () => {
  test.each([
    ['an encoding without characters', ENCODED('SQL_ASCII'), {}, '- server_encoding is SQL_ASCII and must be UTF8'],
    ['an encoding of Western Europe', ENCODED('LATIN1'), {}, '- server_encoding is LATIN1 and must be UTF8'],
    ['an encoding without É', ENCODED('KOI8R'), {}, '- server_encoding is KOI8R and must be UTF8'],
    ['an encoding of several bytes', ENCODED('EUC_JP'), {}, '- server_encoding is EUC_JP and must be UTF8'],
    ['a locale without the case of É', ENCODED('UTF8'), {}, '- lc_ctype is ASCII and must be Unicode'],
    [
      'a locale in which i is not the small letter of I',
      "template template0 encoding 'UTF8' locale_provider icu icu_locale 'tr-TR'",
      {},
      '- lc_ctype is Turkish and must be Unicode',
    ],
    [
      'commits that may be lost',
      undefined,
      { synchronous_commit: 'off' },
      '- synchronous_commit is off and must be on',
    ],
    [
      'triggers that do not run',
      undefined,
      { session_replication_role: 'replica' },
      '- session_replication_role is replica and must be origin',
    ],
    [
      'transactions with a limit',
      undefined,
      { transaction_timeout: '1min' },
      '- transaction_timeout is 1min and must be 0',
    ],
    ['another user than the one that connects', undefined, { role: 'pinrail_tenant' }, '- role is pinrail_tenant and'],
  ])('a database is refused if it has %s', async (_what, how, settings, line) => {
    const { url } = await newDatabase(how, settings)
    const refused = assertSessionAt({ url, pooled: false })
    await expect(refused).rejects.toThrow(SessionRefusal)
    await expect(refused).rejects.toThrow(line)
  })

  test('a database is refused until the statement that the refusal prints was run', async () => {
    const { url } = await newDatabase(undefined, { synchronous_commit: 'off', session_replication_role: 'replica' })
    const refusal = await assertSessionAt({ url, pooled: false }).catch((error: Error) => error.message)
    const statements = [...String(refusal).matchAll(/Run: (.*;)$/gm)].map(([, statement]) => statement!)
    expect(statements).toHaveLength(2)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
    await expect(assertSessionAt({ url, pooled: false })).resolves.toBeUndefined()
  })
})

test('a connection whose settings do not arrive, as through some poolers, is refused', async () => {
  const { url } = await newDatabase()
  const db = createDb({ url, livemode: false, pool: 1, pooled: true })
  try {
    await expect(assertSession(db, { pooled: false })).rejects.toThrow(
      '- pinrail.session is not set and must be direct: without the settings of its first packet a session has no limits. ' +
        'Connect past the pooler, or set DATABASE_POOLER=transaction.',
    )
  } finally {
    await db.close()
  }
})

test('a user who does not own the tables, and would read no rows, is refused', async () => {
  const { url } = await newDatabase()
  const name = new URL(url).pathname.slice(1).replace('test_', 'other_')
  const owner = new pg.Client({ connectionString: url })
  await owner.connect()
  try {
    await owner.query(`create role ${name} login password '…'`)
    await owner.query(`grant select, insert, update, delete on all tables in schema public to ${name}`)
    const other = Object.assign(new URL(url), { username: name, password: '…' })
    await expect(assertSessionAt({ url: other.href, pooled: false })).rejects.toThrow(
      '- row_security_active is on and must be off: the workers and the relay read the rows of all merchants. ' +
        'Connect as the owner of the tables.',
    )
  } finally {
    await owner.query(`drop owned by ${name}`)
    await owner.query(`drop role ${name}`)
    await owner.end()
  }
})

describe('A database whose commits can be lost', () => {
  const line = '- synchronous_commit is off and must be on: a signature that a crash forgets could be paid twice.'
  const log = pino({ level: 'silent' })
  let url = ''
  beforeAll(async () => {
    url = (await newDatabase(undefined, { synchronous_commit: 'off' })).url
  })
  const inTest = () => ({ ...TEST_ENVIRONMENT, DATABASE_URL: url })
  const pinrail = async (env: Record<string, string>, ...args: string[]): Promise<{ code: number; text: string }> => {
    let text = ''
    const add = (part: string): void => void (text += part)
    return { code: await runPinrail({ args, env }, { out: add, err: add }), text }
  }

  test('pinrail migrate refuses a database whose commits can be lost', async () => {
    expect(await pinrail({ DATABASE_URL: url }, 'migrate')).toEqual({ code: 2, text: expect.stringContaining(line) })
  })

  test('pinrail preflight refuses a database whose commits can be lost', async () => {
    const env = { ...LIVE_ENVIRONMENT, DATABASE_URL: url }
    const { code, text } = await pinrail(env, 'preflight')
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(/^DATABASE_URL: must be a usable database: The database has/),
    ])
    expect(text).toContain(line)
  })

  test.each([
    ['that looks at every part', ['doctor']],
    ['about accounts', ['merchants', 'create', 'Shop', '--operator', 'Ada', '--reason', 'a new merchant']],
    ['about money', ['settlement', 'status']],
  ])('the command %s refuses a database whose commits can be lost', async (_what, args) => {
    const env = { ...LIVE_ENVIRONMENT, DATABASE_URL: url, CHAIN_ID: '137', USDC_ADDRESS }
    expect(await pinrail(env, ...args)).toEqual({ code: 2, text: expect.stringContaining(line) })
  })

  test('the api refuses a database whose commits can be lost', async () => {
    await expect(composeApi(readApiConfig(inTest()), log)).rejects.toThrow(line)
  })

  test('the api refuses to read its lists from a database whose commits can be lost', async () => {
    const env = { ...TEST_ENVIRONMENT, DATABASE_URL: (await newDatabase()).url, DATABASE_READ_URL: url }
    await expect(composeApi(readApiConfig(env), log)).rejects.toThrow(/^DATABASE_READ_URL: The database has settings/)
  })

  test('the worker refuses a database whose commits can be lost', async () => {
    const { TREASURY_KEY, KEYSTORE_PASSWORD, RELAYER_KEYS } = LIVE_ENVIRONMENT
    const config = readWorkerConfig({ ...inTest(), TREASURY_KEY, KEYSTORE_PASSWORD, RELAYER_KEYS })
    await expect(composeWorker(config, log)).rejects.toThrow(line)
  })
})

test('migrations write nothing to a database with another encoding', async () => {
  const { url } = await newDatabase(ENCODED('SQL_ASCII'))
  await expect(migrate(url)).rejects.toThrow('server_encoding is SQL_ASCII')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rowCount } = await client.query("select 1 from pg_tables where schemaname = 'public'")
  await client.end()
  expect(rowCount).toBe(0)
})

test('the statements of docs/operations.md, as docker-compose.yml has them, make a database that its user can migrate', async () => {
  const [page, compose] = ['docs/operations.md', 'docker-compose.yml'].map((file) =>
    readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8').replace(/\n +/g, ' '),
  )
  const [, block = ''] = /```sql\n(create role pinrail login.*?)```/s.exec(page!) ?? []
  const statements = block.split(';\n').filter((statement) => statement !== '')
  // The server of the tests would choose UTF-8 and this locale by default.
  const create = `create database pinrail owner pinrail encoding 'UTF8' locale 'C' locale_provider builtin`
  expect(statements).toEqual([expect.anything(), expect.anything(), expect.anything(), expect.stringContaining(create)])
  expect(compose).toContain(statements[3])
  const { url } = await newDatabase()
  const name = new URL(url).pathname.slice(1).replace('test_', 'documented_')
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  try {
    for (const statement of statements) {
      // The server of the tests has this role already, from the migrations of its other databases.
      if (statement.startsWith('create role pinrail_tenant')) continue
      await admin.query(statement.replace(/\bpinrail\b/g, name))
    }
    const owned = new URL(url)
    Object.assign(owned, { username: name, password: '…', pathname: name })
    await migrate(owned.href)
    await expect(assertSessionAt({ url: owned.href, pooled: false })).resolves.toBeUndefined()
  } finally {
    await admin.query(`drop database if exists ${name} with (force)`)
    await admin.query(`drop role if exists ${name}`)
    await admin.end()
  }
})
