import { z } from 'zod'
import { plural } from '../../domain/plural.ts'
import { type Html, html, page } from '../html.ts'
import { LIVE_SCRIPT_PATH } from './live.ts'

export const deliverySchema = z.object({
  received_at: z.iso.datetime(),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  /** The body as received, which the signature covers. */
  body: z.string(),
  /** The status of the response; 0 without one. */
  status: z.int(),
  verified: z.boolean(),
  /** Why verification failed; null if it succeeded. */
  problem: z.string().nullable(),
})
export type InboxDelivery = z.infer<typeof deliverySchema>

/** Maximum number of deliveries on the page. The JSON has all. */
const SHOWN = 100

export function deliveriesPage(deliveries: readonly InboxDelivery[]): string {
  const first = Math.max(0, deliveries.length - SHOWN)
  const items = deliveries.slice(first).map((delivery, index) => renderItem(delivery, first + index))
  return page(
    'Merchant inbox',
    html`<h1>Merchant inbox</h1>
<p>What a shop's server gets from Pinrail: <b data-count role="status">${counted(deliveries.length)}</b>, the latest first. As JSON: <a href="/deliveries">/deliveries</a></p>
<ol class="deliveries" data-live="/deliveries/live">${items.toReversed()}</ol>`,
    LIVE_SCRIPT_PATH,
  )
}

const counted = (count: number): string => `${plural(count, 'webhook')} received`

function renderItem(delivery: InboxDelivery, place: number): Html {
  const { type, about } = readEvent(delivery.body)
  const answered = delivery.status === 0 ? 'nothing' : delivery.status.toString()
  return html`<li id="delivery-${place.toString()}">
<p class="line"><b>${type}</b> ${renderVerdict(delivery)}</p>
<p>${about}</p>
<p class="soft">${formatTime(delivery.received_at)} · responded ${answered} · <code>${delivery.headers['webhook-id'] ?? 'no id'}</code></p>
<details><summary>Body</summary><pre tabindex="0">${indented(delivery.body)}</pre></details>
<details><summary>Headers</summary><pre tabindex="0">${Object.entries(delivery.headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}</pre></details>
</li>`
}

function renderVerdict({ verified, problem }: InboxDelivery): Html {
  return verified
    ? html`<span class="chip good">✓ signature verified</span>`
    : html`<span class="chip bad">✕ not verified: ${problem ?? 'unknown'}</span>`
}

const when = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' })

/** Formats a time for people; the JSON has milliseconds. */
export const formatTime = (iso: string): string => `${when.format(new Date(iso))} UTC`

const eventSchema = z.object({
  type: z.string(),
  data: z.object({ object: z.looseObject({ id: z.string().optional() }).optional() }).optional(),
})
const paymentSchema = z.object({ amount_decimal: z.string(), currency: z.string(), status: z.string() })

function readEvent(body: string): { type: string; about: Html } {
  const event = eventSchema.safeParse(parse(body))
  if (!event.success) return { type: 'unknown event', about: html`` }
  const object = event.data.data?.object
  const payment = paymentSchema.safeParse(object)
  const { amount_decimal: amount, currency, status } = payment.data ?? {}
  const worth = payment.success ? ` · ${amount ?? ''} ${currency ?? ''} · ${status ?? ''}` : ''
  return { type: event.data.type, about: html`<code>${object?.id ?? ''}</code>${worth}` }
}

/** Formats the body for people: the JSON of all deliveries has the bytes that the signature covers. */
function indented(body: string): string {
  const parsed = parse(body)
  return parsed === null ? body : JSON.stringify(parsed, null, 2)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
