import type { Client } from '@temporalio/client'
import type { Db, Queryable } from '../db/db.ts'
import { listOpenOfSuspended } from '../db/merchants/agreement.ts'
import { deleteMessages, type Message, readChangeMessages, takeStarts } from '../db/outbox.ts'
import { takeUnread } from '../db/payments/partner-callbacks.ts'
import { readStarts } from '../db/payments/payment-starts.ts'
import { takeDueRefunds } from '../db/refunds/refunds.ts'
import { type ActivityAnswer, toSnapshot } from '../domain/payment/snapshot.ts'
import type { Logger } from '../runtime/log.ts'
import type { PaymentWorkflows } from '../temporal/payments.ts'
import type { RefundWorkflows } from '../temporal/refunds.ts'
import { adoptOrphans, createWalk } from './orphans.ts'

/** Sends to Temporal what a crash may have kept from it. Every message is safe to send twice. */
export type Relay = {
  /** Starts workflows of payments whose process died between commit and start. */
  readonly startPayments: () => Promise<number>
  /**
   * For payments that were changed outside of their workflow: completes the open `settle`, or signals the workflow.
   * A full page of messages, of which some could not be sent, is not the last one.
   */
  readonly relayChanges: () => Promise<{ readonly sent: number; readonly isLastPage: boolean }>
  /** Repeats callbacks of partners until an activity has applied a reading of the order. */
  readonly relayCallbacks: () => Promise<number>
  /** Wakes the workflows of refunds that are due, and starts those that are missing. */
  readonly wakeRefunds: () => Promise<number>
  /** Starts a workflow for every open payment without one, after a terminated run or a lost Temporal store. */
  readonly adoptOrphans: () => Promise<number>
  /** Cancels open payments of suspended merchants. Returns how many have been asked. */
  readonly cancelSuspended: () => Promise<number>
}

export type RelayDeps = {
  readonly db: Db
  readonly client: Pick<Client, 'workflow'>
  readonly workflows: PaymentWorkflows
  readonly refunds: Pick<RefundWorkflows, 'wake'>
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

/** Cancellations of one round, all at once: each might call a partner. */
export const CANCELED_PER_ROUND = 16

export function createRelay(deps: RelayDeps): Relay {
  const { db, workflows, refunds, log } = deps
  const graceMs = deps.graceMs ?? GRACE_MS
  const walk = createWalk()
  let lastCanceled = ''

  return {
    startPayments: () =>
      db.transaction(async (tx) => {
        const messages = await takeStarts(tx, { minAgeMs: graceMs, limit: STARTS_PER_ROUND })
        const starts = await readStarts(
          tx,
          messages.map(({ paymentId }) => paymentId),
        )
        const byId = new Map(starts.map((start) => [start.id, start]))
        return sendAll(tx, messages, async ({ paymentId }) => {
          const start = byId.get(paymentId)
          if (start !== undefined) await workflows.resume(start)
        })
      }),

    relayChanges: async () => {
      const messages = await readChangeMessages(db, PER_ROUND)
      const sent = await sendAll(db, messages, async ({ state, events }) => {
        const { id } = state.payment
        const answer: ActivityAnswer = { payment: toSnapshot(state), events }
        if (!(await workflows.completeSettlement(id, answer))) await workflows.signalRowChanged(id)
      })
      return { sent, isLastPage: messages.length < PER_ROUND }
    },

    relayCallbacks: async () => {
      const callbacks = await takeUnread(db, { minAgeMs: graceMs, limit: PER_ROUND })
      return forEach(callbacks, (callback) => workflows.signalOrderChanged(callback.payment_id, callback.attempt_id))
    },

    wakeRefunds: async () => forEach(await takeDueRefunds(db, PER_ROUND), refunds.wake),

    adoptOrphans: () => adoptOrphans({ ...deps, walk, forEach }),

    cancelSuspended: async () => {
      const ids = await listOpenOfSuspended(db, { after: lastCanceled, limit: CANCELED_PER_ROUND })
      // After a shorter list, the next round begins with the first: those that always fail stop no other.
      lastCanceled = ids.length < CANCELED_PER_ROUND ? '' : (ids.at(-1) ?? '')
      return forEach(ids, async (id) => {
        const answer = await workflows.cancel(id)
        if ('kind' in answer) throw new Error(`the cancellation of ${id} was not confirmed`)
      })
    },
  }

  /** Deletes the messages that were sent. Returns their number. */
  async function sendAll<Sent extends Message>(
    queryable: Queryable,
    messages: readonly Sent[],
    send: (message: Sent) => Promise<void>,
  ): Promise<number> {
    const sent: Sent[] = []
    await forEach(messages, async (message) => {
      await send(message)
      sent.push(message)
    })
    await deleteMessages(queryable, sent)
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
