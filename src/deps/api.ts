import type { ApiDeps } from '../api/app.ts'
import { notePayment } from '../api/http/metrics.ts'
import { createBackground } from '../api/limits/background.ts'
import { createRequestLimits } from '../api/limits/request-limits.ts'
import { createSharedCounters } from '../api/limits/shared-counters.ts'
import { createDownPartners } from '../api/live/down-partners.ts'
import { createEventWaits } from '../api/live/event-waits.ts'
import { createOpenPages } from '../api/live/open-pages.ts'
import { createPolled, type Polled } from '../api/live/polled.ts'
import { readLinksWithoutAccount, readSignUp, readStandardAgreement } from '../config/agreement.ts'
import type { ApiConfig } from '../config/config.ts'
import { createLocate } from '../config/countries.ts'
import { readCallbacks } from '../config/partners.ts'
import { readPlatform } from '../config/platform.ts'
import { splitSecrets } from '../config/secret.ts'
import type { Db } from '../db/db.ts'
import { addToLimits, forgetLimits } from '../db/limits.ts'
import { type NewDigest, storeDigests, touchApiKeys } from '../db/merchants/api-keys.ts'
import { type ApiRequest, insertRequests } from '../db/merchants/requests.ts'
import { listen, PARTNERS_CHANNEL, PAYMENTS_CHANNEL } from '../db/notices.ts'
import { deleteStarts } from '../db/outbox.ts'
import { listDown } from '../db/partners/standing.ts'
import { readStamps } from '../db/payments/payments.ts'
import { readSettlementTimes } from '../db/payments/settlement-times.ts'
import { readLastSequences } from '../db/webhooks/event-log.ts'
import type { ProviderName } from '../domain/methods.ts'
import type { DownPartners } from '../domain/offers.ts'
import type { DriverName } from '../domain/partner/drivers.ts'
import { createOffering, type MeasuredTimes, withMeasuredTimes } from '../domain/partner/offering.ts'
import { newId } from '../ids.ts'
import { readBridgeCallback } from '../partners/bridge/callback.ts'
import { createReadCallback } from '../partners/index.ts'
import { createSimulatedAct } from '../partners/simulator/act.ts'
import type { Logger } from '../runtime/log.ts'
import { createRegistry, watchPages } from '../runtime/metrics.ts'
import type { Registry } from '../runtime/registry.ts'
import { openTracing } from '../runtime/traces.ts'
import { createTemporalClient } from '../temporal/connect.ts'
import { createDeliveryWorkflows, createSkipDeliveryTime } from '../temporal/deliveries.ts'
import { createPaymentWorkflows } from '../temporal/payments.ts'
import { traceWorkflows } from '../temporal/traces.ts'
import { createSecretBox } from '../webhooks/secret-box.ts'
import { DELIVERIES_QUEUE, PAYMENTS_QUEUE } from '../workflows/queues.ts'
import { createLocalInbox } from './inbox.ts'
import { readPlatformLogo } from './platform-logo.ts'
import {
  type Composed,
  connectConverter,
  connectRates,
  connectRefunds,
  loadStart,
  openDb,
  partnerNames,
} from './shared.ts'
import { createWriteBehind } from './write-behind.ts'

/** Milliseconds that a claim waits for a concurrent one. Then the client gets 409. */
const API_LOCK_TIMEOUT_MS = 2000
/** Milliseconds between writes of records that the relay would repair. */
const WRITE_BEHIND_MS = 100
/** Milliseconds between writes of the request log, which people read later. */
const REQUEST_LOG_MS = 1000
/** Requests in memory that wait for the log, of at most ten kilobytes each. */
const MOST_REQUESTS = 2000

/**
 * Starts of workflows. Two cores make about eighty a second: more at once are no faster, and the relay makes the rest.
 * The wait and the deadline of a start end before the relay takes over, three seconds after the payment's creation.
 */
const STARTS = { running: 16, queued: 200, waitMs: 1200 }

/** Overrides of the configuration for tests, which then compose nothing themselves. */
export type ApiOverrides = {
  /** Workflows wait on a queue that no worker polls. */
  readonly taskQueues?: { readonly payments: string; readonly deliveries: string }
  /** Unix milliseconds. */
  readonly clock?: () => number
  readonly deps?: (deps: ApiDeps) => Partial<ApiDeps>
}

const TIMES_EVERY_MS = 10 * 60_000

const TASK_QUEUES = { payments: PAYMENTS_QUEUE, deliveries: DELIVERIES_QUEUE }

