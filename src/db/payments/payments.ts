import { z } from 'zod'
import { convertToMicroUsdc } from '../../domain/money.ts'
import type { Customer } from '../../domain/payment/buyer.ts'
import { createdPayment, type NewPayment } from '../../domain/payment/new-payment.ts'
import { CLOSED } from '../../domain/payment/payment.ts'
import { type PaymentWithAttempts, renderPayment } from '../../domain/payment/payment-object.ts'
import { because, moveNote } from '../../domain/timeline.ts'
import type { ShopApi } from '../../domain/webhook.ts'
import {
  isSerializationFailure,
  many,
  maybeOne,
  one,
  type Queryable,
  type Statement,
  sql,
  type Tenant,
  type Tx,
} from '../db.ts'
import { type Asked, type WhyRefused, whyRefused } from '../merchants/selling.ts'
import { untriedEvents } from '../webhooks/deliveries.ts'
import { eventRow, recordedEvents } from '../webhooks/events.ts'
import { customerInsert } from './buyers.ts'
import { paymentRow, stateRow, time, wholePaymentRow } from './payment-rows.ts'
import { entriesInsert } from './timeline.ts'

/** A claim of an Idempotency-Key with its future answer: stored in the statement that creates the payment. */
export type IdempotencyClaim = {
  readonly route: string
  readonly key: string
  readonly fingerprint: Uint8Array
  readonly status: number
  readonly location: string | null
  readonly body: string
}

export type CreatedEvent = { readonly eventId: string; readonly endpointIds: readonly string[] }

/** Why no payment was created; `other_terms`: the wallet, the fee or the agreement has changed. */
export type CreationRefusal = 'claimed' | WhyRefused

const createdRow = z.object({
  made: z.boolean(),
  why: z.custom<WhyRefused>().nullable(),
  endpoint_ids: z.array(z.string()),
})

/**
 * A payment that is to be created. `agreement`: only if the merchant still has its wallet and its fee, and within its
 * limits; absent for callers that have no merchant to answer to.
 */
export type Creation = {
  readonly payment: NewPayment
  readonly claim: IdempotencyClaim | null
  readonly publicUrl: string
  /** The data of the buyer that the merchant gives; absent or null: none. */
  readonly customer?: Customer | null
} & (Asked | { readonly agreement?: never; readonly by?: never })

/**
 * Creates payment, timeline entry, event, outbox row "start the workflow" and the idempotent answer in one statement.
 * If it cannot create the payment, it writes nothing and returns why. It waits for a concurrent claim, and the database
 * throws if that takes longer than lock_timeout.
 */
