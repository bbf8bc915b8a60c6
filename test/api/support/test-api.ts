import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { z } from 'zod'
import { PEPPER, TEST_ENVIRONMENT } from '../../../scripts/test/environment.ts'
import { LIVE_ENVIRONMENT } from '../../../scripts/test/live-environment.ts'
import { createTestDatabase, type TestDatabase } from '../../../scripts/test/services/databases.ts'
import { startDevServer } from '../../../scripts/test/services/temporal.ts'
import { type ApiDeps, createApp } from '../../../src/api/app.ts'
import { API_SCOPES, type ApiScope, createApiKey } from '../../../src/api/auth/api-key.ts'
import { createApiServer } from '../../../src/api/http/server.ts'
import { readApiConfig } from '../../../src/config/config.ts'
import type { Tenant } from '../../../src/db/db.ts'
import { createDb, type Db, execute, identifier, one, sql } from '../../../src/db/db.ts'
import { insertApiKey, storeDigests, touchApiKeys } from '../../../src/db/merchants/api-keys.ts'
import { insertMerchant } from '../../../src/db/merchants/merchants.ts'
import { setWallet } from '../../../src/db/merchants/wallets.ts'
import { deleteStarts } from '../../../src/db/outbox.ts'
import { composeApi } from '../../../src/deps/api.ts'
import { newId } from '../../../src/ids.ts'
import { createConformance, type OpenApi } from './conformance.ts'
import { refundWorkflows } from './refunds.ts'

export const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
/** USDC for one major unit; every other currency is worth a dollar. */
const RATES: Readonly<Record<string, string>> = {
  EUR: '1.25',
  INR: '0.0125',
  JPY: '0.00625',
  HUF: '0.0025',
  COP: '0.00025',
}

export type TestApi = Awaited<ReturnType<typeof openTestApi>>
export type Merchant = { tenant: Tenant; key: string; keyId: string }
export type Answer = { status: number; headers: Headers; text: string; body: Record<string, unknown> }

export type TestApiOptions = {
  /** An address of Temporal at which no server listens. */
  readonly temporalDown?: boolean
  /** The mode of the deployment: `test` unless a test is about live mode. */
  readonly mode?: 'test' | 'live'
  /** The port; any free port unless a test must know it before the start. */
  readonly port?: number
  /** Its database; a new one unless a test needs another. */
  readonly database?: TestDatabase
  /** Changes of the app's dependencies. */
  readonly deps?: (deps: ApiDeps) => Partial<ApiDeps>
}

/** The API on a port, with its own database and the run's real Temporal server, where no worker runs the workflows. */
export async function openTestApi({
  temporalDown = false,
  mode = 'test',
  port = 0,
  database: given,
  deps: change = () => ({}),
}: TestApiOptions = {}) {
  const database = given ?? (await createTestDatabase())
  const livemode = mode === 'live'
  const db = createDb({ url: database.url, livemode, pool: 10, lockTimeoutMs: 2000 })
  const temporal = await startDevServer()
  const taskQueue = `test-${newId('request')}`
  const log = pino({ level: process.env['TEST_LOG'] ?? 'silent' })
  const writing = new Set<Promise<void>>()
  const now = (work: Promise<void>): void => {
    const done = work.finally(() => writing.delete(done))
    writing.add(done)
  }
  let app: RequestListener = (_request, response) => response.writeHead(503).end()
  const settings = { publicUrl: '', newRequestId: () => newId('request') }
  const server = createApiServer((request, response) => app(request, response), settings)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = readApiConfig({
    ...(livemode ? LIVE_ENVIRONMENT : { ...TEST_ENVIRONMENT, PUBLIC_URL: url }),
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalDown ? `127.0.0.1:${await closedPort()}` : temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
  })
  const { deps, close } = await composeApi(config, log, {
    taskQueues: { payments: taskQueue, deliveries: taskQueue },
    deps: (composed) =>
      atItsAddress(url, composed, {
        rates: { current: async (currency) => ({ rate: RATES[currency] ?? '1', source: 'test' }) },
        simulate: null,
        signUp: 'open',
        healthChecks: [],
        // At once, so that a test reads what was written.
        onStarted: (id) => now(deleteStarts(db, [id])),
        onKeyUsed: (id) => now(touchApiKeys(db, [id])),
        refunds: refundWorkflows(db),
        onOldPepper: (digest) => now(storeDigests(db, [digest])),
        ...change(composed),
      }),
  })
  settings.publicUrl = deps.publicUrl
  app = createApp(deps)
  const conforms = createConformance((await (await fetch(`${url}/openapi.json`)).json()) as OpenApi)

  const view = (first: Merchant) => ({
    url,
    port: Number(new URL(url).port),
    db,
    databaseUrl: database.url,
    taskQueue,
    temporal,
    secretBox: deps.secretBox,
    workflows: deps.workflows,
    registry: deps.registry,
    healthChecks: deps.healthChecks,
    log,
    ...first,
    addMerchant: (options: MerchantOptions = {}) => addMerchant(db, options),
    addKey: (tenant: Tenant, scopes?: readonly ApiScope[]) => addKey(db, tenant, scopes),

    /** Sends a request as the first merchant by default; an object is sent as JSON. */
    async ask(method: string, path: string, request: AskOptions = {}): Promise<Answer> {
      const { body, key = first.key, headers = {} } = request
      const json = body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body)
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: json ? JSON.stringify(body) : (body as string | Buffer<ArrayBuffer>) }),
      })
      const text = await response.text()
      conforms({ method, path, status: response.status, contentType: response.headers.get('content-type'), text })
      return { status: response.status, headers: response.headers, text, body: asJson(text) }
    },

    async count(table: 'payment' | 'outbox' | 'idempotency_key' | 'timeline_entry'): Promise<number> {
      const row = await one(db, z.object({ n: z.coerce.number() }), sql`select count(*) as n from ${identifier(table)}`)
      return row.n
    },

    /** Resolves when everything is started and stored that no response waits for. */
    async written(): Promise<void> {
      await deps.background.settled()
      await Promise.all(writing)
    },

    async close(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      await deps.background.close()
      await Promise.all(writing)
      await close()
      await db.close()
      await database.drop()
    },
  })

  const as = (merchant: Merchant) => ({
    ...view(merchant),
    /** The same API for a new merchant, so that tests that share it stay separate. */
    asNewMerchant: async () => as(await addMerchant(db)),
  })
  return as(await addMerchant(db))
}

