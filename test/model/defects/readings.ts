import type { applyOrder } from '../../../src/activities/payment/apply-order.ts'
import type { closeUnpaid } from '../../../src/activities/payment/partner-orders.ts'
import type { toAccount } from '../../../src/domain/payment/funds/stored-funds.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import { type Defect, NO_GUARD, neverAsked, plant, STORED, seenAs } from './defect.ts'

const READING = 'src/domain/payment/reading.ts'

/** Bugs of readings: money that a partner reports, and orders that do not fit. */
export const READING_DEFECTS: readonly Defect[] = [
  {
    name: 'an answer from before a reversal brings the money back',
    caughtBy: 'an answer from before a chargeback, which comes after it, does not win it back',
    file: 'src/activities/payment/apply-order.ts',
    seam: 'applyOrder',
    plant: plant<typeof applyOrder>((real) => (draft, deps, reading) => {
      const attempt = draft.state.attempts.find(({ id }) => id === reading.asked.attempt.id)
      return real(draft, deps, attempt === undefined ? reading : { ...reading, asked: { ...reading.asked, attempt } })
    }),
  },
  {
    name: 'a refused order with money is believed dead',
    caughtBy: 'a refused order of which the partner says that it has money waits for an operator',
    file: READING,
    seam: 'hasReceived',
    plant: plant<(order: PartnerOrder) => boolean>((real) => (order) => order.status !== 'declined' && real(order)),
    and: [
      {
        file: READING,
        seam: 'readHeld',
        plant: plant<(attempt: { readonly held: string }, order: PartnerOrder) => string>(
          (real) => (attempt, order) => (order.status === 'declined' ? '0' : real(attempt, order)),
        ),
      },
    ],
  },
  {
    name: 'an order of another amount is settled like any other',
    caughtBy: 'an order that does not fit, and then does not fit in another way, is seen both times',
    ...seenAs('isSellable', (account) => ({ ...account, misfit: 'none' })),
    and: [NO_GUARD],
  },
  {
    name: 'an order that does not fit is seen by nobody',
    caughtBy: 'a second order that does not fit waits for an operator too',
    ...neverAsked('odd_order'),
  },
  {
    name: 'withheld money is sold',
    caughtBy: 'money that its partner holds back after it had confirmed it is not sold when an operator lifts a hold',
    ...seenAs('isSellable', (account) => (account.report === 'withheld' ? { ...account, report: 'paid' } : account)),
    and: [NO_GUARD],
  },
  {
    name: 'another token is seen by nobody',
    caughtBy: 'another token is seen although the right one came after it',
    file: STORED,
    seam: 'toAccount',
    plant: plant<typeof toAccount>((real) => (attempt) => {
      const account = real(attempt)
      return account.misfit === 'other_token' ? { ...account, misfit: 'none' } : account
    }),
  },
  {
    name: 'a second payment is seen by nobody',
    caughtBy: 'surplus USDC that an operator gave back after the payout leaves the books',
    ...neverAsked('excess'),
  },
  {
    name: 'a part of the price is closed away',
    caughtBy: 'a part of the price in USDC that comes with a cancellation keeps the payment open',
    file: 'src/activities/payment/partner-orders.ts',
    seam: 'close',
    plant: plant<(draft: Parameters<typeof applyOrder>[0], as: 'expired' | 'canceled') => void>(
      () => (draft, as) => draft.setPayment({ closedAs: as }),
    ),
  },
  {
    name: 'whoever closes a payment does not read its orders',
    caughtBy: 'unreported money is found at the expiry',
    file: 'src/activities/payment/partner-orders.ts',
    seam: 'cancelAndRead',
    plant: plant<(deps: Parameters<typeof closeUnpaid>[0], before: PaymentWithAttempts) => Promise<object>>(
      () => async (_deps, state) => ({ state, readings: [] }),
    ),
  },
  {
    name: 'money of which nobody knows whether it is still there is sold',
    caughtBy: 'money whose order cannot be read is not sold when its conversion is filled',
    file: 'src/activities/payment/settle.ts',
    seam: 'isConfirmed',
    plant: plant<() => boolean>(() => () => true),
  },
]