export async function insertPayment(
  db: Queryable,
  tenant: Tenant & { readonly keyId?: string | null },
  create: Creation,
): Promise<CreatedEvent | CreationRefusal> {
  const { payment: p, claim, customer = null } = create
  const quotedMicro = convertToMicroUsdc(p.amount, p.quote.rate)
  const asked = create.agreement === undefined ? null : create
  const why = whyRefused(tenant, { payment: p, quotedMicro }, asked)
  const event = eventRow({
    merchantId: tenant.merchantId,
    livemode: tenant.livemode,
    type: 'payment.created',
    paymentId: p.id,
    shopApi: tenant.shopApi ?? null,
    object: renderPayment(createdPayment(p, tenant), [], create.publicUrl),
    at: p.createdAt,
  })
  const note = moveNote('created', because('created', tenant.keyId ? { key: `key_${tenant.keyId}` } : {}))
  const claimed =
    claim === null
      ? sql`select 1 from refusal where why is null`
      : sql`insert into idempotency_key (merchant_id, livemode, route, key, fingerprint, status, location, body)
            select ${tenant.merchantId}, ${tenant.livemode}, ${claim.route}, ${claim.key}, ${claim.fingerprint},
                   ${claim.status}, ${claim.location}, ${claim.body} from refusal where why is null
            on conflict do nothing returning 1`
  const created = one(
    db,
    createdRow,
    sql`with
      refusal as (select ${why} as why from agreement where merchant_id = ${tenant.merchantId}),
      -- No row when the payment cannot be created, or the key was claimed before: then nothing below is written.
      claimed as (${claimed}),
      -- Locked until the commit: what is agreed and what is used of it cannot change any more. The same again, because
      -- another payment or an operator may have changed it since the statement began.
      allowed as (
        select 1 from agreement, claimed where merchant_id = ${tenant.merchantId} and ${why} is null for update of agreement),
      -- Its row feeds the inserts below, so that they depend on the claim too.
      made as (
        insert into payment (id, merchant_id, livemode, amount_text, amount_minor, currency, provider, fallback,
          description, reference, metadata, invoice, success_url, cancel_url, checkout_token, payment_link, shop_api, tolerance_percent,
          fill_tolerance_percent, fee_percent, reserve_percent, reserve_days, destination, chain_id, token, quote, quoted_micro, created_at, updated_at, expires_at)
        select ${p.id}, ${tenant.merchantId}, ${tenant.livemode}, ${p.amountText}, ${p.amount.minor}::numeric,
          ${p.amount.currency}, ${p.provider}, ${p.fallback}, ${p.description}, ${p.reference},
          ${p.metadata === null ? null : JSON.stringify(p.metadata)}::jsonb,
          ${p.invoice === null ? null : JSON.stringify(p.invoice)}::jsonb, ${p.successUrl}, ${p.cancelUrl},
          ${p.checkoutToken}, ${p.paymentLink}, ${tenant.shopApi ?? null}, ${p.tolerancePercent}, ${p.fillTolerancePercent}, ${p.feePercent}::numeric, ${p.reserve?.percent ?? null}::numeric, ${p.reserve?.days ?? null}::int, ${p.destination}, ${p.chainId}, ${p.token}, ${JSON.stringify(p.quote)}::jsonb,
          ${quotedMicro}::numeric, ${p.createdAt}::timestamptz, ${p.createdAt}::timestamptz, ${p.expiresAt}::timestamptz
        from allowed returning id),
      -- A timeline without its beginning would not explain the rest.
      noted as (${entriesInsert(sql`made`, [{ note, from: null, to: 'created' }], p.createdAt)}),
      ${customer === null ? sql`` : sql`known as (${customerInsert(sql`made`, tenant, { ...customer, at: p.createdAt })}),`}
      -- The relay starts the workflow when the request could not.
      queued as (insert into outbox (kind, subject) select 'start_payment', id from made),
      ${recordedEvents([event], sql`exists (select 1 from made)`)}
      select exists (select 1 from made) as made,
        case when exists (select from claimed) and not exists (select from allowed) then agreement_has_changed()
          else (select why from refusal) end as why,
        array(select endpoint_id from delivery_of order by endpoint_id) as endpoint_ids`,
  )
  const { made, why: refusal, endpoint_ids: endpointIds } = await created.catch(otherTermsIfChanged)
  if (made) return { eventId: event.id, endpointIds }
  return refusal ?? 'claimed'
}

/** The claim of the key was rolled back with everything else. */
function otherTermsIfChanged(error: unknown): z.output<typeof createdRow> {
  if (isSerializationFailure(error)) return { made: false, why: 'other_terms', endpoint_ids: [] }
  throw error
}

const storedAnswer = z.object({
  fingerprint: z.instanceof(Uint8Array),
  status: z.number(),
  location: z.string().nullable(),
  body: z.string(),
})

/** Null: none is stored. Its status is 0 while the request is running. */
export async function readIdempotentAnswer(
  db: Queryable,
  tenant: Tenant,
  claim: { route: string; key: string },
): Promise<z.infer<typeof storedAnswer> | null> {
  return maybeOne(
    db,
    storedAnswer,
    sql`select fingerprint, status, location, body from idempotency_key
        where merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}
          and route = ${claim.route} and key = ${claim.key} and claimed_until is distinct from '-infinity'`,
  )
}

/** Null for a missing payment, another merchant's or the other mode's: the caller cannot distinguish these. */
export function readPayment(db: Queryable, tenant: Tenant, id: string): Promise<PaymentWithAttempts | null> {
  const own = tenant.shopApi === undefined ? sql`` : sql`and shop_api = ${tenant.shopApi}`
  return readWhole(
    db,
    sql`payment.id = ${id} and merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode} ${own}`,
  )
}

