import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common'
import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  ParentClosePolicy,
  setCurrentDetails,
  setHandler,
  startChild,
  workflowInfo,
} from '@temporalio/workflow'
import type { Decided } from '../activities/payment/refund.ts'
import { whyRefused } from '../domain/payment/decision.ts'
import type { DecisionAnswer, OperatorDecision, OperatorNote } from '../domain/payment/requests.ts'
import type { PaymentSnapshot } from '../domain/payment/snapshot.ts'
import { type LateMoneyInput, lateMoneyOptions, operatorUpdates } from './messages.ts'
import { SIGNED } from './operator-view.ts'
import { money, POLL_AFTER_MINUTES, POLL_EVERY_MINUTES, reading, records } from './options.ts'
import { PAYMENTS_QUEUE } from './queues.ts'

/**
 * Money that arrived after its payment had stopped listening. It is booked to suspense; an operator gives it back, or
 * records that it was given back. Its workflow id is `late_<attempt>`, so only one run is open.
 */
export async function lateMoney(input: LateMoneyInput): Promise<'refunded'> {
  let refunded = false
  // A refund that the partner is working on is read more often.
  let isAsked = false
  setHandler(operatorUpdates.refund, (note) => settle(() => money.refundAttempt({ ...note, ...input })), {
    validator: validatorOf('refund'),
  })
  setHandler(
    operatorUpdates.recordExternalRefund,
    (note) => settle(() => records.decide({ ...note, ...input, decision: 'recordExternalRefund' })),
    { validator: validatorOf('recordExternalRefund') },
  )
  setCurrentDetails(describe(input))
  await untilItIsGone()
  await condition(allHandlersFinished)
  return 'refunded'

  /** The money may also go without a decision here: the partner takes it back, or completes a pending refund. */
  async function untilItIsGone(): Promise<void> {
    for (let round = 0; !refunded; round++) {
      if (workflowInfo().continueAsNewSuggested && allHandlersFinished()) await continueAsNew<typeof lateMoney>(input)
      const minutes = POLL_AFTER_MINUTES[round] ?? POLL_EVERY_MINUTES
      const wait = { summary: 'The order of the late money is read again' }
      if (await condition(() => refunded || isAsked, minutes * 60_000, wait)) round = isAsked ? -1 : round
      isAsked = false
      if (refunded) return
      const answer = await reading.readPartnerOrder(input).catch(() => null)
      if (answer !== null && !isOpenStill(answer.payment)) return
    }
  }

  function isOpenStill({ late, refunding }: PaymentSnapshot): boolean {
    return [...late, ...refunding].includes(input.attemptId)
  }

  async function settle(work: () => Promise<Decided>): Promise<DecisionAnswer> {
    const changed = await work()
    refunded ||= changed.refunded
    isAsked = !changed.refunded
    const { payment, message, unsure } = changed
    return { status: payment.status, message, ...(unsure === true && { unsure: true }) }
  }
}

function describe({ paymentId, attemptId }: LateMoneyInput): string {
  return [
    '### late money',
    '',
    'The partner received money after the payment had stopped listening. It is safe at the partner and booked to suspense.',
    '',
    `- payment: ${paymentId}`,
    `- attempt: ${attemptId}`,
    `- amounts, merchant and version: \`pinrail payments explain ${paymentId}\``,
    `- refund it: \`pinrail payments decide ${attemptId} refund ${SIGNED}\``,
    `- if it was refunded elsewhere: \`pinrail payments decide ${attemptId} recordExternalRefund --version <version> ${SIGNED}\``,
  ].join('\n')
}

/** This run does not know the row: the activity that locks the row compares the version. */
function validatorOf(decision: OperatorDecision): (note: OperatorNote) => void {
  return (note) => {
    const why = whyRefused(decision, note, null)
    if (why !== null) throw ApplicationFailure.nonRetryable(why, 'DecisionRefused')
  }
}

export async function startLateMoney(input: LateMoneyInput): Promise<void> {
  try {
    await startChild(lateMoney, {
      ...lateMoneyOptions(input),
      taskQueue: PAYMENTS_QUEUE,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [input],
    })
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
  }
}
