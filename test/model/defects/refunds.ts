import type { insertIntent, restateParts } from '../../../src/db/payments/money/money-writes.ts'

import type { KnownPayment, OrderEffect, Story } from '../../../src/domain/payment/money/effect.ts'

import { type takeOutside, unitSum } from '../../../src/domain/payment/money/parts.ts'
import type { Attempt, PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import { type givenBackBefore, mayGoBack, type refundable } from '../../../src/domain/payment/refund.ts'
import { type Defect, plant, withoutIncident } from './defect.ts'

type EndOf = (story: Story, end: unknown) => OrderEffect
type EffectAfter = (story: Story, effect: OrderEffect) => OrderEffect

const GOING = 'src/domain/payment/money/going.ts'
const PARTS = 'src/domain/payment/money/parts.ts'
const RULES = 'src/domain/payment/refund.ts'
const WRITES = 'src/db/payments/money/money-writes.ts'

/** Money that goes: a partner takes it back, or it is refunded. */
export const REFUND_DEFECTS: readonly Defect[] = [
  {
    name: 'what the partner takes back of our own money is not booked',
    caughtBy: 'what the partner takes back in part of money that was returned from elsewhere is booked, and seen',
    file: PARTS,
    seam: 'takeOutside',
    plant: plant<typeof takeOutside>(() => () => []),
  },
  {
    name: 'what the buyer was given back twice opens no incident',
    caughtBy: 'what the partner takes back in part of money that was returned from elsewhere is booked, and seen',
    ...withoutIncident(({ kind }) => kind === 'outside_reversed'),
  },
  {
    name: 'money reversed after the conversion is paid out',
    caughtBy: 'the payout of a changed order that has less money is voided where all goes back',
    file: GOING,
    seam: 'afterConversion',
    plant: plant<EffectAfter>((real) => (story, effect) => ({ ...real(story, effect), voidsPayout: false })),
  },
  {
    name: 'a chargeback leaves no record',
    caughtBy: 'money that is taken back after the payout',
    file: GOING,
    seam: 'afterConversion',
    plant: plant<EffectAfter>((real) => (story, effect) => ({ ...real(story, effect), incident: null })),
  },
  {
    name: 'own money that goes back ends the payment while a misfit remains',
    caughtBy: 'a payment whose own money went stays open for money of another order that does not fit',
    file: GOING,
    seam: 'allGone',
    plant: plant<EndOf>((real) => (story, end) => {
      const isMisfit = story.payment.parkReason === 'amount_mismatch'
      return real(isMisfit ? withAttempts(story, ({ status }) => status !== 'on_hold') : story, end)
    }),
  },
  {
    name: 'late money that has gone opens a canceled payment',
    caughtBy: 'money that comes after the cancellation, and goes again: take all back',
    file: GOING,
    seam: 'withdrawn',
    plant: plant<(payment: KnownPayment) => OrderEffect['moves']>(
      (real) => (payment) => real({ ...payment, canceledAt: null }),
    ),
  },
  {
    name: 'money that does not fit ends the payment although other money is counted',
    caughtBy: 'money that does not fit goes back, and other money of the payment is settled',
    file: RULES,
    seam: 'claimOn',
    plant: plant<(state: PaymentWithAttempts, attempt: Attempt, through: unknown) => unknown>(
      (real) => (state, attempt, through) => {
        const parts = state.parts.filter(({ attemptId }) => attemptId === attempt.id)
        return real({ ...state, parts }, attempt, through)
      },
    ),
  },
  {
    name: 'of two attempts that a refund could mean, the first is taken',
    caughtBy: 'of two payments that are both too little the operator names the one that goes back',
    file: RULES,
    seam: 'refundable',
    plant: plant<typeof refundable>((real) => (state, asked) => {
      const [first] = mayGoBack(state, asked)
      return real(state, { ...asked, named: first?.attempt.id ?? asked.named })
    }),
  },
  {
    name: 'an unnamed refund is done when another was',
    caughtBy: 'a refund that names no attempt is of the one that has money, where another was given back',
    file: RULES,
    seam: 'givenBackBefore',
    plant: plant<typeof givenBackBefore>((real) => (state, asked) => {
      const hasMoney = ({ id }: Attempt) => unitSum(state.parts, { attemptId: id }) !== '0'
      const attempts = state.attempts.filter((attempt) => attempt.status === 'refunded' || hasMoney(attempt))
      return real({ ...state, attempts }, asked)
    }),
  },
  {
    name: 'a refund is requested without a record of it',
    caughtBy: 'a refund that takes its time, and an approval meanwhile',
    file: WRITES,
    seam: 'insertIntent',
    plant: plant<typeof insertIntent>(
      (real) => async (tx, intent, where) =>
        intent.kind === 'refund' ? { ...intent, id: '', state: 'asked' } : real(tx, intent, where),
    ),
    and: [
      {
        file: WRITES,
        seam: 'restateParts',
        plant: plant<typeof restateParts>((real) => async (tx, attemptId, change) => {
          if (change.to !== 'returning') await real(tx, attemptId, change)
        }),
      },
    ],
  },
]

/** The story with its own attempt and, of the others, those that pass. */
function withAttempts(story: Story, passes: (attempt: KnownPayment['attempts'][number]) => boolean): Story {
  const { payment, attempt } = story
  const attempts = payment.attempts.filter((one) => one.id === attempt.id || passes(one))
  return { ...story, payment: { ...payment, attempts } }
}
