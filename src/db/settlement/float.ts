import { z } from 'zod'
import { CURRENCIES, type Currency } from '../../domain/currencies.ts'
import { refillDone, refillEnded, refillOpened } from '../../domain/ledger.ts'
import type { MicroUsdc } from '../../domain/money.ts'
import type { FloatStanding } from '../../domain/settlement/float.ts'
import type { Exposure, Refill, RefillPartnerName, RefillTransfer } from '../../domain/settlement/refill.ts'
import { execute, many, maybeOne, one, type Queryable, type Statement, sql, type Tx } from '../db.ts'
import { book } from '../ledger.ts'
import type { SettlementScope } from './context.ts'
import { hex } from './payouts.ts'

/** The float: USDC of the treasuries that no merchant is owed. Refills turn the money at partners into new float. */

const free = sql`(select coalesce(sum(micro - owed_micro), 0) from treasury_change)`

/**
 * True if a conversion of this gross amount leaves the reserve. Conversions are checked one after the other. It reads a
 * few rows, however many payouts wait.
 */
export const leavesReserve = (reserveMicro: MicroUsdc, grossMicro: MicroUsdc): Statement =>
  sql`leaves_reserve(${reserveMicro}::numeric, ${grossMicro}::numeric)`

const currency = z.enum(CURRENCIES as [Currency, ...Currency[]])
const exposureRow = z.object({ currency, minor: z.string(), cost: z.string() })

/** The money that payments brought up to a day, less what refills have taken. */
const exposedUntil = (day: Statement): Statement =>
  sql`select currency, sum(units) as units, sum(cost_micro) as cost from (
        select currency, units, cost_micro from exposure_change where day <= ${day}
        union all select currency, -units, -cost_micro from refill where state <> 'ended') change group by currency`

const floatRow = z.object({ free: z.string(), count: z.coerce.number(), micro: z.string(), seconds: z.coerce.number() })
const openRefillRow = z.object({
  id: z.string(),
  partner: z.enum(['bridge', 'operator']),
  currency,
  minor: z.string(),
  word: z.string().nullable(),
  instructions: z.string().nullable(),
  is_stuck: z.boolean(),
  seconds: z.coerce.number(),
})
const resultRow = z.object({ currency, gainMicro: z.string(), spreadMicro: z.string(), costMicro: z.string() })

/** Reads the state of the float. Ages are in seconds. */
export async function readFloat(db: Queryable, reserveMicro: MicroUsdc): Promise<FloatStanding> {
  const [balance, exposures, refills, results] = await Promise.all([
    readFloatBalance(db),
    readExposures(db),
    readOpenRefills(db),
    readRefillResults(db),
  ])
  return { ...balance, reserveMicro, exposures, refills, results }
}

export async function readFloatBalance(db: Queryable): Promise<Pick<FloatStanding, 'freeMicro' | 'waiting'>> {
  const row = await one(
    db,
    floatRow,
    sql`select ${free}::text as free, count(*), coalesce(sum(gross_micro), 0)::text as micro,
          coalesce(extract(epoch from now() - min(asked_at)), 0) as seconds from sale where state = 'asked'`,
  )
  return { freeMicro: row.free, waiting: { count: row.count, micro: row.micro, oldestSeconds: row.seconds } }
}

export async function readExposures(db: Queryable): Promise<Exposure[]> {
  const rows = await many(
    db,
    exposureRow,
    sql`select currency, units::text as minor, cost::text from (${exposedUntil(sql`'infinity'`)}) exposed
        where units <> 0 or cost <> 0 order by currency`,
  )
  return rows.map(({ currency, minor, cost }) => ({ money: { minor, currency }, costMicro: cost }))
}

export async function readOpenRefills(db: Queryable): Promise<FloatStanding['refills'][number][]> {
  const rows = await many(
    db,
    openRefillRow,
    sql`select id, partner, currency, units::text as minor, word, instructions, is_stuck,
          extract(epoch from now() - created_at) as seconds from refill where state = 'open' order by created_at`,
  )
  return rows.map(({ minor, currency, is_stuck: isStuck, ...row }) => ({ ...row, isStuck, money: { minor, currency } }))
}

export function readRefillResults(db: Queryable): Promise<FloatStanding['results'][number][]> {
  return many(
    db,
    resultRow,
    sql`select currency, sum(market_micro - cost_micro)::text as "gainMicro",
          sum(market_micro - micro)::text as "spreadMicro", sum(cost_micro)::text as "costMicro"
        from refill where state = 'done' and ended_at > now() - interval '30 days' group by currency order by currency`,
  )
}

export type NewRefill = {
  readonly id: string
  readonly partner: RefillPartnerName
  readonly currency: Currency
  /** The last day (`2026-11-28`) whose money partners have settled. */
  readonly settledDay: string
  /** Minor units to take, with their share of the cost; null: all settled money. */
  readonly minor: string | null
  /** A smaller exposure is left for a later refill. */
  readonly leastMicro: MicroUsdc
  readonly txHash: string | null
  /** ISO 8601. */
  readonly at: string
}

const openedRow = z.object({ minor: z.string() })

