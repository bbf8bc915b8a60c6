import { z } from 'zod'
import { CURRENCIES, type Currency } from '../../domain/currencies.ts'
import type { Hex } from '../../domain/hex.ts'
import type { Money } from '../../domain/money.ts'
import {
  FUND_SOURCES,
  FUNDING_REFUSALS,
  type FundingRefusal,
  type FundSource,
  REFUND_FAILURES,
  REFUND_STATUSES,
  type Refund,
  type RefundFailure,
} from '../../domain/refund/refund.ts'
import { MINED_IN_VAIN } from '../../domain/settlement/deposit.ts'
import { execute, many, maybeOne, one, type Queryable, type Statement, sql, type Tenant, type Tx } from '../db.ts'
import { type AboutPayment, ownedAbout, ownedBy } from '../owned.ts'
import { byId, cutPage, type ListPage, pageClause } from '../pages.ts'
import { time } from '../payments/payment-rows.ts'
import { untilRepeat } from '../repeats.ts'
import { nextIndex } from '../settlement/deposits.ts'
import { hex } from '../settlement/payouts.ts'

const refundRow = z
  .object({
    id: z.string(),
    payment_id: z.string(),
    attempt_id: z.string(),
    merchant_id: z.string(),
    livemode: z.boolean(),
    number: z.number(),
    amount_minor: z.string(),
    currency: z.enum(CURRENCIES as [Currency, ...Currency[]]),
    reason: z.string().nullable(),
    metadata: z.record(z.string(), z.string()).nullable(),
    fund_from: z.enum(FUND_SOURCES),
    status: z.enum(REFUND_STATUSES),
    status_reason: z.enum(Object.keys(REFUND_FAILURES) as [RefundFailure, ...RefundFailure[]]).nullable(),
    rate: z.string(),
    rate_source: z.string(),
    required_micro: z.string(),
    received_micro: z.string(),
    chain_id: z.number(),
    token: hex,
    wallet: hex,
    address: hex.nullable(),
    funding_nonce: hex.nullable(),
    token_name: z.string().nullable(),
    signed_at: time.nullable(),
    funding_refusal: z.enum(Object.keys(FUNDING_REFUSALS) as [FundingRefusal, ...FundingRefusal[]]).nullable(),
    funding_tx_hash: hex.nullable(),
    returned_tx_hash: hex.nullable(),
    partner_key: z.string().nullable(),
    opened_at: time.nullable(),
    created_at: time,
    updated_at: time,
    expires_at: time,
    funded_at: time.nullable(),
    asked_at: time.nullable(),
    succeeded_at: time.nullable(),
    failed_at: time.nullable(),
    version: z.number(),
  })
  .transform(
    (row): Refund => ({
      id: row.id,
      paymentId: row.payment_id,
      attemptId: row.attempt_id,
      merchantId: row.merchant_id,
      livemode: row.livemode,
      number: row.number,
      amount: { minor: row.amount_minor, currency: row.currency },
      reason: row.reason,
      metadata: row.metadata,
      fundFrom: row.fund_from,
      status: row.status,
      statusReason: row.status_reason,
      rate: row.rate,
      rateSource: row.rate_source,
      requiredMicro: row.required_micro,
      receivedMicro: row.received_micro,
      chainId: row.chain_id,
      token: row.token,
      wallet: row.wallet,
      place:
        row.address === null || row.funding_nonce === null || row.token_name === null
          ? null
          : { address: row.address, nonce: row.funding_nonce, tokenName: row.token_name },
      signedAt: row.signed_at,
      fundingRefusal: row.funding_refusal,
      fundingTxHash: row.funding_tx_hash,
      returnedTxHash: row.returned_tx_hash,
      partnerKey: row.partner_key,
      openedAt: row.opened_at,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      expiresAt: row.expires_at,
      fundedAt: row.funded_at,
      askedAt: row.asked_at,
      succeededAt: row.succeeded_at,
      failedAt: row.failed_at,
      version: row.version,
    }),
  )

