import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import type { MicroUsdc } from '../../domain/money.ts'
import type { Settlement } from '../../domain/settlement/payout.ts'
import type { PaidRelease } from '../../domain/settlement/reserve-release.ts'
import { payoutNonce } from '../../evm/payout-nonce.ts'
import { releaseId } from '../../evm/release-id.ts'
import { execute, many, maybeOne, one, type Queryable, sql, type Tenant, type Tx } from '../db.ts'
import { currentAddress } from '../merchants/wallets.ts'
import { time } from '../payments/payment-rows.ts'
import type { SettlementScope } from '../settlement/context.ts'
import { hex } from '../settlement/payouts.ts'
import { dueOn, isFreshlyRestored, isHeldBack, releasable } from './held-back.ts'

/** Reserves and deductions that are due, and the payouts that release them. */

/** Amounts that payments of one merchant hold back, and that were due on one day (UTC). */
export type DueReserves = { readonly merchantId: string; readonly dueOn: string; readonly wallet: string }

const dueRow = z
  .object({ merchant_id: z.string(), due_on: z.string(), wallet: z.string() })
  .transform((row): DueReserves => ({ merchantId: row.merchant_id, dueOn: row.due_on, wallet: row.wallet }))

/**
 * Lists the reserves that are due, the oldest first. Those of a merchant without a wallet wait for one, and those of a
 * suspended one for its payouts. After a restored backup all wait until the chain has shown what the backup lacks.
 */
export const listDueReserves = (
  db: Queryable,
  { livemode, chainId, token }: SettlementScope,
  { today, limit }: { readonly today: string; readonly limit: number },
): Promise<DueReserves[]> =>
  many(
    db,
    dueRow,
    sql`select due.merchant_id, due.due_on::text, ${currentAddress} as wallet
        from (select merchant_id, due_on from ${releasable}
            where livemode = ${livemode} and due_on <= ${today}::date and chain_id = ${chainId} and token = ${token}
              and not exists (select from agreement a where a.merchant_id = held.merchant_id and a.holds_payouts)
            group by 1, 2) due
          join wallet on (wallet.merchant_id, wallet.livemode) = (due.merchant_id, ${livemode})
        where not exists (select from chain_cursor c where c.chain_id = ${chainId}
          and c.token = ${token} and ${isFreshlyRestored(sql`c.restored_at`)})
        order by due.due_on, due.merchant_id limit ${limit}`,
  )

const idRow = z.object({ id: z.string() })

/** Lists the payments whose reserves are due then, also those of which chargebacks have taken all. */
export async function listWholeReserves(
  tx: Tx,
  { livemode, chainId, token }: SettlementScope,
  { merchantId, dueOn: day }: Pick<DueReserves, 'merchantId' | 'dueOn'>,
): Promise<string[]> {
  const rows = await many(
    tx,
    idRow,
    sql`select id from payment where merchant_id = ${merchantId} and livemode = ${livemode}
          and ${dueOn} = ${day}::date and reserve_percent is not null and status = 'succeeded'
          and chain_id = ${chainId} and lower(token) = ${token} order by id`,
  )
  return rows.map(({ id }) => id)
}

/** The amount of a release that belongs to one payment. `of`: its reserve, or what was deducted from it for a refund. */
export type ReleasePart = {
  readonly paymentId: string
  readonly of: 'reserve' | 'deduction'
  readonly micro: MicroUsdc
}

const partRow = z
  .object({ payment_id: z.string(), of: z.enum(['reserve', 'deduction']), micro: z.string() })
  .transform((row): ReleasePart => ({ paymentId: row.payment_id, of: row.of, micro: row.micro }))

/** Lists what is due then. The amounts are those of the moment: the payments are not locked. */
export const listDueParts = (
  tx: Tx,
  { livemode, chainId, token }: SettlementScope,
  { merchantId, dueOn: day }: Pick<DueReserves, 'merchantId' | 'dueOn'>,
): Promise<ReleasePart[]> =>
  many(
    tx,
    partRow,
    sql`select payment_id, of, micro::text from ${releasable} where merchant_id = ${merchantId} and livemode = ${livemode}
          and due_on = ${day}::date and chain_id = ${chainId} and token = ${token} order by payment_id, of`,
  )

const dayRow = z.object({ day: z.string() })

