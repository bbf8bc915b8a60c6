import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow'
import { describeCommand, describeStepToOperator } from '../domain/payment/operator-texts.ts'
import { isClosed } from '../domain/payment/payment.ts'
import type { PaymentSnapshot } from '../domain/payment/snapshot.ts'
import type { PaymentInput } from './messages.ts'
import { NEEDS_OPERATOR, PAYMENT_STATUS } from './search-attributes.ts'

type Facts = Pick<PaymentInput, 'amount' | 'merchantId'>

/** A status that lasts longer than this is worth searching for. The first poll, after a minute, must list it. */
const LASTING_MS = 30_000

/**
 * Details cost no history event. A search attribute costs one, so it is written only for a status that lasts, that
 * needs an operator, or that is the last one.
 */
export function createOperatorView(facts: Facts) {
  let listed = { status: 'created', needsOperator: false }
  let entered = { status: 'created', at: Date.now() }

  return {
    describe(payment: PaymentSnapshot): void {
      if (payment.status !== entered.status) entered = { status: payment.status, at: Date.now() }
      setCurrentDetails(describe(payment, facts))
    },
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

/** A payment under review might never be paid out. */
const PAYING: readonly string[] = ['processing', 'settling', 'succeeded']

/** For a person who has not read the code. */
function describe(payment: PaymentSnapshot, { amount, merchantId }: Facts): string {
  const { id, version, status, netUsdc, txHash, attempts, reviews, answers } = payment
  const isPaid = netUsdc !== null && PAYING.includes(status)
  return [
    `### ${status}${payment.exception === null ? '' : ` · ${payment.exception}`}`,
    '',
    describeStepToOperator(payment),
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
