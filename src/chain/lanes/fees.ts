import type { PayoutCodec } from '../codec.ts'
import type { FeeHistory } from '../rpc/node.ts'

/** Fees of EIP-1559 transactions, in wei for one unit of gas. */
export type Fees = { readonly maxFee: bigint; readonly tip: bigint }

export const GWEI = 1_000_000_000n

/**
 * Polygon's documentation asks for 30 gwei. Bor's pool and producers take no less than 25 (params/protocol_params.go).
 */
const TIP_FLOOR = 30n * GWEI

function median(values: readonly bigint[]): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[Math.floor(sorted.length / 2)] ?? 0n
}

export const atMost = (value: bigint, cap: bigint): bigint => (value < cap ? value : cap)
const atLeast = (value: bigint, floor: bigint): bigint => (value > floor ? value : floor)

/**
 * Chooses the price of a new transaction. The tip is the median of the last blocks and at least the floor. Twice the
 * base fee lasts for about 45 full blocks on Polygon, where it grows by at most 1.56 % a block. The cap limits both.
 */
export function chooseFees(history: FeeHistory, cap: bigint): Fees {
  const tip = atMost(atLeast(median(history.tips), TIP_FLOOR), cap)
  return { tip, maxFee: atMost(2n * history.nextBaseFee + tip, cap) }
}

/** Returns the lowest price of one unit of gas in the next block, in wei. The block takes no transaction below it. */
export const leastPrice = ({ nextBaseFee }: FeeHistory): bigint => nextBaseFee + TIP_FLOOR

/**
 * In wei. Bor, geth and Erigon refuse a transaction whose gas limit costs more, unless configured otherwise
 * (`rpc.txfeecap`).
 */
const MOST_FEE = 10n ** 18n

/** Lets the price of a batch be raised three times before it costs more than nodes take. */
const withRoom = (fee: bigint): bigint => (fee * 3n) / 2n

/** Returns the maximum number of items in a batch at this price. A batch is full only below 91 gwei. */
export function mostItems(codec: Pick<PayoutCodec, 'maxItems' | 'gasLimit'>, maxFee: bigint): number {
  let items = codec.maxItems
  while (items > 1 && withRoom(codec.gasLimit(items) * maxFee) > MOST_FEE) items -= 1
  return items
}

/**
 * Returns the highest price to try after nodes refused one as too high. It is at least the price before the last raise.
 */
export const cheaper = (refused: bigint): bigint => (refused * 8n) / 9n

/** Nodes ask for 10 % more on both fees before they replace a transaction; 12.5 % leaves room for their rounding. */
const raise = (fee: bigint): bigint => (fee * 1125n + 999n) / 1000n
const least = (fee: bigint): bigint => (fee * 110n + 99n) / 100n

/**
 * Returns the price of a replacement: both fees at least 12.5 % higher. The last raise goes to the cap, if that is at
 * least 10 %. Null if nodes would take no price up to the cap for a replacement.
 */
export function bumpFees(previous: Fees, history: FeeHistory, cap: bigint): Fees | null {
  if (least(previous.maxFee) > cap) return null
  const fresh = chooseFees(history, cap)
  const maxFee = atMost(atLeast(raise(previous.maxFee), fresh.maxFee), cap)
  return { maxFee, tip: atMost(atLeast(raise(previous.tip), fresh.tip), maxFee) }
}

/**
 * Returns true if a transaction has waited so long that its price must be raised: by the chain and by the clock. The
 * chain alone may hurry (a node that was behind catches up), and the clock alone continues while there are no new
 * blocks; both would drive the price to the cap for nothing.
 */
export function isOverdue(
  attempt: { readonly signedBlock: number; readonly ageMs: number },
  head: number,
  limits: { readonly bumpAfterBlocks: number; readonly bumpAfterMs: number },
): boolean {
  return head - attempt.signedBlock >= limits.bumpAfterBlocks && attempt.ageMs >= limits.bumpAfterMs
}
