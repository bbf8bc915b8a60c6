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
import type { PaymentDeps } from '../../src/activities/payment/payment-deps.ts'
import { API_SCOPES, createApiKey } from '../../src/api/auth/api-key.ts'
import { createAuthenticate } from '../../src/api/auth/auth.ts'
import { createRequestLimits } from '../../src/api/auth/rate-limits.ts'
import { problemHandler } from '../../src/api/http/problems.ts'
import { mountRoutes } from '../../src/api/route.ts'
import { callbackRouter } from '../../src/api/routes/callbacks.ts'
import { paymentCreateRoute } from '../../src/api/routes/v1/payments/payment-create.ts'
import { paymentRoutes } from '../../src/api/routes/v1/payments/payments.ts'
import { simulateRoutes } from '../../src/api/routes/v1/payments/simulate.ts'
import { createDepositKeys } from '../../src/chain/deposits/deposit-keys.ts'
import type { Tenant } from '../../src/db/db.ts'
import { createDb } from '../../src/db/db.ts'
import { insertApiKey } from '../../src/db/merchants/api-keys.ts'
import { insertMerchant } from '../../src/db/merchants/merchants.ts'
import { setWallet } from '../../src/db/merchants/wallets.ts'
import { deleteStarts } from '../../src/db/outbox.ts'
import { markSignaled } from '../../src/db/payments/partner-events.ts'
import { queuePayout, releasePayout } from '../../src/db/settlement/payouts.ts'
import { insertEndpoint } from '../../src/db/webhooks/webhook-endpoints.ts'
import { createDepositBook } from '../../src/deps/deposits.ts'
import { loadStart } from '../../src/deps/shared.ts'
import type { ProviderName } from '../../src/domain/methods.ts'
import { newId } from '../../src/ids.ts'
import { createRates } from '../../src/providers/converter/rates.ts'
import { createConverter } from '../../src/providers/converter/simple-converter.ts'
import { CRYPTO_ACCOUNT, createCrypto } from '../../src/providers/crypto.ts'
import { createPartners, createReadCallback } from '../../src/providers/index.ts'
import { createSimulatedAct } from '../../src/providers/simulated.ts'
import { createSandbox } from '../../src/sandbox/app.ts'
import { createInbox } from '../../src/sandbox/inbox.ts'
import { createSettlementHooks } from '../../src/settlement/hooks.ts'
import { createPaymentWorkflows } from '../../src/temporal/payments.ts'
import { createSecretBox } from '../../src/webhooks/secret-box.ts'
import { createSender } from '../../src/webhooks/send.ts'
import { newWebhookSecret } from '../../src/webhooks/sign.ts'
import { createRelay } from '../../src/worker/relay.ts'
import { createTestDatabase } from '../test/services/databases.ts'

const PEPPER = 'pepper of the tests'
const BOX_KEY = Buffer.alloc(32, 7).toString('base64')
const PARTNER_SECRET = 'partner secret of the tests'
const CONVERTER_SECRET = 'converter secret of the tests'
const TREASURY = '0x1111111111111111111111111111111111111111'
export const TOKEN = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'
export const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const PATHS: Record<ProviderName, string> = {
  wallet_app: '/wallet-app',
  card_partner: '/card-partner',
  local_partner: '/local-partner',
}

export type PaymentPartsOptions = {
  /** Unix milliseconds, instead of the time that the server skips to. */
  readonly clock?: () => number
}

/**
 * A shop with real partners' simulators, a real database and a real inbox around a Temporal server whose time is
 * skipped. Only the chain is left out: a test says itself that a payout is final.
 */
