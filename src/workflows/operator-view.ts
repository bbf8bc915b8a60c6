import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow'
import { describeOffered } from '../domain/payment/decision.ts'
import { isClosed } from '../domain/payment/payment.ts'
import type { PaymentSnapshot } from '../domain/payment/snapshot.ts'
import type { PaymentInput } from './messages.ts'
import { NEEDS_OPERATOR, PAYMENT_STATUS } from './search-attributes.ts'

/** Every decision of the command line needs these options. */
export const SIGNED = '--operator <name> --reason <text>'

/** The facts of its payment that a run has from the start. */
type Facts = Pick<PaymentInput, 'amount' | 'merchantId'>

/** A status that lasts longer than this is one that somebody may look for. */
const LASTING_MS = 60_000

/**
 * What an operator sees of a payment in the Temporal UI. Details cost no history event. A search attribute costs one, so it is
 * written only for a status that lasts, that needs an operator, or that is the last one.
 */
export function createOperatorView(facts: Facts) {
  let listed = { status: 'created', needsOperator: false }
  let entered = { status: 'created', at: Date.now() }

  return {
    describe(payment: PaymentSnapshot): void {
      if (payment.status !== entered.status) entered = { status: payment.status, at: Date.now() }
      setCurrentDetails(describe(payment, facts))
    },
    /** Call it when the payment begins to wait. */
    list({ status, reviews }: PaymentSnapshot): void {
      const needsOperator = reviews.length > 0
      const lasts = isClosed(status) || Date.now() - entered.at >= LASTING_MS
      if (needsOperator === listed.needsOperator && (status === listed.status || !lasts)) return
      upsertSearchAttributes([
        ...(status === listed.status ? [] : [{ key: PAYMENT_STATUS, value: status }]),
        ...(needsOperator === listed.needsOperator ? [] : [{ key: NEEDS_OPERATOR, value: needsOperator }]),
      ])
      listed = { status, needsOperator }
    },
  }
}

/** The state, the safety of the money, the facts and the next step, for a person who has not read the code. */
function describe(payment: PaymentSnapshot, { amount, merchantId }: Facts): string {
  const { id, version, netUsdc, txHash, attempts, reviews, answers } = payment
  return [
    `### ${payment.status}${payment.exception === null ? '' : ` · ${payment.exception}`}`,
    '',
    doing(payment),
    ...reviews.flatMap(({ reason, attemptId, text }) => [
      '',
      `**${reason}${attemptId === null ? '' : ` (${attemptId})`}.** ${text}`,
    ]),
    '',
    `- amount: ${amount}`,
    `- merchant: ${merchantId}`,
    ...(netUsdc === null ? [] : [`- to the merchant: ${netUsdc} USDC${txHash === null ? '' : ` in ${txHash}`}`]),
    ...attempts.map((attempt) => `- attempt ${attempt.id}: ${attempt.provider}, ${attempt.method}, ${attempt.status}`),
    `- more: \`pinrail payments explain ${id}\``,
    ...describeOffered(answers).map(
      (answer) => `- decide: \`pinrail payments decide ${id} ${answer} --version ${version} ${SIGNED}\``,
    ),
    `- version shown here: ${version}`,
  ].join('\n')
}

const ON_ITS_WAY = 'Converted. The USDC is on its way to the merchant; it counts when its block is final.'
const VOIDING = 'Nothing more is sent. The system is finding out whether the payout was already on its way.'

function doing(payment: PaymentSnapshot): string {
  switch (payment.next) {
    case 'await_buyer':
      return `No money has arrived. Waiting for the buyer until ${new Date(payment.expiresAt).toISOString()}.`
    case 'await_partner':
      return payment.listenUntil === null
        ? 'Waiting for the partner.'
        : `Waiting for the partner. An unfinished order may still bring money until ${new Date(payment.listenUntil).toISOString()}.`
    case 'sell':
      return 'The partner has the buyer’s money. It is being converted to USDC and paid out.'
    case 'hand_over':
      return ON_ITS_WAY
    case 'await_payout':
      return payment.status === 'under_review' ? VOIDING : ON_ITS_WAY
    case 'end_sale':
      return 'A conversion that is not needed is still open: the converter is asked until it has filled or ended it.'
    case 'give_back':
      return 'The money is going back to the buyer through the partner.'
    case 'void':
      return VOIDING
    case 'review':
      return 'Waits for an operator. The money is safe where it is.'
    case 'await_release':
      return 'An operator holds it. Nothing moves until it is released.'
    case 'done':
      return 'Nothing is left to do.'
  }
}
