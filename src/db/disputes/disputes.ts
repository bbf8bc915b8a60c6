import { z } from 'zod'
import { CURRENCIES, type Currency } from '../../domain/currencies.ts'
import {
  DISPUTE_KINDS,
  DISPUTE_REASONS,
  DISPUTE_STATUSES,
  type Dispute,
  type DisputeReason,
  type DisputeStatus,
  REMINDER_DAYS,
} from '../../domain/dispute/dispute.ts'
import type { DisputeChange } from '../../domain/dispute/dispute-change.ts'
import { ANSWER_KINDS, ANSWER_STATES } from '../../domain/dispute/evidence.ts'
import { execute, many, maybeOne, type Queryable, sql, type Tenant, type Tx } from '../db.ts'
import { type AboutPayment, ownedAbout, ownedBy } from '../owned.ts'
import { byId, cutPage, type ListPage, pageClause } from '../pages.ts'
import { time } from '../payments/payment-rows.ts'

const currency = z.enum(CURRENCIES as [Currency, ...Currency[]])

const disputeRow = z
  .object({
    id: z.string(),
    payment_id: z.string(),
    attempt_id: z.string(),
    merchant_id: z.string(),
    livemode: z.boolean(),
    provider: z.string(),
    partner_dispute: z.string(),
    kind: z.enum(DISPUTE_KINDS),
    status: z.enum(Object.keys(DISPUTE_STATUSES) as [DisputeStatus, ...DisputeStatus[]]),
    reason: z.enum(Object.keys(DISPUTE_REASONS) as [DisputeReason, ...DisputeReason[]]),
    reason_text: z.string().nullable(),
    amount_minor: z.string(),
    currency,
    taken_minor: z.string(),
    fee_minor: z.string().nullable(),
    fee_currency: currency.nullable(),
    from_reserve_micro: z.string(),
    from_platform_micro: z.string(),
    answered_at: z.enum(['api', 'partner']),
    opened_at: time.nullable(),
    evidence_due_at: time.nullable(),
    evidence_submitted_at: time.nullable(),
    asked_at: time,
    created_at: time,
    updated_at: time,
    closed_at: time.nullable(),
    version: z.number(),
    answer: z
      .object({
        kind: z.enum(ANSWER_KINDS),
        state: z.enum(ANSWER_STATES),
        submit: z.boolean(),
        texts: z.array(z.string()),
        files: z.array(z.string()),
        refusal: z.string().nullable(),
        created_at: z.string().transform((text) => new Date(text).toISOString()),
      })
      .transform(({ created_at: createdAt, ...answer }) => ({ ...answer, createdAt }))
      .nullable(),
  })
  .transform(
    (row): Dispute => ({
      id: row.id,
      paymentId: row.payment_id,
      attemptId: row.attempt_id,
      merchantId: row.merchant_id,
      livemode: row.livemode,
      provider: row.provider,
      partnerDispute: row.partner_dispute,
      kind: row.kind,
      status: row.status,
      reason: row.reason,
      reasonText: row.reason_text,
      amount: { minor: row.amount_minor, currency: row.currency },
      takenMinor: row.taken_minor,
      fee:
        row.fee_minor === null || row.fee_currency === null
          ? null
          : { minor: row.fee_minor, currency: row.fee_currency },
      fromReserveMicro: row.from_reserve_micro,
      fromPlatformMicro: row.from_platform_micro,
      answeredAt: row.answered_at,
      openedAt: row.opened_at,
      evidenceDueAt: row.evidence_due_at,
      evidenceSubmittedAt: row.evidence_submitted_at,
      askedAt: row.asked_at,
      answer: row.answer,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      closedAt: row.closed_at,
      version: row.version,
    }),
  )

/** Disputes with their last answer, without its content. */
const disputes = sql`(select d.*, to_jsonb(a) as answer from dispute d left join lateral (
    select kind, state, submit, texts, files, refusal, created_at from dispute_answer
    where dispute_id = d.id order by created_at desc, id desc limit 1) a on true)`

/** Null for a missing dispute, another merchant's or the other mode's: the caller cannot distinguish these. */
export const readDispute = (db: Queryable, tenant: Tenant, id: string): Promise<Dispute | null> =>
  maybeOne(db, disputeRow, sql`select * from ${disputes} as dispute where id = ${id} and ${ownedBy(tenant)}`)

/** The newest first. */
export async function listDisputes(
  db: Queryable,
  tenant: Tenant,
  { filters, page }: { readonly filters: AboutPayment; readonly page: ListPage },
): Promise<{ rows: Dispute[]; hasMore: boolean }> {
  const rows = await many(
    db,
    disputeRow,
    sql`select * from ${disputes} as dispute where ${ownedAbout(tenant, filters)} ${pageClause(byId(sql`id`), page)}`,
  )
  return cutPage(rows, page)
}