export async function composeApi(
  config: ApiConfig,
  log: Logger,
  { taskQueues = TASK_QUEUES, clock = Date.now, deps: override = () => ({}) }: ApiOverrides = {},
): Promise<Composed<{ deps: ApiDeps }>> {
  const db = await openDb(config, log, { lockTimeoutMs: API_LOCK_TIMEOUT_MS })
  const temporal = createTemporalClient(config)
  const settings = readAccounts(config)
  const rates = connectRates(connectConverter(config), { db, clock, log })
  const later = composeLater({ db, log })
  const registry = createRegistry('pinrail-api', db.poolUse)
  const tracing = await openTracing({ endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT, service: 'pinrail-api' })
  const polls = composePolls(db, log)
  const { down, times } = polls
  const pages = composePages(config, { db, log, registry, down })
  const { limits, shared } = composeLimits(config, { db, log })
  const deps: ApiDeps = {
    db,
    workflows: traceWorkflows(
      createPaymentWorkflows({ client: temporal.client, taskQueue: taskQueues.payments, load: loadStart(db) }),
      { tracing, note: notePayment },
    ),
    refunds: connectRefunds(db, temporal.client, taskQueues.payments),
    tracing,
    deliveries: createDeliveryWorkflows({ client: temporal.client, taskQueue: taskQueues.deliveries }),
    readCallback: createReadCallback(settings),
    readRefillCallback: connectRefillCallback(config),
    rates,
    ...readAddress(config),
    ...readSecrets(config),
    webhookTargets: { mode: config.PINRAIL_MODE, testTargets: config.WEBHOOK_TEST_TARGETS },
    ...connectTestMode(config, { settings, client: temporal.client }),
    limits,
    chainId: config.CHAIN_ID,
    token: config.USDC_ADDRESS,
    tolerances: readTolerances(config),
    ...readSelling(config),
    ...readCountries(config),
    offering: withMeasuredTimes(readOffering(config, settings), times.now),
    down: down.now,
    partners: partnerNames(config),
    otherModeUrl: config.OTHER_MODE_URL ?? null,
    ...composePlatform(config),
    ...localParts(config),
    clock,
    newId,
    log,
    healthChecks: listHealthChecks(db, temporal),
    ...pages.live,
    registry,
    background: composeBackground(log),
    ...later.on,
  }
  return {
    deps: { ...deps, ...override(deps) },
    close: async () => {
      shared.close()
      polls.close()
      await deps.background.close()
      await later.flush()
      rates.close()
      await pages.close()
      await temporal.close()
      await tracing.close()
      await db.close()
    },
  }
}

function connectTestMode(
  { PINRAIL_MODE: mode }: ApiConfig,
  {
    settings,
    client,
  }: {
    readonly settings: Parameters<typeof createSimulatedAct>[0]
    readonly client: Parameters<typeof createSkipDeliveryTime>[0]
  },
): Pick<ApiDeps, 'simulate' | 'skipDeliveryTime'> {
  if (mode !== 'test') return { simulate: null, skipDeliveryTime: null }
  return { simulate: createSimulatedAct(settings), skipDeliveryTime: createSkipDeliveryTime(client) }
}

function composePlatform(config: ApiConfig): Pick<ApiDeps, 'platform' | 'platformLogo'> {
  const platformLogo = config.PLATFORM_LOGO === undefined ? null : readPlatformLogo(config.PLATFORM_LOGO)
  return { platform: { ...readPlatform(config), logo: platformLogo?.name ?? null }, platformLogo }
}

function connectRefillCallback({ BRIDGE_WEBHOOK_KEYS: keys }: ApiConfig): ApiDeps['readRefillCallback'] {
  return keys === undefined ? null : (callback) => readBridgeCallback(keys, callback)
}

const readSelling = (config: ApiConfig) => ({
  agreement: readStandardAgreement(config),
  signUp: readSignUp(config),
  linksWithoutAccount: readLinksWithoutAccount(config),
})

const readTolerances = (config: ApiConfig) => ({
  tolerancePercent: config.UNDERPAYMENT_TOLERANCE_PERCENT,
  fillTolerancePercent: config.CONVERSION_TOLERANCE_PERCENT,
})

/** Retired secrets are still accepted. */
const readSecrets = (config: ApiConfig) => ({
  pepper: config.API_KEY_PEPPER.reveal(),
  retiredPeppers: splitSecrets(config.RETIRED_API_KEY_PEPPERS),
  secretBox: createSecretBox(
    config.WEBHOOK_ENCRYPTION_KEY.reveal(),
    splitSecrets(config.RETIRED_WEBHOOK_ENCRYPTION_KEYS),
  ),
})

const readAccounts = (config: ApiConfig) => ({
  wallet_app: readCallbacks(config, 'wallet_app'),
  card_partner: readCallbacks(config, 'card_partner'),
  local_partner: readCallbacks(config, 'local_partner'),
})

const readOffering = (
  { CRYPTO_DEPOSITS: crypto }: ApiConfig,
  settings: Readonly<Record<ProviderName, { readonly driver: DriverName }>>,
) =>
  createOffering(
    {
      wallet_app: settings.wallet_app.driver,
      card_partner: settings.card_partner.driver,
      local_partner: settings.local_partner.driver,
    },
    { crypto },
  )

const readAddress = (config: ApiConfig) => ({
  publicUrl: config.PUBLIC_URL,
  trustProxyHops: config.TRUST_PROXY_HOPS,
  hstsIncludeSubdomains: config.HSTS_INCLUDE_SUBDOMAINS,
})