export type NewRefund = {
  readonly id: string
  readonly paymentId: string
  readonly attemptId: string
  readonly amount: Money
  readonly reason: string | null
  readonly metadata: Readonly<Record<string, string>> | null
  readonly fundFrom: FundSource
  /** The version of the payment that the request has read. If the payment's own money goes back, it must be the current one. */
  readonly paymentVersion: number
  readonly rate: string
  readonly rateSource: string
  readonly requiredMicro: string
  /** The Idempotency-Key: a second refund of the payment with it is refused. */
  readonly request: string | null
  readonly createdAt: string
  readonly expiresAt: string
}

/**
 * Returns the refund. `too_much`, and nothing is stored: the payment has less to refund, too many refunds, or has changed.
 * `beyond_limit`: the next payouts do not pay for so much.
 */
export async function insertRefund(
  db: Queryable,
  tenant: Tenant,
  refund: NewRefund,
): Promise<Refund | 'too_much' | 'beyond_limit'> {
  const { request, amount, metadata } = refund
  try {
    return await one(
      db,
      refundRow,
      sql`insert into refund (id, payment_id, attempt_id, merchant_id, livemode, request, amount_minor, currency, reason, metadata, fund_from,
            payment_version, rate, rate_source, required_micro, created_at, updated_at, expires_at)
          values (${refund.id}, ${refund.paymentId}, ${refund.attemptId}, ${tenant.merchantId}, ${tenant.livemode}, ${request}::text,
            ${amount.minor}::numeric, ${amount.currency}, ${refund.reason}::text,
            ${metadata === null ? null : JSON.stringify(metadata)}::jsonb, ${refund.fundFrom}, ${refund.paymentVersion}, ${refund.rate}, ${refund.rateSource},
            ${refund.requiredMicro}::numeric, ${refund.createdAt}::timestamptz, ${refund.createdAt}::timestamptz, ${refund.expiresAt}::timestamptz)
          returning *`,
    )
  } catch (error) {
    const refusal = readRefusal(error)
    if (refusal === null) throw error
    return refusal
  }
}

const REFUSALS: Readonly<Record<string, 'too_much' | 'beyond_limit'>> = {
  refund_is_of_what_was_paid: 'too_much',
  refund_gives_back_once: 'too_much',
  refund_is_within_deduction_limit: 'beyond_limit',
}
const readRefusal = (error: unknown): 'too_much' | 'beyond_limit' | null =>
  error instanceof Error && 'constraint' in error ? (REFUSALS[String(error.constraint)] ?? null) : null

/** Reads the refund of the payment that was created with the Idempotency-Key; null: there is none. */
export const readRequestedRefund = (
  db: Queryable,
  tenant: Tenant,
  { paymentId, request }: { readonly paymentId: string; readonly request: string },
): Promise<Refund | null> =>
  maybeOne(
    db,
    refundRow,
    sql`select * from refund where payment_id = ${paymentId} and request = ${request} and ${ownedBy(tenant)}`,
  )

/** Null for a missing refund, another merchant's or the other mode's: the caller cannot distinguish these. */
export const readRefund = (db: Queryable, tenant: Tenant, id: string): Promise<Refund | null> =>
  maybeOne(db, refundRow, sql`select * from refund where id = ${id} and ${ownedBy(tenant)}`)

/** The newest first. */
export async function listRefunds(
  db: Queryable,
  tenant: Tenant,
  { filters, page }: { readonly filters: AboutPayment; readonly page: ListPage },
): Promise<{ rows: Refund[]; hasMore: boolean }> {
  const rows = await many(
    db,
    refundRow,
    sql`select * from refund where ${ownedAbout(tenant, filters)} ${pageClause(byId(sql`id`), page)}`,
  )
  return cutPage(rows, page)
}