/** Opens a refill of settled money of the currency. False: too little, one is open, or another claims the transaction. */
export async function openRefill(tx: Tx, refill: NewRefill): Promise<boolean> {
  const { id, partner, currency, settledDay, minor, leastMicro, txHash, at } = refill
  // Reads the exposure after every other refill that takes of it is committed.
  await execute(tx, sql`lock table refill in share row exclusive mode`)
  const opened = await maybeOne(
    tx,
    openedRow,
    sql`insert into refill (id, partner, currency, units, cost_micro, state, tx_hash, due_at, created_at)
        select ${id}, ${partner}, currency, taken, div(cost * taken, units), 'open', ${txHash},
          ${at}::timestamptz, ${at}::timestamptz
        from (${exposedUntil(sql`${settledDay}::date`)}) exposed, lateral (select coalesce(${minor}::numeric, units) as taken) part
        where currency = ${currency} and taken > 0 and taken <= units and cost >= ${leastMicro}::numeric
        on conflict do nothing returning units::text as minor`,
  )
  if (opened === null) return false
  return book(tx, refillOpened({ refillId: id, money: { minor: opened.minor, currency } }), at)
}

const refillRow = z.object({
  id: z.string(),
  partner: z.enum(['bridge', 'operator']),
  currency,
  minor: z.string(),
  cost: z.string(),
  asked: z.date().nullable(),
  reference: z.string().nullable(),
  tx_hash: hex.nullable(),
})

/**
 * Takes the open refills that are due, for this process alone until `nextAt`. A refill without a transfer counts as
 * requested from now on: its request might have an effect although no answer to it is stored.
 */
export async function takeRefills(
  db: Queryable,
  { at, nextAt }: { readonly at: string; readonly nextAt: string },
): Promise<Refill[]> {
  const rows = await many(
    db,
    refillRow,
    sql`update refill set due_at = ${nextAt}::timestamptz, asked_at = coalesce(asked_at, ${at}::timestamptz)
        where state = 'open' and due_at <= ${at}::timestamptz
        returning id, partner, currency, units::text as minor, cost_micro::text as cost, asked_at as asked, reference, tx_hash`,
  )
  return rows.map(({ id, partner, currency, minor, cost, asked, reference, tx_hash }) => ({
    id,
    partner,
    money: { minor, currency },
    costMicro: cost,
    askedAt: asked?.toISOString() ?? null,
    reference,
    txHash: tx_hash,
  }))
}

export async function storeTransfer(db: Queryable, id: string, transfer: RefillTransfer): Promise<void> {
  await execute(
    db,
    sql`update refill set reference = ${transfer.reference}, word = ${transfer.word},
          instructions = ${transfer.instructions}, is_stuck = ${transfer.state === 'stuck'}, tx_hash = ${transfer.txHash}
        where id = ${id} and state = 'open' and (reference is null or reference = ${transfer.reference})`,
  )
}

export async function storeWord(db: Queryable, id: string, word: string): Promise<void> {
  await execute(db, sql`update refill set word = ${word} where id = ${id} and state = 'open'`)
}

/** Has the partner asked at once: its webhook was about this refill, by its own id or the partner's. */
export async function hastenRefill(
  db: Queryable,
  { id, reference, at }: { id: string | null; reference: string; at: string },
): Promise<void> {
  await execute(
    db,
    sql`update refill set due_at = least(due_at, ${at}::timestamptz)
        where state = 'open' and (reference = ${reference} or id = ${id})`,
  )
}

const endedRow = z.object({ currency, minor: z.string() })

/** Ends a refill that brings nothing: its money is exposed as before. False if it has ended already. */
export async function endRefill(tx: Tx, { id, word, at }: { id: string; word: string; at: string }): Promise<boolean> {
  const ended = await maybeOne(
    tx,
    endedRow,
    sql`update refill set state = 'ended', word = ${word}, ended_at = ${at}::timestamptz
        where id = ${id} and state = 'open' returning currency, units::text as minor`,
  )
  return ended !== null && book(tx, refillEnded({ refillId: id, money: ended }), at)
}

const arrivedRow = z.object({ micro: z.string().nullable() })

/** Returns the micro-USDC that the final transaction brought to the treasuries; null: not all of it is booked yet. */
export async function readArrived(
  db: Queryable,
  { chainId, token }: Pick<SettlementScope, 'chainId' | 'token'>,
  txHash: string,
): Promise<MicroUsdc | null> {
  const { micro } = await one(
    db,
    arrivedRow,
    sql`select case when bool_and(applied_at is not null) then sum(micro_usdc) filter (where exists (
            select from ledger_transaction t where t.kind = 'received'
              and t.reference = l.tx_hash || ':' || coalesce(l.known_index, l.log_index))) end::text as micro
        from treasury_log l where chain_id = ${chainId} and token = ${token} and tx_hash = ${txHash} and kind = 'in'`,
  )
  return micro
}

/** Claims what has arrived, and books gain and spread. False if it has ended already. */
export async function completeRefill(
  tx: Tx,
  { refill, micro, marketMicro, at }: { refill: Refill; micro: MicroUsdc; marketMicro: MicroUsdc; at: string },
): Promise<boolean> {
  const { id, money, costMicro } = refill
  const done = await execute(
    tx,
    sql`update refill set state = 'done', micro = ${micro}::numeric, market_micro = ${marketMicro}::numeric,
          ended_at = ${at}::timestamptz
        where id = ${id} and state = 'open'`,
  )
  return done === 1 && book(tx, refillDone({ refillId: id, money, costMicro, marketMicro, micro }), at)
}
