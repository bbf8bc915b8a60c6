import { setTimeout as delay } from 'node:timers/promises'
import type { ApiConfig, Config } from '../config/config.ts'
import { missingNames, type PartnerName, readPartnerNames } from '../config/partner-names.ts'
import { assertSession, DatabaseRefusal } from '../db/assert-session.ts'
import { createDb, type Db, type DbOptions } from '../db/db.ts'
import { assertMode, claimMode } from '../db/deployment.ts'
import { readStarts } from '../db/payments/payment-starts.ts'
import { loadRefund } from '../db/refunds/refunds.ts'
import { acceptRates } from '../db/settlement/accepted-rates.ts'
import type { ProviderName, ProviderUsed } from '../domain/methods.ts'
import type { Converter, Rate } from '../partners/converter/converter.ts'
import { createFloatConverter } from '../partners/converter/float-converter.ts'
import { createRates } from '../partners/converter/rates.ts'
import { createConverter } from '../partners/converter/simple-converter.ts'
import type { Logger } from '../runtime/log.ts'
import type { PaymentStart } from '../temporal/payments.ts'
import { createRefundWorkflows, type RefundWorkflows, type RefundWorkflowsDeps } from '../temporal/refunds.ts'

/** The composition root, shared by API and worker: configuration in, connected parts out. */

export type Composed<T> = T & { readonly close: () => Promise<void> }

/** Rates move slowly compared with this. The rate that counts is read when it is locked. */
const RATES_REFRESH_SECONDS = 10

/** Milliseconds between two tries with a database that does not respond or lacks the newest schema. */
const DATABASE_RETRY_MS = 1000

/**
 * Asserts that the sessions are as the code needs them and that the database has this mode. Throws DatabaseRefusal if
 * not. Waits for a database that does not respond yet.
 */
export async function openDb(config: Config, log: Logger, options: Pick<DbOptions, 'lockTimeoutMs'> = {}): Promise<Db> {
  const livemode = config.PINRAIL_MODE === 'live'
  const pooled = config.DATABASE_POOLER === 'transaction'
  const [url, readUrl, pool] = [config.DATABASE_URL, config.DATABASE_READ_URL, config.DATABASE_POOL]
  const db = createDb({ url, readUrl, livemode, pool, pooled, ...options })
  for (let waiting = false; ; waiting = true)
    try {
      await assertSession(db, { pooled })
      await claimMode(db)
      if (readUrl !== undefined) await assertReplica({ url: readUrl, livemode, pooled }, log)
      return db
    } catch (error) {
      if (error instanceof DatabaseRefusal) {
        await db.close()
        throw error
      }
      if (!waiting) log.warn({ err: error }, 'the database does not say its mode yet; asked again every second')
      await delay(DATABASE_RETRY_MS)
    }
}

/** Another deployment's replica would show empty lists. A replica that is down does not prevent the start. */
async function assertReplica(options: DbOptions & { pooled: boolean }, log: Logger): Promise<void> {
  const replica = createDb({ ...options, pool: 1 })
  try {
    await assertSession(replica, options)
    await assertMode(replica)
  } catch (error) {
    if (error instanceof DatabaseRefusal)
      throw new DatabaseRefusal(`DATABASE_READ_URL: ${error.message}`, { cause: error })
    log.warn({ err: error }, 'the replica does not answer; lists are read from the main database until it does')
  } finally {
    await replica.close()
  }
}

const SIMULATED_NAMES = ['wallet_app:Velanto', 'card_partner:Cardora', 'local_partner:Indora']

/** USDC is received at the platform's own addresses. Throws if a partner has no name. */
export function partnerNames(config: Pick<ApiConfig, 'PARTNER_NAMES' | 'PINRAIL_MODE'>): PartnerNames {
  const entries = config.PARTNER_NAMES ?? (config.PINRAIL_MODE === 'live' ? [] : SIMULATED_NAMES)
  const missing = missingNames(entries)
  if (missing !== null) throw new Error(`PARTNER_NAMES ${missing}`)
  const names = Object.fromEntries(readPartnerNames(entries)) as Readonly<Record<ProviderName, PartnerName>>
  return { ...names, crypto: { name: 'Polygon', statement: 'USDC' } }
}

type PartnerNames = Readonly<Record<ProviderUsed, PartnerName>>

export function connectConverter(config: Config): Converter {
  const market = createConverter({ url: config.CONVERTER_URL, secret: config.CONVERTER_SECRET.reveal() })
  return hasFloat(config) ? createFloatConverter(market) : market
}

export const hasFloat = ({ CONVERTER }: Pick<Config, 'CONVERTER'>): boolean => CONVERTER === 'float'

/** `clock` is in Unix milliseconds. */
export function connectRates(
  converter: Pick<Converter, 'rates'>,
  { db, clock, log }: { readonly db: Db; readonly clock: () => number; readonly log: Logger },
): ReturnType<typeof createRates> {
  const accept = async (rates: readonly Rate[]): Promise<readonly Rate[]> => {
    const accepted = await acceptRates(db, rates)
    for (const { currency, rate, source } of rates.filter((offered) => !accepted.has(offered.currency)))
      log.error({ currency, rate, source }, 'the rate is far from the last one, and is not used')
    return rates.filter(({ currency }) => accepted.has(currency))
  }
  return createRates(converter, { refreshSeconds: RATES_REFRESH_SECONDS, clock, accept })
}

export function loadStart(db: Db): (paymentId: string) => Promise<PaymentStart> {
  return async (paymentId) => {
    const [row] = await readStarts(db, [paymentId])
    if (row === undefined) throw new Error(`no payment ${paymentId}`)
    return row
  }
}

export function connectRefunds(db: Db, client: RefundWorkflowsDeps['client'], taskQueue: string): RefundWorkflows {
  return createRefundWorkflows({ client, taskQueue, load: (id) => loadRefund(db, id) })
}
