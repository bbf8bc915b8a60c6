import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@temporalio/activity'
import { Client } from '@temporalio/client'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import express from 'express'
import { pino } from 'pino'
import { createApp } from '../../src/api/app.ts'
import { API_SCOPES, createApiKey } from '../../src/api/auth/api-key.ts'
import { readApiConfig, readWorkerConfig } from '../../src/config/config.ts'
import { createDb, type Db, type Tenant } from '../../src/db/db.ts'
import { insertApiKey } from '../../src/db/merchants/api-keys.ts'
import { insertMerchant } from '../../src/db/merchants/merchants.ts'
import { setWallet } from '../../src/db/merchants/wallets.ts'
import { deleteStarts } from '../../src/db/outbox.ts'
import { insertEndpoint } from '../../src/db/webhooks/webhook-endpoints.ts'
import { composeApi } from '../../src/deps/api.ts'
import { composeWorker } from '../../src/deps/worker.ts'
import type { ProviderName } from '../../src/domain/methods.ts'
import { newId } from '../../src/ids.ts'
import { createSandbox } from '../../src/sandbox/app.ts'
import { createInbox } from '../../src/sandbox/inbox/inbox.ts'
import { createSecretBox } from '../../src/webhooks/secret-box.ts'
import { newWebhookSecret } from '../../src/webhooks/sign.ts'
import { accountVariables, createAccount, type DriverChoice } from '../system/drivers.ts'
import { BOX_KEY, CONVERTER_SECRET, PARTNER_SECRET, PEPPER, TEST_ENVIRONMENT } from '../test/environment.ts'
import { createTestDatabase } from '../test/services/databases.ts'

/** Keys of accounts that have nothing: no chain is behind these tests. */
const CHAIN_KEYS = { TREASURY_KEY: `0x${'1'.repeat(64)}`, RELAYER_KEYS: `0x${'2'.repeat(64)}` }
export const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const PATHS: Record<ProviderName, string> = {
  wallet_app: '/wallet-app',
  card_partner: '/card-partner',
  local_partner: '/local-partner',
}

export type PaymentPartsOptions = {
  /** The drivers of providers that do not use the simulator's protocol. */
  readonly drivers?: DriverChoice
  /** Unix milliseconds, instead of the time that the server skips to. */
  readonly clock?: () => number
}

/**
 * API and worker as they are composed for their processes, with the partner simulators, a database and an inbox, on a
 * Temporal server whose time is skipped. Only the chain is left out: a test decides that a payout is final.
 */
