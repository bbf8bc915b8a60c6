import type { PaymentWrite } from '../../../src/db/payments/payment-writes.ts'
import type { recordEvents } from '../../../src/db/webhooks/events.ts'
import type { exceptionAtEnd } from '../../../src/domain/payment/changes.ts'
import type { Account } from '../../../src/domain/payment/funds/account.ts'
import type { Funds } from '../../../src/domain/payment/funds/funds.ts'
import type { computePositions } from '../../../src/domain/payment/funds/positions.ts'
import type { isOfOwnMoney } from '../../../src/domain/payment/funds/stored-funds.ts'
import type { findElected } from '../../../src/domain/payment/money/election.ts'
import type { isInDoubt } from '../../../src/domain/payment/money/intents.ts'

import type { merchantUsdc } from '../../../src/domain/payment/payment-object.ts'
import type { PaymentSnapshot } from '../../../src/domain/payment/snapshot.ts'
import type { endVoid } from '../../../src/settlement/voids.ts'

import { type Defect, plant, withoutIncident } from './defect.ts'

const STORED = 'src/domain/payment/funds/stored-funds.ts'
const POSITIONS = 'src/domain/payment/funds/positions.ts'

/** The conversion, the payout, the books, and what the merchant reads of them. */
export const SETTLEMENT_DEFECTS: readonly Defect[] = [
  {
    name: 'money that is in doubt moves on',
    caughtBy: 'a payout that waits because of a doubt is not paid when it is tried again once that was acknowledged',
    file: 'src/domain/payment/money/intents.ts',
    seam: 'isInDoubt',
    plant: plant<typeof isInDoubt>(() => () => false),
    and: [
      {
        file: 'src/db/payments/payment-writes.ts',
        seam: 'ifMoneyIsFree',
        plant: plant<(write: Pick<PaymentWrite, 'to' | 'fields'>) => unknown>(
          (real) => () => real({ to: null, fields: {} }),
        ),
      },
    ],
  },
  {
    name: 'another amount is converted under the old key',
    caughtBy: 'a payment that was withdrawn and is paid with another amount is converted by another order',
    file: STORED,
    seam: 'isOfOwnMoney',
    plant: plant<typeof isOfOwnMoney>(() => () => true),
  },
  {
    name: 'the money that came first is settled, whatever came after it',
    caughtBy:
      'paid in full beside other money: a payment of half the price by UPI and all of it by card is settled by the card',
    file: 'src/domain/payment/money/election.ts',
    seam: 'findElected',
    plant: plant<typeof findElected>(() => () => null),
  },
  {
    name: 'a conversion that is open at the end is forgotten',
    caughtBy: 'a conversion that is filled after the refund is in the books',
    file: 'src/domain/payment/snapshot.ts',
    seam: 'isConversionLeft',
    plant: plant<(payment: PaymentSnapshot) => boolean>(() => () => false),
  },
  {
    name: 'a fill far off the locked rate is taken',
    caughtBy: 'money that its partner holds back after it had confirmed it is not sold when a fill is accepted',
    file: 'src/activities/payment/settlement.ts',
    seam: 'isNear',
    plant: plant<() => boolean>(() => () => true),
  },
  {
    name: 'a sale leaves the books when its payout is void',
    caughtBy: 'a part of the money that goes after the payout was voided leaves the rest to an operator',
    file: POSITIONS,
    seam: 'computePositions',
    plant: plant<typeof computePositions>(
      (real) => (funds) => real(funds.payout === 'void' ? { ...funds, sales: [], taken: null } : funds),
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
    name: 'the end of a payout is not recorded as the end of its void',
    caughtBy:
      'money that goes while its payout is on its way, and comes again, is to be given back where the void was faster',
    file: 'src/settlement/voids.ts',
    seam: 'endVoid',
    plant: plant<typeof endVoid>((real) => async (work, state) => {
      if (state !== 'done') await real(work, state)
    }),
  },
  {
    name: 'an unexpected settlement opens no incident',
    caughtBy: 'a payout that was voided and is settled after all stands before an operator',
    ...withoutIncident(({ kind }) => kind === 'unexpected_settlement'),
  },
  {
    name: 'a refunded payment names a fee',
    caughtBy: 'a part of the money that goes after the payout was voided leaves the rest to an operator',
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
    caughtBy: 'money that is taken back after the payout',
    file: 'src/db/webhooks/events.ts',
    seam: 'recordEvents',
    plant: plant<typeof recordEvents>(
      (real) => (tx, events) =>
        real(
          tx,
          events.filter(({ type }) => type !== 'payment.chargeback'),
        ),
    ),
  },
  {
    name: 'a payment that is over is reported as delayed',
    caughtBy: 'a settlement that is delayed, and given back',
    file: 'src/domain/payment/changes.ts',
    seam: 'exceptionAtEnd',
    plant: plant<typeof exceptionAtEnd>(() => (exception) => exception),
  },
]
