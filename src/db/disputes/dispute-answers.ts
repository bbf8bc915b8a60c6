import { z } from 'zod'
import { ANSWER_KINDS, type AnswerKind } from '../../domain/dispute/evidence.ts'
import { PROVIDER_NAMES } from '../../domain/methods.ts'
import { execute, many, maybeOne, one, type Queryable, sql, type Tenant, type Tx } from '../db.ts'
import { untilRepeat } from '../repeats.ts'

/** Answers of merchants to disputes, from the request to the confirmation of the partner. */

type Content = {
  readonly texts: Readonly<Record<string, string>>
  /** In base64. */
  readonly files: Readonly<Record<string, string>>
}

export type NewAnswer = {
  readonly id: string
  readonly disputeId: string
  /** The Idempotency-Key: a second answer to the dispute with it is not stored. */
  readonly request: string | null
  readonly kind: AnswerKind
  readonly submit: boolean
  readonly content: Content
  /** ISO 8601. */
  readonly at: string
}

/** False, and nothing is stored, if another answer to the dispute is being sent. */
export async function insertAnswer(db: Queryable, tenant: Tenant, answer: NewAnswer): Promise<boolean> {
  const { content } = answer
  const made = await execute(
    db,
    sql`insert into dispute_answer (id, dispute_id, merchant_id, livemode, request, kind, submit, texts, files, content, created_at)
        values (${answer.id}, ${answer.disputeId}, ${tenant.merchantId}, ${tenant.livemode}, ${answer.request}::text, ${answer.kind},
          ${answer.submit}, ${Object.keys(content.texts)}::text[], ${Object.keys(content.files)}::text[],
          ${JSON.stringify(content)}::jsonb, ${answer.at}::timestamptz)
        on conflict do nothing`,
  )
  return made === 1
}

const sameRow = z.object({ is_same: z.boolean() })

/** Null: the request has stored no answer. `isSame`: false if it was another one, as far as the stored rows show. */
export async function readRequestedAnswer(
  db: Queryable,
  tenant: Tenant,
  { disputeId, kind, submit, content, request }: NewAnswer & { readonly request: string },
): Promise<{ readonly isSame: boolean } | null> {
  const found = await maybeOne(
    db,
    sameRow,
    sql`select kind = ${kind} and submit = ${submit} and texts = ${Object.keys(content.texts)}::text[]
          and files = ${Object.keys(content.files)}::text[] as is_same
        from dispute_answer where dispute_id = ${disputeId} and request = ${request}
          and merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`,
  )
  return found && { isSame: found.is_same }
}

const texts = z.record(z.string(), z.string())

const takenRow = z
  .object({
    id: z.string(),
    dispute_id: z.string(),
    attempt_id: z.string(),
    merchant_id: z.string(),
    kind: z.enum(ANSWER_KINDS),
    submit: z.boolean(),
    content: z.object({ texts, files: texts }),
    provider: z.enum(PROVIDER_NAMES),
    partner_dispute: z.string(),
  })
  .transform(({ dispute_id: disputeId, attempt_id: attemptId, partner_dispute: partnerDispute, ...row }) => ({
    ...row,
    merchantId: row.merchant_id,
    disputeId,
    attemptId,
    partnerDispute,
  }))
export type TakenAnswer = z.output<typeof takenRow>

/**
 * Takes answers that are to be sent now. The next time is set before the partner is asked: a process that dies then,
 * or gets no answer, leaves it to be asked again under the same key.
 */
export const takeDueAnswers = (db: Queryable, limit: number): Promise<TakenAnswer[]> =>
  many(
    db,
    takenRow,
    sql`with due as (
          select id from dispute_answer where due_at <= now() and livemode = ${db.livemode} order by due_at limit ${limit}
          for update skip locked),
        taken as (
          update dispute_answer a set repeats = a.repeats + 1,
            due_at = now() + ${untilRepeat(sql`a.repeats`)} + interval '1 minute'
          from due where a.id = due.id returning a.*)
        select taken.id, dispute_id, taken.merchant_id, taken.kind, submit, content, d.attempt_id, d.provider, d.partner_dispute
        from taken join dispute d on d.id = dispute_id`,
  )

const endedRow = z.object({ ended: z.number() })

/** Ends an answer, and deletes what is in it. False if it had ended. `refusal`: the partner's words; null: it has it. */
export async function endAnswer(
  tx: Tx,
  { id, refusal }: { readonly id: string; readonly refusal: string | null },
): Promise<boolean> {
  const { ended } = await one(
    tx,
    endedRow,
    sql`with ended as (
          update dispute_answer set state = ${refusal === null ? 'sent' : 'refused'}, refusal = ${refusal}::text, content = null, due_at = null
          where id = ${id} and state = 'sending' returning 1)
        select count(*)::int as ended from ended`,
  )
  return ended === 1
}

/** Has the order read again, as the sweep of disputes does if it finds one changed. */
export async function wakeReading(
  tx: Tx,
  { provider, partnerDispute, attemptId, id }: Pick<TakenAnswer, 'provider' | 'partnerDispute' | 'attemptId' | 'id'>,
): Promise<void> {
  await execute(
    tx,
    sql`insert into partner_callback as e (provider, provider_event_id, attempt_id, body_sha256, received_at)
        values (${provider}, 'dispute:' || ${partnerDispute}, ${attemptId}, sha256(convert_to(${id}, 'UTF8')), now())
        on conflict (provider, provider_event_id) do update set body_sha256 = excluded.body_sha256, seq = default,
          received_at = excluded.received_at, applied_at = null, repeats = 0, due_at = excluded.due_at`,
  )
}
