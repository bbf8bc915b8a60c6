import { z } from 'zod'
import { listEvents as listStoredEvents, readEvent as readStoredEvent } from '../../../db/webhooks/event-log.ts'
import { isId } from '../../../domain/ids.ts'
import { getEventSubject, WEBHOOK_EVENT_TYPES } from '../../../domain/webhook.ts'
import { EVENT } from '../../document/examples.ts'
import { Problem } from '../../http/problems.ts'
import type { EventWaits } from '../../live/event-waits.ts'
import { defineOperation } from '../../operation.ts'
import { disputeObject } from './disputes/dispute-schemas.ts'
import { idPath, moment } from './fields.ts'
import { linkObject } from './links/link-object.ts'
import { cursorSchema, listSchema, noCursor, pageQuery, readPage, wholeNumber } from './lists.ts'
import { paymentObject } from './payments/payment-schemas.ts'
import { refundObject } from './refunds/refund-schemas.ts'
import { releaseObject } from './reserves/release-schema.ts'
import { endpointObject } from './webhooks/endpoint-schemas.ts'

/** The types of the events about a subject. */
const typesAbout = (subject: ReturnType<typeof getEventSubject>) =>
  z.enum(WEBHOOK_EVENT_TYPES.filter((type) => getEventSubject(type) === subject))

const describeEvent = <Type extends z.ZodType, Subject extends z.ZodType>(type: Type, object: Subject) =>
  z.strictObject({
    id: z.string().meta({
      description: 'The id, the same on every delivery: receivers store it to recognize what they already have.',
    }),
    type: type.meta({ description: 'What happened, such as `payment.succeeded`.' }),
    timestamp: moment,
    api_version: z.string(),
    livemode: z.boolean(),
    sequence: z
      .int()
      .nullable()
      .meta({ description: 'Has no gaps within a mode. Null: an event that only tests an endpoint.' }),
    data: z.strictObject({ object }).meta({ description: 'The object that the event is about.' }),
  })

/** By the first word of their type, which says what the event is about. */
export const EVENT_OBJECTS = {
  payment: describeEvent(typesAbout('payment'), paymentObject).meta({ id: 'PaymentEvent' }),
  dispute: describeEvent(typesAbout('dispute'), disputeObject).meta({ id: 'DisputeEvent' }),
  refund: describeEvent(typesAbout('refund'), refundObject).meta({ id: 'RefundEvent' }),
  reserve: describeEvent(typesAbout('reserve'), releaseObject).meta({ id: 'ReserveEvent' }),
  payment_link: describeEvent(typesAbout('payment_link'), linkObject).meta({ id: 'PaymentLinkEvent' }),
  webhook_endpoint: describeEvent(typesAbout('webhook_endpoint'), endpointObject).meta({ id: 'WebhookEndpointEvent' }),
}

const testEvent = describeEvent(z.enum(['webhook.test']), z.looseObject({ object: z.literal('webhook_test') })).meta({
  id: 'TestEvent',
})

const { payment, dispute, refund, reserve, payment_link, webhook_endpoint } = EVENT_OBJECTS

/** The schema of each type of event. */
const mapping = Object.fromEntries([
  ...WEBHOOK_EVENT_TYPES.map((type) => [type, getReference(EVENT_OBJECTS[getEventSubject(type)])]),
  ['webhook.test', getReference(testEvent)],
])

export const eventObject = z
  .discriminatedUnion('type', [payment, dispute, refund, reserve, payment_link, webhook_endpoint, testEvent])
  .meta({
    id: 'Event',
    description: 'Exactly as it is sent to webhook endpoints, byte for byte.',
    examples: [EVENT],
    override: { discriminator: { propertyName: 'type', mapping } },
  })

function getReference(schema: z.ZodType): string {
  return `#/components/schemas/${schema.meta()?.id ?? ''}`
}

export type EventsDeps = { readonly eventWaits: EventWaits }

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
  wait: wholeNumber({
    pattern: /^(?:\d|1\d|2[0-5])$/,
    must: 'must be a whole number from 0 to 25',
    minimum: 0,
    maximum: 25,
  })
    .optional()
    .meta({
      description:
        'Seconds to wait for an event after `after_sequence` if there is none yet. Needs `after_sequence`, and no other filter.',
    }),
  type: z.enum(WEBHOOK_EVENT_TYPES).optional(),
  payment: cursorSchema('payment').optional(),
})

const TOO_MANY_WAIT = 'Too many requests of the account wait for events. Try again in 1 s.'

export const listEvents = defineOperation({
  name: 'listEvents',
  method: 'get',
  path: '/v1/events',
  tag: 'Events',
  summary: 'List events, pull those that were missed, or wait for the next',
  scope: 'events:read',
  query: listQuery,
  answers: { 200: listSchema(eventObject) },
  example: { query: { after_sequence: '0', limit: '50' } },
  waitFirst: async ({ caller, query }, { eventWaits }: EventsDeps) => {
    const { wait = 0, after_sequence: after, type, payment: about } = query
    if (wait === 0) return
    if (after === undefined || type !== undefined || about !== undefined)
      throw new Problem('validation_failed', 'wait: needs after_sequence, and neither type nor payment.', {
        param: 'wait',
      })
    if (!(await eventWaits.wait(caller, { after, ms: wait * 1000 })))
      throw new Problem('rate_limited', TOO_MANY_WAIT, { headers: { 'retry-after': '1' }, isHeld: true })
  },
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