/** The disputes of a payment, in the order in which the platform learned of them. Call it after the lock of the payment. */
export async function lockDisputes(tx: Tx, paymentId: string): Promise<Dispute[]> {
  await execute(tx, sql`select from dispute where payment_id = ${paymentId} for no key update`)
  return many(
    tx,
    disputeRow,
    sql`select * from ${disputes} as dispute where payment_id = ${paymentId} and livemode = ${tx.livemode} order by id`,
  )
}

/** Writes a dispute that is new, or locked. */
export async function writeDispute(tx: Tx, { before, after }: DisputeChange): Promise<void> {
  const written = await execute(
    tx,
    before === null
      ? sql`insert into dispute select * from jsonb_populate_record(null::dispute, ${JSON.stringify(toColumns(after))}::jsonb)`
      : sql`update dispute d set ${changedColumns}
            from jsonb_populate_record(null::dispute, ${JSON.stringify(toColumns(after))}::jsonb) as new
            where d.id = new.id and d.version = ${before.version}`,
  )
  if (written !== 1) throw new Error(`${after.id} was changed without its lock`)
}

const idRow = z.object({ id: z.string() })

/**
 * Takes disputes whose deadline is near and that have no evidence, once for each deadline. One whose deadline is over, or whose
 * merchant is sending an answer, is marked and not returned. The marks are kept when the transaction commits.
 */
export async function takeUnanswered(tx: Tx, limit: number): Promise<Dispute[]> {
  const taken = await many(
    tx,
    idRow,
    sql`update dispute set reminded_for = evidence_due_at where id = any(array(
          select id from dispute where status = 'needs_response' and reminded_for is distinct from evidence_due_at and livemode = ${tx.livemode}
            and evidence_due_at <= now() + ${REMINDER_DAYS} * interval '1 day'
          order by evidence_due_at limit ${limit} for update skip locked))
        returning id`,
  )
  const ids = taken.map(({ id }) => id)
  const rows = await many(
    tx,
    disputeRow,
    sql`select * from ${disputes} as dispute where id = any(${ids}::text[]) and evidence_due_at > now()
          and evidence_submitted_at is null order by id`,
  )
  return rows.filter((dispute) => !isBeingAnswered(dispute))
}

/** Has the merchant reminded again: the answer that they relied on was refused. */
export async function forgetReminder(tx: Tx, disputeId: string): Promise<void> {
  await execute(tx, sql`update dispute set reminded_for = null where id = ${disputeId}`)
}

/** An answer to an inquiry does not answer the chargeback that grew out of it. */
const isBeingAnswered = ({ answer, askedAt }: Dispute): boolean =>
  answer !== null &&
  answer.submit &&
  (answer.state === 'sending' || (answer.state === 'sent' && answer.createdAt >= askedAt))

const changedColumns = sql`kind = new.kind, status = new.status, reason = new.reason, reason_text = new.reason_text,
  amount_minor = new.amount_minor, taken_minor = new.taken_minor, fee_minor = new.fee_minor,
  fee_currency = new.fee_currency, from_reserve_micro = new.from_reserve_micro,
  from_platform_micro = new.from_platform_micro, answered_at = new.answered_at, opened_at = new.opened_at,
  evidence_due_at = new.evidence_due_at, evidence_submitted_at = new.evidence_submitted_at,
  asked_at = new.asked_at, updated_at = new.updated_at, closed_at = new.closed_at, version = new.version`

const toColumns = (dispute: Dispute) => ({
  id: dispute.id,
  payment_id: dispute.paymentId,
  attempt_id: dispute.attemptId,
  merchant_id: dispute.merchantId,
  livemode: dispute.livemode,
  provider: dispute.provider,
  partner_dispute: dispute.partnerDispute,
  kind: dispute.kind,
  status: dispute.status,
  reason: dispute.reason,
  reason_text: dispute.reasonText,
  amount_minor: dispute.amount.minor,
  currency: dispute.amount.currency,
  taken_minor: dispute.takenMinor,
  fee_minor: dispute.fee?.minor ?? null,
  fee_currency: dispute.fee?.currency ?? null,
  from_reserve_micro: dispute.fromReserveMicro,
  from_platform_micro: dispute.fromPlatformMicro,
  answered_at: dispute.answeredAt,
  opened_at: dispute.openedAt,
  evidence_due_at: dispute.evidenceDueAt,
  evidence_submitted_at: dispute.evidenceSubmittedAt,
  asked_at: dispute.askedAt,
  created_at: dispute.createdAt,
  updated_at: dispute.updatedAt,
  closed_at: dispute.closedAt,
  version: dispute.version,
})
