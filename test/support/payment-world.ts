import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@temporalio/activity'
import { Client } from '@temporalio/client'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { NativeConnection, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker'
import express from 'express'
import { pino } from 'pino'
import { z } from 'zod'
import { createAnnounceActivities } from '../../src/activities/announce.ts'
import { createPaymentActivities } from '../../src/activities/payment.ts'
import type { PaymentDeps } from '../../src/activities/payment-deps.ts'
import { createWebhookDeliveryActivities } from '../../src/activities/webhook-delivery.ts'
import { API_SCOPES, createApiKey } from '../../src/api/api-key.ts'
import { createAuthenticate } from '../../src/api/auth.ts'
import { problemHandler } from '../../src/api/problems.ts'
import { mountRoutes } from '../../src/api/route.ts'
import { callbackRouter } from '../../src/api/routes/callbacks.ts'
import { apiRoutes } from '../../src/api/routes/v1/index.ts'
import { insertApiKey } from '../../src/db/api-keys.ts'
import { createDb, many, sql } from '../../src/db/db.ts'
import { insertMerchant } from '../../src/db/merchants.ts'
import { deleteStarts } from '../../src/db/outbox.ts'
import { markSignaled, recordPartnerEvent } from '../../src/db/partner-events.ts'
import {
  insertPayment,
  loadPayment,
  type NewPayment,
  type PaymentWithAttempts,
  type Tenant,
} from '../../src/db/payments.ts'
import { queuePayout, releasePayout } from '../../src/db/payouts.ts'
import { setWallet } from '../../src/db/wallets.ts'
import { insertEndpoint } from '../../src/db/webhook-endpoints.ts'
import { loadStart } from '../../src/deps/shared.ts'
import type { MethodName, ProviderName } from '../../src/domain/methods.ts'
import type { Settlement } from '../../src/domain/payout.ts'
import type { OpenAttemptAnswer } from '../../src/domain/requests.ts'
import { newId } from '../../src/ids.ts'
import { createPartners, createReadCallback } from '../../src/providers/index.ts'
import { createRates } from '../../src/providers/rates.ts'
import { createConverter } from '../../src/providers/simple-converter.ts'
import { createSandbox } from '../../src/sandbox/app.ts'
import { createInbox } from '../../src/sandbox/inbox.ts'
import { createPaymentWorkflows } from '../../src/temporal/payments.ts'
import { createSecretBox } from '../../src/webhooks/secret-box.ts'
import { createSender } from '../../src/webhooks/send.ts'
import { newWebhookSecret } from '../../src/webhooks/sign.ts'
import { createRelay } from '../../src/worker/relay.ts'
import { createSettlementHooks } from '../../src/worker/settlement-hooks.ts'
import { createTestDatabase } from './postgres.ts'

const PEPPER = 'pepper of the tests'
const BOX_KEY = Buffer.alloc(32, 7).toString('base64')
const PARTNER_SECRET = 'partner secret of the tests'
const CONVERTER_SECRET = 'converter secret of the tests'
const TREASURY = '0x1111111111111111111111111111111111111111'
const TOKEN = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'
const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const PATHS: Record<ProviderName, string> = {
  wallet_app: '/wallet-app',
  card_partner: '/card-partner',
  local_partner: '/local-partner',
}

export type PaymentWorld = Awaited<ReturnType<typeof createPaymentWorld>>

/**
 * A shop with real partners' simulators, a real database and a real inbox around a Temporal server whose time is
 * skipped. Only the chain is left out: a test says itself that a payout is final.
 */
export async function createPaymentWorld(env: TestWorkflowEnvironment, bundle: WorkflowBundleWithSourceMap) {
  const log = pino({ level: process.env['TEST_LOG'] ?? 'silent' })
  const database = await createTestDatabase()
  const db = createDb({ url: database.url, pool: 8 })
  const folder = mkdtempSync(join(tmpdir(), 'payments-'))
  const taskQueue = `payments-${newId('request')}`

  // Virtual time: what the server says in an activity, and never backwards.
  let latest = await env.currentTimeMs()
  const clock = (): number => {
    const scheduled = insideActivity()?.info.currentAttemptScheduledTimestampMs ?? 0
    latest = Math.max(latest, scheduled)
    return latest
  }

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
  const partners = createPartners({
    wallet_app: settings('wallet_app'),
    card_partner: settings('card_partner'),
    local_partner: settings('local_partner'),
  })
  const converter = createConverter({ url: `${sandboxUrl}/converter`, secret: CONVERTER_SECRET })
  const rates = createRates(converter, { refreshSeconds: 10, clock: Date.now })
  const context = { publicUrl: apiServer.url, now: clock }
  const deps: PaymentDeps = {
    db,
    partners,
    accounts: { wallet_app: 'pinrail', card_partner: 'pinrail', local_partner: 'pinrail' },
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
  mountRoutes(
    api,
    apiRoutes({
      db,
      workflows,
      rates,
      publicUrl: apiServer.url,
      chainId: 31337,
      token: TOKEN,
      clock,
      newPaymentId: () => newId('payment'),
      onStarted: (id) => void deleteStarts(db, [id]),
    }),
    createAuthenticate({ db, pepper: PEPPER, clock: Date.now }),
  )
  api.use(problemHandler({ publicUrl: apiServer.url, log }))

  const activities = {
    ...createPaymentActivities(deps),
    ...createAnnounceActivities(deliveryDeps),
    ...createWebhookDeliveryActivities(deliveryDeps),
  }
  const connection = await NativeConnection.connect({ address: env.address })
  const options = { connection, namespace: env.namespace ?? 'default', workflowBundle: bundle, activities }
  // Deliveries keep their own queue's name, so worlds that run at the same time share its workers.
  const workers = await Promise.all(
    [taskQueue, 'deliveries', 'payments'].map((queue) => Worker.create({ ...options, taskQueue: queue })),
  )
  const running = workers.map((worker) => worker.run())

  return {
    client,
    db,
    api: apiServer.url,
    sandbox,
    inbox,
    inboxUrl: inboxServer.url,
    workflows,
    relay,
    hooks,
    deps,
    tenant,
    secretKey: key.text,
    clock,

    async createPayment(body: Record<string, unknown> = {}): Promise<string> {
      const response = await fetch(`${apiServer.url}/v1/payments`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key.text}`, 'content-type': 'application/json' },
        body: JSON.stringify({ amount: '49.99', currency: 'EUR', provider: 'wallet_app', ...body }),
      })
      const payment = z.object({ id: z.string() }).parse(await response.json())
      return payment.id
    },

    /** The buyer presses Continue. */
    async openAttempt(
      paymentId: string,
      provider: ProviderName = 'wallet_app',
      method: MethodName = 'banking_app',
    ): Promise<OpenAttemptAnswer> {
      const answer = await workflows.openAttempt(paymentId, { attemptId: newId('attempt'), provider, method })
      if (answer.kind === 'unavailable') throw new Error('the attempt could not be opened')
      return answer
    },

    /** The buyer pays, passing the identity check of a first payment. */
    async pay(provider: ProviderName, attemptId: string, act: Record<string, unknown> = {}): Promise<void> {
      await this.atPartner(provider, attemptId, { action: 'pay', buyer: 'buyer-1', ...act })
      if ((await this.orderAt(provider, attemptId)).status === 'verification_required')
        await this.atPartner(provider, attemptId, { action: 'verify' })
    },

    async orderAt(provider: ProviderName, attemptId: string): Promise<{ status: string }> {
      const response = await fetch(`${sandboxUrl}${PATHS[provider]}/sandbox/orders/${attemptId}`)
      return z.looseObject({ status: z.string() }).parse(await response.json())
    },

    /** What happens at the partner; the callback follows unless `silently`. */
    async atPartner(
      provider: ProviderName,
      attemptId: string,
      act: Record<string, unknown>,
      how: 'aloud' | 'silently' = 'aloud',
    ): Promise<void> {
      const response = await fetch(`${sandboxUrl}${PATHS[provider]}/sandbox/orders/${attemptId}/act`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(act),
      })
      if (!response.ok) throw new Error(`the partner refused: ${response.status} ${await response.text()}`)
      if (how === 'aloud') await sandbox.callbacks.flush()
    },

    async faultAt(provider: ProviderName | 'converter', fault: Record<string, unknown>): Promise<void> {
      const path = provider === 'converter' ? '/converter' : PATHS[provider]
      const response = await fetch(`${sandboxUrl}${path}/sandbox/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(fault),
      })
      if (!response.ok) throw new Error(`no such fault: ${response.status} ${await response.text()}`)
    },

    clearFaults: async (): Promise<void> => {
      for (const path of [...Object.values(PATHS), '/converter'])
        await fetch(`${sandboxUrl}${path}/sandbox/faults`, { method: 'DELETE' })
    },

    /** As if the process had died between commit and start. */
    async createPaymentWithoutStart(): Promise<string> {
      const now = clock()
      const id = newId('payment')
      const payment: NewPayment = {
        id,
        amountText: '49.99',
        amount: { minor: '4999', currency: 'EUR' },
        provider: 'wallet_app',
        fallback: 'picker',
        description: null,
        reference: null,
        metadata: null,
        successUrl: null,
        cancelUrl: null,
        checkoutToken: id,
        destination: WALLET,
        chainId: 31337,
        token: TOKEN,
        quote: { rate: '1.08', rateSource: 'test', netMicro: '1', expiresAt: new Date(now).toISOString() },
        createdAt: new Date(now).toISOString(),
        expiresAt: new Date(now + 86_400_000).toISOString(),
      }
      await insertPayment(db, tenant, { payment, claim: null })
      return id
    },

    /** As if the process had died between storing a callback and signaling it. */
    async storeCallbackOnly(provider: ProviderName, attemptId: string): Promise<void> {
      await recordPartnerEvent(db, {
        provider,
        eventId: newId('request'),
        attemptId,
        bodySha256: new Uint8Array(32),
        at: new Date().toISOString(),
      })
    },

    /** The settlement engine has proved that the payout can never be paid. */
    async voidPayout(paymentId: string): Promise<void> {
      const {
        microUsdc: _micro,
        recipient: _recipient,
        gasWei: _gas,
        ...voided
      } = proof(paymentId, '1', new Date(clock()))
      await db.transaction((tx) => hooks.onVoided(tx, voided))
      await relay.completeTransfers()
    },

    /** The settlement engine has proved the payout on chain: its transaction, then the relay. */
    async settle(paymentId: string): Promise<void> {
      await db.transaction(async (tx) =>
        hooks.onSettled(tx, [proof(paymentId, await netOf(tx, paymentId), new Date(clock()))]),
      )
      await relay.completeTransfers()
    },

    /**
     * Lets the time run. It stands still while an activity runs, and a transfer runs until its payout is settled: so
     * skip up to the moment that starts one, not beyond.
     */
    async skip(duration: string | number): Promise<void> {
      await env.sleep(duration)
      latest = Math.max(latest, await env.currentTimeMs())
    },

    read: (paymentId: string): Promise<PaymentWithAttempts> => loadPayment(db, paymentId),

    timeline: (paymentId: string) =>
      many(
        db,
        z.object({
          kind: z.string(),
          from_status: z.string().nullable(),
          to_status: z.string().nullable(),
          actor: z.string(),
          message: z.string(),
        }),
        sql`select kind, from_status, to_status, actor, message from timeline_entry where payment_id = ${paymentId} order by id`,
      ),

    async close(): Promise<void> {
      for (const worker of workers) worker.shutdown()
      await Promise.all(running)
      await connection.close()
      rates.close()
      await sandbox.close()
      await inbox.close()
      for (const server of [apiServer, inboxServer, sandboxServer]) await server.close()
      await db.close()
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function proof(paymentId: string, microUsdc: string, finalizedAt: Date): Settlement {
  return {
    paymentId,
    microUsdc,
    recipient: WALLET,
    txHash: `0x${Buffer.from(paymentId.slice(-16)).toString('hex').padStart(64, '0')}`,
    logIndex: 1,
    blockNumber: 100,
    blockHash: `0x${'2'.repeat(64)}`,
    finalizedAt,
    gasWei: null,
  }
}

async function netOf(db: Parameters<typeof loadPayment>[0], paymentId: string): Promise<string> {
  const { payment } = await loadPayment(db, paymentId)
  if (payment.usdc === null) throw new Error('nothing was converted')
  return payment.usdc.net
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
