import { sql } from '../db.ts'

/** The first day (UTC) on which a payment's reserve can be released. */
export const dueOn = sql`reserve_due_on(finalized_at, reserve_days)`

/** As in the indexes payment_reserved and payment_reserve_due, word for word. */
export const isHeldBack = sql`(reserved_micro > 0 and finalized_at is not null)`
