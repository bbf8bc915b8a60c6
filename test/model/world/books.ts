import type { Db } from '../../../src/db/db.ts'
import { conversionKey } from '../../../src/domain/ids.ts'
import type { ProviderName, ProviderUsed } from '../../../src/domain/methods.ts'
import type { SandboxOrder } from '../../../src/sandbox/partners/order.ts'
import type { Stage } from './stage.ts'
import type { System } from './system.ts'

/** The attempts of a payment, and the partner's own books about them. */

/** The parts of a shop that are read. */
type Desk = { readonly db: Db; readonly stage: Stage; readonly paymentId: string }

export type Attempt = { readonly id: string; readonly provider: ProviderUsed }

export async function listAttempts(shop: Pick<Desk, 'db' | 'paymentId'>): Promise<Attempt[]> {
  const { rows } = await shop.db.query(
    'select id, provider from attempt where payment_id = $1 order by created_at, id',
    [shop.paymentId],
  )
  return rows as Attempt[]
}

export async function readOrder(shop: Pick<Desk, 'stage'>, { id, provider }: Attempt): Promise<SandboxOrder | null> {
  return provider === 'crypto' ? null : shop.stage.sandbox.partners[provider as ProviderName].book.find(id)
}

/** True if a reading is possible: the partner has its order, or the chain its address. */
export async function hasOrder(shop: Desk, attempt: Attempt): Promise<boolean> {
  if (attempt.provider !== 'crypto') return (await readOrder(shop, attempt)) !== null
  const { rows } = await shop.db.query('select 1 from deposit where attempt_id = $1', [attempt.id])
  return rows.length > 0
}

export type Statement = { readonly bought: bigint; readonly sold: ReadonlyMap<string, bigint> }

/**
 * Reads the converter's own books: the USDC bought for the payment, and the money sold by currency. Open orders are in
 * neither.
 */
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

/** The money that arrived at the address of a payment, in micro-USDC, by the chain. */
export async function readDeposits({ db, paymentId }: Pick<Desk, 'db' | 'paymentId'>): Promise<bigint> {
  const { rows } = await db.query(
    `select coalesce(sum(l.units), 0)::text as micro from deposit_log l join deposit d using (payment_id)
     where payment_id = $1 and l.token = d.token`,
    [paymentId],
  )
  return BigInt((rows[0] as { micro: string }).micro)
}

/** The attempts with reports of a partner, sent or due, that are not applied yet. */
export async function listUnread({ db, untold }: Pick<Desk, 'db'> & { readonly untold: ReadonlySet<string> }) {
  const { rows } = await db.query('select attempt_id from partner_event where applied_at is null')
  return new Set([...untold, ...rows.map((row) => row['attempt_id'] as string)])
}

/**
 * True if the partner of the sold money, whose readings are applied, has less of it than was sold, or withholds a part
 * of it: then the engine must not sign.
 */
export async function hasLessThanSold(
  shop: Desk & { readonly system: System; readonly untold: ReadonlySet<string> },
): Promise<boolean> {
  const { payment, sales } = await shop.system.loadPayment(shop.db, shop.paymentId)
  const sale = sales.find(({ number }) => number === payment.takenSale)
  const attempt = (await listAttempts(shop)).find(({ id }) => id === sale?.accountId)
  if (sale === undefined || attempt === undefined || (await listUnread(shop)).has(attempt.id)) return false
  const held = heldBy(await readOrder(shop, attempt))
  return held !== null && held < sale.units
}

/**
 * The partner's part of the buyer's money by its own books; null: it does not report it, or is not done with the order.
 */
export function heldBy(order: SandboxOrder | null): bigint | null {
  const received = BigInt(order?.receivedMinor ?? '0')
  switch (order?.status) {
    case 'refunded':
      return 0n
    case 'declined':
    case 'canceled':
    case 'expired':
      return received
    case 'paid':
      // A paid order without an amount reports nothing.
      return received === 0n ? null : received
    default:
      return null
  }
}
