import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common'
import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  ParentClosePolicy,
  setCurrentDetails,
  setHandler,
  startChild,
} from '@temporalio/workflow'
import { lateMoneyWorkflowId } from '../domain/ids.ts'
import { whyNoteRefused } from '../domain/payment/decision.ts'
import type { DecisionAnswer, OperatorNote } from '../domain/payment/requests.ts'
import { operatorUpdates } from './messages.ts'
import { money, records } from './options.ts'
import { PAYMENTS_QUEUE } from './queues.ts'
import { NEEDS_OPERATOR, PAYMENT_STATUS } from './search-attributes.ts'

export type LateMoneyInput = { readonly paymentId: string; readonly attemptId: string }

/**
 * Money that came after its payment had stopped listening. It is booked to suspense; an operator gives it back, or
 * records that it was given back. Its workflow id is `late_<attempt>`, so it opens once.
 */
export async function lateMoney(input: LateMoneyInput): Promise<'refunded'> {
  let refunded = false
  setHandler(operatorUpdates.refund, (note) => settle(() => money.refundAttempt({ ...input, ...note })), { validator })
  setHandler(
    operatorUpdates.recordExternalRefund,
    (note) => settle(() => records.decide({ ...input, decision: 'recordExternalRefund', ...note })),
    { validator },
  )
  setCurrentDetails(
    `### late money\n\nThe partner received money for ${input.paymentId} after the payment had stopped listening. It is safe at the partner and booked to suspense.\n\nDecide with \`refund\` or \`recordExternalRefund\`.`,
  )
  await condition(() => refunded)
  await condition(allHandlersFinished)
  return 'refunded'

  async function settle(
    work: () => Promise<{ message: string; payment: { status: DecisionAnswer['status'] }; refunded: boolean }>,
  ): Promise<DecisionAnswer> {
    const changed = await work()
    refunded ||= changed.refunded
    return { status: changed.payment.status, message: changed.message }
  }

  function validator(note: OperatorNote): void {
    const why = whyNoteRefused(note)
    if (why !== null) throw ApplicationFailure.nonRetryable(why, 'DecisionRefused')
  }
}

export async function startLateMoney(input: LateMoneyInput): Promise<void> {
  try {
    await startChild(lateMoney, {
      workflowId: lateMoneyWorkflowId(input.attemptId),
      taskQueue: PAYMENTS_QUEUE,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      args: [input],
      staticSummary: `Late money for ${input.paymentId}`,
      typedSearchAttributes: [
        { key: PAYMENT_STATUS, value: 'late_money' },
        { key: NEEDS_OPERATOR, value: true },
      ],
    })
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
  }
}
