import { z } from 'zod'
import { REMINDER_DAYS } from '../domain/dispute/dispute.ts'
import { one, type Queryable, sql } from './db.ts'

/** The channel on which Postgres names the sweeps for which a commit made work: see the triggers `wakes_…`. */
export const WORK_CHANNEL = 'pinrail_work'

export const SWEEPS = [
  'starts',
  'changes',
  'callbacks',
  'refunds',
  'deliveries',
  'partners',
  'disputes',
  'dispute_answers',
  'notices',
  'buyer_mails',
  'mail',
  'notifications',
  'receipts',
  'refills',
  'suspended',
] as const
export type Sweep = (typeof SWEEPS)[number]

const foundRow = z.object({ found: z.array(z.enum(SWEEPS)) })

/**
 * Returns the sweeps that might find work at `now` (ISO 8601). Each condition is wider than the sweep's and reads a few
 * index entries: a sweep that finds nothing costs a statement, and work without a condition is lost.
 */
export async function findWork(db: Queryable, now: string): Promise<readonly Sweep[]> {
  const at = sql`${now}::timestamptz`
  const { found } = await one(
    db,
    foundRow,
    sql`select array_remove(array[
        case when exists (select from outbox where kind = 'start_payment') then 'starts' end,
        case when exists (select from outbox where kind = 'payment_changed') then 'changes' end,
        case when exists (select from partner_callback where applied_at is null and due_at <= now()) then 'callbacks' end,
        case when exists (select from refund where due_at <= now()) then 'refunds' end,
        case when exists (select from delivery where status = 'pending' and attempts = 0)
            or exists (select from delivery where status = 'pending' and attempts > 0 and last_attempt_at <= ${at})
          then 'deliveries' end,
        case when exists (select from partner_standing
            where ask_at is not null or down_since is not null or suspects <> '[]') then 'partners' end,
        case when exists (select from dispute_sweep where due_at <= now()) then 'disputes' end,
        case when exists (select from dispute_answer where due_at <= now())
            or exists (select from dispute where status = 'needs_response' and reminded_for is distinct from evidence_due_at
              and evidence_due_at <= now() + ${REMINDER_DAYS} * interval '1 day') then 'dispute_answers' end,
        case when exists (select from notice where sent_at is null) then 'notices' end,
        case when exists (select from buyer_mail where written_at is null) then 'buyer_mails' end,
        case when exists (select from mail where sealed is not null) then 'mail' end,
        case when exists (select from notification where message_id is null and due_at <= ${at})
            or exists (select from channel_message where state in ('sending', 'waiting', 'unknown') and next_at <= ${at})
          then 'notifications' end,
        case when exists (select from treasury_log
            where receipt_due_at <= now() and owner_id is not null and kind = 'out') then 'receipts' end,
        case when exists (select from refill where state = 'open' and due_at <= ${at}) then 'refills' end,
        case when exists (select from agreement where status = 'suspended' and open_payments > 0) then 'suspended' end
      ], null) as found`,
  )
  return found
}
