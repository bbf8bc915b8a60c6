import { goOnByPartner, type stopOrGoOn } from '../../../src/activities/payment/void-payout.ts'
import type { insertIncident } from '../../../src/db/payments/money/money-writes.ts'
import type { setBeside } from '../../../src/db/payments/payment-changes.ts'

import { type OrderEffect, type Story } from '../../../src/domain/payment/money/effect.ts'
import { isInDoubt } from '../../../src/domain/payment/money/intents.ts'
import type { Owner } from '../../../src/domain/payment/money/parts.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { type isWithheld, type tellsOfMoney } from '../../../src/domain/payment/partner-news.ts'
import { isClosed } from '../../../src/domain/payment/payment.ts'
import { type Defect, plant, withMethods, withoutIncident } from './defect.ts'

type EffectOf = (story: Story) => OrderEffect

const COMING = 'src/domain/payment/money/coming.ts'
const RULES = 'src/domain/payment/partner-news.ts'
const VOID = 'src/activities/payment/void-payout.ts'
const CHANGES = 'src/db/payments/payment-changes.ts'
const WRITES = 'src/db/payments/money/money-writes.ts'

/** Bugs of readings: money that a partner reports, and misfits. */
export const NEWS_DEFECTS: readonly Defect[] = [
  {
    name: 'money that was lost after the payout and comes again is a second payment',
    caughtBy: 'money that is taken back after the payout, and comes again: all of it',
    file: COMING,
    seam: 'lostOf',
    plant: plant<(story: Story) => string>(() => () => '0'),
  },
  {
    name: 'money that comes during its refund has no owner',
    caughtBy: 'the rest of the price, which comes while a refund is carried out, is counted when that is refused',
    file: COMING,
    seam: 'goesBackToo',
    plant: plant<(story: Story, owner: Owner) => Owner>(
      (real) => (story, owner) => (real(story, owner) === owner ? owner : { state: 'surplus', account: 'suspense' }),
    ),
  },
  {
    name: 'too little money replaces a misfit',
    caughtBy: 'too little money beside an order that does not fit leaves that to an operator',
    file: COMING,
    seam: 'underpaid',
    plant: plant<(story: Story, came: OrderEffect) => OrderEffect>((real) => (story, came) => ({
      ...real(story, came),
      park: 'underpaid',
    })),
  },
  {
    name: 'a part of the price stays counted when another order is paid',
    caughtBy: 'a part of the price in USDC is surplus when another order is paid',
    file: CHANGES,
    seam: 'setBeside',
    plant: plant<typeof setBeside>(
      (real) => (work, attemptId) => real(withMethods(work, { restate: async () => undefined }), attemptId),
    ),
  },
  {
    name: 'a second order that does not fit opens no incident',
    caughtBy: 'a second order that does not fit stands before an operator too',
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
    caughtBy: 'late money of a changed order, given back by the workflow of late money, lets the payment end',
    file: RULES,
    seam: 'misfit',
    plant: plant<EffectOf>((real) => (story) => {
      return isClosed(story.payment.status) ? { ...real(story), incident: null } : real(story)
    }),
  },
  {
    name: 'what was refunded is a misfit again',
    caughtBy: 'an order that does not fit and was given back is dealt with, however often the partner tells of it',
    file: RULES,
    seam: 'isMoney',
    plant: plant<(order: PartnerOrder) => boolean>(
      (real) => (order) => real(order.status === 'refunded' ? { ...order, status: 'declined' } : order),
    ),
  },
  {
    name: 'a refused order with money is believed dead',
    caughtBy: 'a refused order of which the partner says that it has money stands before an operator',
    file: RULES,
    seam: 'refused',
    plant: plant<EffectOf>((real) => (story) => real({ ...story, order: { ...story.order, received: null } })),
  },
  {
    name: 'money that the partner holds back is sold by a decision',
    caughtBy: 'money that its partner holds back after it had confirmed it is not sold when an operator lifts a hold',
    file: RULES,
    seam: 'isWithheld',
    plant: plant<typeof isWithheld>(() => () => false),
  },
  {
    name: 'a doubt ends by an answer that says nothing about the money',
    caughtBy:
      'a payout that waits because of a doubt is not paid when it is tried again while the partner has a fifth of it on hold',
    file: RULES,
    seam: 'tellsOfMoney',
    plant: plant<typeof tellsOfMoney>(() => () => true),
  },
  {
    name: 'a payout is signed although a changed order has less than was paid',
    caughtBy: 'a changed order that has less money is not converted',
    file: VOID,
    seam: 'stopOrGoOn',
    plant: plant<typeof stopOrGoOn>(() => async () => undefined),
  },
  {
    name: 'a doubt that an operator has closed once is ignored when it returns',
    caughtBy: 'a changed order of which an operator has closed the same words before it fitted is not paid out',
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
    caughtBy: 'another token is seen although the right one came after it',
    ...withoutIncident(({ kind, misfit }) => kind === 'misfit' && misfit == null),
  },
]
