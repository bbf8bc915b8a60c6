import type { Client } from '@temporalio/client'
import type { Db, Queryable } from '../db/db.ts'
import { deleteOutbox, type OutboxRow, readOutbox, takeOutbox } from '../db/outbox.ts'
import { takeUnread } from '../db/payments/partner-events.ts'
import { readStarts } from '../db/payments/payment-starts.ts'
import { loadPayments } from '../db/payments/payments.ts'
import { toSnapshot } from '../domain/payment/snapshot.ts'
import type { Logger } from '../runtime/log.ts'
import type { PaymentWorkflows } from '../temporal/payments.ts'
import { adoptOrphans, createWalk } from './orphans.ts'

/** Sends to Temporal what a crash may have kept from it. Every message is safe to send twice. */
export type Relay = {
  /** Starts workflows of payments whose process died between commit and start. */
  readonly startPayments: () => Promise<number>
  /** For payouts that are settled, stopped or voided: completes the waiting activity, or signals the workflow. */
  readonly completeTransfers: () => Promise<number>
  /** Repeats callbacks of partners until an activity has applied a reading of the order. */
  readonly relayPartnerNews: () => Promise<number>
  /** Starts a workflow for every open payment without one, after a terminated run or a lost Temporal store. */
  readonly adoptOrphans: () => Promise<number>
}

export type RelayDeps = {
  readonly db: Db
  readonly client: Pick<Client, 'workflow'>
  readonly workflows: PaymentWorkflows
  readonly clock: () => number
  readonly log: Logger
  /** Milliseconds for which messages are left to the process that wrote them. */
  readonly graceMs?: number
  /** Number of payments in one round of `adoptOrphans`. */
  readonly orphanPage?: number
}

const GRACE_MS = 3000
/** Maximum number of messages in one round, so that rounds stay short. The next round takes the others. */
export const PER_ROUND = 100
/**
 * Starts of one round, all at once. Each has three seconds to be answered, and two cores start about eighty a second.
 */
export const STARTS_PER_ROUND = 16

export function createRelay(deps: RelayDeps): Relay {
  const { db, workflows, log } = deps
  const graceMs = deps.graceMs ?? GRACE_MS
  const walk = createWalk()

  return {
    startPayments: () =>
      db.transaction(async (tx) => {
        const rows = await takeOutbox(tx, 'start_payment', { minAgeMs: graceMs, limit: STARTS_PER_ROUND })
        const starts = await readStarts(
          tx,
          rows.map((row) => row.subject),
        )
        const byId = new Map(starts.map((start) => [start.id, start]))
        return sendAll(tx, rows, async ({ subject }) => {
          const start = byId.get(subject)
          if (start !== undefined) await workflows.resume(start)
        })
      }),

    completeTransfers: async () => {
      const rows = await readOutbox(db, 'complete_transfer', { minAgeMs: 0, limit: PER_ROUND })
      const payments = await loadPayments(
        db,
        rows.map((row) => row.subject),
      )
      return sendAll(db, rows, async ({ subject, payload }) => {
        const payment = payments.get(subject)
        if (payment === undefined) throw new Error(`no payment ${subject}`)
        const changed = { payment: toSnapshot(payment), events: readEvents(payload) }
        if (!(await workflows.completeTransfer(subject, changed))) await workflows.signalRowChanged(subject)
      })
    },

    relayPartnerNews: async () => {
      const news = await takeUnread(db, { minAgeMs: graceMs, limit: PER_ROUND })
      return forEach(news, (unread) => workflows.signalPartnerNews(unread.payment_id, unread.attempt_id))
    },

    adoptOrphans: () => adoptOrphans({ ...deps, walk, forEach }),
  }

  /** Deletes the messages that were sent. Returns their number. */
  async function sendAll(
    queryable: Queryable,
    rows: readonly OutboxRow[],
    send: (row: OutboxRow) => Promise<void>,
  ): Promise<number> {
    const sent: OutboxRow[] = []
    await forEach(rows, async (row) => {
      await send(row)
      sent.push(row)
    })
    await deleteOutbox(queryable, sent)
    return sent.length
  }

  /**
   * Works on each item. One that fails stops no other; the next round finds it again. Returns the number of successes.
   */
  async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<number> {
    const results = await Promise.allSettled(items.map(work))
    const failed = results.filter((result) => result.status === 'rejected')
    if (failed.length > 0)
      log.warn(
        { err: failed[0]?.reason, failed: failed.length, of: items.length },
        'some messages could not be passed on yet',
      )
    return items.length - failed.length
  }
}

function readEvents(payload: unknown): string[] {
  if (typeof payload !== 'object' || payload === null || !('events' in payload) || !Array.isArray(payload.events))
    return []
  return payload.events.filter((id) => typeof id === 'string')
}
