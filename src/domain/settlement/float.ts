import type { Currency } from '../currencies.ts'
import type { MicroUsdc, Money } from '../money.ts'
import type { Exposure, RefillPartnerName } from './refill.ts'

/** The float and what it is exposed to. Ages are in seconds. */
export type FloatStanding = {
  /** USDC of the treasuries that no merchant is owed. */
  readonly freeMicro: MicroUsdc
  readonly reserveMicro: MicroUsdc
  /** Conversions without a fill: below the reserve they wait. */
  readonly waiting: { readonly count: number; readonly micro: MicroUsdc; readonly oldestSeconds: number }
  readonly exposures: readonly Exposure[]
  readonly refills: readonly {
    readonly id: string
    readonly partner: RefillPartnerName
    readonly money: Money
    /** The partner's last report; null: it was not asked yet. */
    readonly word: string | null
    readonly instructions: string | null
    /** The partner must act before anything arrives. */
    readonly isStuck: boolean
    readonly seconds: number
  }[]
  /** The refills of the last 30 days, by currency. */
  readonly results: readonly {
    readonly currency: Currency
    /** The gain by moves of the market since the conversions; negative: a loss. */
    readonly gainMicro: MicroUsdc
    /** The cost of the exchange against the market’s rate. */
    readonly spreadMicro: MicroUsdc
    readonly costMicro: MicroUsdc
  }[]
}
