import { type Client, WithStartWorkflowOperation, type WorkflowStartOptions } from '@temporalio/client'
import type { Hex } from '../domain/hex.ts'
import { refundWorkflowId } from '../domain/ids.ts'
import { formatAmount, type Money } from '../domain/money.ts'
import type { RefundStatus } from '../domain/refund/refund.ts'
import { paymentPriority } from '../workflows/priority.ts'
import type { refund } from '../workflows/refund.ts'
import { cancelRefund, fundRefund, openRefund, type RefundInput, refundChanged } from '../workflows/refund-messages.ts'
import * as attributes from '../workflows/search-attributes.ts'
import { askRun, createDeadlines, SIGNAL_DEADLINE_MS, START_DEADLINE_MS, unavailable } from './calls.ts'

/** Starts, signals and updates of refund workflows, for API and worker. */

export type RefundStart = {
  readonly id: string
  readonly paymentId: string
  readonly merchantId: string
  readonly amount: Money
}

export type RefundWorkflows = {
  /** Starts a run that takes over from the row, or has the running one read it. */
  readonly wake: (refundId: string) => Promise<void>
  /** Waits until the refund has its address, for a short time. */
  readonly open: (refundId: string) => Promise<unknown>
  readonly fund: (
    refundId: string,
    signature: Hex,
  ) => Promise<{ readonly status: RefundStatus } | { kind: 'unavailable' }>
  readonly cancel: (refundId: string) => Promise<{ readonly status: RefundStatus } | { kind: 'unavailable' }>
}

export type RefundWorkflowsDeps = {
  readonly client: Client
  readonly taskQueue: string
  readonly load: (refundId: string) => Promise<RefundStart>
}

export function createRefundWorkflows({ client, taskQueue, load }: RefundWorkflowsDeps): RefundWorkflows {
  const within = createDeadlines(client)
  const handle = (refundId: string) => client.workflow.getHandle(refundWorkflowId(refundId))
  const takeOver = async (refundId: string) => startOptions(await load(refundId), taskQueue)
  return {
    wake: async (refundId) => {
      const options = await takeOver(refundId)
      await within(SIGNAL_DEADLINE_MS, () =>
        client.workflow.signalWithStart('refund', { ...options, signal: refundChanged }),
      )
    },
    open: async (refundId) => {
      const startWorkflowOperation = withStart(await takeOver(refundId))
      return within(START_DEADLINE_MS, () =>
        client.workflow.executeUpdateWithStart(openRefund, { startWorkflowOperation }),
      ).catch(unavailable)
    },
    fund: (refundId, signature) =>
      askRun(within, {
        toRun: () => handle(refundId).executeUpdate(fundRefund, { args: [{ signature }] }),
        toNewRun: async () =>
          client.workflow.executeUpdateWithStart(fundRefund, {
            args: [{ signature }],
            startWorkflowOperation: withStart(await takeOver(refundId)),
          }),
      }),
    cancel: (refundId) =>
      askRun(within, {
        toRun: () => handle(refundId).executeUpdate(cancelRefund),
        toNewRun: async () =>
          client.workflow.executeUpdateWithStart(cancelRefund, {
            startWorkflowOperation: withStart(await takeOver(refundId)),
          }),
      }),
  }
}

function startOptions(row: RefundStart, taskQueue: string): WorkflowStartOptions<typeof refund> {
  const { id, paymentId, merchantId } = row
  const amount = `${formatAmount(row.amount)} ${row.amount.currency}`
  const input: RefundInput = { id, paymentId, amount }
  return {
    taskQueue,
    workflowId: refundWorkflowId(id),
    args: [input],
    staticSummary: `Refund of ${amount}`,
    priority: paymentPriority(merchantId),
    typedSearchAttributes: [
      { key: attributes.MERCHANT_ID, value: merchantId },
      { key: attributes.CURRENCY, value: row.amount.currency },
      { key: attributes.AMOUNT_MINOR, value: Number(row.amount.minor) },
    ],
  }
}

const withStart = (options: WorkflowStartOptions<typeof refund>): WithStartWorkflowOperation<typeof refund> =>
  new WithStartWorkflowOperation<typeof refund>('refund', { ...options, workflowIdConflictPolicy: 'USE_EXISTING' })
