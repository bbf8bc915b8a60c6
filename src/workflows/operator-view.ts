import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow'
import { DECISIONS } from '../domain/payment/decision.ts'
import { PARK_REASONS } from '../domain/payment/payment.ts'
import type { OperatorDecision } from '../domain/payment/requests.ts'
import { needsOperator, nextStep, offeredDecisions, type PaymentSnapshot } from '../domain/payment/snapshot.ts'
import type { PaymentInput } from './messages.ts'
import { NEEDS_OPERATOR, PAYMENT_STATUS } from './search-attributes.ts'

/** Every decision of the command line needs these options. */
export const SIGNED = '--operator <name> --reason <text>'

/** The facts of its payment that a run has from the start. */
type Facts = Pick<PaymentInput, 'amount' | 'merchantId'>

const HELD = 'An operator holds it: it settles only after `release`.'
const ORDER_CHANGED =
  'The partner has changed the amount of the order: `acknowledge` accepts the order as it is now, and the payment can continue.'

/**
 * What an operator sees of a payment in the Temporal UI. Details cost no history event; a search attribute costs one,
 * so it is written only when the payment starts a wait that somebody could look for.
 */
export function createOperatorView(facts: Facts): (payment: PaymentSnapshot, wait: 'short' | 'long') => void {
  let shown = { status: 'created', parked: false }

  return (payment, wait) => {
    setCurrentDetails(describe(payment, facts))
    if (wait === 'short') return
    const next = { status: payment.status, parked: needsOperator(payment) !== null }
    const changes = [
      ...(next.status === shown.status ? [] : [{ key: PAYMENT_STATUS, value: next.status }]),
      ...(next.parked === shown.parked ? [] : [{ key: NEEDS_OPERATOR, value: next.parked }]),
    ]
    if (changes.length > 0) upsertSearchAttributes(changes)
    shown = next
  }
}

/** The state, the safety of the money, the facts and the next step, for a person who has not read the code. */
function describe(payment: PaymentSnapshot, { amount, merchantId }: Facts): string {
  const reason = needsOperator(payment)
  const { id, version, netUsdc, txHash, attempts } = payment
  const decisions = offeredDecisions(payment)
  return [
    `### ${payment.status}${payment.exception === null ? '' : ` · ${payment.exception}`}`,
    '',
    doing(payment),
    ...(reason === null ? [] : ['', `**${waits(decisions)}.** ${PARK_REASONS[reason].text}`]),
    ...(payment.orderChanged && reason !== null ? ['', ORDER_CHANGED] : []),
    ...(payment.held && reason !== 'operator_hold' ? ['', HELD] : []),
    '',
    `- amount: ${amount}`,
    `- merchant: ${merchantId}`,
    ...(netUsdc === null ? [] : [`- to the merchant: ${netUsdc} USDC${txHash === null ? '' : ` in ${txHash}`}`]),
    ...attempts.map((attempt) => `- attempt ${attempt.id}: ${attempt.provider}, ${attempt.method}, ${attempt.status}`),
    `- more: \`pinrail payments explain ${id}\``,
    ...commands(decisions, { id, version }),
    `- version shown here: ${version}`,
  ].join('\n')
}

const waits = (decisions: readonly OperatorDecision[]): string =>
  decisions.length > 0 ? 'Waits for an operator' : 'Ends automatically'

/** One for the decisions that accept what was looked at, and one for the others. */
function commands(
  decisions: readonly OperatorDecision[],
  { id, version }: Pick<PaymentSnapshot, 'id' | 'version'>,
): string[] {
  return [true, false].flatMap((accepts) => {
    const names = decisions.filter((name) => (DECISIONS[name].accepts === true) === accepts)
    const seen = accepts ? ` --version ${version}` : ''
    return names.length === 0
      ? []
      : [`- decide: \`pinrail payments decide ${id} <${names.join('|')}>${seen} ${SIGNED}\``]
  })
}

function doing(payment: PaymentSnapshot): string {
  switch (nextStep(payment)) {
    case 'await_buyer':
      return `No money has arrived. Waiting for the buyer until ${new Date(payment.expiresAt).toISOString()}.`
    case 'await_partner':
      return 'The partner is confirming the buyer’s money. Nothing has been converted.'
    case 'convert':
      return 'The partner has the buyer’s money. It is being converted to USDC.'
    case 'transfer':
      return 'Converted. The USDC is on its way to the merchant; it counts when its block is final.'
    case 'end_conversion':
      return 'Closed. The conversion is still open: the converter is asked until it has filled or ended it.'
    case 'await_operator':
      return payment.parkReason === 'funds_reversed'
        ? 'Nothing more is sent. The system is finding out whether the payout was already on its way.'
        : 'The money is safe where it is. Nothing moves until a decision.'
    case 'listen':
      return `Closed, but an unfinished partner order may still bring money until ${new Date(payment.listenUntil ?? 0).toISOString()}.`
    case 'done':
      return 'Nothing is left to do.'
  }
}
