import type { Dispute, DisputeReason, DisputeStatus } from '../../../domain/dispute/dispute.ts'
import type { IconName } from '../../kit/icon.tsx'
import { State } from '../../kit/state.tsx'
import { spanText, timeText } from '../../kit/time.tsx'
import type { Tone } from '../../kit/tone.ts'
import { fiatText } from '../payment-words.tsx'

type Look = { readonly word: string; readonly tone: Tone; readonly icon: IconName }

export const DISPUTE_LOOKS: Readonly<Record<DisputeStatus, Look>> = {
  needs_response: { word: 'Needs evidence', tone: 'wait', icon: 'clock' },
  under_review: { word: 'Under review', tone: 'brand', icon: 'circle_next' },
  won: { word: 'Won', tone: 'success', icon: 'circle_check' },
  lost: { word: 'Lost', tone: 'problem', icon: 'circle_close' },
  closed: { word: 'Closed', tone: 'quiet', icon: 'circle_minus' },
}

export function DisputeState({ status }: Pick<Dispute, 'status'>) {
  const { word, tone, icon } = DISPUTE_LOOKS[status]
  return (
    <State tone={tone} icon={icon}>
      {word}
    </State>
  )
}

export const REASON_WORDS: Readonly<Record<DisputeReason, string>> = {
  fraudulent: 'Fraudulent',
  unrecognized: 'Not recognized',
  duplicate: 'Duplicate',
  product_not_received: 'Not received',
  product_unacceptable: 'Not as described',
  credit_not_processed: 'Refund missing',
  subscription_canceled: 'Subscription canceled',
  other: 'Another reason',
}

export const disputeText = ({ amount }: Pick<Dispute, 'amount'>): string => `${fiatText(amount)} ${amount.currency}`

/** Describes the deadline with the time that is left; null: there is none any more. `now`: ISO 8601. */
export function describeDeadline({ status, evidenceDueAt }: Dispute, now: string): string | null {
  if (status !== 'needs_response' || evidenceDueAt === null) return null
  const left = Date.parse(evidenceDueAt) - Date.parse(now)
  const moment = `${timeText(evidenceDueAt, 'date')}, ${timeText(evidenceDueAt, 'time')} UTC`
  return left <= 0 ? `The deadline was ${moment}.` : `The deadline is ${moment}: ${spanText(left)} left.`
}

/** Describes the state of a dispute and the next step, in one or two sentences. */
export function describeDispute(dispute: Dispute, now: string): string {
  const deadline = describeDeadline(dispute, now)
  switch (dispute.status) {
    case 'needs_response':
      return [describeOpen(dispute), deadline].filter((sentence) => sentence !== null).join(' ')
    case 'under_review':
      return 'The bank looks at the evidence. That can take two to three months.'
    case 'won':
      return 'The bank decided for you. The money is back.'
    case 'lost':
      return 'The bank decided for the buyer, or the dispute was accepted.'
    case 'closed':
      return 'It ended without a decision about money.'
  }
}

function describeOpen({ answeredAt, answer, kind }: Dispute): string {
  if (answeredAt === 'partner')
    return 'This partner takes evidence only in its own dashboard, where we answer for you. Send your documents to the support.'
  if (answer?.state === 'sending') return 'Your answer is on its way to the partner.'
  return kind === 'inquiry'
    ? 'The bank asks about this payment. With good evidence it does not become a chargeback.'
    : 'The buyer asked the bank for the money. Submit evidence, or the dispute is lost.'
}
