import { z } from 'zod'
import { storedReference, storedText, withoutCharacters } from '../../domain/text.ts'
import { many, maybeOne, type Queryable, type Statement, sql } from '../db.ts'
import { operatorAttention } from '../payments/attention.ts'
import { time } from '../payments/payment-rows.ts'

/** The search of operators: over all merchants, by anything that a person has read out to them. */

const foundRow = z.object({
  id: z.string(),
  merchant_id: z.string(),
  status: z.string(),
  status_reason: z.string().nullable(),
  amount_text: z.string(),
  currency: z.string(),
  provider: z.string().nullable(),
  reference: z.string().nullable(),
  created_at: time,
})
export type FoundPayment = z.output<typeof foundRow>

const idRow = z.object({ id: z.string() })

/** Returns the payment with this id, or of the attempt with this id; null if this mode has none. */
export async function findPaymentId(db: Queryable, id: string): Promise<string | null> {
  const row = await maybeOne(
    db,
    idRow,
    sql`select id from payment where livemode = ${db.livemode}
          and (id = ${id} or id = (select payment_id from attempt where attempt.id = ${id}))`,
  )
  return row?.id ?? null
}

export type PaymentSearch = {
  /**
   * An id (payment, attempt, event), a reference, a partner's reference, a transaction, a wallet or deposit address,
   * the URL or the token of a checkout, the URL or the code of a payment link; as a person typed or pasted it.
   */
  readonly text: string | undefined
  readonly merchantId: string | undefined
  readonly status: string | undefined
  readonly limit: number
}

export function searchPayments(db: Queryable, search: PaymentSearch): Promise<FoundPayment[]> {
  const { merchantId, status, text, limit } = search
  const clauses: Statement[] = [
    ...(merchantId === undefined ? [] : [sql`and merchant_id = ${merchantId}`]),
    ...(status === undefined ? [] : [sql`and status = ${status}`]),
    ...(text === undefined ? [] : [matching(text)]),
  ]
  return many(
    db,
    foundRow,
    sql`select id, merchant_id, status, status_reason, amount_text, currency, coalesce(provider_used, provider) as provider,
          reference, created_at
        from payment where livemode = ${db.livemode} ${clauses.reduce((left, right) => sql`${left} ${right}`, sql``)}
        order by id desc limit ${limit}`,
  )
}

/** The end of a URL of the platform: `/c/<token>`, `/l/<code>`, `/dashboard/payments/<id>`. */
const ADDRESS = /^https?:\/\/[^/]+\/(?:c|l|dashboard\/payments)\/([\w-]+)/i

/** Brackets and quotation marks of any script, and the marks that end a sentence. */
const AROUND = `\\p{Ps}\\p{Pe}\\p{Pi}\\p{Pf}<>"'＜＞`
const BEFORE = new RegExp(`^[${AROUND}]+`, 'u')
const AFTER = new RegExp(`[${AROUND}.,;:!?。，、；：！？]+$`, 'u')

/** Removes the marks of a sentence around the text, and returns it in the form in which texts are stored. */
function readPasted(text: string): string {
  const bare = withoutCharacters(storedText(text), 'turn', 'invisible').trim().replace(BEFORE, '').replace(AFTER, '')
  return ADDRESS.exec(bare)?.[1] ?? bare
}

/** Compares each field as a whole. A reference can end in a full stop; a checkout token is case-sensitive. */
function matching(text: string): Statement {
  const bare = readPasted(text)
  const lower = bare.toLowerCase()
  return sql`and (id = ${lower} or reference in (${storedReference(text)}, ${bare}) or tx_hash = ${lower}
    or lower(destination) = ${lower} or checkout_token = ${bare}
    or payment_link in (select payment_link.id from payment_link where code = ${bare})
    or id in (select payment_id from attempt where attempt.id = ${lower} or lower(partner_reference) = ${lower})
    or id in (select payment_id from event where event.id = ${lower})
    or id in (select payment_id from deposit where address::text = ${lower}))`
}

const entryRow = z.object({ kind: z.string(), detail: z.string().nullable(), since: time })

export function listPaymentAttention(db: Queryable, paymentId: string): Promise<z.output<typeof entryRow>[]> {
  return many(
    db,
    entryRow,
    sql`select kind, detail, since from ${operatorAttention} waiting where payment_id = ${paymentId} and livemode = ${db.livemode}
        order by since`,
  )
}

const saleTimeRow = z.object({ number: z.number(), asked_at: time })

export async function readSaleTimes(db: Queryable, paymentId: string): Promise<ReadonlyMap<number, string>> {
  const rows = await many(db, saleTimeRow, sql`select number, asked_at from sale where payment_id = ${paymentId}`)
  return new Map(rows.map(({ number, asked_at: askedAt }) => [number, askedAt]))
}
