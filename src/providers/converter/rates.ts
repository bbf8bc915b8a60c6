import type { Currency } from '../../domain/currencies.ts'
import { PartnerError } from '../provider.ts'
import type { Converter, Rate } from './converter.ts'

/** When the converter is down, rates are answered until they are this old; then an indicative price would be a guess. In seconds. */
export const STALE_LIMIT_SECONDS = 600

/** After a failed refresh the converter is left alone for this long, so that a dead one does not slow every request. In milliseconds. */
const PAUSE_AFTER_FAILURE_MS = 5000

/** One refresh may take this long, in milliseconds. */
const REFRESH_TIMEOUT_MS = 5000

export type Rates = {
  /** The rate of the currency. Throws PartnerError `unknown` when there is none that is young enough. */
  current(currency: Currency): Promise<Rate>
  close(): void
}

type Cached = { readonly at: number; readonly byCurrency: ReadonlyMap<Currency, Rate> }

/** Keeps the converter's rates: one call per refresh for all callers. `clock` is in milliseconds. */
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
      // The caller gets the older rate, or the error below once there is none that is young enough.
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
