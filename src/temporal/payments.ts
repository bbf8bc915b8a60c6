import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowStartOptions,
  WorkflowUpdateFailedError,
} from '@temporalio/client'
import { ApplicationFailure, type SearchAttributePair } from '@temporalio/common'
import { paymentWorkflowId, TRANSFER_ACTIVITY_ID } from '../domain/ids.ts'
import type { ProviderName } from '../domain/methods.ts'
import { formatAmount, type Money } from '../domain/money.ts'
import type { CancelAnswer, OpenAttemptAnswer, OpenAttemptRequest } from '../domain/requests.ts'
import { cancelPayment, openAttempt, type PaymentInput, partnerNews, payoutNews } from '../workflows/messages.ts'
import type { payment } from '../workflows/payment.ts'
import * as attributes from '../workflows/search-attributes.ts'

/** How the rest of the system speaks to payment workflows. */

/** What a start needs to know of the row. */
export type PaymentStart = {
  readonly id: string
  readonly merchantId: string
  readonly amount: Money
  readonly provider: ProviderName | null
  readonly status: string
  /** ISO 8601. */
  readonly expiresAt: string
}

export type PaymentWorkflows = {
  /** The first start of a payment. False when a run exists or existed. */
  start(payment: PaymentStart): Promise<boolean>
  /** Starts a run that takes over from the row, unless one is running. */
  resume(payment: PaymentStart): Promise<boolean>
  openAttempt(paymentId: string, request: OpenAttemptRequest): Promise<OpenAttemptAnswer | { kind: 'unavailable' }>
  cancel(paymentId: string): Promise<CancelAnswer | { kind: 'unavailable' }>
  tellPartnerNews(paymentId: string, attemptId: string): Promise<void>
  tellPayoutNews(paymentId: string): Promise<void>
  /** Completes the waiting transfer activity; false when none waits. */
  completeTransfer(paymentId: string, result: unknown): Promise<boolean>
}

export type PaymentWorkflowsDeps = {
  readonly client: Client
  readonly taskQueue: string
  /** The row, for a run that has to be started because none is there. */
  readonly load: (paymentId: string) => Promise<PaymentStart>
}

/** A start must not keep the merchant waiting: the relay does it later. */
const START_DEADLINE_MS = 1500
const SIGNAL_DEADLINE_MS = 3000
/** The buyer waits in front of the screen. */
const UPDATE_DEADLINE_MS = 30_000

const QUEUE_POLICY = { workflowIdConflictPolicy: 'USE_EXISTING' } as const

