import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow'
import type { PaymentActivities } from '../activities/payment/payment.ts'
import type { AnnounceActivities } from '../activities/webhooks/announce.ts'
import type { WebhookDeliveryActivities } from '../activities/webhooks/webhook-delivery.ts'
import { TRANSFER_ACTIVITY_ID } from '../domain/ids.ts'

/** How long each kind of step may take and how it is tried again, with the reason beside each number. */

/** Reads and writes of our own database: as soon as Postgres is back, and without end. */
export const records = proxyActivities<
  Pick<PaymentActivities, 'loadPayment' | 'decide' | 'markDelayed' | 'parkSilent'>
>({
  // A worker that was killed is noticed by this time-out: short, because the statements take milliseconds.
  startToCloseTimeout: '10 s',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 s' },
})

/** The buyer waits in front of the screen: an answer or an honest failure within half a minute. */
export const buyerWaits = proxyActivities<Pick<PaymentActivities, 'openPartnerOrder'>>({
  // The partner's own limit is 10 s a call; canceling earlier orders may come first.
  startToCloseTimeout: '25 s',
  scheduleToCloseTimeout: '60 s',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '5 s' },
})

/** A quick read; its effect on our row is the same however often it runs. One history event instead of six. */
export const reading = proxyLocalActivities<Pick<PaymentActivities, 'readPartnerOrder'>>({
  startToCloseTimeout: '12 s',
  // After three tries the next callback or the next poll reads again: an outage must not fill the history.
  retry: { initialInterval: '300 ms', backoffCoefficient: 3, maximumAttempts: 3 },
})

/** Calls that move or give back money: tried without end, slower and slower; each has its idempotency key. */
export const money = proxyActivities<Pick<PaymentActivities, 'convertToUsdc' | 'closeUnpaid' | 'refundAttempt'>>({
  startToCloseTimeout: '30 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
})

/** A conversion is asked for in short tries; after half an hour without a fill it is an operator's. */
export const CONVERSION_WAITS = {
  overdueMs: 30 * 60_000,
  /** Between two tries for which the converter has set no longer time: some thirty of them, not hundreds. */
  convert: 60,
  /** … when nobody waits for its answer any more. */
  end_conversion: 3600,
  /** What was filled later than this was not filled at the first try: one may take no longer. */
  firstTryMs: 30_000,
} as const

/** Seconds between two questions whether paid money is still there, at most: no longer than it was asked for already. */
export const PAID_SILENCE_SECONDS = 3600

/** Waits for the settlement engine, which completes it by its id; running it again only asks how far it is. */
export const settlement = proxyActivities<Pick<PaymentActivities, 'transferUsdc'>>({
  activityId: TRANSFER_ACTIVITY_ID,
  // Finality takes 2 to 5 s on Polygon. When the completion was lost, the next try finds the result after a minute.
  startToCloseTimeout: '60 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 1.5, maximumInterval: '30 s' },
})

/** The first attempt at every endpoint: each has 15 s, all run at once. */
export const announcing = proxyActivities<AnnounceActivities>({
  startToCloseTimeout: '60 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
})

/** One later attempt at one endpoint; how many there are and when is the workflow's business. */
export const delivering = proxyActivities<WebhookDeliveryActivities>({
  // The endpoint has 15 s. An answer that does not count is a value: only our own trouble is tried again here.
  startToCloseTimeout: '30 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
})

/** After the buyer has left for the partner, the order is read again even if no callback comes (minutes). */
export const POLL_AFTER_MINUTES = [1, 5, 15, 60] as const
/** After that, every so many minutes. */
export const POLL_EVERY_MINUTES = 360