/** Reads the payment of a checkout link: whoever has the token can read it. Null also for one of the other mode. */
export function readPaymentByToken(db: Queryable, token: string): Promise<PaymentWithAttempts | null> {
  return readWhole(db, sql`checkout_token = ${token} and livemode = ${db.livemode}`)
}

const tokenRow = z.object({ id: z.string(), checkout_token: z.string() })

/** Leaves out payments of the other mode. */
export async function findPaymentIds(db: Queryable, tokens: readonly string[]): Promise<Map<string, string>> {
  const rows = await many(
    db,
    tokenRow,
    sql`select id, checkout_token from payment
        where checkout_token = any(${tokens}::text[]) and livemode = ${db.livemode}`,
  )
  return new Map(rows.map((row) => [row.checkout_token, row.id]))
}

/** Null if the API of shops has created no such payment, or it has ended. */
export async function findOpenCheckout(db: Queryable, id: string, shopApi: ShopApi): Promise<string | null> {
  const row = await maybeOne(
    db,
    tokenRow,
    sql`select id, checkout_token from payment
        where id = ${id} and livemode = ${db.livemode} and shop_api = ${shopApi} and status <> all(${CLOSED}::text[])`,
  )
  return row?.checkout_token ?? null
}

/** A payment with the newest unread callback of each attempt that has one, by the attempt's id. */
export type PaymentWithCallbacks = PaymentWithAttempts & { readonly unread: ReadonlyMap<string, string> }

const stampRow = z.object({ id: z.string(), stamp: z.string() })

/** Reads a stamp that changes whenever the page of a payment can change: see `getStamp` of the checkout. */
export async function readStamps(db: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await many(
    db,
    stampRow,
    sql`select payment.id, concat_ws('-', version, (select count(*) from attempt where payment_id = payment.id),
          (select status from attempt where payment_id = payment.id order by created_at desc, id desc limit 1)) as stamp
        from payment where id = any(${[...ids]}) and livemode = ${db.livemode}`,
  )
  return new Map(rows.map(({ id, stamp }) => [id, stamp]))
}

/** For callers other than a merchant's request. Throws if this mode has no such payment. */
export async function loadPayment(db: Queryable, id: string): Promise<PaymentWithCallbacks> {
  const found = await readWhole(db, sql`payment.id = ${id} and livemode = ${db.livemode}`, 'with callbacks')
  if (found === null) throw new Error(`no payment ${id}`)
  return found
}

export type PaymentWithEvents = { readonly state: PaymentWithAttempts; readonly events: readonly string[] }

const eventsRow = z.object({ events: z.array(z.string()) })

export const paymentWithEventsRow = z
  .unknown()
  .transform((row): PaymentWithEvents => ({ state: wholePaymentRow.parse(row), ...eventsRow.parse(row) }))

/** Reads the payment with all its untried events. Throws if this mode has no such payment. */
export async function loadPaymentWithEvents(db: Queryable, id: string): Promise<PaymentWithEvents> {
  const found = await maybeOne(
    db,
    paymentWithEventsRow,
    sql`select payment.*, to_jsonb(state) as state, array(${untriedEvents(sql`payment.id`)}) as events
        from payment, lateral (${stateColumns(sql`payment.id`)}) as state
        where payment.id = ${id} and livemode = ${db.livemode}`,
  )
  if (found === null) throw new Error(`no payment ${id}`)
  return found
}

/** Reads everything at one moment, for callers that change nothing. */
function readWhole(
  db: Queryable,
  which: Statement,
  callbacks?: 'with callbacks',
): Promise<PaymentWithCallbacks | null> {
  return maybeOne(db, wholePaymentRow, selectWhole(which, callbacks))
}

const selectWhole = (which: Statement, callbacks?: 'with callbacks'): Statement =>
  sql`select payment.*, to_jsonb(state) as state
      from payment, lateral (${stateColumns(sql`payment.id`, callbacks)}) as state where ${which}`

