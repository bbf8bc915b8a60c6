import { z } from 'zod'
import type { PaymentLink } from '../../domain/link/link.ts'
import type { Payment } from '../../domain/payment/payment-object.ts'
import { execute, many, maybeOne, one, type Queryable, sql, type Tx } from '../db.ts'
import { byId, cutPage, pageClause } from '../pages.ts'
import { paymentRow, time } from '../payments/payment-rows.ts'
import { findLinkAnywhere } from './reports.ts'

/** Links without an account: the secret of the maker, and the way into an account. Times are ISO 8601 UTC. */

export type OwnedLink = {
  readonly link: PaymentLink
  /** When it was added to an account; null: the secret is its only owner. */
  readonly claimedAt: string | null
}

export async function insertOwner(tx: Tx, { linkId, digest }: { linkId: string; digest: Buffer }): Promise<void> {
  await execute(tx, sql`insert into link_owner (payment_link, digest) values (${linkId}, ${digest})`)
}

const ownerRow = z.object({ payment_link: z.string(), claimed_at: time.nullable() })

/** Null: no link of this mode has the secret. */
export async function findOwnedLink(db: Queryable, digest: Buffer): Promise<OwnedLink | null> {
  return withLink(
    db,
    await maybeOne(db, ownerRow, sql`select payment_link, claimed_at from link_owner where digest = ${digest}`),
  )
}

/** Null: there is no such ticket, it has expired, or it was used. */
export async function findTicket(db: Queryable, digest: Buffer, now: string): Promise<OwnedLink | null> {
  return withLink(
    db,
    await maybeOne(
      db,
      ownerRow,
      sql`select payment_link, claimed_at from link_owner
          where ticket_digest = ${digest} and ticket_ends_at > ${now}::timestamptz and claimed_at is null`,
    ),
  )
}

async function withLink(db: Queryable, row: z.output<typeof ownerRow> | null): Promise<OwnedLink | null> {
  const link = row === null ? null : await findLinkAnywhere(db, row.payment_link)
  return row === null || link === null ? null : { link, claimedAt: row.claimed_at }
}

/** Replaces the link's ticket. False if the link was added to an account since it was read. */
export async function issueTicket(
  db: Queryable,
  { linkId, digest, endsAt }: { linkId: string; digest: Buffer; endsAt: string },
): Promise<boolean> {
  const issue = sql`update link_owner set ticket_digest = ${digest}, ticket_ends_at = ${endsAt}::timestamptz
    where payment_link = ${linkId} and claimed_at is null`
  return (await execute(db, issue)) === 1
}

const paymentLinkRow = z.object({ payment_link: z.string() })

const merchantIdRow = z.object({ merchant_id: z.string() })

/**
 * Uses the ticket up, and gives the link to the merchant. The stored answers of presses move with it, so that a
 * repeated press is still the same one. Existing payments stay where they are booked. Null: the ticket does not work.
 */
export async function claimLink(
  tx: Tx,
  { digest, now, merchantId, pressRoute }: ClaimOfLink,
): Promise<PaymentLink | null> {
  const taken = await maybeOne(
    tx,
    paymentLinkRow,
    sql`update link_owner set claimed_at = ${now}::timestamptz, ticket_digest = null, ticket_ends_at = null
        where ticket_digest = ${digest} and ticket_ends_at > ${now}::timestamptz and claimed_at is null
          and exists (select 1 from payment_link link join agreement using (merchant_id)
            where link.id = link_owner.payment_link and livemode = ${tx.livemode} and status <> 'suspended')
        returning payment_link`,
  )
  if (taken === null) return null
  const { payment_link: id } = taken
  // The same lock as that of a press: no payment is made for the previous owner after this.
  const { merchant_id: before } = await one(
    tx,
    merchantIdRow,
    sql`select merchant_id from payment_link where id = ${id} for no key update`,
  )
  await execute(
    tx,
    sql`update payment_link set merchant_id = ${merchantId}, anonymous = false, updated_at = ${now}::timestamptz
        where id = ${id}`,
  )
  await execute(
    tx,
    sql`update idempotency_key set merchant_id = ${merchantId}
        where merchant_id = ${before} and livemode = ${tx.livemode} and route = ${pressRoute(id)}`,
  )
  return findLinkAnywhere(tx, id)
}

export type ClaimOfLink = {
  readonly digest: Buffer
  readonly now: string
  readonly merchantId: string
  readonly pressRoute: (linkId: string) => string
}

const linkCountRow = z.object({ made: z.coerce.number(), stopped: z.boolean() })

/**
 * Counts the links that were made for the wallet without an account since then, and finds whether an operator has
 * stopped one, even if it was added to an account since, or has suspended a merchant that is paid there. Counts of the
 * same wallet wait for each other, until the end of the transaction.
 */
export async function countLinksTo(
  tx: Tx,
  wallet: string,
  since: string,
): Promise<{ readonly made: number; readonly stopped: boolean }> {
  await execute(tx, sql`select pg_advisory_xact_lock(hashtextextended(${`link to ${wallet.toLowerCase()}`}, 0))`)
  return one(
    tx,
    linkCountRow,
    sql`select count(*) filter (where created_at > ${since}::timestamptz) as made,
          coalesce(bool_or(stopped_at is not null or status = 'suspended'), false) or exists (
            select from agreement join wallet using (merchant_id) where status = 'suspended'
              and livemode = ${tx.livemode} and lower(address) = ${wallet.toLowerCase()}) as stopped
        from payment_link join agreement using (merchant_id)
        where wallet is not null and lower(wallet) = ${wallet.toLowerCase()} and livemode = ${tx.livemode}`,
  )
}

const totalsRow = z.object({
  started: z.coerce.number(),
  paid: z.coerce.number(),
  under_way: z.coerce.number(),
  net_micro: z.string(),
  fee_micro: z.string(),
})
export type LinkTotals = z.output<typeof totalsRow>

/** Whichever account the payments are booked with: those that succeeded, and those with money. */
export function readLinkTotals(db: Queryable, linkId: string): Promise<LinkTotals> {
  return one(
    db,
    totalsRow,
    sql`select count(*) as started, count(*) filter (where status = 'succeeded') as paid,
          count(*) filter (where status in ('processing', 'under_review', 'settling')) as under_way,
          coalesce(sum(net_micro) filter (where status = 'succeeded'), 0)::text as net_micro,
          coalesce(sum(fee_micro) filter (where status = 'succeeded'), 0)::text as fee_micro
        from payment where payment_link = ${linkId}`,
  )
}

/**
 * Lists payments of the link, the newest first, whichever account they are booked with: the present owner also sees
 * those from before the link was added to the account. The caller must have checked who owns the link.
 */
export async function listLinkPayments(
  db: Queryable,
  linkId: string,
  { limit, after }: { limit: number; after: string | null },
): Promise<{ payments: Payment[]; hasMore: boolean }> {
  const page = { limit, after, before: null }
  const found = await many(
    db,
    paymentRow,
    sql`select * from payment where payment_link = ${linkId} ${pageClause(byId(sql`id`), page)}`,
  )
  const { rows, hasMore } = cutPage(found, page)
  return { payments: rows, hasMore }
}