/** For callers other than a merchant's request. Throws if this mode has no such refund. */
export const loadRefund = (db: Queryable, id: string): Promise<Refund> =>
  one(db, refundRow, sql`select * from refund where id = ${id} and livemode = ${db.livemode}`)

/** Call it after the lock of its payment. Throws if this mode has no such refund. */
export const lockRefund = (tx: Tx, id: string): Promise<Refund> =>
  one(tx, refundRow, sql`select * from refund where id = ${id} and livemode = ${tx.livemode} for update`)

/** All refunds of a payment, in their order. For operators. */
export const readPaymentRefunds = (db: Queryable, paymentId: string): Promise<Refund[]> =>
  many(
    db,
    refundRow,
    sql`select * from refund where payment_id = ${paymentId} and livemode = ${db.livemode} order by number`,
  )

/** The newest refunds of all merchants, or those that are not over. For operators. */
export const listAllRefunds = (
  db: Queryable,
  { isOpen, limit }: { readonly isOpen: boolean; readonly limit: number },
): Promise<Refund[]> =>
  many(
    db,
    refundRow,
    sql`select * from refund where livemode = ${db.livemode} ${isOpen ? sql`and due_at is not null` : sql``}
        order by id desc limit ${limit}`,
  )

/** Writes a changed refund that is locked. `wakes`: another process has changed it, and its workflow must know. */
export async function writeRefund(
  tx: Tx,
  { before, after }: { readonly before: Refund; readonly after: Refund },
  { isOver, wakes }: { readonly isOver: boolean; readonly wakes: boolean },
): Promise<void> {
  const due = isOver ? sql`null` : wakes ? sql`now()` : sql`due_at`
  const written = await execute(
    tx,
    sql`update refund set status = ${after.status}, status_reason = ${after.statusReason}, received_micro = ${after.receivedMicro},
          address = ${after.place?.address ?? null}, funding_nonce = ${after.place?.nonce ?? null},
          token_name = ${after.place?.tokenName ?? null}, signed_at = ${after.signedAt}, funding_refusal = ${after.fundingRefusal},
          funding_tx_hash = ${after.fundingTxHash},
          returned_tx_hash = ${after.returnedTxHash}, partner_key = ${after.partnerKey}, opened_at = ${after.openedAt}, updated_at = ${after.updatedAt},
          funded_at = ${after.fundedAt}, asked_at = ${after.askedAt}, succeeded_at = ${after.succeededAt},
          failed_at = ${after.failedAt}, due_at = ${due}, version = version + 1
        where id = ${after.id} and version = ${before.version}`,
  )
  if (written !== 1) throw new Error(`${after.id} was changed without its lock`)
}

/** Makes the address for the USDC of a refund. `watchSeconds`: for how long after the expiry it is watched. */
export async function openRefundDeposit(tx: Tx, refund: Refund, watchSeconds: number): Promise<void> {
  const { id, paymentId, livemode, chainId, token, place, requiredMicro, rate, rateSource, wallet } = refund
  await execute(
    tx,
    sql`insert into deposit (owner_id, payment_id, refund_id, livemode, chain_id, token, address, asked_micro, rate, rate_source, rate_as_of,
          expires_at, watch_until, return_to)
        values (${id}, ${paymentId}, ${id}, ${livemode}, ${chainId}, ${token}, ${place?.address}, ${requiredMicro}, ${rate},
          ${rateSource}, ${refund.createdAt}, ${refund.expiresAt}, ${refund.expiresAt}::timestamptz + ${watchSeconds} * interval '1 second',
          ${wallet})`,
  )
}

const storedRow = z.object({ stored: z.boolean() })

/**
 * Stores the authorization by which the merchant's wallet pays for the refund, for the lanes to send. A later one
 * replaces one that no transaction contains. One transaction carries one: false, and nothing is stored, if it was sent,
 * or its nonce is used. `validBefore`: Unix seconds.
 */
