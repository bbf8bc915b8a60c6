import { z } from 'zod'
import type { Incident, Intent } from '../../../domain/payment/money/intents.ts'
import type { Part, PartState } from '../../../domain/payment/money/parts.ts'
import type { StoredSale } from '../../../domain/payment/payment-object.ts'
import { execute, maybeOne, sql, type Tx } from '../../db.ts'

/** The statements that write what is known about the money of a locked payment. Only payment-changes.ts runs them. */

/** What another party is to be asked for. */
export type NewIntent = Omit<Intent, 'id' | 'state'>

type Where = { readonly paymentId: string; readonly at: string }

/** Stores a fact about money. False when it was stored before. */
export async function insertPart(tx: Tx, part: Part, { paymentId, at }: Where): Promise<boolean> {
  const written = await execute(
    tx,
    sql`insert into part (payment_id, attempt_id, key, kind, asset, units, charge_minor, state, state_before, at)
        values (${paymentId}, ${part.attemptId}, ${part.key}, ${part.kind}, ${part.asset}, ${part.units}::numeric,
          ${part.chargeMinor}::numeric, ${part.state}, ${part.stateBefore ?? null}, ${at}::timestamptz)
        on conflict (key) do nothing`,
  )
  return written > 0
}

/** Stores a sale, or the answer of the converter about it. */
export async function writeSale(tx: Tx, sale: StoredSale, { paymentId, at }: Where): Promise<void> {
  const fill = sale.fill?.toString() ?? null
  await execute(
    tx,
    sql`insert into sale (payment_id, number, attempt_id, units, gross_micro, fill_micro, reference, state, asked_at)
        values (${paymentId}, ${sale.number}, ${sale.accountId}, ${sale.units.toString()}::numeric,
          ${sale.gross.toString()}::numeric, ${fill}::numeric, ${sale.reference}, ${sale.state}, ${at}::timestamptz)
        on conflict (payment_id, number) do update set fill_micro = excluded.fill_micro,
          reference = excluded.reference, state = excluded.state`,
  )
}

/** Gives the parts of an attempt that have one of these states another one. The domain's `restated` says the same. */
export async function restateParts(
  tx: Tx,
  attemptId: string,
  { from, to }: { readonly from: readonly PartState[]; readonly to: PartState },
): Promise<void> {
  const before = to === 'returning' ? sql`state` : sql`null`
  await execute(
    tx,
    sql`update part set state = ${to}, state_before = ${before}
        where attempt_id = ${attemptId} and state = any(${[...from]})`,
  )
}

/** Gives what was on its way back the state that it had before. */
export async function putBackParts(tx: Tx, attemptId: string): Promise<void> {
  await execute(
    tx,
    sql`update part set state = state_before, state_before = null where attempt_id = ${attemptId} and state = 'returning'`,
  )
}

/** Stores what is asked for. One that was refused is asked again, as another one; null: one that is open or done stays as it is. */
export async function insertIntent(tx: Tx, intent: NewIntent, { paymentId, at }: Where): Promise<Intent | null> {
  const stored = await maybeOne(
    tx,
    z.object({ id: z.string() }),
    sql`insert into intent (payment_id, attempt_id, kind, key, state, operator, reason, asked_at)
        values (${paymentId}, ${intent.attemptId}, ${intent.kind}, ${intent.key}, 'asked', ${intent.operator},
          ${intent.reason}, ${at}::timestamptz)
        on conflict (key) do update set id = default, state = 'asked', operator = excluded.operator, reason = excluded.reason,
          asked_at = excluded.asked_at
        where intent.state = 'refused' returning id::text`,
  )
  return stored === null ? null : { ...intent, ...stored, state: 'asked' }
}

export async function writeIntent(
  tx: Tx,
  { key, state }: { readonly key: string; readonly state: 'pending' | 'done' | 'refused' },
): Promise<void> {
  await execute(tx, sql`update intent set state = ${state} where key = ${key} and state in ('asked', 'pending')`)
}

/**
 * Opens it, which is a change of the payment: who decides about it names the version. So is what comes to an open one: a
 * misfit takes over what the partner says now, and of what nobody describes each is another. Since when the payment waits
 * stays as it was. False when nothing was written: the partner has said the same, and an operator has it before them or has
 * dealt with it. `isAlwaysHeard`: it opens although somebody has dealt with the same words before.
 */
export async function insertIncident(
  tx: Tx,
  incident: Incident,
  { paymentId, at, isAlwaysHeard }: Where & { readonly isAlwaysHeard: boolean },
): Promise<boolean> {
  const { kind, attemptId } = incident
  const misfit = incident.misfit == null ? null : JSON.stringify(incident.misfit)
  const written = await execute(
    tx,
    sql`with written as (
        insert into incident (payment_id, attempt_id, kind, misfit, opened_at)
        select ${paymentId}, ${attemptId}, ${kind}, ${misfit}::jsonb, ${at}::timestamptz
        where ${isAlwaysHeard} or not exists (
          select 1 from (
            select misfit, closed_at, gone from incident
            where payment_id = ${paymentId} and kind = ${kind} and attempt_id is not distinct from ${attemptId}
            order by id desc limit 1) as last
          where last.closed_at is not null and not last.gone and last.misfit = ${misfit}::jsonb)
        on conflict (payment_id, kind, coalesce(attempt_id, '')) where closed_at is null
          do update set misfit = excluded.misfit
          where excluded.misfit is null or incident.misfit is distinct from excluded.misfit
        returning 1)
        update payment set version = version + 1 where id = ${paymentId} and exists (select from written)`,
  )
  return written > 0
}

/** As gone it closes also what an operator has closed before: said again, that is new. False when there is none. */
export async function closeIncident(
  tx: Tx,
  { kind, attemptId }: Incident,
  { paymentId, at, isGone }: Where & { readonly isGone: boolean },
): Promise<boolean> {
  const closed = await execute(
    tx,
    sql`with closed as (
        update incident set closed_at = coalesce(closed_at, ${at}::timestamptz), gone = ${isGone}
        where payment_id = ${paymentId} and kind = ${kind} and attempt_id is not distinct from ${attemptId}
          and (closed_at is null or (${isGone} and not gone))
        returning 1)
        update payment set version = version + 1 where id = ${paymentId} and exists (select from closed)`,
  )
  return closed > 0
}