/**
 * Names the release after the first day from `dueOn` to `today` on which the merchant has none; null: it has one on each. Another
 * day than `dueOn` is only needed for a payment that was read on chain after the others of its day were released.
 */
export async function nameRelease(
  tx: Tx,
  { livemode }: SettlementScope,
  { merchantId, dueOn: from, today }: { readonly merchantId: string; readonly dueOn: string; readonly today: string },
): Promise<{ readonly id: string; readonly day: string } | null> {
  const row = await maybeOne(
    tx,
    dayRow,
    sql`select day::date::text as day from generate_series(${from}::date, ${today}::date, interval '1 day') as day
        where not exists (select from reserve_release r
          where (r.merchant_id, r.livemode, r.due_on) = (${merchantId}, ${livemode}, day::date))
        order by day limit 1`,
  )
  return row === null ? null : { id: releaseId({ merchantId, livemode, day: row.day }), day: row.day }
}

const paidRow = z.object({ recipient: hex, micro: z.string() })

/** Reads the transfer that has used the nonce, although this database has no payout with it: a backup was restored. */
export const readForgottenRelease = (
  tx: Tx,
  { chainId, token }: SettlementScope,
  { id, treasury }: Pick<NewRelease, 'id' | 'treasury'>,
): Promise<z.output<typeof paidRow> | null> =>
  maybeOne(
    tx,
    paidRow,
    sql`select counterparty as recipient, micro_usdc::text as micro from treasury_log where kind = 'out'
          and (auth_nonce, treasury, token, chain_id) = (${payoutNonce({ chainId, token, treasury, ownerId: id })}, ${treasury}, ${token}, ${chainId})`,
  )

/** Until the release can be stored, `settlement_attention` lists it. */
export async function storeDifference(
  db: Queryable,
  { chainId, token }: SettlementScope,
  { id, detail }: { readonly id: string; readonly detail: string },
): Promise<void> {
  await execute(
    db,
    sql`insert into settlement_finding (chain_id, token, kind, subject, detail)
        values (${chainId}, ${token}, 'release_differs', ${id}, ${detail})
        on conflict (chain_id, token, kind, subject) do update set detail = excluded.detail`,
  )
}

/**
 * Records the decision of an operator that the release is what the chain has paid. The next round stores it. False if
 * no such release differs.
 */
export async function acceptDifference(
  tx: Tx,
  { chainId, token }: Omit<SettlementScope, 'livemode'>,
  id: string,
): Promise<boolean> {
  const accepted = await execute(
    tx,
    sql`update settlement_finding set accepted_at = coalesce(accepted_at, now())
        where (chain_id, token, kind, subject) = (${chainId}, ${token}, 'release_differs', ${id})`,
  )
  return accepted > 0
}

export async function isDifferenceAccepted(tx: Tx, { chainId, token }: SettlementScope, id: string): Promise<boolean> {
  const accepted = await execute(
    tx,
    sql`select 1 from settlement_finding where accepted_at is not null
          and (chain_id, token, kind, subject) = (${chainId}, ${token}, 'release_differs', ${id})`,
  )
  return accepted > 0
}

/**
 * Takes the parts from a release whose payout is void. None: it is not, an unknown signature has paid it nevertheless,
 * or they were taken before.
 */
export async function takeVoidedParts(tx: Tx, releaseId: string): Promise<ReleasePart[]> {
  const voided = await execute(
    tx,
    sql`select 1 from payout p join reserve_release r on r.id = p.reserve_release_id
        where r.id = ${releaseId} and p.state = 'voided' and r.tx_hash is null for update`,
  )
  if (voided === 0) return []
  return many(
    tx,
    partRow,
    sql`with taken as (delete from reserve_release_part where release_id = ${releaseId} returning payment_id, micro_usdc)
        select payment_id, 'reserve' as of, micro_usdc::text as micro from taken
        union all select id, 'deduction', deducted_micro::text from payment where deduction_release_id = ${releaseId}`,
  )
}

export type NewRelease = {
  readonly id: string
  readonly merchantId: string
  readonly day: string
  readonly recipient: string
  readonly micro: MicroUsdc
  readonly parts: readonly ReleasePart[]
  readonly treasury: Hex
  /** ISO 8601. */
  readonly at: string
}

