import { z } from 'zod'
import { NOTIFICATION_LANGUAGES } from '../../domain/notification/channel.ts'
import type { Invoice } from '../../domain/payment/invoice.ts'
import { many, sql, type Tx } from '../db.ts'
import { currency, time } from './payment-rows.ts'

const owedRow = z.object({
  payment_id: z.string(),
  fact: z.string(),
  due_at: time,
  /** Null: it was deleted since. */
  email: z.string().nullable(),
  language: z.enum(NOTIFICATION_LANGUAGES).catch('en'),
  shop: z.string(),
  support_email: z.string().nullable(),
  checkout_token: z.string(),
  description: z.string().nullable(),
  reference: z.string().nullable(),
  invoice: z.custom<Invoice>().nullable(),
  currency,
  /** The amount that was paid, given back or refunded. */
  units: z.string(),
  units_currency: currency,
  /** True if a person of the merchant's account has the address. */
  is_member: z.boolean(),
  /** Mails to the address within the last day, about any payment. */
  sent_today: z.coerce.number(),
})
export type OwedBuyerMail = z.output<typeof owedRow>

/**
 * Takes facts of which buyers are to be notified, the oldest first. They count as written when the transaction commits.
 * `now` is ISO 8601.
 */
export function takeBuyerMails(
  tx: Tx,
  { now, limit }: { readonly now: string; readonly limit: number },
): Promise<OwedBuyerMail[]> {
  return many(
    tx,
    owedRow,
    sql`with due as (
          select m.payment_id, m.fact from buyer_mail m join payment on payment.id = m.payment_id
          where m.written_at is null and payment.livemode = ${tx.livemode}
          order by m.due_at limit ${limit} for update of m skip locked),
        taken as (
          update buyer_mail m set written_at = ${now}::timestamptz from due
          where (m.payment_id, m.fact) = (due.payment_id, due.fact) returning m.payment_id, m.fact, m.due_at)
        select taken.payment_id, taken.fact, taken.due_at, buyer.email, buyer.language, merchant.name as shop,
          merchant.support_email, checkout_token, payment.description, payment.reference, invoice, payment.currency,
          coalesce(refund.amount_minor, confirmed_minor, payment.amount_minor)::text as units,
          coalesce(refund.currency, charge_currency, payment.currency) as units_currency,
          exists (select from membership join person on person.id = membership.person_id
            where membership.merchant_id = payment.merchant_id and person.email = buyer.email) as is_member,
          (select count(*) from payment_buyer other join buyer_mail sent on sent.payment_id = other.payment_id
            where other.email = buyer.email and sent.written_at > ${now}::timestamptz - interval '1 day') as sent_today
        from taken join payment on payment.id = taken.payment_id join merchant on merchant.id = payment.merchant_id
          join payment_buyer buyer on buyer.payment_id = taken.payment_id
          left join refund on refund.id = taken.fact
        order by taken.due_at`,
  )
}
