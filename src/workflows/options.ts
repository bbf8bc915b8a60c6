import type { ActivityInterfaceFor, ActivityOptions } from '@temporalio/workflow'
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow'
import type { PaymentActivities } from '../activities/payment/payment.ts'
import type { AnnounceActivities } from '../activities/webhooks/announce.ts'
import type { WebhookDeliveryActivities } from '../activities/webhooks/webhook-delivery.ts'
import { TRANSFER_ACTIVITY_ID } from '../domain/ids.ts'
import { RETRY_PRIORITY } from './priority.ts'

/** How long each kind of step may take and how it is retried, with the reason for each number. */

type Summaries<A> = { readonly [name in keyof A]: string }

/** Activities of one kind. Each has the summary with which the Temporal UI lists it. */
function steps<A extends object>(options: ActivityOptions, summaries: Summaries<A>): ActivityInterfaceFor<A> {
  const names = Object.entries(summaries) as [keyof A, string][]
  const entries = names.map(([name, summary]) => [name, proxyActivities<A>({ ...options, summary })[name]])
  return Object.fromEntries(entries) as ActivityInterfaceFor<A>
}

/** Reads and writes of our own database: retried forever, so that they succeed as soon as Postgres is back. */
export const records = steps<Pick<PaymentActivities, 'loadPayment' | 'decide' | 'markDelayed' | 'markSilent'>>(
  {
    // A worker that was killed is noticed by this time-out: short, because the statements take milliseconds.
    startToCloseTimeout: '10 s',
    retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 s' },
  },
  {
    loadPayment: 'Read the payment',
    decide: 'Carry out the decision of an operator',
    markDelayed: 'Mark the settlement as delayed',
    markSilent: 'Note that the partner is silent',
  },
)

/** The buyer waits in front of the screen: an answer or an honest failure within half a minute. */
export const buyerWaits = steps<Pick<PaymentActivities, 'openPartnerOrder'>>(
  {
    // The partner's own limit is 10 s a call; earlier orders are canceled first.
    startToCloseTimeout: '25 s',
    // The API waits no longer either, and the buyer's next choice must not wait for this one.
    scheduleToCloseTimeout: '30 s',
    retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '5 s' },
  },
  { openPartnerOrder: 'Open an order at the partner that the buyer has chosen' },
)

/** A quick read; its effect on our row is the same however often it runs. One history event instead of six. */
export const reading = proxyLocalActivities<Pick<PaymentActivities, 'readPartnerOrder'>>({
  summary: 'Read the order from its partner',
  startToCloseTimeout: '12 s',
  // After three tries the next callback or the next poll reads again: an outage must not fill the history.
  retry: { initialInterval: '300 ms', backoffCoefficient: 3, maximumAttempts: 3 },
})

/** Calls that move or give back money: retried forever, at growing intervals; each has its idempotency key. */
export const money = steps<Pick<PaymentActivities, 'convertToUsdc' | 'closeUnpaid' | 'giveBack'>>(
  {
    startToCloseTimeout: '30 s',
    retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
  },
  {
    convertToUsdc: 'Convert the money to USDC',
    closeUnpaid: 'Close the payment, unless money has arrived',
    giveBack: 'Give the money back through the partner',
  },
)

/** A conversion is tried in short calls; after half an hour without a fill an operator must decide. */
export const CONVERSION_WAITS = {
  overdueMs: 30 * 60_000,
  /** Most seconds between two tries for which the converter has set no longer time: some thirty tries, not hundreds. */
  sell: 60,
  /** The same for an order that is to be ended. */
  end_sale: 3600,
  /** A fill after this time was not made at the first try, which may take no longer. */
  firstTryMs: 30_000,
} as const

/** Most seconds between two readings of a paid order whose money is in doubt. */
export const PAID_SILENCE_SECONDS = 3600

/** Waits for the settlement engine, which completes the activity by its id; a retry only reads how far the payout is. */
export const settlement = proxyActivities<Pick<PaymentActivities, 'transferUsdc'>>({
  summary: 'Send the USDC to the merchant, until its block is final',
  activityId: TRANSFER_ACTIVITY_ID,
  // Finality takes 2 to 5 s on Polygon. If the completion was lost, the next try finds the result after a minute.
  startToCloseTimeout: '60 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 1.5, maximumInterval: '30 s' },
})

/** The first try at every endpoint: each has 15 s, all run at once. */
export const announcing = proxyActivities<AnnounceActivities>({
  summary: 'Send the event to every endpoint',
  startToCloseTimeout: '60 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
})

const oneTry = {
  summary: 'Send the event to the endpoint',
  // The endpoint has 15 s. Its answer is a value: only our own failures are retried here.
  startToCloseTimeout: '30 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
} as const

/** One try at one endpoint; the workflow decides how many there are, and when. */
export const delivering = proxyActivities<WebhookDeliveryActivities>(oneTry)

/** A later try: those that somebody waits for go first. */
export const retrying = proxyActivities<WebhookDeliveryActivities>({ ...oneTry, priority: RETRY_PRIORITY })

/** Minutes after the buyer has left for the partner at which the order is read again, even without a callback. */
export const POLL_AFTER_MINUTES = [1, 5, 15, 60] as const
/** Minutes between the polls after that. */
export const POLL_EVERY_MINUTES = 360