/** Stores the release and queues its payout. Throws if the merchant has a release of this day. */
export async function storeRelease(
  tx: Tx,
  { livemode, chainId, token }: SettlementScope,
  { id, merchantId, day, recipient, micro, parts, treasury, at }: NewRelease,
): Promise<void> {
  const to = recipient.toLowerCase()
  const authNonce = payoutNonce({ chainId, token, treasury, ownerId: id })
  await execute(
    tx,
    sql`with release as (
          insert into reserve_release (id, merchant_id, livemode, due_on, recipient, micro_usdc, created_at)
          values (${id}, ${merchantId}, ${livemode}, ${day}::date, ${to}, ${micro}, ${at}::timestamptz) returning id),
          found as (delete from settlement_finding where kind = 'release_differs' and subject = ${id}),
          parts as (insert into reserve_release_part (release_id, payment_id, micro_usdc)
            select release.id, p."paymentId", p.micro from release,
              jsonb_to_recordset(${JSON.stringify(parts)}::jsonb) as p("paymentId" text, of text, micro numeric)
            where p.of = 'reserve')
        insert into payout (reserve_release_id, livemode, chain_id, token, treasury, recipient, micro_usdc, auth_nonce)
        select id, ${livemode}, ${chainId}, ${token}, ${treasury}, ${to}, ${micro}, ${authNonce} from release`,
  )
}

const paidReleaseRow = z
  .object({
    id: z.string(),
    merchant_id: z.string(),
    livemode: z.boolean(),
    due_on: z.string(),
    payments: z.number(),
    micro_usdc: z.string(),
    recipient: z.string(),
    chain_id: z.number(),
    token: z.string(),
    tx_hash: hex,
    finalized_at: time,
    created_at: time,
  })
  .transform(
    (row): PaidRelease => ({
      id: row.id,
      merchantId: row.merchant_id,
      livemode: row.livemode,
      dueOn: row.due_on,
      payments: row.payments,
      micro: row.micro_usdc,
      recipient: row.recipient,
      chainId: row.chain_id,
      token: row.token,
      txHash: row.tx_hash,
      finalizedAt: row.finalized_at,
      createdAt: row.created_at,
    }),
  )

/** Returns those that had no transfer before: the block of one can leave the chain, and another has it then. */
export function recordPaidReleases(
  tx: Tx,
  settlements: readonly Pick<Settlement, 'ownerId' | 'txHash' | 'finalizedAt'>[],
): Promise<PaidRelease[]> {
  const given = settlements.map(({ ownerId, txHash, finalizedAt }) => ({ ownerId, txHash, finalizedAt }))
  return many(
    tx,
    paidReleaseRow,
    sql`with given as (select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
            as s("ownerId" text, "txHash" text, "finalizedAt" timestamptz)),
          before as (select r.id, r.tx_hash is null as is_first from reserve_release r join given on given."ownerId" = r.id),
          changed as (update reserve_release r set tx_hash = given."txHash", finalized_at = given."finalizedAt"
            from given where r.id = given."ownerId" returning r.*)
        select r.id, r.merchant_id, r.livemode, r.due_on::text,
          (select count(*)::int from (select payment_id from reserve_release_part where release_id = r.id
            union select id from payment where deduction_release_id = r.id) paid) as payments, r.micro_usdc::text,
          r.recipient, p.chain_id, p.token, r.tx_hash, r.finalized_at, r.created_at
        from changed r join before using (id) join payout p on p.owner_id = r.id where before.is_first order by r.id`,
  )
}

const heldBackRow = z
  .object({ micro: z.string(), next_on: z.string().nullable() })
  .transform(({ micro, next_on: nextOn }): HeldBack => ({ micro, nextOn }))

/** The reserves of settled payments, and the day (UTC) from which the next of them are released. */
export type HeldBack = { readonly micro: MicroUsdc; readonly nextOn: string | null }

export const readHeldBack = (db: Queryable, { merchantId, livemode }: Tenant): Promise<HeldBack> =>
  one(
    db,
    heldBackRow,
    sql`select coalesce(sum(reserved_micro), 0)::text as micro, min(${dueOn})::text as next_on
        from payment where merchant_id = ${merchantId} and livemode = ${livemode}
          and ${isHeldBack}`,
  )
