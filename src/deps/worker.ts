import { randomUUID } from 'node:crypto'
import type { Client } from '@temporalio/client'
import { NativeConnection, type Worker } from '@temporalio/worker'
import { createPaymentActivities } from '../activities/payment/payment.ts'
import type { PaymentDeps } from '../activities/payment/payment-deps.ts'
import { createRefundActivities } from '../activities/refund/refund.ts'
import type { RefundDeps } from '../activities/refund/refund-deps.ts'
import { createAnnounceActivities } from '../activities/webhooks/announce.ts'
import { createWebhookDeliveryActivities } from '../activities/webhooks/webhook-delivery.ts'
import { createWebhookDiagnosisActivities } from '../activities/webhooks/webhook-diagnosis.ts'
import type { DepositDeps } from '../chain/context.ts'
import type { WorkerConfig } from '../config/config.ts'
import { splitSecrets } from '../config/secret.ts'
import type { Db } from '../db/db.ts'
import { createNotifier, listen, PAYMENTS_CHANNEL, PAYOUTS_CHANNEL } from '../db/notices.ts'
import type { SettlementHooks } from '../db/settlement/context.ts'
import { leavesReserve } from '../db/settlement/float.ts'
import { readOpenPayout } from '../db/settlement/observer/forgotten-payouts.ts'
import { payoutInsert, stopPayout } from '../db/settlement/payouts.ts'
import { WORK_CHANNEL } from '../db/work.ts'
import { convertWholeUsdc } from '../domain/money.ts'
import { getTreasury, type Treasury } from '../domain/settlement/treasuries.ts'
import type { Rates } from '../partners/converter/rates.ts'
import { CRYPTO_ACCOUNT, createCrypto } from '../partners/crypto.ts'
import type { ChangeContext } from '../payments/change-payment.ts'
import { voidPayout } from '../payments/void-payout.ts'
import { traceActivities } from '../runtime/activities.ts'
import type { HealthCheck } from '../runtime/health.ts'
import type { Logger } from '../runtime/log.ts'
import { createCallDurations, createRegistry } from '../runtime/metrics.ts'
import type { Registry } from '../runtime/registry.ts'
import { openTracing } from '../runtime/traces.ts'
import { createSettlementHooks } from '../settlement/hooks.ts'
import type { SettlementRunner } from '../settlement/runner.ts'
import { createTemporalClient, dataConverter } from '../temporal/connect.ts'
import { createPaymentWorkflows } from '../temporal/payments.ts'
import { createSecretBox } from '../webhooks/secret-box.ts'
import { createSender } from '../webhooks/send.ts'
import { bundleWorkflows } from '../worker/bundle.ts'
import { createDeliverySweep } from '../worker/delivery-sweep.ts'
import type { Loop } from '../worker/loop.ts'
import { createRelay, type Relay, type RelayDeps } from '../worker/relay.ts'
import { createWorkWakeups, type WorkWakeups, wakeSweeps } from '../worker/work-look.ts'
import { createWorkers, type WorkerSettings } from '../worker/worker.ts'
import { DELIVERIES_QUEUE, PAYMENTS_QUEUE } from '../workflows/queues.ts'
import { assertSameSeed, createDepositBook, createRefundAddresses } from './deposits.ts'
import { getToken, openDepositKeys, openTreasuries } from './keys.ts'
import { composeLook, relayLoops, timerLoops } from './loops.ts'
import { composeNotifications } from './notify/notifications.ts'
import { composePartners, readPartners } from './partners.ts'
import { refillLoops } from './refills.ts'
import { composeReceiptLoop, composeSettlement } from './settlement.ts'
import { type Composed, connectRates, connectRefunds, hasFloat, loadStart, openDb } from './shared.ts'
import { createMonitoring } from './watched.ts'

export type WorkerParts = {
  readonly workers: Worker[]
  readonly settlement: SettlementRunner
  readonly loops: Loop[]
  /** A test runs a round of these by hand. */
  readonly relay: Relay
  readonly hooks: SettlementHooks
  readonly checks: readonly HealthCheck[]
  readonly registry: Registry
}

/** Overrides of the configuration for tests, which then compose nothing themselves. */
export type WorkerOverrides = {
  /** Unix milliseconds. */
  readonly clock?: () => number
  /** Milliseconds: the age of a message before the relay repeats it. */
  readonly relayGraceMs?: number
}

/** Milliseconds. People do not notice the delay, and a busy process reports many payments at once. */
const PAGES_NOTIFIED_EVERY_MS = 200

