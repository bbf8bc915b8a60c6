import { z } from 'zod'
import { CURRENCIES, type Currency } from '../../domain/currencies.ts'
import type { Hex } from '../../domain/hex.ts'
import type { Money } from '../../domain/money.ts'
import type { AddressSource } from '../../domain/payment/buyer.ts'
import type { PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { maybeOne, type Queryable, sql } from '../db.ts'
import { SHOP, type Shop, shopRow } from '../merchants/merchants.ts'
import { hex } from '../settlement/payouts.ts'
import { wholePaymentRow } from './payment-rows.ts'
import { stateColumns } from './payments.ts'

export type StoredCheckout = PaymentWithAttempts & {
  /** The data of the buyer, and if a mail was written; null: nothing is known. */
  readonly buyer: {
    readonly email: string | null
    readonly source: AddressSource
    readonly taxId: string | null
    readonly isMailed: boolean
  } | null
  readonly shop: Shop
  /** Origins of the pages that can embed the checkout in a frame, sorted. */
  readonly origins: readonly string[]
  /** The deposit at the payment's address, in units of the token; null if the payment has no address. */
  readonly deposit: { readonly token: Hex; readonly units: string } | null
  /** The minor units of each refunded order before its refund, by attempt. */
  readonly givenBack: ReadonlyMap<string, bigint>
  /** The refunds that the merchant has paid for in USDC, oldest first, and since when each is in its state. */
  readonly refunds: readonly {
    readonly amount: Money
    readonly state: 'coming' | 'done' | 'failed'
    readonly at: string
  }[]
}

const restRow = z
  .object({
    shop: shopRow,
    buyer: z
      .object({
        email: z.string().nullable(),
        source: z.custom<AddressSource>(),
        taxId: z.string().nullable(),
        isMailed: z.boolean(),
      })
      .nullable(),
    origins: z.array(z.string()),
    deposit: z.object({ token: hex, units: z.string() }).nullable(),
    refunds: z.array(
      z.object({
        amount: z.object({ minor: z.string(), currency: z.enum(CURRENCIES as [Currency, ...Currency[]]) }),
        state: z.enum(['coming', 'done', 'failed']),
        at: z.string().transform((text) => new Date(text).toISOString()),
      }),
    ),
    given_back: z.record(z.string(), z.string().transform(BigInt)),
  })
  .transform(({ given_back, ...rest }) => ({ ...rest, givenBack: new Map(Object.entries(given_back)) }))

const checkoutRow = z
  .unknown()
  .transform((row): StoredCheckout => ({ ...wholePaymentRow.parse(row), ...restRow.parse(row) }))

/** Null also for a payment of the other mode. */
export function readCheckout(db: Queryable, token: string): Promise<StoredCheckout | null> {
  return maybeOne(
    db,
    checkoutRow,
    sql`select payment.*, to_jsonb(state) as state, to_jsonb(shop) as shop, shop.frame_origins as origins,
          (select jsonb_build_object('email', email, 'source', source, 'taxId', tax_id, 'isMailed',
              exists (select from buyer_mail where payment_id = payment.id and written_at is not null))
            from payment_buyer where payment_id = payment.id) as buyer,
          (select jsonb_build_object('token', d.token, 'units', coalesce(sum(l.units), 0)::text)
            from deposit d left join deposit_log l on l.owner_id = d.owner_id and l.token = d.token
            where d.owner_id = payment.id group by d.token) as deposit,
          (select coalesce(jsonb_object_agg(attempt_id, held::text), '{}') from (
            select distinct on (attempt_id) attempt_id, r.held
            from attempt a join reading r on r.attempt_id = a.id and r.held > 0
            where a.payment_id = payment.id and a.status = 'refunded' order by attempt_id, r.revision desc) refunded
          ) as given_back,
          (select coalesce(jsonb_agg(jsonb_build_object(
              'amount', jsonb_build_object('minor', amount_minor::text, 'currency', currency),
              'state', case status when 'succeeded' then 'done' when 'failed' then 'failed' else 'coming' end,
              'at', coalesce(succeeded_at, failed_at, funded_at)) order by number), '[]')
            from refund where payment_id = payment.id and fund_from <> 'payment'
              and (status in ('funded', 'pending', 'succeeded') or (status = 'failed' and status_reason = 'refused'))) as refunds
        from payment
          join lateral (select ${SHOP}, frame_origins from merchant where id = payment.merchant_id) shop on true,
          lateral (${stateColumns(sql`payment.id`)}) as state
        where checkout_token = ${token} and livemode = ${db.livemode}`,
  )
}
