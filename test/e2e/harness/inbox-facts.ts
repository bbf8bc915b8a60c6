import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { SystemInfo } from '../../../scripts/system.ts'

const deliverySchema = z.looseObject({
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  status: z.number(),
})
const eventSchema = z.object({
  id: z.string(),
  type: z.string(),
  data: z.object({ object: z.object({ id: z.string() }) }),
})

/** All requests to the merchant's inbox, each signature computed again by the standard's text. */
export async function inboxFacts(info: SystemInfo) {
  const response = await fetch(`${info.inbox_url}/deliveries`)
  const deliveries = z.array(deliverySchema).parse(await response.json())
  const key = Buffer.from(info.webhook_secret.replace(/^whsec_/, ''), 'base64')
  return {
    deliveries: deliveries.map(({ headers, body, status }) => {
      const event = eventSchema.parse(JSON.parse(body))
      const eventId = headers['webhook-id'] ?? ''
      const signed = createHmac('sha256', key).update(`${eventId}.${headers['webhook-timestamp']}.${body}`)
      const signatures = (headers['webhook-signature'] ?? '').split(' ')
      return {
        eventId,
        type: event.type,
        paymentId: event.data.object.id,
        body,
        status,
        authentic: event.id === eventId && signatures.includes(`v1,${signed.digest('base64')}`),
      }
    }),
  }
}
