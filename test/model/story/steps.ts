import type { Currency } from '../../../src/domain/currencies.ts'
import type { ProviderUsed } from '../../../src/domain/methods.ts'
import type { Say } from '../../../src/domain/payment/requests.ts'
import type { EngineAct } from '../fixture/engine.ts'
import type { Operation, Trouble } from '../fixture/parties.ts'
import type { Known } from '../fixture/refund-chain.ts'

/** The steps of a story. `of` counts the payment's attempts, or its refunds, from 0; a step that does not apply does nothing. */

export type PartnerAct =
  | 'pay'
  | 'pay slowly'
  | 'ask for a check'
  | 'pass the check'
  | 'fail the check'
  | 'top up'
  | 'take some back'
  | 'take all back'
  | 'send all back'
  | 'hold'
  | 'release'
  | 'confirm'
  | 'decline'
  | 'expire'
  | 'pay late'
  // Forbidden to partners.
  | 'hold what was paid'
  | 'cancel with money'
  | 'decline with money'
  | 'once more'
  | 'pay without an amount'
  | 'change the amount'
  | 'fit again'
  | 'confirm without end'

/** How its reading arrives: at the workflow, only in the inbox, not before the end, or twice. */
export type Arrival = 'signaled' | 'stored' | 'later' | 'twice'

export type Step =
  | { readonly do: 'click'; readonly provider: ProviderUsed }
  | {
      readonly do: 'partner'
      readonly act: PartnerAct
      readonly of: number
      readonly percent: number
      readonly arrival: Arrival
    }
  | { readonly do: 'callback'; readonly of: number }
  | { readonly do: 'deposit'; readonly percent: number; readonly token: 'usdc' | 'other' }
  | { readonly do: 'fault'; readonly at: Operation; readonly trouble: Trouble; readonly times: number }
  | { readonly do: 'simulator'; readonly fault: SimulatorFault; readonly seconds: number }
  | { readonly do: 'engine'; readonly act: EngineAct }
  | {
      readonly do: 'decide'
      readonly say: Say
      /** The attempt whose money a `give_back` means. */
      readonly of: number | null
      /** For `give_back`: the buyer got it from elsewhere. */
      readonly outside?: true
      /** About the version of the last look, instead of the current one. */
      readonly before?: true
    }
  /** An operator looks, and decides later. */
  | { readonly do: 'look' }
  | { readonly do: 'cancel' }
  /**
   * The buyer asks for more time, shortly before the end. `signaled`: the workflow receives the signal before it reads the
   * row.
   */
  | { readonly do: 'extend'; readonly signaled: boolean }
  /** The merchant refunds a part of the settled payment. */
  | { readonly do: 'refund'; readonly percent: number }
  /** USDC of this part of the required amount arrives at the address of a refund. `final`: the platform records it at once. */
  | { readonly do: 'send USDC'; readonly of: number; readonly percent: number; readonly final: boolean }
  /** The merchant's wallet signs the transfer that pays for a refund. */
  | { readonly do: 'sign'; readonly of: number }
  /** The lanes carry signed transfers to and from the addresses of refunds. */
  | { readonly do: 'lanes'; readonly known: Known }
  | { readonly do: 'cancel a refund'; readonly of: number }
  | { readonly do: 'lose a refund'; readonly of: number }
  /** A refund of another payment of the merchant waits for the next payouts. */
  | { readonly do: 'claim' }
  | { readonly do: 'drop a claim' }
  | { readonly do: 'lose the run' }
  | { readonly do: 'cut the next activity'; readonly at: number }
  | { readonly do: 'continue as new' }
  /** The activities' clocks differ by this number of seconds from the server that fires timers. */
  | { readonly do: 'clock'; readonly seconds: number }
  | { readonly do: 'wait'; readonly minutes: number }

export type SimulatorFault =
  | 'refund_refused'
  | 'refund_pending'
  | 'conversion_refused'
  | 'fill_off_rate'
  | 'delay'
  | 'old_rates'

/** `together`: the next step comes before the effects of this one. */
export type StoryStep = Step & { readonly together?: true }

export type Story = {
  readonly minor: string
  /** The currency of the price; absent: EUR. */
  readonly currency?: Currency
  readonly pinned: boolean
  /** True if the buyer cannot pay with another method. */
  readonly only?: boolean
  readonly steps: readonly StoryStep[]
}
