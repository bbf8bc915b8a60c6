import { z } from 'zod'
import { execute, many, type Queryable, sql, type Tx } from '../db.ts'

/**
 * The last rates that were used, by currency. A rate that is far from it is a mistake of its source until an operator
 * says that it is right: no market of these currencies moves so far in an hour.
 */

export type OfferedRate = { readonly currency: string; readonly rate: string }

const currencyRow = z.object({ currency: z.string() })

/**
 * Returns the currencies whose rates are within 20 % below and 25 % above the last one. It is replaced once an hour, so
 * many small steps do not go further. Other rates are stored as refused. A first rate is accepted.
 */
export async function acceptRates(db: Queryable, offered: readonly OfferedRate[]): Promise<ReadonlySet<string>> {
  const rows = await many(
    db,
    currencyRow,
    sql`with offered as (
          select currency, rate
          from unnest(${offered.map(({ currency }) => currency)}::text[],
            ${offered.map(({ rate }) => rate)}::numeric[]) as offered(currency, rate)),
        judged as (
          select currency, offered.rate, refused_rate, accepted_at,
            stored.rate is null or offered.rate between stored.rate * 0.8 and stored.rate * 1.25 as is_near
          from offered left join accepted_rate stored using (currency)),
        accepted as (
          insert into accepted_rate as stored (currency, rate)
          select currency, rate from judged
          where is_near and (accepted_at is null or accepted_at < now() - interval '1 hour' or refused_rate is not null)
          on conflict (currency) do update
          set rate = case when stored.accepted_at < now() - interval '1 hour' then excluded.rate else stored.rate end,
            accepted_at = case when stored.accepted_at < now() - interval '1 hour' then now() else stored.accepted_at end,
            refused_rate = null
          where excluded.rate between stored.rate * 0.8 and stored.rate * 1.25),
        refused as (
          update accepted_rate stored set refused_rate = judged.rate
          from judged
          where judged.currency = stored.currency and not is_near and stored.refused_rate is distinct from judged.rate)
        select currency from judged where is_near`,
  )
  return new Set(rows.map(({ currency }) => currency))
}

/** Makes it the rate that later ones are compared with. */
export async function setAcceptedRate(tx: Tx, { currency, rate }: OfferedRate): Promise<void> {
  await execute(
    tx,
    sql`insert into accepted_rate (currency, rate) values (${currency}, ${rate}::numeric)
        on conflict (currency) do update set rate = excluded.rate, accepted_at = now(), refused_rate = null`,
  )
}