/**
 * A change inside a larger transaction begins here. Locks in a fixed order, so that two such calls never deadlock.
 * Throws if this mode lacks one of the payments.
 */
export async function lockPayments(tx: Tx, ids: readonly string[]): Promise<Map<string, PaymentWithAttempts>> {
  const payments = await many(
    tx,
    paymentRow,
    sql`select * from payment where id = any(${[...ids]}) and livemode = ${tx.livemode} order by id for update`,
  )
  const states = await readStates(tx, ids)
  const found = payments.flatMap((payment) => {
    const state = states.get(payment.id)
    return state === undefined ? [] : [[payment.id, { payment, ...state }] as const]
  })
  const locked = new Map(found)
  for (const id of ids) if (!locked.has(id)) throw new Error(`no payment ${id}`)
  return locked
}

/** In a transaction that reads one moment. Missing ones are left out. */
export async function readPayments(tx: Tx, ids: readonly string[]): Promise<PaymentWithAttempts[]> {
  const payments = await many(
    tx,
    paymentRow,
    sql`select * from payment where id = any(${[...ids]}) and livemode = ${tx.livemode} order by id`,
  )
  const states = await readStates(tx, ids)
  return payments.flatMap((payment) => {
    const state = states.get(payment.id)
    return state === undefined ? [] : [{ payment, ...state }]
  })
}

type Rest = Omit<PaymentWithCallbacks, 'payment'>

const paymentStateRow = z.object({ id: z.string(), state: stateRow })

/** After a lock it must be a separate statement: one that waits for the lock still sees the rows from before. */
async function readStates(db: Queryable, ids: readonly string[]): Promise<Map<string, Rest>> {
  const rows = await many(
    db,
    paymentStateRow,
    sql`select given.id, to_jsonb(state) as state
        from unnest(${[...ids]}::text[]) as given(id), lateral (${stateColumns(sql`given.id`)}) as state`,
  )
  return new Map(rows.map(({ id, state }) => [id, state]))
}

/** Columns for `stateRow`. Amounts are text, because a JSON number would lose digits. */
export function stateColumns(paymentId: Statement, callbacks?: 'with callbacks'): Statement {
  const unread =
    callbacks === undefined
      ? sql`null`
      : sql`(select max(seq)::text from partner_callback where attempt_id = attempt.id and applied_at is null)`
  return sql`select
      coalesce((select jsonb_agg(to_jsonb(attempt) || jsonb_build_object('amount_minor', amount_minor::text,
          'asked_micro', asked_micro::text, 'held', held::text, 'outside', outside::text, 'written_off', written_off::text,
          'refunded', refunded::text, 'refunding', refunding::text,
          'unread', ${unread}) order by created_at, id)
        from attempt where payment_id = ${paymentId}), '[]') as attempts,
      coalesce((select jsonb_agg(jsonb_build_object('number', number, 'attempt_id', attempt_id, 'units', units::text,
          'gross_micro', gross_micro::text, 'fill_micro', fill_micro::text, 'reference', reference, 'state', state)
          order by number)
        from sale where payment_id = ${paymentId}), '[]') as sales`
}

const unclosedRow = z.object({ id: z.string(), status: z.string(), version: z.number(), updated_at: time })

/** Payments that must have a workflow: not closed, and old enough that a start in progress is not disturbed. */
const unclosed = (db: Queryable, createdBefore: string): Statement =>
  sql`closed_at is null and created_at < ${createdBefore} and livemode = ${db.livemode}`

export function listUnclosed(
  db: Queryable,
  page: { after: string; createdBefore: string; limit: number },
): Promise<z.output<typeof unclosedRow>[]> {
  return many(
    db,
    unclosedRow,
    sql`select id, status, version, updated_at from payment
        where ${unclosed(db, page.createdBefore)} and id > ${page.after} order by id limit ${page.limit}`,
  )
}

const unclosedCountRow = z.object({ count: z.coerce.number() })

export async function countUnclosed(db: Queryable, createdBefore: string): Promise<number> {
  const counted = sql`select count(*) from payment where ${unclosed(db, createdBefore)}`
  return (await one(db, unclosedCountRow, counted)).count
}