export function createPaymentWorkflows({ client, taskQueue, load }: PaymentWorkflowsDeps): PaymentWorkflows {
  const within = <T>(ms: number, work: () => Promise<T>): Promise<T> =>
    client.connection.withDeadline(Date.now() + ms, work)

  return {
    start: (row) =>
      started(() =>
        within(START_DEADLINE_MS, () =>
          client.workflow.start<typeof payment>('payment', {
            ...options(row, false),
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
          }),
        ),
      ),
    resume: (row) =>
      started(() =>
        within(SIGNAL_DEADLINE_MS, () => client.workflow.start<typeof payment>('payment', options(row, true))),
      ),
    openAttempt: (paymentId, request) =>
      answered(
        () => handle(paymentId).executeUpdate(openAttempt, { args: [request], updateId: request.attemptId }),
        async () =>
          client.workflow.executeUpdateWithStart(openAttempt, {
            args: [request],
            updateId: request.attemptId,
            startWorkflowOperation: withStart(await load(paymentId)),
          }),
      ),
    cancel: (paymentId) =>
      answered(
        () => handle(paymentId).executeUpdate(cancelPayment),
        async () =>
          client.workflow.executeUpdateWithStart(cancelPayment, {
            startWorkflowOperation: withStart(await load(paymentId)),
          }),
      ),
    tellPartnerNews: (paymentId, attemptId) =>
      told(
        () => handle(paymentId).signal(partnerNews, { attemptId }),
        async () => {
          const row = await load(paymentId)
          await client.workflow.signalWithStart<typeof payment, [{ attemptId: string }]>('payment', {
            ...options(row, true),
            signal: partnerNews,
            signalArgs: [{ attemptId }],
          })
        },
      ),
    tellPayoutNews: (paymentId) =>
      told(
        () => handle(paymentId).signal(payoutNews),
        async () => {
          // A run that was started meanwhile has read the row after the payout had changed.
          const row = await load(paymentId)
          await started(() => client.workflow.start<typeof payment>('payment', options(row, true)))
        },
      ),
    completeTransfer: async (paymentId, result) => {
      try {
        await within(SIGNAL_DEADLINE_MS, () =>
          client.activity.complete(
            { workflowId: paymentWorkflowId(paymentId), activityId: TRANSFER_ACTIVITY_ID },
            result,
          ),
        )
        return true
      } catch (error) {
        if (error instanceof Error && error.name === 'ActivityNotFoundError') return false
        throw error
      }
    },
  }

  function handle(paymentId: string) {
    return client.workflow.getHandle(paymentWorkflowId(paymentId))
  }

  function options(row: PaymentStart, resume: boolean): WorkflowStartOptions<typeof payment> {
    const input: PaymentInput = { id: row.id, expiresAt: Date.parse(row.expiresAt), resume }
    return {
      taskQueue,
      workflowId: paymentWorkflowId(row.id),
      args: [input],
      staticSummary: `${formatAmount(row.amount)} ${row.amount.currency} · ${row.provider ?? 'buyer picks'}`,
      typedSearchAttributes: searchAttributes(row),
    }
  }

  /** The row guards against a second run, so a closed workflow may be started again to take over. */
  function withStart(row: PaymentStart): WithStartWorkflowOperation<typeof payment> {
    return new WithStartWorkflowOperation<typeof payment>('payment', { ...options(row, true), ...QUEUE_POLICY })
  }

  /** To the run that is there; where none is, to one that is started for it. */
  async function told(tell: () => Promise<void>, tellWithStart: () => Promise<void>): Promise<void> {
    try {
      await within(SIGNAL_DEADLINE_MS, tell)
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error
      await within(SIGNAL_DEADLINE_MS, tellWithStart)
    }
  }

  async function answered<T>(
    update: () => Promise<T>,
    updateWithStart: () => Promise<T>,
  ): Promise<T | { kind: 'unavailable' }> {
    try {
      return await within(UPDATE_DEADLINE_MS, update)
    } catch (error) {
      if (error instanceof WorkflowNotFoundError || workflowEnded(error)) return answeredBy(updateWithStart)
      return unavailable(error)
    }
  }

  async function answeredBy<T>(updateWithStart: () => Promise<T>): Promise<T | { kind: 'unavailable' }> {
    try {
      return await within(UPDATE_DEADLINE_MS, updateWithStart)
    } catch (error) {
      return unavailable(error)
    }
  }
}

async function started(start: () => Promise<unknown>): Promise<boolean> {
  try {
    await start()
    return true
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false
    throw error
  }
}

/** The update arrived while the workflow was ending: a new run answers it. */
function workflowEnded(error: unknown): boolean {
  return (
    error instanceof WorkflowUpdateFailedError &&
    error.cause instanceof ApplicationFailure &&
    error.cause.type === 'AcceptedUpdateCompletedWorkflow'
  )
}

/** No answer in time, or the partner could not be reached: the outcome is unknown, and asking again is safe. */
function unavailable(error: unknown): { kind: 'unavailable' } {
  const timedOut = error instanceof Error && /RPCTimeoutOrCancelled|Deadline/i.test(error.name)
  // The SDK wraps what gRPC reports.
  const down = error instanceof ServiceError || isGrpcServiceError(error)
  if (error instanceof WorkflowUpdateFailedError || down || timedOut) return { kind: 'unavailable' }
  throw error
}

function searchAttributes(row: PaymentStart): SearchAttributePair[] {
  return [
    { key: attributes.PAYMENT_STATUS, value: row.status },
    { key: attributes.MERCHANT_ID, value: row.merchantId },
    { key: attributes.CURRENCY, value: row.amount.currency },
    { key: attributes.AMOUNT_MINOR, value: Number(row.amount.minor) },
    { key: attributes.EXPIRES_AT, value: new Date(row.expiresAt) },
    { key: attributes.NEEDS_OPERATOR, value: false },
    ...(row.provider === null ? [] : [{ key: attributes.PROVIDER, value: row.provider }]),
  ]
}