export async function startPaymentParts(env: TestWorkflowEnvironment, options: PaymentPartsOptions = {}) {
  const log = pino({ level: process.env['TEST_LOG'] ?? 'silent' })
  const database = await createTestDatabase()
  const db = createDb({ url: database.url, pool: 8 })
  const folder = mkdtempSync(join(tmpdir(), 'payments-'))
  const taskQueue = `payments-${newId('request')}`

  // Virtual time: what the server says in an activity, and never backwards.
  let latest = await env.currentTimeMs()
  const skipped = (): number => {
    const scheduled = insideActivity()?.info.currentAttemptScheduledTimestampMs ?? 0
    latest = Math.max(latest, scheduled)
    return latest
  }
  const clock = options.clock ?? skipped

  const api = express()
  const apiServer = await listen(api)
  const secret = newWebhookSecret()
  const inbox = await createInbox({ secrets: [secret], dataFile: join(folder, 'inbox.jsonl'), log })
  const inboxServer = await listen(inbox.app)
  let sandboxUrl = ''
  const partnerAccounts = Object.fromEntries(
    Object.keys(PATHS).map((name) => [name, { account: 'pinrail', secret: PARTNER_SECRET }]),
  ) as Record<ProviderName, { account: string; secret: string }>
  const sandbox = await createSandbox({
    dataFolder: join(folder, 'sandbox'),
    publicUrl: () => sandboxUrl,
    callbackUrl: apiServer.url,
    partners: partnerAccounts,
    converterSecret: CONVERTER_SECRET,
    minter: null,
    clock,
    log,
  })
  const sandboxServer = await listen(sandbox.app)
  sandboxUrl = sandboxServer.url

  const settings = (name: ProviderName) => ({
    url: `${sandboxUrl}${PATHS[name]}`,
    account: 'pinrail',
    secret: PARTNER_SECRET,
  })
  const partnerSettings = {
    wallet_app: settings('wallet_app'),
    card_partner: settings('card_partner'),
    local_partner: settings('local_partner'),
  }
  const partners = createPartners(partnerSettings)
  const converter = createConverter({ url: `${sandboxUrl}/converter`, secret: CONVERTER_SECRET })
  const rates = createRates(converter, { refreshSeconds: 10, clock: Date.now })
  const context = { publicUrl: apiServer.url, now: clock }
  const depositBook = createDepositBook({
    db,
    chainId: 137,
    token: TOKEN.toLowerCase() as `0x${string}`,
    watchDays: 30,
    keys: createDepositKeys(BOX_KEY, 137),
  })
  const deps: PaymentDeps = {
    db,
    partners: { ...partners, crypto: createCrypto({ deposits: depositBook, rates, tolerancePercent: 1, clock }) },
    accounts: { wallet_app: 'pinrail', card_partner: 'pinrail', local_partner: 'pinrail', crypto: CRYPTO_ACCOUNT },
    converter,
    rates,
    context,
    tolerancePercent: 1,
    payouts: { treasury: TREASURY, queue: queuePayout, release: async (tx, id) => void (await releasePayout(tx, id)) },
  }
  const deliveryDeps = {
    db,
    sender: createSender({ mode: 'test', testTargets: [new URL(inboxServer.url).host], now: Date.now }),
    secretBox: createSecretBox(BOX_KEY),
    // Receivers check the time of a signature against their own clock.
    now: Date.now,
  }
  // Not the environment's own client: it would let the time run whenever a result is awaited.
  const client = new Client({ connection: env.connection, namespace: env.namespace ?? 'default' })
  const workflows = createPaymentWorkflows({ client, taskQueue, load: loadStart(db) })
  const hooks = createSettlementHooks(context)
  const relay = createRelay({ db, client, workflows, clock, log, graceMs: 0 })

  const tenant: Tenant = { merchantId: newId('merchant'), livemode: false }
  const key = createApiKey(false, PEPPER)
  await insertMerchant(db, { id: tenant.merchantId, name: 'Test Shop' })
  await setWallet(db, tenant, WALLET)
  await insertApiKey(db, tenant, { id: key.id, name: 'test', digest: key.digest, last4: key.last4, scopes: API_SCOPES })
  const endpointId = newId('endpoint')
  await insertEndpoint(db, tenant, {
    id: endpointId,
    url: `${inboxServer.url}/webhook`,
    description: null,
    enabledEvents: ['payment.succeeded'],
    sealedSecret: createSecretBox(BOX_KEY).seal(secret, endpointId),
  })

  api.use(
    callbackRouter({
      db,
      readCallback: createReadCallback(partners),
      workflows,
      clock: Date.now,
      log,
      onSignaled: (event) => void markSignaled(db, [event]),
    }),
  )
  const paymentDeps = {
    workflows,
    rates,
    publicUrl: apiServer.url,
    chainId: 31337,
    token: TOKEN,
    clock,
    newPaymentId: () => newId('payment'),
    newAttemptId: () => newId('attempt'),
    simulate: createSimulatedAct(partnerSettings),
    onStarted: (id: string) => void deleteStarts(db, [id]),
  }
  const limits = createRequestLimits({ requests: 1000, windowSeconds: 1, refusalsPerMinute: 1000 })
  mountRoutes(api, [paymentCreateRoute(paymentDeps), ...paymentRoutes(paymentDeps), ...simulateRoutes(paymentDeps)], {
    db,
    limits,
    authenticate: createAuthenticate({ db, pepper: PEPPER, clock: Date.now, limits, onKeyUsed: () => undefined }),
  })
  api.use(problemHandler({ publicUrl: apiServer.url, log }))

  return {
    client,
    db,
    api: apiServer.url,
    inboxUrl: inboxServer.url,
    sandboxUrl,
    sandbox,
    workflows,
    relay,
    hooks,
    deps,
    deliveryDeps,
    taskQueue,
    tenant,
    secretKey: key.text,
    clock,
    advanceTo: (time: number): void => {
      latest = Math.max(latest, time)
    },
    async close(): Promise<void> {
      rates.close()
      deliveryDeps.sender.close()
      await sandbox.close()
      await inbox.close()
      for (const server of [apiServer, inboxServer, sandboxServer]) await server.close()
      await db.close()
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
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
