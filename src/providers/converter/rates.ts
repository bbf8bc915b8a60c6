import type { Currency } from '../../domain/currencies.ts'
import { PartnerError } from '../provider.ts'
import type { Converter, Rate } from './converter.ts'

/** Seconds for which rates are used while the converter is down. With older ones a price would be a guess. */
export const STALE_LIMIT_SECONDS = 600

/** Milliseconds between a failed refresh and the next one, so that a dead converter does not slow every request. */
const PAUSE_AFTER_FAILURE_MS = 5000

/** Most milliseconds that one refresh may take. */
const REFRESH_TIMEOUT_MS = 5000

export type Rates = {
  /** The rate of the currency. Throws PartnerError `unknown` when there is none that is recent enough. */
  current(currency: Currency): Promise<Rate>
  close(): void
}

type Cached = { readonly at: number; readonly byCurrency: ReadonlyMap<Currency, Rate> }

/** Caches the converter's rates: all callers share one refresh. `clock` is in Unix milliseconds. */
export function createRates(
  converter: Pick<Converter, 'rates'>,
  options: { readonly refreshSeconds: number; readonly clock: () => number },
): Rates {
  const closing = new AbortController()
  let cached: Cached | null = null
  let failedAt: number | null = null
  let refreshing: Promise<void> | null = null

  const isYounger = (seconds: number): boolean => cached !== null && options.clock() - cached.at < seconds * 1000
  const mayAsk = (): boolean => failedAt === null || options.clock() - failedAt >= PAUSE_AFTER_FAILURE_MS

  async function refresh(): Promise<void> {
    try {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(REFRESH_TIMEOUT_MS)])
      const rates = await converter.rates(signal)
      cached = { at: options.clock(), byCurrency: new Map(rates.map((rate) => [rate.currency, rate])) }
      failedAt = null
    } catch {
      // The caller gets the older rate or, when that is too old, the error below.
      failedAt = options.clock()
    }
  }

  return {
    async current(currency) {
      if (!isYounger(options.refreshSeconds) && mayAsk()) {
        refreshing ??= refresh().finally(() => {
          refreshing = null
        })
      }
      if (refreshing !== null && !isYounger(options.refreshSeconds)) await refreshing
      const rate = isYounger(STALE_LIMIT_SECONDS) ? cached?.byCurrency.get(currency) : undefined
      if (rate === undefined) throw new PartnerError('unknown', `converter: there is no current rate of ${currency}`)
      return rate
    },
    close: () => closing.abort(),
  }
}
