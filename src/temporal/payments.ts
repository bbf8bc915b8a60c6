import { type Client, WithStartWorkflowOperation, type WorkflowStartOptions } from '@temporalio/client'
import type { SearchAttributePair } from '@temporalio/common'
import { paymentWorkflowId, SETTLE_ACTIVITY_ID } from '../domain/ids.ts'
import type { ProviderName } from '../domain/methods.ts'
import { formatAmount, type Money } from '../domain/money.ts'
import type { CancelAnswer, OpenAttemptAnswer, OpenAttemptRequest } from '../domain/payment/requests.ts'
import type { ActivityAnswer } from '../domain/payment/snapshot.ts'
import { cancelPayment, openAttempt, orderChanged, type PaymentInput, rowChanged } from '../workflows/messages.ts'
import type { payment } from '../workflows/payment.ts'
import { paymentPriority } from '../workflows/priority.ts'
import * as attributes from '../workflows/search-attributes.ts'

import { askRun, createDeadlines, SIGNAL_DEADLINE_MS, START_DEADLINE_MS, signalRun, startOnce } from './calls.ts'

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
  /** Starts a payment's first run. False if a run exists or existed. */
  readonly start: (payment: PaymentStart) => Promise<boolean>
  /** Starts a run that takes over from the row, unless one is running. */
  readonly resume: (payment: PaymentStart) => Promise<boolean>
  readonly openAttempt: (
    paymentId: string,
    request: OpenAttemptRequest,
  ) => Promise<OpenAttemptAnswer | { kind: 'unavailable' }>
  readonly cancel: (paymentId: string) => Promise<CancelAnswer | { kind: 'unavailable' }>
  readonly signalOrderChanged: (paymentId: string, attemptId: string) => Promise<void>
  readonly signalRowChanged: (paymentId: string) => Promise<void>
  /** Completes the open `settle` activity. False if none is open. */
  readonly completeSettlement: (paymentId: string, answer: ActivityAnswer) => Promise<boolean>
}

export type PaymentWorkflowsDeps = {
  readonly client: Client
  readonly taskQueue: string
  /** Reads the payment's row, for a run that must be started because none is running. */
  readonly load: (paymentId: string) => Promise<PaymentStart>
}

export function createPaymentWorkflows(deps: PaymentWorkflowsDeps): PaymentWorkflows {
  const { client, taskQueue, load } = deps
  const within = createDeadlines(client)
  const handle = (paymentId: string) => client.workflow.getHandle(paymentWorkflowId(paymentId))
  const takeOver = async (paymentId: string) => startOptions(await load(paymentId), { taskQueue, resume: true })
  return {
    start: (row) => {
      const options = startOptions(row, { taskQueue, resume: false })
      return startOnce(() =>
        within(START_DEADLINE_MS, () =>
          client.workflow.start<typeof payment>('payment', { ...options, workflowIdReusePolicy: 'REJECT_DUPLICATE' }),
        ),
      )
    },
    resume: (row) => {
      const options = startOptions(row, { taskQueue, resume: true })
      return startOnce(() =>
        within(SIGNAL_DEADLINE_MS, () => client.workflow.start<typeof payment>('payment', options)),
      )
    },
    openAttempt: (paymentId, request) => {
      const update = { args: [request] as [OpenAttemptRequest], updateId: request.attemptId }
      return askRun(within, {
        toRun: () => handle(paymentId).executeUpdate(openAttempt, update),
        toNewRun: async () => {
          const startWorkflowOperation = withStart(await takeOver(paymentId))
          return client.workflow.executeUpdateWithStart(openAttempt, { ...update, startWorkflowOperation })
        },
      })
    },
    cancel: (paymentId) =>
      askRun(within, {
        toRun: () => handle(paymentId).executeUpdate(cancelPayment),
        toNewRun: async () => {
          const startWorkflowOperation = withStart(await takeOver(paymentId))
          return client.workflow.executeUpdateWithStart(cancelPayment, { startWorkflowOperation })
        },
      }),
    signalOrderChanged: (paymentId, attemptId) =>
      signalRun(within, {
        toRun: () => handle(paymentId).signal(orderChanged, { attemptId }),
        toNewRun: async () => {
          const signal = { signal: orderChanged, signalArgs: [{ attemptId }] as [{ attemptId: string }] }
          await client.workflow.signalWithStart('payment', { ...(await takeOver(paymentId)), ...signal })
        },
      }),
    signalRowChanged: (paymentId) =>
      signalRun(within, {
        toRun: () => handle(paymentId).signal(rowChanged),
        // The payment's first run might start at the same moment, from the row before the change: it needs the signal
        // too.
        toNewRun: async () => {
          await client.workflow.signalWithStart('payment', { ...(await takeOver(paymentId)), signal: rowChanged })
        },
      }),
    completeSettlement: (paymentId, answer) =>
      within(SIGNAL_DEADLINE_MS, () => completeSettlement(client, paymentId, answer)),
  }
}

async function completeSettlement(client: Client, paymentId: string, answer: ActivityAnswer): Promise<boolean> {
  try {
    const waiting = { workflowId: paymentWorkflowId(paymentId), activityId: SETTLE_ACTIVITY_ID }
    await client.activity.complete(waiting, answer)
    return true
  } catch (error) {
    if (error instanceof Error && error.name === 'ActivityNotFoundError') return false
    throw error
  }
}

function startOptions(
  row: PaymentStart,
  { taskQueue, resume }: { taskQueue: string; resume: boolean },
): WorkflowStartOptions<typeof payment> {
  const { id, merchantId } = row
  const amount = `${formatAmount(row.amount)} ${row.amount.currency}`
  const input: PaymentInput = { id, expiresAt: Date.parse(row.expiresAt), resume, amount, merchantId }
  return {
    taskQueue,
    workflowId: paymentWorkflowId(id),
    args: [input],
    staticSummary: `${amount} · ${row.provider ?? 'buyer picks'}`,
    priority: paymentPriority(merchantId),
    typedSearchAttributes: searchAttributes(row),
  }
}

/** A closed workflow can be started again to take over: the row shows what was done already. */
function withStart(options: WorkflowStartOptions<typeof payment>): WithStartWorkflowOperation<typeof payment> {
  return new WithStartWorkflowOperation<typeof payment>('payment', {
    ...options,
    workflowIdConflictPolicy: 'USE_EXISTING',
  })
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
