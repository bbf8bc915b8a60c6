import type { PaymentWork } from '../../../src/db/payments/payment-changes.ts'
import { parked } from '../../../src/domain/payment/changes.ts'
import type { DecisionEffect } from '../../../src/domain/payment/money/decided.ts'
import { changedOrder } from '../../../src/domain/payment/money/intents.ts'
import type { PARK_REASONS, ParkReason } from '../../../src/domain/payment/payment.ts'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import type { OperatorDecision, OperatorNote } from '../../../src/domain/payment/requests.ts'
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
    name: 'a hold before the conversion ends where nothing is allowed',
    caughtBy: 'a hold that comes during the conversion ends with a refund',
    file: DECIDED,
    seam: 'holdMoney',
    plant: plant<Decide>((real) => (state, note) => {
      const effect = real(state, note)
      const isUnsold = state.payment.status === 'processing' && effect.move !== null
      return isUnsold ? { ...effect, move: { ...effect.move, fields: parked('funds_reversed') } } : effect
    }),
  },
  {
    name: 'money that becomes too little while it is held is settled',
    caughtBy: 'money that becomes too little while it is held is not settled by lifting the hold',
    ...RELEASES_TOO_LITTLE,
  },
  {
    name: 'money that goes in part while the conversion waits is enough',
    caughtBy: 'money that goes in part while the conversion waits is too little, and no try makes it enough',
    file: 'src/domain/payment/money/going.ts',
    seam: 'endsAsUnderpaid',
    plant: plant<(reason: ParkReason | null) => boolean>((real) => (reason) => reason !== 'conversion' && real(reason)),
    // Another try of the conversion would find too little, and park the payment after all.
    and: [RELEASES_TOO_LITTLE],
  },
  {
    name: 'an order that the partner has changed cannot be acknowledged',
    caughtBy: 'an order that the partner changes once more after an operator has looked is not acknowledged so',
    file: DECIDED,
    seam: 'acknowledge',
    plant: plant<Decide<DecisionEffect | { readonly refused: string }>>((real) => (state, note) => {
      const effect = real(state, note)
      return 'refused' in effect ? effect : { ...effect, acknowledged: null }
    }),
  },
  {
    name: 'a doubt ends when its change is acknowledged',
    caughtBy: 'a payout that waits because of a doubt is not paid when it is tried again once that was acknowledged',
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
    name: 'an approval accepts what the operator has not seen',
    caughtBy: 'another token that comes after an operator has looked waits for a look of its own',
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
    caughtBy: 'a part of the money that goes after the payout was voided leaves the rest to an operator',
    file: 'src/domain/payment/payment.ts',
    seam: 'PARK_REASONS',
    plant: plant<Record<keyof typeof PARK_REASONS, { text: string; merchant: string; decisions: readonly string[] }>>(
      (real) => ({
        ...real,
        payout_voided: { ...real.payout_voided, decisions: ['retry'] },
      }),
    ),
  },
  {
    name: 'a request that fails is never answered',
    caughtBy: 'money that its partner holds back after it had confirmed it is not sold when an operator lifts a hold',
    file: 'src/workflows/payment/requests.ts',
    seam: 'createRequests',
    plant: plant<() => Requests>((real) => () => {
      const requests = real()
      return { ...requests, ask: (work) => requests.ask(() => work().catch(() => new Promise(() => undefined))) }
    }),
  },
]
