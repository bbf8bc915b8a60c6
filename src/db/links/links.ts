import { z } from 'zod'
import { CURRENCIES, type Currency } from '../../domain/currencies.ts'
import type { PaymentLink } from '../../domain/link/link.ts'
import { PREFILLS } from '../../domain/link/link.ts'
import { PROVIDER_NAMES } from '../../domain/methods.ts'
import type { Money } from '../../domain/money.ts'
import type { Invoice } from '../../domain/payment/invoice.ts'
import { execute, maybeOne, one, type Queryable, type Statement, sql, type Tenant, type Tx } from '../db.ts'
import { time } from '../payments/payment-rows.ts'

const units = z.string().nullable()

const storedLink = z.object({
  id: z.string(),
  merchant_id: z.string(),
  livemode: z.boolean(),
  code: z.string(),
  active: z.boolean(),
  currency: z.enum(CURRENCIES as [Currency, ...Currency[]]),
  amount_minor: units,
  min_minor: units,
  max_minor: units,
  provider: z.enum(PROVIDER_NAMES).nullable(),
  title: z.string(),
  description: z.string().nullable(),
  reference: z.string().nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
  invoice: z.custom<Invoice>().nullable(),
  success_url: z.string().nullable(),
  prefill: z.array(z.enum(PREFILLS)),
  max_payments: z.number().nullable(),
  payments_count: z.coerce.number(),
  expires_at: time.nullable(),
  inactive_message: z.string().nullable(),
  wallet: z.string().nullable(),
  anonymous: z.boolean(),
  created_via: z.enum(['api', 'dashboard', 'form']),
  completed_at: time.nullable(),
  stopped_at: time.nullable(),
  stopped_reason: z.string().nullable(),
  created_at: time,
  updated_at: time,
})

export const linkRow = storedLink.transform((row): PaymentLink => {
  const money = (minor: string | null): Money | null => (minor === null ? null : { minor, currency: row.currency })
  return {
    id: row.id,
    merchantId: row.merchant_id,
    livemode: row.livemode,
    code: row.code,
    active: row.active,
    price: {
      currency: row.currency,
      amount: money(row.amount_minor),
      min: money(row.min_minor),
      max: money(row.max_minor),
    },
    provider: row.provider,
    title: row.title,
    description: row.description,
    reference: row.reference,
    metadata: row.metadata,
    invoice: row.invoice,
    successUrl: row.success_url,
    prefill: row.prefill,
    maxPayments: row.max_payments,
    paymentsCount: row.payments_count,
    expiresAt: row.expires_at,
    inactiveMessage: row.inactive_message,
    wallet: row.wallet,
    createdVia: row.created_via,
    anonymous: row.anonymous,
    completedAt: row.completed_at,
    stoppedAt: row.stopped_at,
    stoppedReason: row.stopped_reason,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
})

/** The columns of `linkRow`. The statement must call the table payment_link. */
export const linkColumns = sql`payment_link.*, link_places_taken(payment_link.id) as payments_count`

export type NewLink = Omit<
  PaymentLink,
  'merchantId' | 'livemode' | 'active' | 'paymentsCount' | 'completedAt' | 'stoppedAt' | 'stoppedReason' | 'updatedAt'
>

export function insertLink(db: Queryable, tenant: Tenant, link: NewLink): Promise<PaymentLink> {
  const { price } = link
  return one(
    db,
    linkRow,
    sql`insert into payment_link (id, merchant_id, livemode, code, currency, amount_minor, min_minor, max_minor, provider,
        title, description, reference, metadata, invoice, success_url, prefill, max_payments, expires_at, inactive_message, wallet,
        created_via, anonymous, created_at, updated_at)
      values (${link.id}, ${tenant.merchantId}, ${tenant.livemode}, ${link.code}, ${price.currency},
        ${price.amount?.minor ?? null}::numeric, ${price.min?.minor ?? null}::numeric, ${price.max?.minor ?? null}::numeric,
        ${link.provider}, ${link.title}, ${link.description}, ${link.reference}, ${json(link.metadata)}::jsonb,
        ${json(link.invoice)}::jsonb, ${link.successUrl}, ${link.prefill}::text[], ${link.maxPayments}, ${link.expiresAt}::timestamptz,
        ${link.inactiveMessage}, ${link.wallet}, ${link.createdVia}, ${link.anonymous}, ${link.createdAt}::timestamptz,
        ${link.createdAt}::timestamptz)
      returning ${linkColumns}`,
  )
}

export function findLink(db: Queryable, tenant: Tenant, id: string): Promise<PaymentLink | null> {
  return maybeOne(db, linkRow, sql`select ${linkColumns} from payment_link where id = ${id} and ${ownedBy(tenant)}`)
}

/** Null also for a link of the other mode. */
export function findLinkByCode(db: Queryable, code: string): Promise<PaymentLink | null> {
  return maybeOne(
    db,
    linkRow,
    sql`select ${linkColumns} from payment_link where code = ${code} and livemode = ${db.livemode}`,
  )
}

/** Lets buyers who press at the same time wait for each other for this long: each press takes milliseconds. */
export async function waitForLink(tx: Tx): Promise<void> {
  await execute(tx, sql`set local lock_timeout = '10s'`)
}

const idRow = z.object({ id: z.string() })

/** Counts the places under the lock: of two presses for the last place the second sees that it is taken. */
export async function lockLink(tx: Tx, tenant: Tenant, id: string): Promise<PaymentLink | null> {
  const locked = sql`select id from payment_link where id = ${id} and ${ownedBy(tenant)} for no key update`
  if ((await maybeOne(tx, idRow, locked)) === null) return null
  return findLink(tx, tenant, id)
}

export type LinkChanges = Partial<
  Pick<
    PaymentLink,
    | 'active'
    | 'title'
    | 'description'
    | 'reference'
    | 'metadata'
    | 'successUrl'
    | 'prefill'
    | 'maxPayments'
    | 'expiresAt'
    | 'inactiveMessage'
  >
>

export function updateLink(
  db: Queryable,
  tenant: Tenant,
  { id, changes }: { id: string; changes: LinkChanges },
): Promise<PaymentLink | null> {
  const { active, title, description, reference, metadata, successUrl, prefill } = changes
  const { maxPayments, expiresAt, inactiveMessage } = changes
  const set = [
    sql`updated_at = now()`,
    ...(active === undefined ? [] : [sql`, active = ${active}`]),
    ...(title === undefined ? [] : [sql`, title = ${title}`]),
    ...(description === undefined ? [] : [sql`, description = ${description}`]),
    ...(reference === undefined ? [] : [sql`, reference = ${reference}`]),
    ...(metadata === undefined ? [] : [sql`, metadata = ${json(metadata)}::jsonb`]),
    ...(successUrl === undefined ? [] : [sql`, success_url = ${successUrl}`]),
    ...(prefill === undefined ? [] : [sql`, prefill = ${prefill}::text[]`]),
    ...(maxPayments === undefined ? [] : [sql`, max_payments = ${maxPayments}`]),
    ...(expiresAt === undefined ? [] : [sql`, expires_at = ${expiresAt}::timestamptz`]),
    ...(inactiveMessage === undefined ? [] : [sql`, inactive_message = ${inactiveMessage}`]),
  ].reduce((left, right) => sql`${left}${right}`)
  return maybeOne(
    db,
    linkRow,
    sql`update payment_link set ${set} where id = ${id} and ${ownedBy(tenant)} returning ${linkColumns}`,
  )
}

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

function ownedBy(tenant: Tenant): Statement {
  return sql`merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`
}
