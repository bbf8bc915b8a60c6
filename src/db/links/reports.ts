import { z } from 'zod'
import type { PaymentLink } from '../../domain/link/link.ts'
import { REPORT_REASONS, type ReportReason } from '../../domain/link/report.ts'
import { execute, many, maybeOne, type Queryable, sql, type Tx } from '../db.ts'
import { time } from '../payments/payment-rows.ts'
import { linkColumns, linkRow } from './links.ts'

export type LinkReport = { readonly reason: ReportReason; readonly details: string; readonly at: string }

/** More reports of one link give an operator no new facts. */
const MOST_REPORTS = 200

export async function insertReport(db: Queryable, linkId: string, report: LinkReport): Promise<void> {
  await execute(
    db,
    sql`insert into link_report (payment_link, reason, details, at)
        select ${linkId}, ${report.reason}, ${report.details}, ${report.at}::timestamptz
        where (select count(*) from link_report where payment_link = ${linkId}) < ${MOST_REPORTS}`,
  )
}

const reportedRow = z.object({
  id: z.string(),
  merchant_id: z.string(),
  title: z.string(),
  reports: z.coerce.number(),
  reason: z.enum(REPORT_REASONS),
  details: z.string(),
  at: time,
  stopped_at: time.nullable(),
})
export type ReportedLink = z.output<typeof reportedRow>

/** The newest report first. */
export function listReported(db: Queryable, limit: number): Promise<ReportedLink[]> {
  return many(
    db,
    reportedRow,
    sql`select l.id, l.merchant_id, l.title, l.stopped_at, r.reason, r.details, r.at,
          (select count(*) from link_report where payment_link = l.id) as reports
        from payment_link l, lateral (
          select reason, details, at, id from link_report where payment_link = l.id order by id desc limit 1) r
        where l.livemode = ${db.livemode} order by r.id desc limit ${limit}`,
  )
}

/** Null also for a link of the other mode. */
export function findLinkAnywhere(db: Queryable, name: string): Promise<PaymentLink | null> {
  return maybeOne(
    db,
    linkRow,
    sql`select ${linkColumns} from payment_link where (id = ${name} or code = ${name}) and livemode = ${db.livemode}`,
  )
}

/** Returns false if it is stopped already. */
export async function stopLink(tx: Tx, id: string, reason: string): Promise<boolean> {
  const stop = sql`update payment_link set stopped_at = now(), stopped_reason = ${reason}
    where id = ${id} and stopped_at is null`
  return (await execute(tx, stop)) === 1
}

/** Returns false if it is not stopped. */
export async function resumeLink(tx: Tx, id: string): Promise<boolean> {
  const resume = sql`update payment_link set stopped_at = null, stopped_reason = null
    where id = ${id} and stopped_at is not null`
  return (await execute(tx, resume)) === 1
}