export async function composeWorker(
  config: WorkerConfig,
  log: Logger,
  { clock = Date.now, relayGraceMs }: WorkerOverrides = {},
): Promise<Composed<WorkerParts>> {
  const db = await openDb(config, log)
  const wakeups = createWorkWakeups()
  const onChanged = createNotifier(db, PAYMENTS_CHANNEL, PAGES_NOTIFIED_EVERY_MS)
  const context: ChangeContext = { publicUrl: config.PUBLIC_URL, now: clock, onChanged }
  const temporal = createTemporalClient(config)
  const grace = relayGraceMs === undefined ? {} : { graceMs: relayGraceMs }
  const relay = createRelay({ db, ...connectRuns(db, temporal.client), clock, log, ...grace })
  const sweep = createDeliverySweep({ db, client: temporal.client, now: Date.now, taskQueue: DELIVERIES_QUEUE })
  const notifications = composeNotifications(config, { db, log, clock, client: temporal.client, wakeups })
  const treasuries = await openTreasuries(config)
  const deposits = openDepositKeys(config)
  const scope = { chainId: config.CHAIN_ID, livemode: db.livemode }
  if (deposits !== null && deposits.keys !== null) await assertSameSeed(db, deposits.keys, scope)
  const hooks = composeHooks(config, context, wakeups)
  const settlement = await composeSettlement(config, { db, log, hooks, treasuries, deposits })
  const own = randomUUID()
  const notifyOthers = createNotifier(db, PAYOUTS_CHANNEL)
  const notices = listenForWork(config, { wakeups, settlement, own })
  const registry = createRegistry('pinrail-worker', db.poolUse)
  const tracing = await openTracing({ endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT, service: 'pinrail-worker' })
  const watching = { durations: createCallDurations(registry), tracing }
  const calls = composePartners(config, { db, log, wakeups, clock, ...watching })
  const rates = connectRates(calls.converter, { db, log, clock: context.now })
  const payments = composeActivities(config, {
    rates,
    db,
    calls,
    context,
    treasuries: treasuries.list,
    deposits,
    changed: (what) => {
      settlement.wake(what)
      notifyOthers(`${what ?? ''}:${own}`)
    },
  })

  const { workers, connection } = await composeQueues(config, {
    activities: { ...payments.activities, ...notifications.activities },
    interceptor: traceActivities(tracing),
  })
  return {
    ...createMonitoring({ registry, db, workers, temporal, settlement: settlement.figures }),
    workers,
    settlement,
    relay,
    hooks,
    loops: [
      composeLook(config, { db, wakeups, clock, log }),
      ...relayLoops(config, { relay, sweep, wakeups, log }),
      ...timerLoops(config, { db, log, context, treasuries: treasuries.list }),
      composeReceiptLoop(config, { db, log, clock, wakeup: wakeups.receipts }),
      ...calls.loops,
      ...refillLoops(config, { db, log, clock, rates, treasuries, wakeup: wakeups.refills }),
      ...notifications.loops,
    ],
    close: async () => {
      notifications.close()
      await connection.close()
      payments.close()
      await notices.close()
      await temporal.close()
      await tracing.close()
      await db.close()
    },
  }
}

const composeHooks = (config: WorkerConfig, context: ChangeContext, wakeups: WorkWakeups): SettlementHooks =>
  createSettlementHooks(context, { wake: (sweep) => wakeups[sweep].wake(), hasFloat: hasFloat(config) })

/** `own`: the name with which this process signs its own notifications. */
const listenForWork = (
  config: WorkerConfig,
  { wakeups, settlement, own }: { wakeups: WorkWakeups; settlement: SettlementRunner; own: string },
) =>
  listen(config.DATABASE_DIRECT_URL ?? config.DATABASE_URL, {
    [PAYOUTS_CHANNEL]: (words) => {
      for (const [what, from] of (words ?? ['']).map((word) => word.split(':')))
        if (from !== own) settlement.wake(what === 'signing' ? what : undefined)
    },
    [WORK_CHANNEL]: (sweeps) => wakeSweeps(sweeps, wakeups),
  })

async function composeQueues(config: WorkerConfig, what: Pick<WorkerSettings, 'activities' | 'interceptor'>) {
  const [connection, bundle] = await Promise.all([
    NativeConnection.connect(config.temporal.connection),
    bundleWorkflows(),
  ])
  const workers = await createWorkers({
    connection,
    namespace: config.temporal.namespace,
    bundle,
    ...what,
    dataConverter: dataConverter(config, 'worker'),
    maxCachedWorkflows: config.WORKER_MAX_CACHED_WORKFLOWS,
    stickyTimeoutMs: config.WORKER_STICKY_TIMEOUT_MS,
    shutdownGraceMs: config.WORKER_SHUTDOWN_GRACE_MS,
    version: config.WORKER_VERSIONING ? { buildId: config.WORKER_BUILD_ID ?? 'unversioned' } : null,
  })
  return { workers, connection }
}

