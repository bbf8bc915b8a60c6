import { z } from 'zod'
import { INCIDENTS, INTENT_KINDS, type Incident, type Intent, MISFITS } from '../../../domain/payment/money/intents.ts'
import { PART_KINDS, PART_STATES, type Part } from '../../../domain/payment/money/parts.ts'
import type { StoredSale } from '../../../domain/payment/payment-object.ts'
import { type Statement, sql } from '../../db.ts'

/** Rows of part, sale, intent and incident, read with their payment, parsed into the domain's types. */

const part = z
  .object({
    key: z.string(),
    attempt_id: z.string(),
    kind: z.enum(PART_KINDS),
    asset: z.string(),
    units: z.string(),
    charge_minor: z.string(),
    state: z.enum(PART_STATES),
    state_before: z.enum(PART_STATES).nullable(),
  })
  .transform(
    ({ attempt_id: attemptId, charge_minor: chargeMinor, state_before: stateBefore, ...row }): Part => ({
      ...row,
      attemptId,
      chargeMinor,
      stateBefore,
    }),
  )

const units = z.string().transform(BigInt)
const sale = z
  .object({
    number: z.number(),
    attempt_id: z.string(),
    units,
    gross_micro: units,
    fill_micro: units.nullable(),
    reference: z.string().nullable(),
    state: z.enum(['asked', 'filled', 'ended']),
  })
  .transform(
    ({ attempt_id: accountId, gross_micro: gross, fill_micro: fill, ...row }): StoredSale => ({
      ...row,
      accountId,
      gross,
      fill,
    }),
  )

const intent = z
  .object({
    id: z.string(),
    key: z.string(),
    kind: z.enum(INTENT_KINDS),
    attempt_id: z.string().nullable(),
    state: z.enum(['asked', 'pending']),
    operator: z.string(),
    reason: z.string(),
  })
  .transform(({ attempt_id: attemptId, ...row }): Intent => ({ ...row, attemptId }))

const sum = z.object({ minor: z.string(), currency: z.string() })
const incident = z
  .object({
    kind: z.enum(INCIDENTS),
    attempt_id: z.string().nullable(),
    misfit: z.object({ why: z.enum(MISFITS), status: z.string(), amount: sum, received: sum.nullable() }).nullable(),
  })
  .transform(({ attempt_id: attemptId, ...row }): Incident => ({ ...row, attemptId }))

export const moneyRow = z.object({
  parts: z.array(part),
  sales: z.array(sale),
  intents: z.array(intent),
  incidents: z.array(incident),
})

/**
 * Columns for `moneyRow`: everything about the money of a payment in the round trip that reads its attempts. Amounts are
 * text, because a JSON number would lose digits. After a lock this must be a statement of its own: one that waited for
 * the lock would still see what was there before.
 */
export function moneyColumns(paymentId: Statement): Statement {
  return sql`
    coalesce((select jsonb_agg(jsonb_build_object('key', key, 'attempt_id', attempt_id, 'kind', kind, 'asset', asset,
        'units', units::text, 'charge_minor', charge_minor::text, 'state', state, 'state_before', state_before) order by id)
      from part where payment_id = ${paymentId}), '[]') as parts,
    coalesce((select jsonb_agg(jsonb_build_object('number', number, 'attempt_id', attempt_id, 'units', units::text,
        'gross_micro', gross_micro::text, 'fill_micro', fill_micro::text, 'reference', reference, 'state', state)
        order by number)
      from sale where payment_id = ${paymentId}), '[]') as sales,
    coalesce((select jsonb_agg(jsonb_build_object('id', id::text, 'key', key, 'kind', kind, 'attempt_id', attempt_id,
        'state', state, 'operator', operator, 'reason', reason) order by id)
      from intent where payment_id = ${paymentId} and state in ('asked', 'pending')), '[]') as intents,
    coalesce((select jsonb_agg(jsonb_build_object('kind', kind, 'attempt_id', attempt_id, 'misfit', misfit) order by id)
      from incident where payment_id = ${paymentId} and closed_at is null), '[]') as incidents`
}
