import type { Client } from '@temporalio/client'
import type { Db } from '../db/db.ts'
import { deleteOutbox, readOutbox } from '../db/outbox.ts'
import { listUnsignaled, markSignaled } from '../db/payments/partner-events.ts'
import { readStarts } from '../db/payments/payment-starts.ts'
import { listUnclosed, loadPayment } from '../db/payments/payments.ts'
import { snapshotOf } from '../domain/payment/snapshot.ts'
import type { Logger } from '../log.ts'
import type { PaymentWorkflows } from '../temporal/payments.ts'

/** Tells Temporal what a crash may have kept from it. Every round may be repeated; each message is safe to send twice. */
export type Relay = {
  /** Starts whose process died between commit and start. */
  readonly startPayments: () => Promise<number>
  /** Payouts that are settled, held or voided: completes the waiting activity, or tells the workflow. */
  readonly completeTransfers: () => Promise<number>
  /** Callbacks that were stored and perhaps never passed on. */
  readonly tellPartnerNews: () => Promise<number>
  /** Every payment that is not closed must have a workflow: after a terminated run, or a lost Temporal store. */
  readonly adoptOrphans: () => Promise<number>
}

export type RelayDeps = {
  readonly db: Db
  readonly client: Pick<Client, 'workflow'>
  readonly workflows: PaymentWorkflows
  readonly clock: () => number
  readonly log: Logger
  /** Younger messages are still in the hands of whoever wrote them (milliseconds). */
  readonly graceMs?: number
}

const GRACE_MS = 3000
/** A round stays short; what is left comes next. */
const BATCH = 100
/** A payment this young may not be visible in Temporal's list yet (milliseconds). */
const ORPHAN_AGE_MS = 20_000
const PAGE = 1000

export function createRelay(deps: RelayDeps): Relay {
  const { db, workflows, log } = deps
  const graceMs = deps.graceMs ?? GRACE_MS

  return {
    startPayments: async () => {
      const rows = await readOutbox(db, 'start_payment', { minAgeMs: graceMs, limit: BATCH })
      const starts = await readStarts(
        db,
        rows.map((row) => row.subject),
      )
      const byId = new Map(starts.map((start) => [start.id, start]))
      return forEach(rows, async (row) => {
        const start = byId.get(row.subject)
        if (start !== undefined) await workflows.resume(start)
        await deleteOutbox(db, [row])
      })
    },

    completeTransfers: async () => {
      const rows = await readOutbox(db, 'complete_transfer', { minAgeMs: 0, limit: BATCH })
      return forEach(rows, async (row) => {
        const payment = snapshotOf(await loadPayment(db, row.subject))
        const completed = await workflows.completeTransfer(row.subject, { payment, events: eventsOf(row.payload) })
        if (!completed) await workflows.tellPayoutNews(row.subject)
        await deleteOutbox(db, [row])
      })
    },

    tellPartnerNews: async () => {
      const events = await listUnsignaled(db, { minAgeMs: graceMs, limit: BATCH })
      return forEach(events, async (event) => {
        await workflows.tellPartnerNews(event.payment_id, event.attempt_id)
        await markSignaled(db, [{ provider: event.provider, eventId: event.event_id }])
      })
    },

    adoptOrphans: async () => {
      const running = await runningPayments()
      const createdBefore = new Date(deps.clock() - ORPHAN_AGE_MS).toISOString()
      let adopted = 0
      for (let after = ''; ; ) {
        const ids = await listUnclosed(db, { after, createdBefore, limit: PAGE })
        const orphans = await readStarts(
          db,
          ids.filter((id) => !running.has(id)),
        )
        adopted += await forEach(orphans, async (start) => {
          // Temporal's list is a moment behind: the start itself finds out whether a run is there.
          if (await workflows.resume(start))
            log.warn({ payment_id: start.id }, 'a payment had no workflow: it has one again')
        })
        after = ids.at(-1) ?? ''
        if (ids.length < PAGE) return adopted
      }
    },
  }

  async function runningPayments(): Promise<Set<string>> {
    const ids = new Set<string>()
    const query = "WorkflowType = 'payment' AND ExecutionStatus = 'Running'"
    for await (const execution of deps.client.workflow.list({ query, pageSize: PAGE })) ids.add(execution.workflowId)
    return ids
  }

  /** One that fails does not keep the others; it is found again in the next round. */
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

function eventsOf(payload: unknown): string[] {
  if (typeof payload !== 'object' || payload === null || !('events' in payload) || !Array.isArray(payload.events))
    return []
  return payload.events.filter((id) => typeof id === 'string')
}
