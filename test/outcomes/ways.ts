import type { MethodName, ProviderName, ProviderUsed } from '../../src/domain/methods.ts'

/** The ways to pay in which the stories are played: each of the picker's, in a country where it is offered. */
export type PlayedWay = {
  readonly name: string
  readonly provider: ProviderUsed
  readonly method: MethodName
  /** The buyer's country, and one where the way is not offered; null: it is offered everywhere. */
  readonly country: string
  readonly elsewhere: string | null
  /** True if the merchant pins the payment to the partner; otherwise the buyer picks. */
  readonly pinned: boolean
  /** Another way that is offered in the country. */
  readonly other: { readonly provider: ProviderName; readonly method: MethodName }
}

const CARD = { provider: 'card_partner', method: 'card' } as const
const LOCAL_CARD = { provider: 'local_partner', method: 'card' } as const
const TRANSFER = { provider: 'local_partner', method: 'bank_transfer' } as const

export const PLAYED_WAYS: readonly PlayedWay[] = [
  way('banking app', 'wallet_app', 'banking_app', { country: 'DE', elsewhere: 'BR', pinned: true, other: CARD }),
  way('card', 'card_partner', 'card', {
    country: 'DE',
    // Outside the US and the EU the same method is offered through the partner for India.
    elsewhere: null,
    pinned: true,
    other: { provider: 'wallet_app', method: 'banking_app' },
  }),
  way('device wallet', 'card_partner', 'device_wallet', {
    country: 'US',
    elsewhere: 'BR',
    pinned: false,
    other: CARD,
  }),
  way('online wallet', 'card_partner', 'online_wallet', {
    country: 'US',
    elsewhere: 'DE',
    pinned: false,
    other: CARD,
  }),
  way('UPI', 'local_partner', 'upi', { country: 'IN', elsewhere: 'DE', pinned: true, other: LOCAL_CARD }),
  way('card elsewhere', 'local_partner', 'card', { country: 'BR', elsewhere: null, pinned: false, other: TRANSFER }),
  way('bank transfer', 'local_partner', 'bank_transfer', {
    country: 'BR',
    elsewhere: 'DE',
    pinned: false,
    other: LOCAL_CARD,
  }),
  way('USDC', 'crypto', 'usdc', { country: 'DE', elsewhere: null, pinned: false, other: CARD }),
]

function way(
  name: string,
  provider: ProviderUsed,
  method: MethodName,
  rest: Omit<PlayedWay, 'name' | 'provider' | 'method'>,
): PlayedWay {
  return { name, provider, method, ...rest }
}

/** The buyers' names for the partners, as in the tests' PARTNER_NAMES; no partner is between a buyer and a chain. */
const NAMES: Readonly<Record<ProviderUsed, string>> = {
  wallet_app: 'Velanto',
  card_partner: 'Cardora',
  local_partner: 'Indora',
  crypto: 'Polygon',
}

export const partnerName = ({ provider }: { readonly provider: ProviderUsed }): string => NAMES[provider]
