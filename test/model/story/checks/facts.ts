import type { PaymentWithAttempts } from '../../../../src/domain/payment/payment-object.ts'
import type { Shop } from '../../world/shop.ts'

/** What is so at the end of a story, each fact asked of those whose it is. */

type Balances = ReadonlyMap<string, bigint>
export type Facts = {
  readonly shop: Shop
  readonly row: PaymentWithAttempts
  readonly ledger: Balances
  readonly payout: { readonly state: string; readonly micro_usdc: string } | null
  /** Micro-USDC that the chain has paid out. */
  readonly paidOut: string | null
  readonly incidents: readonly string[]
  /** Of every kind of note, and of every sentence, when it was last written: Unix milliseconds. */
  readonly notes: ReadonlyMap<string, number>
  readonly intents: readonly { kind: string; state: string; attempt_id: string | null }[]
}

export async function readFacts(shop: Shop): Promise<Facts> {
  const { db, system, paymentId } = shop
  const row = await system.loadPayment(db, paymentId)
  const ledger = await db.query(
    `select account, asset, sum(amount)::text as amount from ledger_entry e join ledger_transaction t on t.id = e.transaction_id
     where t.payment_id = $1 group by 1, 2`,
    [paymentId],
  )
  const payout = await db.query('select state, micro_usdc::text from payout where payment_id = $1', [paymentId])
  const incidents = await db.query('select kind from incident where payment_id = $1', [paymentId])
  const intents = await db.query('select kind, state, attempt_id from intent where payment_id = $1', [paymentId])
  const notes = await db.query('select kind, message, at from timeline_entry where payment_id = $1 order by id', [
    paymentId,
  ])
  return {
    shop,
    row,
    notes: new Map(
      notes.rows.flatMap(({ kind, message, at }) => {
        const when = (at as Date).getTime()
        return [
          [kind, when],
          [message, when],
        ] as [string, number][]
      }),
    ),
    ledger: new Map(ledger.rows.map((each) => [`${each.account} ${each.asset}`, BigInt(each.amount)])),
    payout: payout.rows[0] ?? null,
    paidOut: shop.engine.paid(),
    incidents: incidents.rows.map(({ kind }) => kind),
    intents: intents.rows,
  }
}

export const balance = ({ ledger }: Facts, account: string, asset: string): bigint =>
  ledger.get(`${account} ${asset}`) ?? 0n
export const sum = (units: readonly string[]): bigint => units.reduce((total, each) => total + BigInt(each), 0n)
/** The states of parts that are still with us, or with the partner. */
export const HERE = ['counted', 'surplus', 'late', 'returning']
