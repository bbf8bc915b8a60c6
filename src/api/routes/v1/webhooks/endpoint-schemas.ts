import { z } from 'zod'
import { TRIES_SHOWN } from '../../../../db/webhooks/event-log.ts'
import {
  ALL_EVENT_TYPES,
  DEFAULT_EVENT_TYPES,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_FORMATS,
} from '../../../../domain/webhook.ts'
import { MISTAKES, type Mistake } from '../../../../domain/webhook-diagnosis.ts'
import { DELETED_ENDPOINT, DIAGNOSIS, ENDPOINT, ENDPOINT_WITH_SECRET } from '../../../document/endpoint-examples.ts'
import { DELIVERY, REDELIVERY, TEST_EVENT } from '../../../document/examples.ts'
import { moment, safeText } from '../fields.ts'
import { ENDPOINT_URL, extendJsonSchema } from '../patterns.ts'

const eventTypes = z
  .array(z.enum([...WEBHOOK_EVENT_TYPES, ALL_EVENT_TYPES]), 'must be a list of event types')
  .min(1, 'must name at least one type, or *')
  .max(20, 'must name at most 20 types')
  .transform((types) => [...new Set(types)])

export const endpointUrl = z
  .string()
  .min(1)
  .max(2048, 'must have at most 2048 characters')
  .meta({ pattern: ENDPOINT_URL })
const description = safeText(500)
const ownSecret = z
  .string()
  .regex(/^[\x21-\x7e]{16,200}$/, 'must have 16 to 200 visible ASCII characters')
  .meta({ description: 'A signing secret that your shop has chosen, for the format `btcpay` only.' })

export const createEndpointBody = z.strictObject({
  url: endpointUrl,
  description: description.optional(),
  enabled_events: eventTypes.default([...DEFAULT_EVENT_TYPES]),
  format: z.enum(WEBHOOK_FORMATS).default('standard').meta({
    description:
      '`standard`: Standard Webhooks. `btcpay`: as BTCPay Server sends them, for plugins of shops. It cannot change.',
  }),
  secret: ownSecret.optional(),
})

export const updateEndpointBody = z
  .strictObject({
    url: endpointUrl.optional(),
    description: description.nullable().optional(),
    enabled_events: eventTypes.optional(),
    secret: ownSecret.optional(),
    enabled: z.boolean().optional().meta({ description: 'Enabling it resets its record of failures.' }),
  })
  .refine((body) => Object.keys(body).length > 0, 'must name at least one field to change')
  .meta(extendJsonSchema({ minProperties: 1 }))

export const rotateSecretBody = z.strictObject({
  overlap: z
    .int()
    .min(0)
    .max(604_800)
    .default(86_400)
    .meta({ description: 'How long the current secret also signs, in seconds.' }),
})

const endpointFields = {
  id: z.string(),
  object: z.literal('webhook_endpoint'),
  livemode: z.boolean(),
  url: z.string(),
  description: z.string().nullable(),
  format: z.enum(WEBHOOK_FORMATS),
  enabled_events: z.array(z.string()),
  status: z.enum(['enabled', 'disabled']),
  disabled_at: moment.nullable(),
  disabled_reason: z.enum(['merchant', 'gone', 'failing']).nullable(),
  failing_since: moment.nullable(),
  previous_secret_expires_at: moment.nullable(),
  created_at: moment,
  updated_at: moment,
}

export const endpointObject = z.strictObject(endpointFields).meta({ id: 'WebhookEndpoint', examples: [ENDPOINT] })

export const endpointWithSecret = z
  .strictObject({ ...endpointFields, secret: z.string().meta({ description: 'Shown only here.' }) })
  .meta({ id: 'WebhookEndpointWithSecret', examples: [ENDPOINT_WITH_SECRET] })

export const deletedObject = z
  .strictObject({ id: z.string(), object: z.literal('webhook_endpoint'), deleted: z.literal(true) })
  .meta({ id: 'DeletedWebhookEndpoint', examples: [DELETED_ENDPOINT] })

const deliveryFields = {
  object: z.literal('delivery'),
  event: z.string(),
  endpoint: z.string(),
  type: z.string(),
  status: z.enum(['pending', 'delivered', 'exhausted', 'disabled']),
  attempts: z.int(),
  created_at: moment,
  last_attempt_at: moment.nullable(),
  delivered_at: moment.nullable(),
}

export const deliveryObject = z
  .strictObject({
    ...deliveryFields,
    log: z
      .array(
        z.strictObject({
          number: z.int(),
          at: moment,
          duration_ms: z.int(),
          response_status: z.int().nullable(),
          response_headers: z.record(z.string(), z.string()).nullable(),
          response_body: z.string().nullable().meta({ description: 'Its beginning.' }),
          error: z.string().nullable(),
        }),
      )
      .meta({ description: `The latest ${TRIES_SHOWN} attempts. The timeline of the payment has all of them.` }),
  })
  .meta({ id: 'Delivery', examples: [DELIVERY] })

export const redeliveryObject = z
  .strictObject({
    object: z.literal('redelivery'),
    endpoint: z.string(),
    deliveries: z.int().meta({ description: 'How many are resent, in the background.' }),
  })
  .meta({ id: 'Redelivery', examples: [REDELIVERY] })

export const diagnosisObject = z
  .strictObject({
    object: z.literal('delivery_diagnosis'),
    event: z.string(),
    endpoint: z.string(),
    cause: z.enum(['none', 'response', 'unknown', 'sealed_secret', ...(Object.keys(MISTAKES) as Mistake[])]),
    message: z.string(),
    requests: z.int().meta({ description: 'How many requests were sent to the endpoint.' }),
  })
  .meta({ id: 'DeliveryDiagnosis', examples: [DIAGNOSIS] })

export const testEventObject = z
  .strictObject({ object: z.literal('test_event'), event: z.string(), endpoint: z.string() })
  .meta({ id: 'SentTestEvent', examples: [TEST_EVENT] })