export async function startPaymentParts(env: TestWorkflowEnvironment, options: PaymentPartsOptions = {}) {
  const log = pino({ level: process.env['TEST_LOG'] ?? 'silent' })
  const database = await createTestDatabase()
  const db = createDb({ url: database.url, livemode: false, pool: 4 })
  const folder = mkdtempSync(join(tmpdir(), 'payments-'))
  const time = await virtualTime(env)
  const clock = options.clock ?? time.now

  const api = express()
  const apiServer = await listen(api)
  const secret = newWebhookSecret()
  const inbox = await createInbox({ secrets: [secret], dataFile: join(folder, 'inbox.jsonl'), log })
  const inboxServer = await listen(inbox.app)
  const account = (provider: ProviderName) => createAccount(options.drivers?.[provider] ?? 'simulator', PARTNER_SECRET)
  const accounts = {
    wallet_app: account('wallet_app'),
    card_partner: account('card_partner'),
    local_partner: account('local_partner'),
  }
  let sandboxUrl = ''
  const sandbox = await createSandbox({
    dataFolder: join(folder, 'sandbox'),
    publicUrl: () => sandboxUrl,
    callbackUrl: apiServer.url,
    partners: accounts,
    converterSecret: CONVERTER_SECRET,
    source: null,
    clock,
    log,
  })
  const sandboxServer = await listen(sandbox.app)
  sandboxUrl = sandboxServer.url

  const environment = {
    ...TEST_ENVIRONMENT,
    ...CHAIN_KEYS,
    DATABASE_URL: database.url,
    DATABASE_POOL: '8',
    TEMPORAL_ADDRESS: env.address,
    TEMPORAL_NAMESPACE: env.namespace ?? 'default',
    PUBLIC_URL: apiServer.url,
    WEBHOOK_TEST_TARGETS: new URL(inboxServer.url).host,
    WALLET_APP_URL: `${sandboxUrl}${PATHS.wallet_app}`,
    CARD_PARTNER_URL: `${sandboxUrl}${PATHS.card_partner}`,
    LOCAL_PARTNER_URL: `${sandboxUrl}${PATHS.local_partner}`,
    CONVERTER_URL: `${sandboxUrl}/converter`,
    CRYPTO_DEPOSITS: 'true',
    DEPOSIT_SEED: BOX_KEY,
  }
  const variables = Object.entries(accounts).map(([name, each]) => accountVariables(name as ProviderName, each))
  const callbacks = Object.assign({}, ...variables.map((each) => each.callbacks))
  const calls = Object.assign({}, ...variables.map((each) => each.calls))
  const composedApi = await composeApi(readApiConfig({ ...environment, ...callbacks }), log, {
    clock,
    deps: ({ readCallback }) => ({
      // The simulators sign their callbacks by the real clock.
      readCallback: (provider, callback) =>
        readCallback(provider, { ...callback, receivedAt: Math.floor(Date.now() / 1000) }),
      onStarted: (id) => void deleteStarts(db, [id]),
    }),
  })
  const worker = await composeWorker(readWorkerConfig({ ...environment, ...calls }), log, { clock, relayGraceMs: 0 })
  const tenant: Tenant = { merchantId: newId('merchant'), livemode: false }
  const secretKey = await addMerchant(db, tenant, { webhookUrl: `${inboxServer.url}/webhook`, secret })
  api.use(createApp(composedApi.deps))
  // Not the environment's own client: it would let the time run whenever a result is awaited.
  const client = new Client({ connection: env.connection, namespace: env.namespace ?? 'default' })

  return {
    client,
    db,
    api: apiServer.url,
    inboxUrl: inboxServer.url,
    sandboxUrl,
    sandbox,
    workflows: composedApi.deps.workflows,
    worker,
    relay: worker.relay,
    hooks: worker.hooks,
    token: composedApi.deps.token,
    tenant,
    secretKey,
    clock,
    advanceTo: time.advanceTo,
    async close(): Promise<void> {
      await sandbox.close()
      await apiServer.close()
      await composedApi.close()
      await worker.close()
      await inbox.close()
      for (const server of [inboxServer, sandboxServer]) await server.close()
      await db.close()
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Returns the time that the server skips to: the time of an activity, and never backwards (Unix milliseconds). */
async function virtualTime(env: TestWorkflowEnvironment) {
  let latest = await env.currentTimeMs()
  const advanceTo = (time: number): void => {
    latest = Math.max(latest, time)
  }
  return {
    advanceTo,
    now: (): number => {
      advanceTo(insideActivity()?.info.currentAttemptScheduledTimestampMs ?? 0)
      return latest
    },
  }
}

/** Adds a merchant with a wallet, a key and an endpoint; returns the key. */
async function addMerchant(db: Db, tenant: Tenant, { webhookUrl, secret }: { webhookUrl: string; secret: string }) {
  const key = createApiKey(false, PEPPER)
  await insertMerchant(db, { id: tenant.merchantId, name: 'Test Shop' })
  await setWallet(db, tenant, WALLET)
  await insertApiKey(db, tenant, { ...key, name: 'test', scopes: API_SCOPES })
  const endpointId = newId('endpoint')
  await insertEndpoint(db, tenant, {
    id: endpointId,
    url: webhookUrl,
    description: null,
    enabledEvents: ['payment.succeeded'],
    sealedSecret: createSecretBox(BOX_KEY).seal(secret, endpointId),
  })
  return key.text
}

function insideActivity(): Context | null {
  try {
    return Context.current()
  } catch {
    return null
  }
}

async function listen(app: express.Express): Promise<{ url: string; close: () => Promise<void> }> {
  const server: Server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
