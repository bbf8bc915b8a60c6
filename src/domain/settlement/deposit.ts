import type { Hex } from '../hex.ts'
import { compareReceived, type MicroUsdc, type Money } from '../money.ts'
import type { UsdcReceipt } from '../payment/partner.ts'

/** Crypto as a way to pay: USDC that a buyer sends to an address which belongs to one payment alone. */

/** What was asked at the address, and what has come. Only final transfers count. */
export type Deposit = {
  readonly paymentId: string
  readonly attemptId: string
  readonly address: Hex
  readonly chainId: number
  readonly token: Hex
  /** The price, and what it is in USDC at the rate that was locked when the address was shown. */
  readonly asked: Money
  readonly askedMicro: MicroUsdc
  readonly rate: string
  readonly rateSource: string
  readonly rateAsOf: string
  /** Unix seconds until which the buyer may complete a part. */
  readonly expiresAt: number
  readonly receivedMicro: MicroUsdc
  /** The transfers that it is the sum of, in the order of the chain. */
  readonly receipts: readonly UsdcReceipt[]
  /** A known token that is not the asked one came, such as bridged USDC or another stablecoin, and more than dust. */
  readonly wrongToken: boolean
}

/** In the token's smallest units; what is not named has six decimals, as USDC has. */
const OTHER_TOKEN_DUST = '10000'
const DUST_OF: { readonly [token: string]: string } = {
  // DAI on Polygon
  '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063': '10000000000000000',
}

/**
 * Less than 0.01 of a token is dust. Anybody can send so little to any address, and neither a payment nor a
 * person shall wait for it.
 */
export const isDust = ({ token, units }: { readonly token: Hex; readonly units: string }): boolean =>
  BigInt(units) < BigInt(DUST_OF[token] ?? OTHER_TOKEN_DUST)

/** What came, in the currency of the price, floored to its minor unit; the asked USDC is exactly the price. */
export function receivedMoney(deposit: Pick<Deposit, 'asked' | 'askedMicro' | 'receivedMicro'>): Money {
  const { asked, askedMicro, receivedMicro } = deposit
  const minor = (BigInt(asked.minor) * BigInt(receivedMicro)) / BigInt(askedMicro)
  return { minor: minor.toString(), currency: asked.currency }
}

/**
 * Enough is paid at once. Too little waits for the rest until the payment expires, and is then paid too little. Another
 * token is only news as long as the right one is waited for. `now` is in Unix seconds.
 */
export function statusOfDeposit(
  deposit: Deposit,
  at: { readonly now: number; readonly tolerancePercent: number },
): 'open' | 'paid' | 'wrong_asset' {
  const received = receivedMoney(deposit)
  const enough = compareReceived(deposit.asked, received.minor, at.tolerancePercent) !== 'underpaid'
  const isOver = received.minor !== '0' && at.now >= deposit.expiresAt
  if (enough || isOver) return 'paid'
  return deposit.wrongToken ? 'wrong_asset' : 'open'
}

/** `watched`: at each final block. `ended`: its payment has long expired, and it is looked at once a day. */
export type WatchKind = 'watched' | 'ended'

export type TransferRequest = {
  readonly chainId: number
  readonly token: Hex
  readonly address: Hex
  readonly micro: MicroUsdc
}

/** The link that wallets open and scan: a token transfer as EIP-681 writes it, the amount in the token's smallest unit. */
export function transferLink({ chainId, token, address, micro }: TransferRequest): string {
  return `ethereum:${token}@${chainId}/transfer?address=${address}&uint256=${micro}`
}

/** Reads a link that transferLink made, in any case of its addresses; null for any other text. */
export function readTransferLink(link: string): TransferRequest | null {
  const pattern =
    /^ethereum:(?<token>0x[0-9a-fA-F]{40})@(?<chainId>\d{1,9})\/transfer\?address=(?<address>0x[0-9a-fA-F]{40})&uint256=(?<micro>\d{1,30})$/
  const found = pattern.exec(link)?.groups as { token: Hex; chainId: string; address: Hex; micro: string } | undefined
  if (found === undefined) return null
  const lower = (address: Hex) => address.toLowerCase() as Hex
  return { ...found, token: lower(found.token), address: lower(found.address), chainId: Number(found.chainId) }
}

/** A final transfer of a token to a deposit address. `units` are the token's smallest. */
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
 * A final transfer, with the payment that the address belongs to. `logIndex` is the first that it had: mined again in
 * another block, after a reversal of finality, it is still the same transfer.
 */
export type RecordedDeposit = DepositLog & {
  readonly paymentId: string
  readonly attemptId: string
  /** It is the token that was asked for. */
  readonly expected: boolean
}

/** USDC at a deposit address that has not been swept; `index` is the number of its next sweep. */
export type Unswept = {
  readonly paymentId: string
  readonly address: Hex
  readonly index: number
  readonly micro: MicroUsdc
}

/** One signed sweep of a deposit address to the treasury. */
export type Sweep = Unswept & {
  readonly treasury: Hex
  readonly authNonce: Hex
  readonly signature: Hex
  /** Unix seconds. */
  readonly validBefore: number
}
