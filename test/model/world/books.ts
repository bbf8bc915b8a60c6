import { conversionKey } from '../../../src/domain/ids.ts'
import type { ProviderName, ProviderUsed } from '../../../src/domain/methods.ts'
import type { SandboxOrder } from '../../../src/sandbox/partners/order.ts'
import type { Shop } from './shop.ts'

/** The attempts of a payment, and what the partner itself has in its books about them. */

export type Attempt = { readonly id: string; readonly provider: ProviderUsed }

export async function attemptsOf(shop: Shop): Promise<Attempt[]> {
  const { rows } = await shop.db.query(
    'select id, provider from attempt where payment_id = $1 order by created_at, id',
    [shop.paymentId],
  )
  return rows as Attempt[]
}

export async function orderOf(shop: Shop, { id, provider }: Attempt): Promise<SandboxOrder | null> {
  return provider === 'crypto' ? null : shop.stage.sandbox.partners[provider as ProviderName].book.find(id)
}

/** Whether anybody can have news of it: the partner has its order, or the chain its address. */
export async function hasOrder(shop: Shop, attempt: Attempt): Promise<boolean> {
  if (attempt.provider !== 'crypto') return (await orderOf(shop, attempt)) !== null
  const { rows } = await shop.db.query('select 1 from deposit where attempt_id = $1', [attempt.id])
  return rows.length > 0
}

/** Micro-USDC that the converter has bought for the payment, by its own books; what is still being filled is not. */
export function boughtFor(shop: Shop, orders: number): bigint {
  const { converter } = shop.stage.sandbox
  const keys = Array.from({ length: orders }, (_order, index) => conversionKey(shop.paymentId, index + 1))
  return keys.reduce((total, key) => total + BigInt(converter.find(key)?.boughtMicroUsdc ?? '0'), 0n)
}
