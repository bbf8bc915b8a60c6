import { z } from 'zod'
import { PROVIDER_NAMES, type ProviderName } from '../../domain/methods.ts'
import type { PartnerDispute } from '../../domain/payment/partner.ts'
import { type Db, execute, many, type Queryable, sql } from '../db.ts'

/** The sweep of disputes: when each partner's disputes are listed, and what a list finds. */

/** Seconds until another worker lists them, if the one that began has failed or died. */
const SWEEPING_SECONDS = 300

const sweepRow = z.object({ provider: z.enum(PROVIDER_NAMES), token: z.string() })

/** `token` is of this sweep: a callback that arrives during it makes the next one due. */
export type DisputeSweep = z.infer<typeof sweepRow>

export function takeSweeps(db: Queryable): Promise<DisputeSweep[]> {
  return many(
    db,
    sweepRow,
    sql`update dispute_sweep set begun_at = clock_timestamp(),
          due_at = clock_timestamp() + make_interval(secs => ${SWEEPING_SECONDS})
        where due_at <= clock_timestamp() returning provider, due_at::text as token`,
  )
}

export async function finishSweep(
  db: Queryable,
  { provider, token }: DisputeSweep,
  nextInSeconds: number,
): Promise<void> {
  await execute(
    db,
    sql`update dispute_sweep set due_at = clock_timestamp() + make_interval(secs => ${nextInSeconds})
        where provider = ${provider} and due_at = ${token}::timestamptz`,
  )
}

/** Seconds between two sweeps that callbacks bring forward: a burst of them costs one. */
const APART_SECONDS = 15

/** Makes the next sweep of the provider's disputes due, also if one is running that might have listed them before. */
export async function bringSweepForward(db: Queryable, provider: ProviderName): Promise<void> {
  await execute(
    db,
    sql`update dispute_sweep
        set due_at = least(due_at, greatest(clock_timestamp(), begun_at + make_interval(secs => ${APART_SECONDS})))
        where provider = ${provider}`,
  )
}

const storedRow = z.object({ attempt_id: z.string() })

/**
 * Stores disputes that are new or have changed, each as an unread callback of its attempt, which is then read with its
 * disputes. Disputes about other payments are skipped: the next sweep finds those of a payment that was not read yet.
 * Returns the number of callbacks.
 */
export function storeDisputes(
  db: Db,
  { provider, disputes }: { readonly provider: ProviderName; readonly disputes: readonly PartnerDispute[] },
): Promise<number> {
  if (disputes.length === 0) return Promise.resolve(0)
  const known = sql`(select distinct on (d.id) a.id as attempt_id, d.id, d.state
      from jsonb_to_recordset(${JSON.stringify(disputes)}::jsonb) as d (id text, payment text, state text)
        join attempt a on a.partner_payments <> '{}' and a.partner_payments @> array[d.payment]
        join payment p on p.id = a.payment_id
      where a.provider = ${provider} and p.livemode = ${db.livemode})`
  return db.transaction(async (tx) => {
    // The attempt first, in the order in which a change of its payment writes.
    await execute(
      tx,
      sql`update attempt set partner_disputes = partner_disputes || found.ids
          from (select known.attempt_id, array_agg(distinct known.id) as ids
                from ${known} known join attempt a on a.id = known.attempt_id
                where not a.partner_disputes @> array[known.id] group by known.attempt_id) found
          where attempt.id = found.attempt_id`,
    )
    const stored = await many(
      tx,
      storedRow,
      sql`insert into partner_callback as e (provider, provider_event_id, attempt_id, body_sha256, received_at)
          select ${provider}, 'dispute:' || known.id, known.attempt_id, sha256(convert_to(known.state, 'UTF8')), now()
          from ${known} known
          on conflict (provider, provider_event_id) do update set body_sha256 = excluded.body_sha256, seq = default,
            received_at = excluded.received_at, applied_at = null, repeats = 0, due_at = excluded.due_at
          where e.body_sha256 <> excluded.body_sha256 returning attempt_id`,
    )
    return stored.length
  })
}
