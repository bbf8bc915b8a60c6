import type { ProviderName } from '../methods.ts'

/** The drivers of each provider: the code that speaks one company's protocol. `simulator` is the sandbox's own. */
export const DRIVERS = {
  wallet_app: ['simulator', 'revolut', 'stripe'],
  card_partner: ['simulator', 'stripe'],
  local_partner: ['simulator', 'razorpay', 'cashfree'],
} as const satisfies Record<ProviderName, readonly string[]>

export type DriverName = (typeof DRIVERS)[ProviderName][number]

/** A provider's account at the partner whose driver it uses. */
type Account = { readonly driver: DriverName; readonly account: string }

/** With what calls to the partner need. */
export type PartnerSettings = Account & {
  readonly url: string
  /** Authenticates the calls. */
  readonly secret: string
  /** Sent as the phone number of every buyer, to a partner that wants one. */
  readonly phone?: string | undefined
}

/** With what verifies callbacks, and no secret that pays. */
export type CallbackAccount = Account & {
  /** There are two while the partner's secret is rotated, and any of them is accepted. */
  readonly webhookSecrets: readonly string[]
}