/** With another public URL the API is behind a proxy. */
function atItsAddress(url: string, composed: ApiDeps, changed: Partial<ApiDeps>): Partial<ApiDeps> {
  const { publicUrl = composed.publicUrl } = changed
  return { ...(new URL(publicUrl).origin !== url && { trustProxyHops: 1 }), ...changed }
}

export type AskOptions = {
  readonly body?: unknown
  /** Null: without a key. */
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

export type MerchantOptions = {
  /** The mode of the API, unless a test crosses the modes. */
  readonly livemode?: boolean
  readonly wallet?: string | null
  readonly id?: string
}

async function addMerchant(db: Db, options: MerchantOptions = {}): Promise<Merchant> {
  const { livemode = db.livemode, wallet = WALLET, id = newId('merchant') } = options
  const tenant = { merchantId: id, livemode }
  await insertMerchant(db, { id, name: 'Test Shop' })
  if (wallet !== null) await setWallet(db, tenant, wallet)
  return { tenant, ...(await addKey(db, tenant)) }
}

async function addKey(
  db: Db,
  tenant: Tenant,
  scopes: readonly ApiScope[] = API_SCOPES,
): Promise<{ key: string; keyId: string }> {
  const key = createApiKey(tenant.livemode, db.livemode ? LIVE_ENVIRONMENT.API_KEY_PEPPER : PEPPER)
  await insertApiKey(db, tenant, { ...key, name: 'test', scopes })
  return { key: key.text, keyId: key.id }
}

/** A key that was revoked or has expired. */
export async function endKey(db: Db, keyId: string, how: 'revoked_at' | 'expires_at'): Promise<void> {
  await execute(db, sql`update api_key set ${identifier(how)} = now() - interval '1 minute' where id = ${keyId}`)
}

function asJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** A port that was free a moment ago: connections to it are refused. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Checks the rules for every response that refuses. */
export function expectProblem(answer: Answer, status: number, code: string): void {
  const { body } = answer
  const seen = { status: answer.status, code: body['code'], type: answer.headers.get('content-type') }
  const wanted = { status, code, type: 'application/problem+json; charset=utf-8' }
  if (JSON.stringify(seen) !== JSON.stringify(wanted))
    throw new Error(`expected ${JSON.stringify(wanted)}, got ${JSON.stringify(seen)}: ${answer.text.slice(0, 500)}`)
  problemShape.parse(body)
  if (body['request_id'] !== answer.headers.get('request-id')) throw new Error('the request id differs from the header')
  for (const [name, value] of Object.entries(PROBLEM_HEADERS))
    if (answer.headers.get(name) !== value) throw new Error(`${name} is ${answer.headers.get(name)}`)
}

const PROBLEM_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

const problemShape = z.looseObject({
  type: z.url(),
  title: z.string().min(1),
  status: z.int(),
  detail: z.string().min(1),
  instance: z.string(),
  code: z.string(),
  param: z.string().optional(),
  errors: z.array(z.strictObject({ pointer: z.string(), code: z.string(), message: z.string() })).optional(),
  request_id: z.string().regex(/^req_/),
})
