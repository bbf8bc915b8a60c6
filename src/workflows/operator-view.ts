import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow'
import { describeCommand, describeNextStep } from '../domain/payment/operator-texts.ts'
import type { PaymentSnapshot } from '../domain/payment/snapshot.ts'
import type { PaymentInput } from './messages.ts'
import { NEEDS_OPERATOR, PAYMENT_STATUS } from './search-attributes.ts'

/** The facts of its payment that a run has from the start. */
type Facts = Pick<PaymentInput, 'amount' | 'merchantId'>

/**
 * What an operator sees of a payment in the Temporal UI. Details cost no history event; a search attribute costs one,
 * so it is written only when the payment starts a wait that somebody could look for.
 */
export function createOperatorView(facts: Facts): (payment: PaymentSnapshot, wait: 'short' | 'long') => void {
  let shown = { status: 'created', parked: false }

  return (payment, wait) => {
    setCurrentDetails(describe(payment, facts))
    if (wait === 'short') return
    const next = { status: payment.status, parked: payment.reviews.length > 0 }
    const changes = [
      ...(next.status === shown.status ? [] : [{ key: PAYMENT_STATUS, value: next.status }]),
      ...(next.parked === shown.parked ? [] : [{ key: NEEDS_OPERATOR, value: next.parked }]),
    ]
    if (changes.length > 0) upsertSearchAttributes(changes)
    shown = next
  }
}

/** A payment that is under review may never be paid out. */
const PAYING: readonly string[] = ['processing', 'settling', 'succeeded']

/** The state, the safety of the money, the facts and the next step, for a person who has not read the code. */
function describe(payment: PaymentSnapshot, { amount, merchantId }: Facts): string {
  const { id, version, status, netUsdc, txHash, attempts, reviews, answers } = payment
  const isPaid = netUsdc !== null && PAYING.includes(status)
  return [
    `### ${status}${payment.exception === null ? '' : ` · ${payment.exception}`}`,
    '',
    describeNextStep(payment),
    ...reviews.flatMap(({ reason, attemptId, text }) => [
      '',
      `**${reason}${attemptId === null ? '' : ` (${attemptId})`}.** ${text}`,
    ]),
    '',
    `- amount: ${amount}`,
    `- merchant: ${merchantId}`,
    ...(isPaid ? [`- to the merchant: ${netUsdc} USDC${txHash === null ? '' : ` in ${txHash}`}`] : []),
    ...attempts.map((attempt) => `- attempt ${attempt.id}: ${attempt.provider}, ${attempt.method}, ${attempt.status}`),
    `- more: \`pinrail payments explain ${id}\``,
    ...answers.map((answer) => `- decide: \`${describeCommand(id, answer, version)}\``),
    `- version shown here: ${version}`,
  ].join('\n')
}
