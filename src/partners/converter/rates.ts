import { setMaxListeners } from 'node:events'
import type { Currency } from '../../domain/currencies.ts'
import { abortAfter } from '../../runtime/abort-after.ts'
import { PartnerError } from '../provider.ts'
import type { Converter, Rate } from './converter.ts'

/** Seconds since the market made the rate. An older rate is not used for a price. */
export const MAX_RATE_AGE_SECONDS = 600

/** Seconds that the converter's clock can be ahead of this one. A rate from further in the future is refused. */
export const CLOCK_SKEW_SECONDS = 60

/** Requests do not wait for a converter that has just failed. */
const PAUSE_AFTER_FAILURE_MS = 5000

const REFRESH_TIMEOUT_MS = 5000

export type Rates = {
  /** Returns the rate of the currency. Throws PartnerError `unknown` if there is none with a recent time (`asOf`). */
  current(currency: Currency): Promise<Rate>
  close(): void
}

type Cached = {
  /** When they were requested, in Unix milliseconds. */
  readonly at: number
  readonly byCurrency: ReadonlyMap<Currency, Rate>
}

export type RateOptions = {
  readonly refreshSeconds: number
  /** Unix milliseconds. */
  readonly clock: () => number
  /** Returns those that can be used. */
  readonly accept: (rates: readonly Rate[]) => Promise<readonly Rate[]>
}

/** All callers share one refresh. */
export function createRates(converter: Pick<Converter, 'rates'>, options: RateOptions): Rates {
  const closing = new AbortController()
  // Each refresh of the last seconds listens to it.
  setMaxListeners(0, closing.signal)
  let cached: Cached | null = null
  let failedAt: number | null = null
  let refreshing: Promise<void> | null = null

  /** False also for rates that have become old, however recently they were fetched. */
  const isFresh = (now: number): boolean =>
    cached !== null &&
    now - cached.at < options.refreshSeconds * 1000 &&
    [...cached.byCurrency.values()].every((rate) => isUsable(rate, now))
  const canAsk = (now: number): boolean => failedAt === null || now - failedAt >= PAUSE_AFTER_FAILURE_MS

  async function refresh(at: number): Promise<void> {
    try {
      const signal = abortAfter(REFRESH_TIMEOUT_MS, closing.signal)
      const rates = await converter.rates(signal)
      const current = rates.filter((rate) => isUsable(rate, options.clock()))
      // Older rates must not replace the cached ones.
      if (current.length === 0) throw new PartnerError('unknown', 'converter: every rate is old')
      const usable = await options.accept(current)
      cached = { at, byCurrency: new Map(usable.map((rate) => [rate.currency, rate])) }
      failedAt = null
    } catch {
      // The caller gets the older rate or, if that is too old, the error below.
      failedAt = options.clock()
    }
  }

  return {
    async current(currency) {
      const now = options.clock()
      if (!isFresh(now) && canAsk(now)) {
        refreshing ??= refresh(now).finally(() => {
          refreshing = null
        })
      }
      if (refreshing !== null && !isFresh(now)) await refreshing
      const rate = cached?.byCurrency.get(currency)
      if (rate === undefined || !isUsable(rate, options.clock()))
        throw new PartnerError('unknown', `converter: there is no current rate of ${currency}`)
      return rate
    },
    close: () => closing.abort(),
  }
}

/** `now` is in Unix milliseconds. An invalid time is refused. */
function isUsable({ asOf }: Rate, now: number): boolean {
  const age = now - Date.parse(asOf)
  return age <= MAX_RATE_AGE_SECONDS * 1000 && age >= -CLOCK_SKEW_SECONDS * 1000
}
