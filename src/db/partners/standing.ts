import { z } from 'zod'
import { PROVIDER_NAMES, type ProviderName } from '../../domain/methods.ts'
import {
  DOWN_REASONS,
  doubted,
  type FailedCall,
  openedAnOrder,
  type Standing,
  suspected,
  working,
} from '../../domain/partner/standing.ts'
import { type Db, execute, many, maybeOne, one, type Queryable, sql, type Tx } from '../db.ts'
import { time } from '../payments/payment-rows.ts'

/** All times are those of the database, so that the clocks of processes need not agree. */

const ms = z.coerce.number().transform(Math.round)

const standingRow = z.object({
  provider: z.enum(PROVIDER_NAMES),
  downSince: ms.nullable(),
  why: z.enum(DOWN_REASONS).nullable(),
  suspects: z.array(z.object({ paymentId: z.string(), merchantId: z.string(), at: z.number() })),
  misses: z.number(),
  answers: z.number(),
  falls: z.number(),
  fellAt: ms.nullable(),
  askAt: ms.nullable(),
})

const columns = sql`provider, extract(epoch from down_since) * 1000 as "downSince", why, suspects, misses, answers, falls,
  extract(epoch from fell_at) * 1000 as "fellAt", extract(epoch from ask_at) * 1000 as "askAt"`

export function listStandings(db: Queryable): Promise<Standing[]> {
  return many(db, standingRow, sql`select ${columns} from partner_standing order by provider`)
}

const nowRow = z.object({ now: ms })

/** One process at a time. Returns it before and after. `now` is the database's clock, in Unix milliseconds. */
export function changeStanding(
  db: Db,
  provider: ProviderName,
  change: (standing: Standing, now: number) => Standing,
): Promise<{ before: Standing; after: Standing }> {
  return db.transaction(async (tx) => {
    const before =
      (await maybeOne(
        tx,
        standingRow,
        sql`select ${columns} from partner_standing where provider = ${provider} for update`,
      )) ?? working(provider)
    const { now } = await one(tx, nowRow, sql`select extract(epoch from clock_timestamp()) * 1000 as now`)
    const after = change(before, now)
    if (after !== before) await store(tx, after)
    return { before, after }
  })
}

const suspectRow = z.object({ paymentId: z.string(), merchantId: z.string() })

/** Records that the payment of an attempt could not continue. It ignores an attempt that does not exist. */
export async function suspectPartner(db: Db, { provider, attemptId, isOpening }: FailedCall): Promise<void> {
  const found = await maybeOne(
    db,
    suspectRow,
    sql`select p.id as "paymentId", p.merchant_id as "merchantId" from attempt a join payment p on p.id = a.payment_id
        where a.id = ${attemptId} and p.livemode = ${db.livemode}`,
  )
  if (found === null) return
  // Two processes that find no row both insert one: the second insert changes nothing.
  await execute(db, sql`insert into partner_standing (provider) values (${provider}) on conflict do nothing`)
  await changeStanding(db, provider, (standing, now) =>
    isOpening ? suspected(standing, { ...found, at: now }) : doubted(standing, now),
  )
}

export async function clearPartner(db: Db, provider: ProviderName): Promise<void> {
  await changeStanding(db, provider, openedAnOrder)
}

/** Seconds that one process has for a question; if it dies within that time, another process asks afterwards. */
const ASKING_SECONDS = 20

const providerRow = z.object({ provider: z.enum(PROVIDER_NAMES) })

export async function claimQuestions(db: Queryable): Promise<ProviderName[]> {
  const rows = await many(
    db,
    providerRow,
    sql`update partner_standing set ask_at = clock_timestamp() + make_interval(secs => ${ASKING_SECONDS})
        where ask_at <= clock_timestamp() returning provider`,
  )
  return rows.map(({ provider }) => provider)
}

const downRow = z.object({
  partner: z.enum(PROVIDER_NAMES),
  why: z.enum(DOWN_REASONS),
  since: time,
  seconds: z.coerce.number(),
})
export type Down = z.output<typeof downRow>

export function listDown(db: Queryable): Promise<Down[]> {
  return many(
    db,
    downRow,
    sql`select provider as partner, why, down_since as since, extract(epoch from now() - down_since) as seconds from partner_standing
        where down_since is not null order by down_since`,
  )
}

async function store(tx: Tx, standing: Standing): Promise<void> {
  const { provider, downSince, why, suspects, misses, answers, falls, fellAt, askAt } = standing
  await execute(
    tx,
    sql`update partner_standing set down_since = to_timestamp(${downSince}::float8 / 1000), why = ${why},
          suspects = ${JSON.stringify(suspects)}::jsonb, misses = ${misses}, answers = ${answers}, falls = ${falls},
          fell_at = to_timestamp(${fellAt}::float8 / 1000), ask_at = to_timestamp(${askAt}::float8 / 1000)
        where provider = ${provider}`,
  )
}
