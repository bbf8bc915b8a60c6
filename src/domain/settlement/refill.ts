import type { Currency } from '../currencies.ts'
import type { Hex } from '../hex.ts'
import type { MicroUsdc, Money } from '../money.ts'

/** Money at partners that belongs to the platform, and the micro-USDC that the platform gave for it. */
export type Exposure = { readonly money: Money; readonly costMicro: MicroUsdc }

export type Refill = Exposure & {
  readonly id: string
  readonly partner: RefillPartnerName
  /** ISO 8601; null: the partner was never asked. */
  readonly askedAt: string | null
  /** The partner's id of the transfer. */
  readonly reference: string | null
  readonly txHash: Hex | null
}

/** `operator`: a person exchanges the money, and names the transaction that brings the USDC. */
export type RefillPartnerName = 'bridge' | 'operator'

/**
 * The partner's transfer for a refill. `awaits_money`: somebody must send the money as `instructions` say. `sent`: the
 * USDC left the partner in `txHash`. `ended`: it brings nothing, and the money is back. `stuck`: the partner must act.
 */
export type RefillTransfer = {
  readonly reference: string
  readonly state: 'awaits_money' | 'moving' | 'sent' | 'ended' | 'stuck'
  /** The partner's own word for the state. */
  readonly word: string
  readonly instructions: string | null
  readonly txHash: Hex | null
}

/** A company that exchanges fiat money into USDC. No answer means unknown: PartnerError. */
export type RefillPartner = {
  readonly name: Exclude<RefillPartnerName, 'operator'>
  readonly currencies: readonly Currency[]
  /** The milliseconds for which a repeated request for the same id returns the transfer of the first one. */
  readonly keyMs: number
  request(refill: { readonly id: string; readonly money: Money }, signal: AbortSignal): Promise<RefillTransfer>
  read(reference: string, signal: AbortSignal): Promise<RefillTransfer>
  /** Finds the transfer of a refill whose request was never answered; null: the partner lists none. */
  find(refillId: string, signal: AbortSignal): Promise<RefillTransfer | null>
}

/** The subject of a partner’s webhook. `transfer`: the transfer is read again. `foreign`: authentic, and about something else. */
export type RefillCallback =
  | { readonly kind: 'transfer'; readonly reference: string; readonly refillId: string | null }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'refused'; readonly reason: 'signature' | 'timestamp' | 'format' }
