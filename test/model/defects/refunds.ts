import type { PayoutDesk } from '../../../src/activities/payment/payment-deps.ts'
import type { giveBack } from '../../../src/activities/payment/refund.ts'
import type { insertIntent, restateParts } from '../../../src/db/payments/money/money-writes.ts'
import type { PaymentWork } from '../../../src/db/payments/payment-changes.ts'
import { type PaymentFields, parked } from '../../../src/domain/payment/changes.ts'
import type { KnownPayment, OrderEffect, Story } from '../../../src/domain/payment/money/effect.ts'
import { type Incident, isInDoubt } from '../../../src/domain/payment/money/intents.ts'
import { type takeOutside, unitSum } from '../../../src/domain/payment/money/parts.ts'
import type { Attempt, PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import { type givenBack, type givenBackBefore, mayGoBack, type refundable } from '../../../src/domain/payment/refund.ts'
import { type Defect, plant, withMethods, withoutIncident } from './defect.ts'

type EndOf = (story: Story, end: unknown) => OrderEffect
type EffectAfter = (story: Story, effect: OrderEffect) => OrderEffect

const GOING = 'src/domain/payment/money/going.ts'
const PARTS = 'src/domain/payment/money/parts.ts'
const RULES = 'src/domain/payment/refund.ts'
const REFUND = 'src/activities/payment/refund.ts'
const WRITES = 'src/db/payments/money/money-writes.ts'

/** Money that goes: a partner takes it back, or it is refunded. */
export const REFUND_DEFECTS: readonly Defect[] = [
  {
    name: 'what the partner takes back of our own money is not booked',
    file: PARTS,
    seam: 'takeOutside',
    plant: plant<typeof takeOutside>(() => () => []),
  },
  {
    name: 'what the buyer was given back twice opens no incident',
    ...withoutIncident(({ kind }) => kind === 'outside_reversed'),
  },
  {
    name: 'money reversed after the conversion is paid out',
    file: GOING,
    seam: 'afterConversion',
    plant: plant<EffectAfter>((real) => (story, effect) => ({ ...real(story, effect), voidsPayout: false })),
  },
  {
    name: 'a chargeback leaves no record',
    file: GOING,
    seam: 'afterConversion',
    plant: plant<EffectAfter>((real) => (story, effect) => ({ ...real(story, effect), incident: null })),
  },
  {
    name: 'a confirmation that is withdrawn leaves the payment processing',
    file: GOING,
    seam: 'neverCame',
    plant: plant<EndOf>((real) => (story, end) => {
      const effect = real(story, end)
      return { ...effect, moves: effect.moves.filter(({ why }) => why !== 'withdrawn') }
    }),
  },
  {
    name: "one order's decline fails another one's hold",
    file: GOING,
    seam: 'neverCame',
    plant: plant<EndOf>((real) => (story, end) => {
      const { parkReason } = story.payment
      const waits = parkReason === 'partner_hold' || parkReason === 'partner_silent'
      return real(waits ? withAttempts(story, ({ id }) => id === story.attempt.id) : story, end)
    }),
  },
  {
    name: 'own money that goes back ends the payment while a misfit remains',
    file: GOING,
    seam: 'allGone',
    plant: plant<EndOf>((real) => (story, end) => {
      const isMisfit = story.payment.parkReason === 'amount_mismatch'
      return real(isMisfit ? withAttempts(story, ({ status }) => status !== 'on_hold') : story, end)
    }),
  },
  {
    name: 'late money that has gone opens a canceled payment',
    file: GOING,
    seam: 'withdrawn',
    plant: plant<(payment: KnownPayment) => OrderEffect['moves']>(
      (real) => (payment) => real({ ...payment, canceledAt: null }),
    ),
  },
  {
    name: 'a payment whose order fitted while it was refunded waits forever',
    file: GOING,
    seam: 'endsRefunded',
    plant: plant<EffectAfter>(
      (real) => (story, effect) => (effect.partsBecome === null ? real(story, effect) : effect),
    ),
  },
  {
    name: 'money that does not fit ends the payment although other money is counted',
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
    file: RULES,
    seam: 'refundable',
    plant: plant<typeof refundable>((real) => (state, asked) => {
      const [first] = mayGoBack(state, asked)
      return real(state, { ...asked, named: first?.attempt.id ?? asked.named })
    }),
  },
  {
    name: 'an unnamed refund is done when another was',
    file: RULES,
    seam: 'givenBackBefore',
    plant: plant<typeof givenBackBefore>((real) => (state, asked) => {
      const hasMoney = ({ id }: Attempt) => unitSum(state.parts, { attemptId: id }) !== '0'
      const attempts = state.attempts.filter((attempt) => attempt.status === 'refunded' || hasMoney(attempt))
      return real({ ...state, attempts }, asked)
    }),
  },
  {
    name: 'money that was given back from elsewhere is counted when the partner corrects its order',
    file: RULES,
    seam: 'givenBack',
    plant: plant<typeof givenBack>((real) => (state, claim, how) => real({ ...state, incidents: [] }, claim, how)),
  },
  {
    name: 'a misfit that the partner gave back is listed as still there',
    file: REFUND,
    seam: 'giveBack',
    plant: plant<typeof giveBack>((real) => (work, claim, how) => {
      const closeIncident = (incident: Incident) => work.closeIncident(incident)
      return real(how.through === 'partner' ? withMethods(work, { closeIncident }) : work, claim, how)
    }),
  },
  {
    name: 'a refund of USDC closes the incident of another token at its address',
    file: REFUND,
    seam: 'giveBack',
    plant: plant<typeof giveBack>((real) => async (work, claim, how) => {
      await real(work, claim, how)
      const { id: attemptId, status } = claim.attempt
      if (how.through === 'outside' && status === 'on_hold') await work.closeIncident({ kind: 'misfit', attemptId })
    }),
  },
  {
    name: 'a refund is requested without a record of it',
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
  {
    name: 'what a refused refund leaves of a second payment is counted',
    file: REFUND,
    seam: 'besidePaid',
    plant: plant<(work: PaymentWork, attempt: Attempt) => Promise<void>>(() => async () => undefined),
  },
  {
    name: 'a refused refund turns the wait for the partner into a hold',
    file: REFUND,
    seam: 'parkedAgain',
    plant: plant<(work: PaymentWork, payouts: PayoutDesk, attemptId: string) => Promise<PaymentFields>>(
      (real) => async (work, payouts, attemptId) => {
        const { payment, incidents } = work.state
        const fields = await real(work, payouts, attemptId)
        const isHeld = payment.held && payment.usdc !== null && !isInDoubt(incidents, payment)
        return isHeld && fields.parkReason === 'order_changed' ? parked('operator_hold') : fields
      },
    ),
  },
]

/** The story with its own attempt and, of the others, those that pass. */
function withAttempts(story: Story, passes: (attempt: KnownPayment['attempts'][number]) => boolean): Story {
  const { payment, attempt } = story
  const attempts = payment.attempts.filter((one) => one.id === attempt.id || passes(one))
  return { ...story, payment: { ...payment, attempts } }
}
