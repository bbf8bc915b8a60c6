import { z } from 'zod'
import { listEvents as listStoredEvents, readEvent as readStoredEvent } from '../../../db/webhooks/event-log.ts'
import { isId } from '../../../domain/ids.ts'
import { WEBHOOK_EVENT_TYPES } from '../../../domain/webhook.ts'
import { EVENT } from '../../document/examples.ts'
import { Problem } from '../../http/problems.ts'
import { defineOperation } from '../../operation.ts'
import { idPath, moment } from './fields.ts'
import { linkObject } from './links/link-object.ts'
import { cursorSchema, listSchema, noCursor, pageQuery, readPage, wholeNumber } from './lists.ts'
import { paymentObject } from './payments/payment-schemas.ts'
import { refundObject } from './refunds/refund-schemas.ts'
import { endpointObject } from './webhooks/endpoint-schemas.ts'

export const eventObject = z
  .strictObject({
    id: z.string(),
    type: z.string(),
    timestamp: moment,
    api_version: z.string(),
    livemode: z.boolean(),
    sequence: z
      .int()
      .nullable()
      .meta({ description: 'Has no gaps within a mode. Null: an event that only tests an endpoint.' }),
    data: z.strictObject({
      object: z.union([
        paymentObject,
        refundObject,
        linkObject,
        endpointObject,
        z.looseObject({ object: z.literal('webhook_test') }),
      ]),
    }),
  })
  .meta({ id: 'Event', description: 'Exactly as it is sent to webhook endpoints, byte for byte.', examples: [EVENT] })

const listQuery = z.strictObject({
  ...pageQuery('event'),
  after_sequence: wholeNumber({
    pattern: /^(?:0|[1-9]\d{0,14})$/,
    must: 'must be a whole number of at most 15 digits',
    minimum: 0,
    maximum: 999_999_999_999_999,
  })
    .optional()
    .meta({ description: 'Oldest first, beginning after this sequence: for pulling what was missed.' }),
  type: z.enum(WEBHOOK_EVENT_TYPES).optional(),
  payment: cursorSchema('payment').optional(),
})

export const listEvents = defineOperation({
  name: 'listEvents',
  method: 'get',
  path: '/v1/events',
  tag: 'Events',
  summary: 'List events, or pull those that were missed',
  scope: 'events:read',
  query: listQuery,
  answers: { 200: listSchema(eventObject) },
  example: { query: { after_sequence: '0', limit: '50' } },
  handle: async ({ caller, db, query }) => {
    const { type, payment, after_sequence: afterSequence = null } = query
    const page = readPage(query)
    const found = await listStoredEvents(db, caller, { filters: { type, payment }, page, afterSequence })
    if (found === null) throw noCursor(page)
    // Concatenated as text: the events must be the bytes that were signed.
    const data = found.rows.map((body) => body.toString('utf8')).join(',')
    return { status: 200, body: `{"object":"list","data":[${data}],"has_more":${found.hasMore}}` }
  },
})

export const readEvent = defineOperation({
  name: 'readEvent',
  method: 'get',
  path: '/v1/events/{id}',
  tag: 'Events',
  summary: 'Read an event',
  scope: 'events:read',
  params: idPath,
  answers: { 200: eventObject },
  handle: async ({ caller, db, params }) => {
    const body = isId('event', params.id) ? await readStoredEvent(db, caller, params.id) : null
    if (body === null) throw new Problem('resource_missing', 'There is no such event.')
    return { status: 200, body: body.toString('utf8') }
  },
})
