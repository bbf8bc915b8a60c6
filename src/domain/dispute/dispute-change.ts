import { isSame } from '../equality.ts'
import type { WebhookEventType } from '../webhook.ts'
import { type Dispute, isDisputeOver, type ReportedDispute } from './dispute.ts'

/** Decides what follows from a partner's report of a dispute: the row, its times, and the event. */

export type DisputeChange = {
  readonly before: Dispute | null
  readonly after: Dispute
  readonly event: WebhookEventType
}

/** The rows to which a new dispute belongs. */
export type DisputeOwner = Pick<Dispute, 'paymentId' | 'attemptId' | 'merchantId' | 'livemode' | 'provider'>

export function openDispute(
  reported: ReportedDispute,
  { id, owner, at }: { readonly id: string; readonly owner: DisputeOwner; readonly at: string },
): Dispute {
  const opened: Dispute = {
    ...withoutId(reported),
    ...owner,
    id,
    partnerDispute: reported.id,
    fromReserveMicro: '0',
    fromPlatformMicro: '0',
    evidenceSubmittedAt: null,
    askedAt: at,
    answer: null,
    createdAt: at,
    updatedAt: at,
    closedAt: null,
    version: 1,
  }
  return withReport(opened, reported, at)
}

/** Reading the same report again changes nothing. */
export function withReport(dispute: Dispute, reported: ReportedDispute, at: string): Dispute {
  const { isEvidenceSubmitted } = reported
  const isAskedAgain = reported.status === 'needs_response' && reported.kind !== dispute.kind
  const submittedAt = dispute.evidenceSubmittedAt ?? (isEvidenceSubmitted ? at : null)
  return {
    ...dispute,
    ...withoutId(reported),
    evidenceSubmittedAt: isAskedAgain ? null : submittedAt,
    askedAt: isAskedAgain ? at : dispute.askedAt,
    closedAt: isDisputeOver(reported.status) ? (dispute.closedAt ?? at) : null,
  }
}

/** Null: the merchant sees nothing new. */
export function decideDisputeChange(before: Dispute | null, changed: Dispute, at: string): DisputeChange | null {
  if (before === null) return { before, after: changed, event: 'dispute.created' }
  if (isSame(before, changed)) return null
  const isEnding = isDisputeOver(changed.status) && changed.status !== before.status
  const after = { ...changed, updatedAt: at, version: before.version + 1 }
  return { before, after, event: isEnding ? 'dispute.closed' : 'dispute.updated' }
}

function withoutId({ id: _id, isEvidenceSubmitted: _submitted, ...reported }: ReportedDispute) {
  return reported
}