export async function storeFunding(
  tx: Tx,
  { id, wallet, requiredMicro }: Refund,
  { nonce, signature, validBefore }: { readonly nonce: Hex; readonly signature: Hex; readonly validBefore: number },
): Promise<boolean> {
  const bytes = Buffer.from(signature.slice(2), 'hex')
  const { stored } = await one(
    tx,
    storedRow,
    // The time of the last try stays: signing again and again must not delay others.
    sql`with again as (
          update deposit_sweep set signature = ${bytes}
          where owner_id = ${id} and sender = ${wallet} and state = 'signed' and refused is distinct from ${MINED_IN_VAIN} returning 1),
        made as (
          insert into deposit_sweep (owner_id, idx, chain_id, token, sender, recipient, micro_usdc, auth_nonce, signature, valid_before, state)
          select d.owner_id, ${nextIndex}, d.chain_id, d.token, ${wallet}, d.address, ${requiredMicro}, ${nonce}, ${bytes},
            ${validBefore}, 'signed'
          from deposit d where d.owner_id = ${id}
            and not exists (select from deposit_sweep where owner_id = ${id} and sender = ${wallet}) on conflict do nothing returning 1)
        select exists (select from again) or exists (select from made) as stored`,
  )
  return stored
}

const thereRow = z.object({ there: z.boolean() })

/** True unless USDC at the address that the refund requires has gone back to the merchant, as final transfers show. */
export async function hasRefundUsdc(db: Queryable, refundId: string): Promise<boolean> {
  const { there } = await one(
    db,
    thereRow,
    sql`select unswept_micro + taken_micro >= asked_micro as there from deposit where refund_id = ${refundId}`,
  )
  return there
}

/** Days after the end of a refund for which its address is still watched at each block. */
const WATCHED_DAYS_AFTER = 7

/** Decides, once, what the treasury takes of the address of a refund. Everything else goes back to the merchant. */
export async function decideRefundDeposit(tx: Tx, refundId: string, treasuryMicro: string): Promise<void> {
  await execute(
    tx,
    sql`update deposit set treasury_micro = ${treasuryMicro},
          watch_until = greatest(watch_until, now() + ${WATCHED_DAYS_AFTER} * interval '1 day')
        where refund_id = ${refundId}`,
  )
}

const idRow = z.object({ id: z.string() })

/**
 * Takes refunds whose workflow is to be woken now. The next time is set before the message is sent: one that gets lost
 * is repeated then, until the workflow says when it acts next.
 */
export async function takeDueRefunds(db: Queryable, limit: number): Promise<string[]> {
  const rows = await many(
    db,
    idRow,
    sql`with due as (
          select id from refund where due_at <= now() and livemode = ${db.livemode} order by due_at limit ${limit}
          for update skip locked)
        update refund r set repeats = r.repeats + 1, due_at = now() + ${untilRepeat(sql`r.repeats`)}
        from due where r.id = due.id returning r.id`,
  )
  return rows.map(({ id }) => id)
}

/** Seconds after the moment at which a workflow acts next. Then it is woken, because it might be lost. */
const LOST_AFTER_SECONDS = 60

/**
 * Records that the workflow acts next after so many milliseconds. What is due already has a change that the
 * workflow might not have seen: it stays due.
 */
export async function postponeWake(db: Queryable, { id, ms }: { id: string; ms: number }): Promise<void> {
  await execute(
    db,
    sql`update refund set repeats = 0, due_at = now() + ${ms} * interval '1 millisecond' + ${LOST_AFTER_SECONDS} * interval '1 second'
        where id = ${id} and livemode = ${db.livemode} and due_at > now()`,
  )
}

/** Wakes the workflow of the refund. For a change of its payment: it writes only if the part `done` has a row. */
export const wakePendingRefunds = (attemptId: string): Statement =>
  sql`update refund set due_at = now() from done where attempt_id = ${attemptId} and status = 'pending'`
