import { MISTAKES } from '../../domain/webhook-diagnosis.ts'
import { CREATED, ENDPOINT_ID, EVENT_ID, FINAL } from './examples.ts'

export const ENDPOINT = {
  id: ENDPOINT_ID,
  object: 'webhook_endpoint',
  livemode: false,
  url: 'https://shop.example/webhooks',
  description: null,
  format: 'standard',
  enabled_events: ['payment.succeeded'],
  status: 'enabled',
  disabled_at: null,
  disabled_reason: null,
  failing_since: null,
  previous_secret_expires_at: null,
  created_at: CREATED,
  updated_at: CREATED,
}

/** An endpoint that was disabled after days without a success. */
export const SWITCHED_OFF = {
  ...ENDPOINT,
  status: 'disabled',
  disabled_at: FINAL,
  disabled_reason: 'failing',
  failing_since: '2026-11-17T10:02:39.000Z',
}

export const ENDPOINT_WITH_SECRET = { ...ENDPOINT, secret: 'whsec_ZGV2ZWxvcG1lbnQtb25seS13ZWJob29rLXNlY3JldHM=' }

export const DELETED_ENDPOINT = { id: ENDPOINT_ID, object: 'webhook_endpoint', deleted: true }

export const DIAGNOSIS = {
  object: 'delivery_diagnosis',
  event: EVENT_ID,
  endpoint: ENDPOINT_ID,
  cause: 'parsed_body',
  message: `${MISTAKES.parsed_body} (as PHP writes it)`,
  requests: 5,
}
