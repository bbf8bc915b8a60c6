import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { seedDemo } from '../../scripts/system/seed.ts'
import { BOX_KEY, PEPPER, TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { newPayment } from '../../scripts/test/new-payment.ts'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import { until } from '../../scripts/test/until.ts'
import { readWorkerConfig } from '../../src/config/config.ts'
import { createDb, type Db } from '../../src/db/db.ts'
import { insertPayment } from '../../src/db/payments/payments.ts'
import { composeWorker } from '../../src/deps/worker.ts'
import { newId } from '../../src/ids.ts'
import { useTemporal } from './temporal-server.ts'

const log = pino({ level: 'silent' })

const temporal = useTemporal()

let database: TestDatabase

/** Two builds of the worker at the same time, as docs/operations.md describes: pinned, ramped, drained. */
describe('two builds', () => {
  const DEMO = { merchantId: 'mer_01demo00000000000000000000', livemode: false }

  type Build = Awaited<ReturnType<typeof composeWorker>> & { readonly running: Promise<void>[] }
  let db: Db
  const builds: Build[] = []
  beforeAll(async () => {
    database = await createTestDatabase()
    db = createDb({ url: database.url, livemode: false, pool: 2 })
    const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    const demo = {
      apiKeyPepper: PEPPER,
      webhookEncryptionKey: BOX_KEY,
      webhookSecret: 'whsec_',
      wallet,
      secretKey: null,
    }
    await seedDemo({ ...demo, webhookUrl: 'http://127.0.0.1:9' }, database.url)
  }, 120_000)
  afterAll(async () => {
    for (const { workers } of builds) for (const each of workers) each.shutdown()
    await Promise.allSettled(builds.flatMap(({ running }) => running))
    for (const build of builds) await build.close()
    await db?.close()
    await database?.drop()
  }, 60_000)

  async function startBuild(buildId: string): Promise<Build> {
    const config = readWorkerConfig({
      ...TEST_ENVIRONMENT,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.address,
      TREASURY_KEY: `0x${randomBytes(32).toString('hex')}`,
      RELAYER_KEYS: `0x${randomBytes(32).toString('hex')}`,
      WORKER_SHUTDOWN_GRACE_MS: '0',
      WORKER_VERSIONING: 'true',
      WORKER_BUILD_ID: buildId,
    })
    const parts = await composeWorker(config, log, { relayGraceMs: 0 })
    const build = { ...parts, running: parts.workers.map((each) => each.run()) }
    builds.push(build)
    await until(deployment, (text) => text.includes(buildId))
    return build
  }

  const deployment = async (): Promise<string> =>
    (await temporal.cli('worker', 'deployment', 'describe', '--name', 'pinrail', '--output', 'json')).text

  const operate = async (...args: string[]): Promise<void> => {
    const version = ['--deployment-name', 'pinrail', '--yes']
    const { code, text } = await temporal.cli('worker', 'deployment', ...args, ...version)
    if (code !== 0) throw new Error(text)
  }

  /** A payment whose workflow the relay starts; returns the build that it is pinned to. */
  async function pay(relay: Build['relay']): Promise<{ id: string; buildId: string }> {
    const id = newId('payment')
    await insertPayment(db, DEMO, {
      payment: newPayment({ id, createdAt: new Date().toISOString() }),
      claim: null,
      publicUrl: 'http://127.0.0.1:9',
    })
    await relay.startPayments()
    return { id, buildId: await readBuild(id) }
  }

  async function readBuild(id: string): Promise<string> {
    const describe = () => temporal.cli('workflow', 'describe', '--workflow-id', id, '--output', 'json')
    const { text } = await until(describe, (outcome) => /"buildId": *"[^"]+"/.test(outcome.text))
    return /"buildId": *"([^"]+)"/.exec(text)?.[1] ?? ''
  }

  test('a payment stays with the build that began it, new ones follow the ramp, and the old build drains', async () => {
    const old = await startBuild('build-1')
    await operate('set-current-version', '--build-id', 'build-1')
    const first = await pay(old.relay)
    expect(first.buildId).toBe('build-1')

    await startBuild('build-2')
    expect((await pay(old.relay)).buildId).toBe('build-1')
    await operate('set-ramping-version', '--build-id', 'build-2', '--percentage', '100')
    expect((await pay(old.relay)).buildId).toBe('build-2')
    await operate('set-current-version', '--build-id', 'build-2')
    expect((await pay(old.relay)).buildId).toBe('build-2')

    // The buyer of the first payment gives up: its own build ends it.
    const canceled = await temporal.cli('workflow', 'cancel', '--workflow-id', first.id)
    expect(canceled.code).toBe(0)
    await until(
      async () => (await db.query('select status from payment where id = $1', [first.id])).rows[0]?.status,
      (status) => status === 'canceled',
    )
    expect(await readBuild(first.id)).toBe('build-1')
    expect(await deployment()).toMatch(/drain/i)
  }, 120_000)
})
