import type { applyOrder } from '../../../src/activities/payment/partner-news.ts'
import { goOnByPartner, type stopOrGoOn } from '../../../src/activities/payment/void-payout.ts'
import type { insertIncident } from '../../../src/db/payments/money/money-writes.ts'
import type { setBeside } from '../../../src/db/payments/payment-changes.ts'
import type { newReceipts } from '../../../src/domain/payment/money/coming.ts'
import { nothing, type OrderEffect, type Story } from '../../../src/domain/payment/money/effect.ts'
import { isInDoubt, misfitOfAttempt } from '../../../src/domain/payment/money/intents.ts'
import type { Owner, PartState } from '../../../src/domain/payment/money/parts.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { hasNothing, type isWithheld, type tellsOfMoney } from '../../../src/domain/payment/partner-news.ts'
import { isClosed } from '../../../src/domain/payment/payment.ts'
import { type Defect, plant, withMethods, withoutIncident } from './defect.ts'

type EffectOf = (story: Story) => OrderEffect

const COMING = 'src/domain/payment/money/coming.ts'
const RULES = 'src/domain/payment/partner-news.ts'
const NEWS = 'src/activities/payment/partner-news.ts'
const VOID = 'src/activities/payment/void-payout.ts'
const CHANGES = 'src/db/payments/payment-changes.ts'
const WRITES = 'src/db/payments/money/money-writes.ts'

