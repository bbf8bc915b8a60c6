import { CREATED, PAYMENT_ID } from './examples.ts'

/** As it is when the partner has just reported it. */
export const DISPUTE = {
  id: 'dp_01m80a6q5ye2zvcb0m1xq2f7hv',
  object: 'dispute',
  livemode: false,
  payment: PAYMENT_ID,
  provider: 'card_partner',
  partner_dispute: 'du_1MtJUT2eZvKYlo2CNaw2HvEv',
  kind: 'chargeback',
  status: 'needs_response',
  reason: 'product_not_received',
  reason_text: 'product_not_received, 13.1',
  amount: 49.99,
  amount_decimal: '49.99',
  amount_minor: 4999,
  currency: 'EUR',
  evidence_through: 'api',
  evidence_due_at: '2026-12-13T23:59:59.000Z',
  evidence_submitted_at: null,
  answer: null,
  cost: {
    taken: '49.99',
    fee: '20.00',
    fee_currency: 'EUR',
    from_reserve_usdc: '5.174965',
    from_platform_usdc: '48.814234',
  },
  opened_at: CREATED,
  created_at: CREATED,
  updated_at: CREATED,
  closed_at: null,
  version: 1,
} as const

const answer = { status: 'sending', refusal: null, created_at: CREATED } as const

export const ANSWERED_DISPUTE = {
  ...DISPUTE,
  answer: { ...answer, kind: 'evidence', submit: true, fields: ['explanation', 'shipping_tracking_number'] },
}

export const ACCEPTED_DISPUTE = { ...DISPUTE, answer: { ...answer, kind: 'accept', submit: true, fields: [] } }

export const LOST_DISPUTE = { ...DISPUTE, status: 'lost', closed_at: '2027-01-14T09:00:00.000Z', version: 3 }
