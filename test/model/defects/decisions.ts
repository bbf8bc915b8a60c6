import type { Offered, whyRefused } from '../../../src/domain/payment/decision.ts'
import type { isHeld } from '../../../src/domain/payment/funds/review.ts'
import type { Decision, Say } from '../../../src/domain/payment/requests.ts'
import type { Inbox } from '../../../src/workflows/inbox.ts'
import { type Defect, NO_GUARD, neverAsked, plant, REVIEW } from './defect.ts'

const DECISION = 'src/domain/payment/decision.ts'

type Found = (say: Say, decision: Decision, payment: { readonly answers: readonly Offered[] }) => Offered | string

/** Bugs of decisions by operators, the merchant and the buyer. */
export const DECISION_DEFECTS: readonly Defect[] = [
  {
    name: 'a hold holds nothing',
    caughtBy: 'money that comes during a hold waits for its release',
    file: REVIEW,
    seam: 'isHeld',
    plant: plant<typeof isHeld>(() => () => false),
    and: [NO_GUARD],
  },
  {
    name: 'too little money is settled',
    caughtBy: 'too little money waits for an operator',
    ...neverAsked('too_little'),
  },
  {
    name: 'an operator decides about what they have not seen',
    caughtBy: 'another token that comes after an operator has looked waits for another look',
    file: DECISION,
    seam: 'whyRefused',
    plant: plant<typeof whyRefused>(
      (real) => (say, decision, payment) => real(say, decision, payment && { ...payment, version: 0 }),
    ),
    and: [
      {
        file: 'src/activities/payment/decision.ts',
        seam: 'findEarlierTry',
        plant: plant<() => Promise<null>>(() => async () => null),
      },
    ],
  },
  {
    name: 'of two attempts that a give-back could mean, the first is taken',
    caughtBy: 'of two payments that are both too little the operator names the one that goes back',
    file: DECISION,
    seam: 'findOffered',
    plant: plant<Found>((real) => (say, decision, payment) => {
      const first = payment.answers.find(
        (offered) => offered.say === say && (offered.outside ?? false) === (decision.outside ?? false),
      )
      return decision.attempt === undefined && first !== undefined ? first : real(say, decision, payment)
    }),
  },
  {
    name: 'a request that fails is never answered',
    caughtBy: 'a hold that comes after the payout was signed is refused',
    file: 'src/workflows/inbox.ts',
    seam: 'createInbox',
    plant: plant<() => Inbox>((real) => () => {
      const inbox = real()
      return { ...inbox, ask: (request) => inbox.ask(() => request().catch(() => new Promise(() => undefined))) }
    }),
  },
]
