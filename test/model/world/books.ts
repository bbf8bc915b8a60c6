import type { Db } from '../../../src/db/db.ts'
import { conversionKey } from '../../../src/domain/ids.ts'
import type { ProviderName, ProviderUsed } from '../../../src/domain/methods.ts'
import type { SandboxOrder } from '../../../src/sandbox/partners/order.ts'
import type { Doubts } from './doubts.ts'
import type { Stage } from './stage.ts'
import type { System } from './system.ts'

/** The attempts of a payment, and what the partner itself has in its books about them. */

/** What is read of a shop. */
type Desk = { readonly db: Db; readonly stage: Stage; readonly paymentId: string }

export type Attempt = { readonly id: string; readonly provider: ProviderUsed }

export async function attemptsOf(shop: Pick<Desk, 'db' | 'paymentId'>): Promise<Attempt[]> {
  const { rows } = await shop.db.query(
    'select id, provider from attempt where payment_id = $1 order by created_at, id',
    [shop.paymentId],
  )
  return rows as Attempt[]
}

export async function orderOf(shop: Pick<Desk, 'stage'>, { id, provider }: Attempt): Promise<SandboxOrder | null> {
  return provider === 'crypto' ? null : shop.stage.sandbox.partners[provider as ProviderName].book.find(id)
}

/** Whether anybody can have news of it: the partner has its order, or the chain its address. */
export async function hasOrder(shop: Desk, attempt: Attempt): Promise<boolean> {
  if (attempt.provider !== 'crypto') return (await orderOf(shop, attempt)) !== null
  const { rows } = await shop.db.query('select 1 from deposit where attempt_id = $1', [attempt.id])
  return rows.length > 0
}

export type Statement = { readonly bought: bigint; readonly sold: ReadonlyMap<string, bigint> }

/** Reads the converter's own books: what it has bought for the payment, and sold by currency. Open orders are in neither. */
export function readStatement(shop: Desk, orders: number): Statement {
  const { converter } = shop.stage.sandbox
  const sold = new Map<string, bigint>()
  let bought = 0n
  for (let number = 1; number <= orders; number++) {
    const order = converter.find(conversionKey(shop.paymentId, number))
    if (order === null) continue
    bought += BigInt(order.boughtMicroUsdc)
    sold.set(order.currency, (sold.get(order.currency) ?? 0n) + BigInt(order.minor))
  }
  return { bought, sold }
}

/**
 * Whether a partner, whose news have been read, has less of an order than is counted of it, or said so last of one that it had
 * changed, and holds it back by now: nothing may be signed then.
 */
export async function hasLessThanCounted(
  shop: Desk & { readonly system: System; readonly untold: ReadonlySet<string>; readonly doubts: Doubts },
): Promise<boolean> {
  const { parts } = await shop.system.loadPayment(shop.db, shop.paymentId)
  const { rows } = await shop.db.query('select attempt_id from partner_event where applied_at is null')
  const unread = new Set([...shop.untold, ...rows.map((row) => row['attempt_id'] as string)])
  for (const attempt of await attemptsOf(shop)) {
    const order = await orderOf(shop, attempt)
    if (order === null || unread.has(attempt.id)) continue
    const inDoubt = order.status === 'on_hold' ? (shop.doubts.told.get(attempt.id) ?? null) : null
    const received = order.status === 'paid' ? order.receivedMinor : inDoubt
    if (received === null) continue
    const counted = parts.filter(({ attemptId, state }) => attemptId === attempt.id && state === 'counted')
    if (BigInt(received) < counted.reduce((sum, { units }) => sum + BigInt(units), 0n)) return true
  }
  return false
}