/** Bugs of readings: money that a partner reports, and misfits. */
export const NEWS_DEFECTS: readonly Defect[] = [
  {
    name: 'a top-up of an underpaid payment is surplus',
    file: COMING,
    seam: 'ownerOfNew',
    plant: plant<(story: Story) => PartState>((real) => (story) => {
      const { status } = story.attempt
      return real({ ...story, attempt: { ...story.attempt, status: status === 'underpaid' ? 'confirmed' : status } })
    }),
  },
  {
    name: 'a second payment counts as the first',
    file: COMING,
    seam: 'ownerOfNew',
    plant: plant<(story: Story) => PartState>(
      (real) =>
        ({ payment, attempt, ...news }) =>
          real({
            ...news,
            payment: { ...payment, paidAttemptId: null },
            attempt: { ...attempt, status: 'open', returnedByHand: false },
          }),
    ),
  },
  {
    name: 'USDC that comes after the end is not seen',
    file: COMING,
    seam: 'newReceipts',
    plant: plant<typeof newReceipts>((real) => (story) => {
      const { listenEnded, status } = story.payment
      return listenEnded || status === 'succeeded' ? [] : real(story)
    }),
  },
  {
    name: 'money that was lost after the payout and comes again is a second payment',
    file: COMING,
    seam: 'lostOf',
    plant: plant<(story: Story) => string>(() => () => '0'),
  },
  {
    name: 'money that comes during its refund has no owner',
    file: COMING,
    seam: 'goesBackToo',
    plant: plant<(story: Story, owner: Owner) => Owner>(
      (real) => (story, owner) => (real(story, owner) === owner ? owner : { state: 'surplus', account: 'suspense' }),
    ),
  },
  {
    name: 'too little money replaces a misfit',
    file: COMING,
    seam: 'underpaid',
    plant: plant<(story: Story, came: OrderEffect) => OrderEffect>((real) => (story, came) => ({
      ...real(story, came),
      park: 'underpaid',
    })),
  },
  {
    name: 'a part of the price stays counted when another order is paid',
    file: CHANGES,
    seam: 'setBeside',
    plant: plant<typeof setBeside>(
      (real) => (work, attemptId) => real(withMethods(work, { restate: async () => undefined }), attemptId),
    ),
  },
  {
    name: 'a payment without its amount counts as nothing',
    file: RULES,
    seam: 'whyMisfit',
    plant: plant<(attempt: unknown, order: PartnerOrder, context: unknown) => string | null>(
      (real) => (attempt, order, context) =>
        real(attempt, order.status === 'paid' ? { ...order, status: 'open' } : order, context),
    ),
  },
  {
    name: 'a second order that does not fit opens no incident',
    file: RULES,
    seam: 'misfit',
    plant: plant<EffectOf>((real) => (story) => {
      const { status, parkReason } = story.payment
      const isOneMore = status === 'under_review' && parkReason === 'amount_mismatch'
      return isOneMore ? { ...real(story), incident: null } : real(story)
    }),
  },
  {
    name: 'a misfit of a payment that has ended opens no incident',
    file: RULES,
    seam: 'misfit',
    plant: plant<EffectOf>((real) => (story) => {
      return isClosed(story.payment.status) ? { ...real(story), incident: null } : real(story)
    }),
  },
  {
    name: 'a changed order that is over and holds nothing is waited for',
    file: RULES,
    seam: 'misfitOrEnd',
    plant: plant<EffectOf>((real) => (story) => {
      const { attempt, order, context } = story
      return real(hasNothing(attempt, order, context) ? { ...story, order: asOpen(order) } : story)
    }),
  },
  {
    name: 'what was refunded is a misfit again',
    file: RULES,
    seam: 'isMoney',
    plant: plant<(order: PartnerOrder) => boolean>(
      (real) => (order) => real(order.status === 'refunded' ? { ...order, status: 'declined' } : order),
    ),
  },
  {
    name: 'a canceled order with money is believed dead',
    file: RULES,
    seam: 'ended',
    plant: plant<(story: Story, to: 'canceled' | 'expired') => OrderEffect>(
      (real) => (story, to) => real({ ...story, order: { ...story.order, received: null } }, to),
    ),
  },
  {
    name: 'a refused order with money is believed dead',
    file: RULES,
    seam: 'refused',
    plant: plant<EffectOf>((real) => (story) => real({ ...story, order: { ...story.order, received: null } })),
  },
  {
    name: 'a refund by the partner itself is not seen',
    file: RULES,
    seam: 'effectOfStory',
    plant: plant<EffectOf>(
      (real) => (story) => (story.order.status === 'refunded' ? nothing(story.attempt.status) : real(story)),
    ),
  },
  {
    name: 'a check of the buyer hides the exception of a payment that has ended',
    file: RULES,
    seam: 'verification',
    plant: plant<EffectOf>((real) => (story) => {
      const { payment } = story
      return real(isClosed(payment.status) ? { ...story, payment: { ...payment, status: 'pending' } } : story)
    }),
  },
  {
    name: 'money that the partner holds back is sold by a decision',
    file: RULES,
    seam: 'isWithheld',
    plant: plant<typeof isWithheld>(() => () => false),
  },
  {
    name: 'a doubt ends by an answer that says nothing about the money',
    file: RULES,
    seam: 'tellsOfMoney',
    plant: plant<typeof tellsOfMoney>(() => () => true),
  },
  {
    name: 'an answer from before a reversal books the money again',
    file: NEWS,
    seam: 'isOutdated',
    plant: plant<(effect: OrderEffect, about: unknown) => boolean>(
      (real) => (effect, about) =>
        real({ ...effect, parts: effect.parts.filter(({ kind }) => kind !== 'receipt') }, about),
    ),
  },
  {
    name: 'an answer that all of the money is there does not count when its misfit was closed',
    file: NEWS,
    seam: 'applyOrder',
    plant: plant<typeof applyOrder>((real) => async (work, deps, news) => {
      const heard = await real(work, deps, news)
      return { ...heard, whole: heard.whole && misfitOfAttempt(work.state.incidents, news.asked.attempt.id) !== null }
    }),
  },
  {
    name: 'a payout is signed although a changed order has less than was paid',
    file: VOID,
    seam: 'stopOrGoOn',
    plant: plant<typeof stopOrGoOn>(() => async () => undefined),
  },
  {
    name: 'a doubt that an operator has closed once is ignored when it returns',
    file: WRITES,
    seam: 'insertIncident',
    plant: plant<typeof insertIncident>(
      (real) => (tx, incident, where) => real(tx, incident, { ...where, isAlwaysHeard: false }),
    ),
    and: [
      {
        file: VOID,
        seam: 'stopOrGoOn',
        plant: plant<typeof stopOrGoOn>((real) => async (work, payouts, said) => {
          const { payment, incidents } = work.state
          const isOwn = said.attemptId === payment.paidAttemptId
          return isOwn && !isInDoubt(incidents, payment) ? goOnByPartner(work) : real(work, payouts, said)
        }),
      },
    ],
  },
  {
    name: 'another token opens no incident',
    ...withoutIncident(({ kind, misfit }) => kind === 'misfit' && misfit == null),
  },
]

/** An order that still waits for its money, and has none. */
const asOpen = (order: PartnerOrder): PartnerOrder => ({ ...order, status: 'open', received: null })
