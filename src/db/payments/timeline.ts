import { z } from 'zod'
import type { ChangeEntries } from '../../domain/payment/change-entries.ts'
import type { PaymentStatus } from '../../domain/payment/payment.ts'
import { dataForMerchant, type Note, observedSentence } from '../../domain/timeline.ts'
import { execute, many, maybeOne, type Queryable, type Statement, sql, type Tenant } from '../db.ts'
import { cutPage, type ListPage } from '../pages.ts'
import { time } from './payment-rows.ts'

/** A note about an existing payment; `at` is ISO 8601. */
type PaymentNote = Note & { readonly paymentId: string; readonly at: string }

type Entry = { readonly note: Note; readonly from: PaymentStatus | null; readonly to: PaymentStatus | null }

export const listEntries = ({ moves, notes }: ChangeEntries): Entry[] => [
  ...moves,
  ...notes.map((note) => ({ note, from: null, to: null })),
]

export const renderEntries = (entries: readonly Entry[]) =>
  entries.map(({ note: { kind, actor, message, data = {} }, from, to }) => ({ kind, actor, message, data, from, to }))

const entryColumns = sql`kind, from_status, to_status, actor, message, data`
const entryFrom = sql`e ->> 'kind', e ->> 'from', e ->> 'to', e ->> 'actor', e ->> 'message', e -> 'data'`

/**
 * Returns the insert of the entries for each row of `payments`, which has the column id. It is spliced into the
 * statement that changes the payment, so that the entries need no round trip.
 */
export function entriesInsert(payments: Statement, entries: readonly Entry[], at: string): Statement {
  return sql`insert into timeline_entry (payment_id, at, ${entryColumns})
    select payments.id, ${at}::timestamptz, ${entryFrom}
    from ${payments} as payments, jsonb_array_elements(${JSON.stringify(renderEntries(entries))}::jsonb) with ordinality as x(e, place)
    order by place`
}

/** `entries` is `[{id, entries}]` as JSON. The statement's part `done` must have a row. */
export const timelineInsert = (entries: string, at: string): Statement =>
  sql`insert into timeline_entry (payment_id, at, ${entryColumns})
    select g.id, ${at}::timestamptz, ${entryFrom}
    from jsonb_to_recordset(${entries}::jsonb) as g(id text, entries jsonb),
      jsonb_array_elements(g.entries) with ordinality as x(e, place), done
    order by g.id, place`

/** False if the schema allows the note only once and it exists, or if there are `most` of its kind. */
export async function addTimelineNote(
  db: Queryable,
  note: PaymentNote,
  { most }: { most?: number } = {},
): Promise<boolean> {
  const few = sql`(select count(*) from timeline_entry where payment_id = ${note.paymentId} and kind = ${note.kind})`
  const room = most === undefined ? sql`` : sql`where ${few} < ${most}`
  return (await execute(db, sql`${noteInsert(note, room)} on conflict do nothing`)) === 1
}

function noteInsert({ paymentId, at, ...note }: PaymentNote, where = sql``): Statement {
  const entry = { note, from: null, to: null }
  return entriesInsert(sql`(select ${paymentId}::text as id ${where})`, [entry], at)
}

const newestRow = z.object({
  at: time,
  actor: z.string(),
  message: z.string(),
  data: z.record(z.string(), z.unknown()),
})

export function readNewestEntry(db: Queryable, paymentId: string): Promise<z.output<typeof newestRow> | null> {
  return maybeOne(
    db,
    newestRow,
    sql`select at, actor, message, data from timeline_entry where payment_id = ${paymentId} order by id desc limit 1`,
  )
}

const shared = {
  id: z.string(),
  at: time,
  from_status: z.string().nullable(),
  to_status: z.string().nullable(),
  actor: z.string(),
}
const eventData = z.looseObject({ type: z.string() })
const tryData = z.looseObject({ response_status: z.number().nullable(), error: z.string().nullable() })

/** A stored note, or a row of the tables of events and deliveries, with its sentence. */
const timelineRow = z.union([
  z
    .object({ ...shared, kind: z.literal('event.recorded'), message: z.null(), data: eventData })
    .transform((row) => ({ ...row, message: observedSentence({ kind: row.kind, type: row.data.type }) })),
  z
    .object({ ...shared, kind: z.literal('webhook.attempt'), message: z.null(), data: tryData })
    .transform(({ data, ...row }) => {
      const seen = { kind: row.kind, status: data.response_status, error: data.error }
      return { ...row, data, message: observedSentence(seen) }
    }),
  z.object({ ...shared, kind: z.string(), message: z.string(), data: z.record(z.string(), z.unknown()) }),
])
export type TimelineEntry = z.output<typeof timelineRow>

/** The microsecond, the kind of row, the number among those, and for a try its delivery. */
export const TIMELINE_ID = /^tle_(\d{16})_([012])_(\d{1,15})(_evt_[0-9a-z]{26}_we_[0-9a-z]{26})?$/

type Asked = { readonly paymentId: string; readonly page: ListPage; readonly reader: 'merchant' | 'operator' }

/** With the events and their tries, a page at a time, oldest first. */
export async function readTimeline(
  db: Queryable,
  tenant: Tenant,
  { paymentId, page, reader }: Asked,
): Promise<{ rows: TimelineEntry[]; hasMore: boolean }> {
  const owned = sql`merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`
  const from = page.after === null ? sql`` : sql`and (micros, rank, place, delivery) > ${parsePlace(page.after)}`
  const until = page.before === null ? sql`` : sql`and (micros, rank, place, delivery) < ${parsePlace(page.before)}`
  const way = page.before !== null && page.after === null ? sql`desc` : sql`asc`
  const found = await many(
    db,
    timelineRow,
    sql`select concat('tle_', micros, '_', rank, '_', place, delivery) as id, at, kind, from_status, to_status, actor,
        message, data
      from (select *, (extract(epoch from at) * 1000000)::bigint as micros from (
          select at, kind, from_status, to_status, actor, message, data, 0 as rank, timeline_entry.id as place,
            '' as delivery
          from timeline_entry join payment on payment.id = payment_id
          where payment_id = ${paymentId} and ${owned}
        union all
          select created_at, 'event.recorded', null, null, 'system', null,
            jsonb_build_object('event', id, 'type', type, 'sequence', sequence), 1, sequence, ''
          from event where payment_id = ${paymentId} and ${owned}
        union all
          select tried.at, 'webhook.attempt', null, null, 'system', null,
            jsonb_build_object('event', tried.event_id, 'endpoint', tried.endpoint_id, 'attempt', number,
              'response_status', response_status, 'error', error), 2, number,
            concat('_', tried.event_id, '_', tried.endpoint_id)
          from delivery_attempt as tried join event on event.id = tried.event_id
          where payment_id = ${paymentId} and ${owned}
        ) as entries) as placed
      where true ${from} ${until}
      order by micros ${way}, rank ${way}, place ${way}, delivery ${way} limit ${page.limit + 1}`,
  )
  const shown = reader === 'operator' ? found : found.map((row) => ({ ...row, data: dataForMerchant(row.data) }))
  return cutPage(shown, page)
}

function parsePlace(cursor: string): Statement {
  const [, micros, rank, place, delivery = ''] = TIMELINE_ID.exec(cursor) ?? []
  return sql`(${micros}::bigint, ${rank}::int, ${place}::bigint, ${delivery}::text)`
}
