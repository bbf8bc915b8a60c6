import type { conversionKey } from '../../../src/domain/ids.ts'
import type { Account } from '../../../src/domain/payment/funds/account.ts'
import type { Funds, findOwnAccount } from '../../../src/domain/payment/funds/funds.ts'
import type { computePositions } from '../../../src/domain/payment/funds/positions.ts'
import type { merchantUsdc, PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import { type Defect, FUNDS, neverAsked, neverDone, POSITIONS, plant } from './defect.ts'

/** Bugs of the conversion, the payout, the books, and the payment that the merchant reads. */
export const SETTLEMENT_DEFECTS: readonly Defect[] = [
  {
    name: 'the money that came first is settled, whatever came after it',
    caughtBy:
      'paid in full together with other money: a payment of half the price by UPI and all of it by card is settled by the card',
    file: FUNDS,
    seam: 'findOwnAccount',
    plant: plant<typeof findOwnAccount>((real) => (funds) => real({ ...funds, tolerancePercent: 100n })),
  },
  {
    name: 'money is settled after nobody listens any more',
    caughtBy: 'money arrives after the time for late money, and goes back',
    file: FUNDS,
    seam: 'findOwnAccount',
    plant: plant<typeof findOwnAccount>((real) => (funds) => real({ ...funds, listens: true, late: [] })),
  },
  {
    name: 'another amount is converted under the old key',
    caughtBy: 'a payment that was withdrawn and is paid with another amount is converted by another order',
    file: 'src/domain/ids.ts',
    seam: 'conversionKey',
    plant: plant<typeof conversionKey>((real) => (paymentId) => real(paymentId, 1)),
  },
  {
    name: 'an order at the converter is forgotten when its money has gone',
    caughtBy: 'what was sold stays sold: an order at the converter that is ended, because its money is gone',
    ...neverDone('end_sale', { do: 'done' }),
  },
  {
    name: 'a conversion is tried without end',
    caughtBy: 'a conversion that is not filled in time waits for an operator',
    file: 'src/activities/payment/settle.ts',
    seam: 'OVERDUE_MS',
    plant: plant<number>(() => Number.POSITIVE_INFINITY),
  },
  {
    name: 'a fill far off the locked rate is taken',
    caughtBy: 'a fill far off the locked rate waits for an operator',
    ...neverAsked('far_fill'),
  },
  {
    name: 'a sale leaves the books when its payout is void',
    caughtBy: 'what was sold stays sold: a payment that is given back after its payout was voided',
    file: POSITIONS,
    seam: 'computePositions',
    plant: plant<typeof computePositions>(
      (real) => (funds) => real(funds.payout === 'void' ? { ...funds, sales: [], taken: null } : funds),
    ),
  },
  {
    name: 'a fill that was not needed is in no book',
    caughtBy: 'what was sold stays sold: a fill that is not needed any more, because other money is settled',
    file: POSITIONS,
    seam: 'computePositions',
    plant: plant<typeof computePositions>(
      (real) => (funds) =>
        real({ ...funds, sales: funds.sales.filter(({ number }) => number === funds.taken?.number) }),
    ),
  },
  {
    name: 'what the buyer got from elsewhere is still owed to the buyer',
    caughtBy: 'a callback that comes again after a refund outside brings no new money',
    file: POSITIONS,
    seam: 'putAccount',
    plant: plant<(put: unknown, funds: Funds, account: Account) => void>(
      (real) => (put, funds, account) => real(put, funds, { ...account, outside: 0n }),
    ),
  },
  {
    name: 'a refunded payment names a fee',
    caughtBy: 'what was sold stays sold: a payment that is given back after its payout was voided',
    file: 'src/domain/payment/payment-object.ts',
    seam: 'merchantUsdc',
    plant: plant<typeof merchantUsdc>(
      () =>
        ({ usdc }) =>
          usdc,
    ),
  },
  {
    name: 'a chargeback is not reported to the merchant',
    caughtBy: 'the partner takes the money back after the payout',
    file: 'src/domain/payment/change.ts',
    seam: 'listEvents',
    plant: plant<(before: unknown, after: unknown, about: unknown) => { readonly type: string }[]>(
      (real) => (before, after, about) =>
        real(before, after, about).filter(({ type }) => type !== 'payment.chargeback'),
    ),
  },
  {
    name: 'a payment that is over is reported as delayed',
    caughtBy: 'a delayed settlement is given back',
    file: 'src/domain/payment/derived.ts',
    seam: 'computeException',
    plant: plant<(state: PaymentWithAttempts, funds: Funds) => unknown>(
      (real) => (state, funds) => real({ ...state, payment: { ...state.payment, status: 'processing' } }, funds),
    ),
  },
]
