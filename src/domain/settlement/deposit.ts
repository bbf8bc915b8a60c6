import type { Hex } from '../hex.ts'
import { compareReceived, type MicroUsdc, type Money } from '../money.ts'
import type { UsdcReceipt } from '../payment/partner.ts'

/** Crypto as a provider: USDC that a buyer sends to an address that belongs to exactly one payment. */

/** The deposits at an address, and the amount requested there. Only final transfers count. */
export type Deposit = {
  readonly paymentId: string
  readonly attemptId: string
  readonly address: Hex
  readonly chainId: number
  readonly token: Hex
  /** The price, and its value in USDC at the rate that was locked when the address was shown. */
  readonly asked: Money
  readonly askedMicro: MicroUsdc
  readonly rate: string
  readonly rateSource: string
  readonly rateAsOf: string
  /** Until when the buyer can complete a partial payment, in Unix seconds. */
  readonly expiresAt: number
  readonly receivedMicro: MicroUsdc
  /** The transfers whose sum it is, in the order of the chain. */
  readonly receipts: readonly UsdcReceipt[]
  /** True if more than dust of another known token arrived, such as bridged USDC or another stablecoin. */
  readonly wrongToken: boolean
}

/** In the token's smallest units; a token that is not listed has six decimals, as USDC has. */
const OTHER_TOKEN_DUST = '10000'
const DUST_BY_TOKEN: { readonly [token: string]: string } = {
  // DAI on Polygon
  '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063': '10000000000000000',
}

/** Anybody can send less than 0.01 of a token to any address: neither payment nor operator must wait for it. */
export const isDust = ({ token, units }: { readonly token: Hex; readonly units: string }): boolean =>
  BigInt(units) < BigInt(DUST_BY_TOKEN[token] ?? OTHER_TOKEN_DUST)

/** In the currency of the price, floored to its minor unit; the asked USDC is exactly the price. */
export function receivedMoney(deposit: Pick<Deposit, 'asked' | 'askedMicro' | 'receivedMicro'>): Money {
  const { asked, askedMicro, receivedMicro } = deposit
  const minor = (BigInt(asked.minor) * BigInt(receivedMicro)) / BigInt(askedMicro)
  return { minor: minor.toString(), currency: asked.currency }
}

/**
 * Returns the order's status for the deposit. Enough money counts as paid immediately. Too little waits for the rest
 * until the payment expires, and then counts as underpaid. Another token is reported only while the right one is
 * awaited. `now` is in Unix seconds.
 */
export function getDepositStatus(
  deposit: Deposit,
  at: { readonly now: number; readonly tolerancePercent: number },
): 'open' | 'paid' | 'wrong_asset' {
  const received = receivedMoney(deposit)
  const enough = compareReceived(deposit.asked, received.minor, at.tolerancePercent) !== 'underpaid'
  const isOver = received.minor !== '0' && at.now >= deposit.expiresAt
  if (enough || isOver) return 'paid'
  return deposit.wrongToken ? 'wrong_asset' : 'open'
}

/** `watched`: read at each final block. `ended`: its payment expired long ago, and it is read once a day. */
export type WatchKind = 'watched' | 'ended'

export type TransferRequest = {
  readonly chainId: number
  readonly token: Hex
  readonly address: Hex
  readonly micro: MicroUsdc
}

/** A token transfer as in EIP-681, which wallets open and scan, the amount in the token's smallest unit. */
export function transferLink({ chainId, token, address, micro }: TransferRequest): string {
  return `ethereum:${token}@${chainId}/transfer?address=${address}&uint256=${micro}`
}

/** Reads a link that transferLink made, with its addresses in any case; null for any other text. */
export function readTransferLink(link: string): TransferRequest | null {
  const pattern =
    /^ethereum:(?<token>0x[0-9a-fA-F]{40})@(?<chainId>\d{1,9})\/transfer\?address=(?<address>0x[0-9a-fA-F]{40})&uint256=(?<micro>\d{1,30})$/
  const found = pattern.exec(link)?.groups as { token: Hex; chainId: string; address: Hex; micro: string } | undefined
  if (found === undefined) return null
  const lower = (address: Hex) => address.toLowerCase() as Hex
  return { ...found, token: lower(found.token), address: lower(found.address), chainId: Number(found.chainId) }
}

/** `units` are the token's smallest units. */
export type DepositLog = {
  readonly address: Hex
  readonly token: Hex
  readonly sender: Hex
  readonly units: string
  readonly txHash: Hex
  readonly logIndex: number
  readonly blockNumber: number
  readonly blockHash: Hex
}

/**
 * A final transfer, with the payment and the attempt or refund that the address belongs to. `logIndex` is the first index that it had: a transfer
 * that is mined again in another block, after a reversal of finality, is still the same transfer.
 */
export type RecordedDeposit = DepositLog & {
  readonly paymentId: string
  readonly owner: DepositOwner
  readonly expected: boolean
}

/** Each address belongs to the buyer's order in USDC, or to a refund that the merchant pays for. */
export type DepositOwner = { readonly attemptId: string } | { readonly refundId: string }

/** A final transfer of USDC that left an address of the platform for another one than a treasury. */
export type ReturnLog = {
  readonly sender: Hex
  readonly recipient: Hex
  readonly micro: MicroUsdc
  readonly txHash: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
}

/** A final transfer from the address of a refund back to the merchant's wallet; `index` is that of its sweep. */
export type ReturnedUsdc = {
  readonly refundId: string
  readonly paymentId: string
  readonly index: number
  readonly micro: MicroUsdc
  readonly txHash: Hex
}

/**
 * USDC at a deposit address that is not swept; `index` is the number of its next sweep. `returnTo`: the wallet that it
 * goes back to; null: the current treasury takes it.
 */
export type Unswept = {
  readonly ownerId: string
  readonly address: Hex
  readonly index: number
  readonly micro: MicroUsdc
  readonly returnTo: Hex | null
}

/** An authorization to move USDC from a deposit address, or from a merchant's wallet to the address of a refund. */
export type Sweep = Omit<Unswept, 'returnTo' | 'address'> & {
  readonly sender: Hex
  readonly recipient: Hex
  readonly authNonce: Hex
  readonly signature: Hex
  /** Unix seconds. */
  readonly validBefore: number
}

/** A merchant's authorization that pays for a refund. `refused`: why it last was; null: it was not. */
export type Funding = Sweep & { readonly refused: string | null }

/** Why a funding is over whose transaction is final. */
export const MINED_IN_VAIN = 'its transaction has moved nothing'
