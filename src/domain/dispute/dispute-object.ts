import type { Currency } from '../currencies.ts'
import { formatAmount, formatUsdc } from '../money.ts'
import type { Dispute, DisputeKind, DisputeReason, DisputeStatus } from './dispute.ts'
import type { AnswerKind, AnswerState } from './evidence.ts'

/** A dispute as the API and its events show it. It contains nothing of the evidence but the names of its fields. */
export function renderDispute(dispute: Dispute): DisputeObject {
  const { amount, fee, takenMinor } = dispute
  return {
    id: dispute.id,
    object: 'dispute',
    livemode: dispute.livemode,
    payment: dispute.paymentId,
    provider: dispute.provider,
    partner_dispute: dispute.partnerDispute,
    kind: dispute.kind,
    status: dispute.status,
    reason: dispute.reason,
    reason_text: dispute.reasonText,
    amount: Number(formatAmount(amount)),
    amount_decimal: formatAmount(amount),
    amount_minor: Number(amount.minor),
    currency: amount.currency,
    evidence_through: dispute.answeredAt,
    evidence_due_at: dispute.evidenceDueAt,
    evidence_submitted_at: dispute.evidenceSubmittedAt,
    answer: renderAnswer(dispute),
    cost: {
      taken: formatAmount({ minor: takenMinor, currency: amount.currency }),
      fee: fee === null ? null : formatAmount(fee),
      fee_currency: fee?.currency ?? null,
      from_reserve_usdc: formatUsdc(dispute.fromReserveMicro),
      from_platform_usdc: formatUsdc(dispute.fromPlatformMicro),
    },
    opened_at: dispute.openedAt,
    created_at: dispute.createdAt,
    updated_at: dispute.updatedAt,
    closed_at: dispute.closedAt,
    version: dispute.version,
  }
}

function renderAnswer({ answer }: Dispute): DisputeObject['answer'] {
  if (answer === null) return null
  const { kind, state, submit, texts, files, refusal, createdAt } = answer
  return { kind, status: state, submit, fields: [...texts, ...files], refusal, created_at: createdAt }
}

export type DisputeObject = {
  id: string
  object: 'dispute'
  livemode: boolean
  payment: string
  provider: string
  partner_dispute: string
  kind: DisputeKind
  status: DisputeStatus
  reason: DisputeReason
  reason_text: string | null
  amount: number
  amount_decimal: string
  amount_minor: number
  currency: Currency
  evidence_through: 'api' | 'partner'
  evidence_due_at: string | null
  evidence_submitted_at: string | null
  answer: {
    kind: AnswerKind
    status: AnswerState
    submit: boolean
    fields: string[]
    refusal: string | null
    created_at: string
  } | null
  cost: {
    taken: string
    fee: string | null
    fee_currency: Currency | null
    from_reserve_usdc: string
    from_platform_usdc: string
  }
  opened_at: string | null
  created_at: string
  updated_at: string
  closed_at: string | null
  version: number
}
