import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import type { PaymentWork } from '../../../src/db/payments/payment-changes.ts'
import { parked } from '../../../src/domain/payment/changes.ts'
import type { DecisionEffect, effectOfDecision } from '../../../src/domain/payment/money/decided.ts'
import { changedOrder, type stateOfCancel } from '../../../src/domain/payment/money/intents.ts'
import type { PARK_REASONS, ParkReason } from '../../../src/domain/payment/payment.ts'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import type { OperatorDecision, OperatorNote } from '../../../src/domain/payment/requests.ts'
import type { needsOperator } from '../../../src/domain/payment/snapshot.ts'
import type { Requests } from '../../../src/workflows/payment/requests.ts'
import { type Defect, plant } from './defect.ts'

type Decide<Effect = DecisionEffect> = (state: PaymentWithAttempts, note: OperatorNote) => Effect

const DECIDED = 'src/domain/payment/money/decided.ts'
const DECISION = 'src/activities/payment/decision.ts'

/** Too little money that was held counts as enough. */
const RELEASES_TOO_LITTLE = {
  file: DECIDED,
  seam: 'release',
  plant: plant<Decide>((real) => (state, note) => {
    const attempts = state.attempts.map((attempt) =>
      attempt.status === 'underpaid' ? { ...attempt, status: 'confirmed' as const } : attempt,
    )
    return real({ ...state, attempts }, note)
  }),
}

/** Bugs of decisions by operators, the merchant and the buyer. */
export const DECISION_DEFECTS: readonly Defect[] = [
  {
    name: 'a hold leaves the payout with the engine',
    file: DECISION,
    seam: 'carryOut',
    plant: plant<(deps: PaymentDeps, work: PaymentWork, order: unknown) => Promise<void>>(
      (real) => (deps, work, order) =>
        real({ ...deps, payouts: { ...deps.payouts, hold: async () => true } }, work, order),
    ),
  },
  {
    name: 'a hold before the conversion ends where nothing is allowed',
    file: DECIDED,
    seam: 'holdMoney',
    plant: plant<Decide>((real) => (state, note) => {
      const effect = real(state, note)
      const isUnsold = state.payment.status === 'processing' && effect.move !== null
      return isUnsold ? { ...effect, move: { ...effect.move, fields: parked('funds_reversed') } } : effect
    }),
  },
  { name: 'money that becomes too little while it is held is settled', ...RELEASES_TOO_LITTLE },
  {
    name: 'money that goes in part while the conversion waits is enough',
    file: 'src/domain/payment/money/going.ts',
    seam: 'endsAsUnderpaid',
    plant: plant<(reason: ParkReason | null) => boolean>((real) => (reason) => reason !== 'conversion' && real(reason)),
    // Another try of the conversion would find too little, and park the payment after all.
    and: [RELEASES_TOO_LITTLE],
  },
  {
    name: 'an order that the partner has changed cannot be acknowledged',
    file: DECIDED,
    seam: 'acknowledge',
    plant: plant<Decide<DecisionEffect | { readonly refused: string }>>((real) => (state, note) => {
      const effect = real(state, note)
      return 'refused' in effect ? effect : { ...effect, acknowledged: null }
    }),
  },
  {
    name: 'a doubt ends when its change is acknowledged',
    file: DECIDED,
    seam: 'acknowledge',
    plant: plant<Decide<DecisionEffect | { readonly refused: string }>>((real) => (state, note) => {
      const effect = real(state, note)
      if ('refused' in effect || effect.acknowledged === null) return effect
      const paid = state.attempts.find(({ id }) => id === state.payment.paidAttemptId)
      return { ...effect, closes: changedOrder(state.incidents, paid) }
    }),
  },
  {
    name: 'a payment is rejected while its refund is carried out',
    file: DECIDED,
    seam: 'effectOfDecision',
    plant: plant<typeof effectOfDecision>(
      (real) => (decision, state, note) =>
        real(decision, decision === 'reject' ? { ...state, intents: [] } : state, note),
    ),
  },
  {
    name: 'an approval accepts what the operator has not seen',
    file: DECISION,
    seam: 'isAsSeen',
    plant: plant<(work: PaymentWork, seen: unknown) => boolean>(() => () => true),
    and: [
      {
        file: 'src/domain/payment/decision.ts',
        seam: 'whyUnseen',
        plant: plant<(decision: OperatorDecision, note: OperatorNote, known: number) => string | null>(
          (real) => (decision, note) => real(decision, note, 0),
        ),
      },
    ],
  },
  {
    name: 'after a void no decision ends the payment',
    file: 'src/domain/payment/payment.ts',
    seam: 'PARK_REASONS',
    plant: plant<Record<keyof typeof PARK_REASONS, { text: string; decisions: readonly string[] }>>((real) => ({
      ...real,
      payout_voided: { ...real.payout_voided, decisions: ['retry'] },
    })),
  },
  {
    name: 'USDC that was bought for no payment waits for no decision',
    file: 'src/domain/payment/snapshot.ts',
    seam: 'needsOperator',
    plant: plant<typeof needsOperator>((real) => (payment) => {
      const reason = real(payment)
      return reason === 'fill_left' ? null : reason
    }),
  },
  {
    name: 'a refused cancellation of an order is requested without end',
    file: 'src/domain/payment/money/intents.ts',
    seam: 'stateOfCancel',
    plant: plant<typeof stateOfCancel>((real) => (attempt) => {
      const state = real(attempt)
      return state === 'refused' ? 'pending' : state
    }),
  },
  {
    name: 'a request that fails is never answered',
    file: 'src/workflows/payment/requests.ts',
    seam: 'createRequests',
    plant: plant<() => Requests>((real) => () => {
      const requests = real()
      return { ...requests, ask: (work) => requests.ask(() => work().catch(() => new Promise(() => undefined))) }
    }),
  },
]
