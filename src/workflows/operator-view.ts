import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow'
import { PARK_REASONS } from '../domain/payment/payment.ts'
import { needsOperator, nextStep, offeredDecisions, type PaymentSnapshot } from '../domain/payment/snapshot.ts'
import { NEEDS_OPERATOR, PAYMENT_STATUS } from './search-attributes.ts'

const ORDER_CHANGED =
  'The partner has changed the amount of the order: `acknowledge` takes the order as it is now, and the payment may go on.'

/**
 * What an operator sees of a payment in the Temporal UI. Details cost no history event; a search attribute costs one,
 * so it is written only when the payment starts a wait that somebody could look for.
 */
export function createOperatorView(): (payment: PaymentSnapshot, wait: 'short' | 'long') => void {
  let shown = { status: 'created', parked: false }

  return (payment, wait) => {
    setCurrentDetails(describe(payment))
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

/** The state, the safety of the money and the next step, in words for a person who has not read the code. */
function describe(payment: PaymentSnapshot): string {
  const reason = needsOperator(payment)
  const lines = [
    `### ${payment.status}${payment.exception === null ? '' : ` · ${payment.exception}`}`,
    '',
    doing(payment),
  ]
  if (reason !== null) {
    const decisions = offeredDecisions(payment).map((name) => `\`${name}\``)
    const isWaiting = decisions.length > 0
    lines.push(
      '',
      `**${isWaiting ? 'Waits for an operator' : 'Ends by itself'}.** ${PARK_REASONS[reason].text}`,
      ...(payment.orderChanged ? ['', ORDER_CHANGED] : []),
    )
    if (isWaiting)
      lines.push(
        '',
        `Decide with one of the updates: ${decisions.join(', ')}. What was looked at is version ${payment.version}.`,
      )
  }
  if (payment.held && reason !== 'operator_hold')
    lines.push(
      '',
      `An operator holds it: it will not settle before \`release\`. What was looked at is version ${payment.version}.`,
    )
  if (payment.attempts.length > 0) {
    lines.push('', '| attempt | partner | method | status |', '|---|---|---|---|')
    for (const { id, provider, method, status } of payment.attempts)
      lines.push(`| ${id} | ${provider} | ${method} | ${status} |`)
  }
  if (payment.netUsdc !== null)
    lines.push('', `To the merchant: ${payment.netUsdc} USDC${payment.txHash === null ? '' : ` in ${payment.txHash}`}`)
  return lines.join('\n')
}

function doing(payment: PaymentSnapshot): string {
  switch (nextStep(payment)) {
    case 'await_buyer':
      return `No money has come. Waits for the buyer until ${new Date(payment.expiresAt).toISOString()}.`
    case 'await_partner':
      return 'The partner is confirming the money of the buyer. Nothing has been converted.'
    case 'convert':
      return 'The partner has the money of the buyer. It is being converted to USDC.'
    case 'transfer':
      return 'Converted. The USDC is on its way to the merchant; it counts when its block is final.'
    case 'end_conversion':
      return 'Closed. The converter is asked what it made of the order, until it has filled or ended it.'
    case 'await_operator':
      return payment.parkReason === 'funds_reversed'
        ? 'Nothing more is sent. Whether the payout was on its way already is being found out.'
        : 'The money is safe where it is. Nothing moves until a decision.'
    case 'listen':
      return `Closed, but an unfinished partner order may still bring money until ${new Date(payment.listenUntil ?? 0).toISOString()}.`
    case 'done':
      return 'Nothing is left to do.'
  }
}
