import type { Dispute } from './dispute.ts'

/** Why the merchant cannot answer, and what to do, as sentences; null: they can. `now`: ISO 8601. */
export function whyNotAnswerable(
  dispute: Pick<Dispute, 'status' | 'answeredAt' | 'evidenceDueAt' | 'answer'>,
  now: string,
): string | null {
  const { status, answeredAt, evidenceDueAt, answer } = dispute
  if (status === 'under_review') return 'Evidence was submitted, and the bank looks at it. Wait for its decision.'
  if (status !== 'needs_response') return `The dispute is over (${status}). Nothing can be submitted any more.`
  if (answeredAt === 'partner')
    return 'This partner takes evidence only in its own dashboard, where the platform answers for you. Send your documents to the support before the deadline.'
  if (evidenceDueAt !== null && evidenceDueAt <= now)
    return `The deadline was ${evidenceDueAt}. The bank takes no evidence after it. Wait for its decision.`
  if (answer?.state === 'sending') return 'An answer is being sent to the partner. Read the dispute again in a minute.'
  return null
}