const listHealthChecks = (
  db: Db,
  temporal: Pick<ReturnType<typeof createTemporalClient>, 'check'>,
): ApiDeps['healthChecks'] => [
  { name: 'postgres', needed: true, check: db.answers },
  { name: 'temporal', needed: false, check: temporal.check },
]

/** The parts of a system that runs on one machine. Elsewhere all are null. */
const localParts = ({ DEMO_SIGN_IN: demoEmail, INBOX_URL: inbox, SIMULATED_WALLET_URL: wallet }: ApiConfig) => ({
  demoEmail: demoEmail ?? null,
  inbox: inbox === undefined ? null : createLocalInbox(inbox),
  simulatedWalletUrl: wallet ?? null,
})

const readCountries = ({ COUNTRY_HEADER: countryHeader, COUNTRY_DATABASE: file }: ApiConfig) => ({
  countryHeader,
  locate: file === undefined ? null : createLocate(file),
})

const composeBackground = (log: Logger) =>
  createBackground(STARTS, (error) => log.error({ err: error }, 'a payment was not started; the relay starts it'))

function composeLater({ db, log }: { readonly db: Db; readonly log: Logger }) {
  const later = {
    everyMs: WRITE_BEHIND_MS,
    onError: (error: unknown) => log.warn({ err: error }, 'could not write a background record yet'),
  }
  const starts = createWriteBehind<string>({ ...later, write: (ids) => deleteStarts(db, ids) })
  const newDigests = createWriteBehind<NewDigest>({ ...later, write: (digests) => storeDigests(db, digests) })
  const usedKeys = createWriteBehind<string>({ ...later, write: (ids) => touchApiKeys(db, ids) })
  const requests = createWriteBehind<ApiRequest>({
    ...later,
    everyMs: REQUEST_LOG_MS,
    most: MOST_REQUESTS,
    write: (made) => insertRequests(db, made),
  })
  return {
    on: { onStarted: starts.add, onKeyUsed: usedKeys.add, onOldPepper: newDigests.add, onRequest: requests.add },
    flush: () => Promise.all([starts.flush(), usedKeys.flush(), newDigests.flush(), requests.flush()]),
  }
}

/** Notifies the open pages of buyers: one connection of the process receives every change. */
function composePolls(db: Db, log: Logger) {
  const down = createDownPartners({
    read: () => listDown(db),
    onError: (error) => log.warn({ err: error }, 'could not read which partners are down; the last known list is kept'),
  })
  const times = createPolled<MeasuredTimes>({
    read: () => readSettlementTimes(db),
    initial: {},
    everyMs: TIMES_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'could not measure how long payments take; the last times are kept'),
  })
  return {
    down,
    times,
    close() {
      down.close()
      times.close()
    },
  }
}

function composePages(
  { DATABASE_URL, DATABASE_DIRECT_URL }: ApiConfig,
  {
    db,
    log,
    registry,
    down,
  }: { readonly db: Db; readonly log: Logger; readonly registry: Registry; readonly down: Polled<DownPartners> },
) {
  const openPages = createOpenPages({
    readStamps: (ids) => readStamps(db, ids),
    onError: (error) => log.warn({ err: error }, 'could not notify open pages of a change yet'),
  })
  watchPages(registry, openPages.count)
  const eventWaits = createEventWaits({
    readLast: (tenants) => readLastSequences(db, tenants),
    onError: (error) => log.warn({ err: error }, 'could not see yet whether there are new events'),
  })
  const notices = listen(DATABASE_DIRECT_URL ?? DATABASE_URL, {
    [PAYMENTS_CHANNEL]: (ids) => {
      openPages.refresh(ids)
      eventWaits.refresh()
    },
    [PARTNERS_CHANNEL]: () => void down.look(),
  })
  return {
    live: { openPages, eventWaits },
    async close() {
      openPages.close()
      eventWaits.close()
      await notices.close()
    },
  }
}

function composeLimits(config: ApiConfig, { db, log }: { readonly db: Db; readonly log: Logger }) {
  const limits = createRequestLimits({
    requests: config.API_REQUESTS_PER_SECOND,
    windowSeconds: 1,
    refusalsPerMinute: config.API_REFUSALS_PER_MINUTE,
    signInsPerHour: config.SIGN_INS_PER_HOUR,
    pressesPerMinute: { address: config.LINK_PRESSES_PER_MINUTE, link: config.LINK_PAYMENTS_PER_MINUTE },
    formsPerHour: config.LINK_FORMS_PER_HOUR,
    sendsPerHour: config.WEBHOOK_SENDS_PER_HOUR,
    madePerHour: { file: config.FILES_PER_HOUR, key: config.KEYS_PER_HOUR },
    looksPerMinute: config.LOOKS_PER_MINUTE,
    actsPerMinute: config.ACTS_PER_MINUTE,
    clock: Date.now,
  })
  const shared = createSharedCounters({
    counters: limits.counters,
    secret: config.API_KEY_PEPPER.reveal(),
    add: (counts) => addToLimits(db, counts),
    forget: () => forgetLimits(db),
    onError: (error) => log.warn({ err: error }, 'limits are counted by each process alone for now'),
  })
  return { limits, shared }
}
