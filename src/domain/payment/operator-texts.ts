import { describeOffered, type Offered } from './decision.ts'
import { isClosed } from './payment.ts'
import type { PaymentSnapshot } from './snapshot.ts'

/** Texts of the command line and of the Temporal UI, for an operator who has not read the code. */

/** Placeholders are quoted, so that a shell reads them as text when they are pasted. */
const SIGNED = `--operator '<name>' --reason '<text>'`

export function describeCommand(id: string, answer: Offered, version: number): string {
  const proof = answer.outside === true ? ` --proof '<reference>'` : ''
  return `pinrail payments decide ${id} ${describeOffered([answer]).join('')}${proof} --version ${version} ${SIGNED}`
}

const ON_ITS_WAY = 'Converted. The USDC is on its way to the merchant, and counts when its block is final.'
const VOIDING = 'Nothing more is sent. The system is finding out whether the payout was already on its way.'

export function describeStepToOperator(payment: PaymentSnapshot): string {
  switch (payment.next) {
    case 'await_buyer':
      return describeAwaitingBuyer(payment)
    case 'await_partner':
      return describeListening(payment)
    case 'sell':
      return 'The partner has the buyer’s money. It is being converted to USDC and paid out.'
    case 'hand_over':
    case 'await_payout':
      return payment.status === 'under_review' ? VOIDING : ON_ITS_WAY
    case 'end_sale':
      return 'A conversion that is not needed is still open: the converter is asked until it has filled or ended it.'
    case 'give_back':
      return 'The partner is asked now to give the money back to the buyer.'
    case 'void':
      return 'The payout is voided first. Then the money goes back to the buyer.'
    case 'review':
      return describeWaiting(payment)
    case 'await_release':
      return 'An operator holds it. Nothing moves until `release`.'
    case 'done':
      return 'Nothing is left to do.'
  }
}

// oxlint-disable-next-line no-restricted-globals -- writes what it is given, not the clock
const timeText = (unixMs: number): string => new Date(unixMs).toISOString()

const describeHold = ({ held }: PaymentSnapshot): string =>
  held ? ' An operator holds it: money that arrives waits for `release`.' : ''

function describeAwaitingBuyer(payment: PaymentSnapshot): string {
  const arrival = payment.hasMoney ? 'A part of the price has arrived.' : 'No money has arrived.'
  return `${arrival} Waiting for the buyer until ${timeText(payment.expiresAt)}.${describeHold(payment)}`
}

/** An ended payment that listens needs no operator. */
function describeListening(payment: PaymentSnapshot): string {
  const { status, listenUntil } = payment
  if (listenUntil === null) return `Waiting for the partner.${describeHold(payment)}`
  const until = timeText(listenUntil)
  if (!isClosed(status))
    return `Waiting for the partner. An unfinished order may still bring money until ${until}.${describeHold(payment)}`
  const ends = status === 'expired' || status === 'canceled' ? 'is settled' : 'waits for a decision'
  return `The payment has ended. Money that still arrives until ${until} ${ends}. Nothing to do.`
}

/** Reasons for which money is not safe: the platform has lost it, or the merchant has it. */
const UNSAFE: readonly string[] = ['loss', 'unexpected_payout']

function describeWaiting({ reviews, hasMoney }: PaymentSnapshot): string {
  const isSafe = hasMoney && !reviews.some(({ reason }) => UNSAFE.includes(reason))
  return isSafe ? 'It waits for an operator. The money is safe where it is.' : 'It waits for an operator.'
}
