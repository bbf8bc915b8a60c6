import { z } from 'zod'
import { NOTIFICATION_LANGUAGES } from '../../domain/notification/channel.ts'
import type { Invoice } from '../../domain/payment/invoice.ts'
import { execute, many, one, type Queryable, sql, type Tx } from '../db.ts'
import { currency, time } from './payment-rows.ts'

const owedRow = z.object({
  payment_id: z.string(),
  fact: z.string(),
  due_at: time,
  email: z.string(),
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
})
export type OwedBuyerMail = z.output<typeof owedRow>

type Fact = Pick<OwedBuyerMail, 'payment_id' | 'fact'>

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
            where membership.merchant_id = payment.merchant_id and person.email = buyer.email) as is_member
        from taken join payment on payment.id = taken.payment_id join merchant on merchant.id = payment.merchant_id
          join payment_buyer buyer on buyer.payment_id = taken.payment_id
          left join refund on refund.id = taken.fact
        order by taken.due_at`,
  )
}

const countRow = z.object({ mails: z.coerce.number() })

/** The lock counts the mails of other workers too: each waits until the others have committed. */
export async function countMailsOfToday(
  tx: Tx,
  { mailbox, now, most }: { readonly mailbox: Buffer; readonly now: string; readonly most: number },
): Promise<number> {
  await execute(tx, sql`select pg_advisory_xact_lock(hashtextextended('buyer mails', 0))`)
  const { mails } = await one(
    tx,
    countRow,
    sql`select count(*) as mails from (
          select from buyer_mail where mailbox = ${mailbox} and written_at > ${now}::timestamptz - interval '1 day'
          limit ${most}) as today`,
  )
  return mails
}

export async function noteMailbox(tx: Tx, { payment_id: id, fact }: Fact, mailbox: Buffer): Promise<void> {
  await execute(tx, sql`update buyer_mail set mailbox = ${mailbox} where payment_id = ${id} and fact = ${fact}`)
}

/** Deletes the digests of mailboxes after their day. Returns their number, at most `most`. `now` is ISO 8601 UTC. */
export function forgetMailboxes(db: Queryable, now: string, most: number): Promise<number> {
  return execute(
    db,
    sql`update buyer_mail set mailbox = null where ctid = any(array(
          select ctid from buyer_mail
          where mailbox is not null and written_at < ${now}::timestamptz - interval '1 day' limit ${most}))`,
  )
}
