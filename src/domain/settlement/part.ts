/** The parts of the settlement engine. Each works independently of the others. */
export const PARTS = ['observing', 'deposits', 'signing', 'sending'] as const
export type Part = (typeof PARTS)[number]

/** Why a part rests although no payout has a fault. The engine checks each cause again at least once a minute. */
export const REST_CAUSES = ['token_paused', 'treasury_blacklisted', 'treasury_delegated', 'gas_above_cap'] as const
export type RestCause = (typeof REST_CAUSES)[number]

/** `why`: in words, with the wallet or the price. */
export type Rest = { readonly cause: RestCause; readonly why: string }

/** Ages are in seconds. */
export type PartStanding = {
  readonly part: Part
  readonly reportedSeconds: number
  /** Null: it has never succeeded. */
  readonly succeededSeconds: number | null
  /** Null: the last round did not fail. */
  readonly failingSeconds: number | null
  /** Null: the part does not fail, or its failure is not a cause to rest. */
  readonly cause: RestCause | null
  readonly failure: string | null
}

/** An older report might no longer be true. */
const CURRENT_SECONDS = 120

/** Returns in words why the part does not work now; null if no worker has reported a reason recently. */
export const getFailure = ({ reportedSeconds, failure }: PartStanding): string | null =>
  reportedSeconds > CURRENT_SECONDS ? null : failure
