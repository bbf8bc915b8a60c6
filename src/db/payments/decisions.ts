import { z } from 'zod'
import { ANSWERS } from '../../domain/payment/funds/answer.ts'
import { execute, many, maybeOne, type Queryable, sql, type Tx } from '../db.ts'
import { time } from './payment-rows.ts'

/** The decisions of operators, for the auditor, and so that none is recorded twice. */

const SAYS = [...ANSWERS, 'refund_succeeded', 'refund_failed'] as const
type DecidedSay = (typeof SAYS)[number]

type NewDecision = {
  readonly paymentId: string
  readonly version: number
  readonly say: DecidedSay
  readonly attemptId: string | null
  readonly outside: boolean
  readonly proof?: string
  readonly operator: string
  readonly reason: string
  readonly at: string
}

export async function insertDecision(tx: Tx, decision: NewDecision): Promise<void> {
  const { paymentId, version, say, attemptId, outside, proof = null, operator, reason, at } = decision
  await execute(
    tx,
    sql`insert into decision (payment_id, version, say, attempt_id, outside, proof, operator, reason, at)
        values (${paymentId}, ${version}, ${say}, ${attemptId}, ${outside}, ${proof}, ${operator}, ${reason},
          ${at}::timestamptz)`,
  )
}

const answerRow = z.object({ say: z.enum(SAYS), operator: z.string() })

/** Returns the decision that led to this version; null: the version has another cause. */
export function findDecision(
  tx: Tx,
  { paymentId, version }: { readonly paymentId: string; readonly version: number },
): Promise<{ say: DecidedSay; operator: string } | null> {
  return maybeOne(
    tx,
    answerRow,
    sql`select say, operator from decision where payment_id = ${paymentId} and version = ${version}`,
  )
}

const usedRow = z.object({ used: z.boolean() })

const decisionRow = z.object({
  at: time,
  version: z.number(),
  say: z.enum(SAYS),
  attempt_id: z.string().nullable(),
  outside: z.boolean(),
  proof: z.string().nullable(),
  operator: z.string(),
  reason: z.string(),
})
export type StoredDecision = z.output<typeof decisionRow>

export function listDecisions(db: Queryable, paymentId: string): Promise<StoredDecision[]> {
  return many(
    db,
    decisionRow,
    sql`select at, version, say, attempt_id, outside, proof, operator, reason from decision
        where payment_id = ${paymentId} order by version`,
  )
}

/** True if the proof was recorded for a give-back or a refund, in any spelling. */
export async function isProofUsed(tx: Tx, proof: string): Promise<boolean> {
  const row = await maybeOne(
    tx,
    usedRow,
    sql`select true as used from decision where plain_proof(proof) = plain_proof(${proof})`,
  )
  return row !== null
}
