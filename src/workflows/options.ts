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

/** What runs that were recorded before did otherwise: each name is in their histories, and stays. */
export const PATCHES = {
  /** They ended although a partner's news had not been read, */
  keepsUnreadNews: 'keeps-unread-news',
  /** decided without asking the partner whether the money is still there, */
  readsBeforeDecisions: 'reads-before-decisions',
  /** and asked that for a payment that was over, whose money could not go anywhere. */
  closesRecordsUnread: 'closes-records-unread',
  /** They heard nothing while a payout was on its way, */
  hearsWhilePaying: 'hears-while-paying',
  /** and while they waited to be continued as a new run, which took their requests' answers away, */
  hearsWhileContinuing: 'hears-while-continuing',
  /** waited without end for a partner that was confirming, */
  watchesSilence: 'watches-silence',
  /** stayed open when a confirmation was withdrawn after the expiry, */
  expiresWhenWithdrawn: 'expires-when-withdrawn',
  /** or when it had come after the expiry, */
  expiresWhenPast: 'expires-when-past',
  /** did not expire when the expiry had been moved and they read of it before the old one, */
  watchesMovedExpiry: 'watches-moved-expiry',
  /** looked at the delay of a settlement only when they polled, */
  delayOnTime: 'delay-on-time',
  /** had late money ended only by a decision, */
  watchesLateMoney: 'watches-late-money',
  /** went on showing what they knew when a decision had been refused by the row, */
  looksAgain: 'looks-again',
  /** did not ask whether the money was still there while its payout waited, */
  readsWhilePaying: 'reads-while-paying',
  /** and nothing of money that its partner held back after it had confirmed it, */
  readsWhileHeldBack: 'reads-while-held-back',
  /** nor, when they took over, whether what the row calls paid was still there, */
  readsWhenResumed: 'reads-when-resumed',
  /** nor when its conversion had waited, or when news of it could not be read. */
  readsAfterWaits: 'reads-after-waits',
  /** They read the order again by the next poll alone when the partner had refused its refund. */
  readsAfterRefusals: 'reads-after-refusals',
  /** They watched the delay of the first money alone, also when it was withdrawn and other money came. */
  watchesEachDelay: 'watches-each-delay',
  /** They never asked whether a second payment was still there. */
  readsSecondPayments: 'reads-second-payments',
  /** Nor of money that waited for an operator. */
  readsWhileParked: 'reads-while-parked',
  /** They slept on when the mark of a delay told that the payment had moved, which only a lost run's activity had known. */
  movesByAnyAnswer: 'moves-by-any-answer',
} as const
