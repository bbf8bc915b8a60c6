import type { ApiDeps } from './api/app.ts'
import { createBatch } from './batch.ts'
import type { ApiConfig, Config } from './config.ts'
import { createDb, type Db } from './db/db.ts'
import { deleteStarts } from './db/outbox.ts'
import { markSignaled, type PartnerEventKey } from './db/partner-events.ts'
import { readStarts } from './db/payment-starts.ts'
import type { ProviderName } from './domain/methods.ts'
import { newId } from './ids.ts'
import type { Logger } from './log.ts'
import { createPartners, createReadCallback } from './providers/index.ts'
import type { PartnerSettings } from './providers/provider.ts'
import { createRates } from './providers/rates.ts'
import { createConverter } from './providers/simple-converter.ts'
import { createTemporalClient } from './temporal/connect.ts'
import { createPaymentWorkflows, type PaymentStart, type PaymentWorkflows } from './temporal/payments.ts'
import { PAYMENTS_QUEUE } from './workflows/queues.ts'

/** The composition root: configuration in, everything connected out. */

/** A claim waits for a concurrent one for this long, then the caller gets 409 (PRODUCT.md 12). */
const API_LOCK_TIMEOUT_MS = 2000
/** Rates move slowly against this; the one that counts is read when it is locked. */
const RATES_REFRESH_SECONDS = 10
/** Records that the relay would repair are written together. */
const BATCH_MS = 100

export function partnerSettings(config: Config): Record<ProviderName, PartnerSettings> {
  return {
    wallet_app: {
      url: config.WALLET_APP_URL,
      account: config.WALLET_APP_ACCOUNT,
      secret: config.WALLET_APP_SECRET.reveal(),
    },
    card_partner: {
      url: config.CARD_PARTNER_URL,
      account: config.CARD_PARTNER_ACCOUNT,
      secret: config.CARD_PARTNER_SECRET.reveal(),
    },
    local_partner: {
      url: config.LOCAL_PARTNER_URL,
      account: config.LOCAL_PARTNER_ACCOUNT,
      secret: config.LOCAL_PARTNER_SECRET.reveal(),
    },
  }
}

export function converterOf(config: Config) {
  return createConverter({ url: config.CONVERTER_URL, secret: config.CONVERTER_SECRET.reveal() })
}

export function ratesOf(config: Config, clock: () => number) {
  return createRates(converterOf(config), { refreshSeconds: RATES_REFRESH_SECONDS, clock })
}

/** Reads the row that a workflow is started for. */
export function loadStart(db: Db): (paymentId: string) => Promise<PaymentStart> {
  return async (paymentId) => {
    const [row] = await readStarts(db, [paymentId])
    if (row === undefined) throw new Error(`no payment ${paymentId}`)
    return row
  }
}

export type Composed<T> = { readonly deps: T; close(): Promise<void> }

export function composeApi(config: ApiConfig, log: Logger): Composed<ApiDeps> {
  const clock = Date.now
  const db = createDb({ url: config.DATABASE_URL, pool: config.DATABASE_POOL, lockTimeoutMs: API_LOCK_TIMEOUT_MS })
  const temporal = createTemporalClient(config)
  const workflows: PaymentWorkflows = createPaymentWorkflows({
    client: temporal.client,
    taskQueue: PAYMENTS_QUEUE,
    load: loadStart(db),
  })
  const settings = partnerSettings(config)
  const rates = ratesOf(config, clock)
  const later = {
    everyMs: BATCH_MS,
    onError: (error: unknown) => log.warn({ err: error }, 'a repairable record was not written yet'),
  }
  const starts = createBatch<string>({ ...later, write: (ids) => deleteStarts(db, ids) })
  const signals = createBatch<PartnerEventKey>({ ...later, write: (keys) => markSignaled(db, keys) })
  const deps: ApiDeps = {
    db,
    workflows,
    readCallback: createReadCallback(createPartners(settings)),
    rates,
    publicUrl: config.PUBLIC_URL,
    pepper: config.API_KEY_PEPPER.reveal(),
    chainId: config.CHAIN_ID,
    token: config.USDC_ADDRESS,
    trustProxyHops: config.TRUST_PROXY_HOPS,
    countryHeader: config.COUNTRY_HEADER,
    partnerOrigins: [...new Set(Object.values(settings).map(({ url }) => new URL(url).origin))],
    clock,
    newId,
    log,
    healthChecks: [
      { name: 'postgres', check: async () => void (await db.query('select 1')) },
      { name: 'temporal', check: temporal.check },
    ],
    onStarted: starts.add,
    onSignaled: signals.add,
  }
  return {
    deps,
    close: async () => {
      await Promise.all([starts.flush(), signals.flush()])
      rates.close()
      await temporal.close()
      await db.close()
    },
  }
}
