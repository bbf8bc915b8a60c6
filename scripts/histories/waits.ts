import { setTimeout as pause } from 'node:timers/promises'
import type { History } from '@temporalio/common/lib/proto-utils.js'
import { z } from 'zod'
import { many, sql } from '../../src/db/db.ts'
import { deliveryWorkflowId } from '../../src/domain/ids.ts'
import { paymentState } from '../../src/workflows/messages.ts'
import { until } from '../test/until.ts'
import type { PaymentFixture } from './payment-fixture.ts'

/** Milliseconds: longer than the longest wait for a poll or a retry. The first poll is after a minute. */
const PATIENCE_MS = 180_000

type Row = Awaited<ReturnType<PaymentFixture['read']>>['payment']

const patiently = <T>(read: () => Promise<T>, holds: (value: T) => boolean) => until(read, holds, PATIENCE_MS)

/** Waits for the facts of a scenario. It never waits for a time. */
export function createWaits(fixture: PaymentFixture) {
  const handle = (id: string) => fixture.client.workflow.getHandle(id)
  const untilRun = (workflowId: string, run: number) =>
    patiently(
      () => listRuns(fixture, workflowId),
      ({ length }) => length > run,
    )

  return {
    untilRow: <T extends keyof Row>(paymentId: string, field: T, value: Row[T]) =>
      patiently(
        async () => (await fixture.read(paymentId)).payment,
        (row) => row[field] === value,
      ),

    /** Waits until the run knows the state, not only the row. */
    untilState: (paymentId: string, status: string) =>
      patiently(
        () => handle(paymentId).query(paymentState),
        (state) => state.status === status,
      ),

    untilAttempt: (paymentId: string, attemptId: string, status: string) =>
      patiently(
        async () => (await handle(paymentId).query(paymentState)).attempts.find(({ id }) => id === attemptId),
        (attempt) => attempt?.status === status,
      ),

    ...moneyWaits(fixture),
    ...historyWaits(fixture),

    untilStarted: (workflowId: string) =>
      patiently(
        () =>
          handle(workflowId)
            .describe()
            .then(
              () => true,
              () => false,
            ),
        (started) => started,
      ),

    findDelivery: async (paymentId: string): Promise<string> => {
      const row = z.object({ event_id: z.string(), endpoint_id: z.string() })
      const query = sql`select event_id, endpoint_id from delivery join event on event.id = event_id where payment_id = ${paymentId}`
      const [found] = await patiently(
        () => many(fixture.db, row, query),
        (rows) => rows.length > 0,
      )
      return deliveryWorkflowId(found?.event_id ?? '', found?.endpoint_id ?? '')
    },

    untilRun,

    /** Returns the history of a run by its number, because a message after the end of a workflow starts another run. */
    readHistory: async (workflowId: string, run: number) => {
      const runs = await untilRun(workflowId, run)
      const oldestFirst = runs.toSorted((a, b) => a.startTime.getTime() - b.startTime.getTime())
      return fixture.client.workflow.getHandle(workflowId, oldestFirst[run]?.runId).fetchHistory()
    },
  }
}

async function listRuns(fixture: PaymentFixture, workflowId: string): Promise<{ runId: string; startTime: Date }[]> {
  const runs = []
  for await (const { runId, startTime } of fixture.client.workflow.list({ query: `WorkflowId = '${workflowId}'` }))
    runs.push({ runId, startTime })
  return runs
}

function historyWaits(fixture: PaymentFixture) {
  async function untilEvents(workflowId: string, holds: (events: NonNullable<History['events']>) => boolean) {
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; ) {
      const { events } = await fixture.client.workflow.getHandle(workflowId).fetchHistory()
      if (holds(events ?? [])) return
      await pause(500)
    }
    throw new Error(`the history of ${workflowId} did not get there within ${PATIENCE_MS} ms`)
  }

  return {
    /** Returns true once the server suggests a new run. */
    isLong: async (workflowId: string): Promise<boolean> => {
      const { events } = await fixture.client.workflow.getHandle(workflowId).fetchHistory()
      return (events ?? []).some((event) => event.workflowTaskStartedEventAttributes?.suggestContinueAsNew === true)
    },

    untilRung: (workflowId: string) =>
      untilEvents(workflowId, (events) => events.some((event) => event.timerFiredEventAttributes)),

    /** Waits until the run has read an order after a timer has rung. */
    untilPolled: (workflowId: string) =>
      untilEvents(workflowId, (events) => {
        const rung = events.findIndex((event) => event.timerFiredEventAttributes)
        return rung >= 0 && events.slice(rung).some((event) => event.markerRecordedEventAttributes)
      }),
  }
}

function moneyWaits(fixture: PaymentFixture) {
  const handle = (id: string) => fixture.client.workflow.getHandle(id)
  return {
    /** Waits until a run knows of something that an operator must decide. */
    untilReview: (paymentId: string) =>
      patiently(
        () =>
          handle(paymentId)
            .query(paymentState)
            .then(
              ({ reviews }) => reviews.length,
              () => 0,
            ),
        (open) => open > 0,
      ),

    /** Waits until the partner has carried a refund out. The simulator applies what time changes when it is read. */
    untilRefunded: (paymentId: string) =>
      patiently(
        async () => {
          await fixture.sandbox.callbacks.flush()
          return (await fixture.read(paymentId)).payment.status
        },
        (status) => status === 'refunded',
      ),
  }
}