const PAYOUTS = {
  queue: payoutInsert,
  stop: stopPayout,
  void: voidPayout,
  open: readOpenPayout,
}

function composeActivities(
  config: WorkerConfig,
  shared: {
    db: Db
    rates: Rates
    calls: Pick<ReturnType<typeof composePartners>, 'partners' | 'converter'>
    context: ChangeContext
    treasuries: readonly Treasury[]
    deposits: DepositDeps | null
    /** Called after anything that may have changed a payout. */
    changed: SettlementRunner['wake']
  },
) {
  const settings = readPartners(config)
  const delivery = {
    db: shared.db,
    sender: createSender({ mode: config.PINRAIL_MODE, testTargets: config.WEBHOOK_TEST_TARGETS, now: Date.now }),
    secretBox: createSecretBox(
      config.WEBHOOK_ENCRYPTION_KEY.reveal(),
      splitSecrets(config.RETIRED_WEBHOOK_ENCRYPTION_KEYS),
    ),
    now: Date.now,
  }
  const partners = {
    ...shared.calls.partners,
    crypto: createCrypto({
      deposits: createDepositBook({
        db: shared.db,
        chainId: config.CHAIN_ID,
        token: getToken(config).address,
        watchDays: config.DEPOSIT_WATCH_DAYS,
        keys: config.CRYPTO_DEPOSITS ? (shared.deposits?.keys ?? null) : null,
      }),
      rates: shared.rates,
      tolerancePercent: config.UNDERPAYMENT_TOLERANCE_PERCENT,
      clock: shared.context.now,
    }),
  }
  const accounts = {
    wallet_app: settings.wallet_app.account,
    card_partner: settings.card_partner.account,
    local_partner: settings.local_partner.account,
    crypto: CRYPTO_ACCOUNT,
  }
  const payouts: PaymentDeps['payouts'] = {
    getTreasury: (paymentId) => getTreasury(paymentId, shared.treasuries),
    ...PAYOUTS,
  }
  const money = { db: shared.db, context: shared.context, partners, accounts, rates: shared.rates, payouts }
  const payment = createPaymentActivities({
    ...money,
    converter: shared.calls.converter,
    float: composeFloat(config),
  })
  return {
    activities: {
      ...payment,
      settle: (paymentId: string) => payment.settle(paymentId).finally(() => shared.changed('signing')),
      decide: (asked: Parameters<typeof payment.decide>[0]) => payment.decide(asked).finally(() => shared.changed()),
      ...composeRefunds(config, { ...shared, money }),
      ...createAnnounceActivities(delivery),
      ...createWebhookDeliveryActivities(delivery),
      ...createWebhookDiagnosisActivities(delivery),
    },
    close: () => {
      shared.rates.close()
      delivery.sender.close()
    },
  }
}

/** Null: the converter has the USDC. */
const composeFloat = (config: WorkerConfig): PaymentDeps['float'] => {
  if (!hasFloat(config)) return null
  const reserve = convertWholeUsdc(config.FLOAT_RESERVE_USDC)
  return { leavesReserve: (gross) => leavesReserve(reserve, gross) }
}

function connectRuns(db: Db, client: Client): Pick<RelayDeps, 'client' | 'workflows' | 'refunds'> {
  return {
    client,
    workflows: createPaymentWorkflows({ client, taskQueue: PAYMENTS_QUEUE, load: loadStart(db) }),
    refunds: connectRefunds(db, client, PAYMENTS_QUEUE),
  }
}

/** Wakes the settlement after an activity that may leave it work: USDC to take or to return, or a signed transfer. */
function composeRefunds(
  config: WorkerConfig,
  {
    db,
    deposits,
    money,
    changed,
  }: {
    db: Db
    deposits: DepositDeps | null
    money: Omit<RefundDeps, 'addresses'>
    changed: SettlementRunner['wake']
  },
) {
  const addresses = createRefundAddresses(config, { db, keys: deposits?.keys ?? null })
  const refund = createRefundActivities({ ...money, addresses })
  return {
    ...refund,
    fundRefund: (asked: Parameters<typeof refund.fundRefund>[0]) => refund.fundRefund(asked).finally(() => changed()),
    cancelRefund: (id: string) => refund.cancelRefund(id).finally(() => changed()),
    expireRefund: (asked: Parameters<typeof refund.expireRefund>[0]) =>
      refund.expireRefund(asked).finally(() => changed()),
    askRefund: (id: string) => refund.askRefund(id).finally(() => changed()),
  }
}
