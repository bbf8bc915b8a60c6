import type { mayTake } from '../../../src/activities/payment/conversion/fills.ts'
import type { PaymentWrite } from '../../../src/db/payments/payment-writes.ts'
import type { recordEvents } from '../../../src/db/webhooks/events.ts'
import type { bookingOfPart } from '../../../src/domain/ledger.ts'
import type { exceptionAtEnd, PaymentFields } from '../../../src/domain/payment/changes.ts'
import type { withConversion } from '../../../src/domain/payment/money/conversion.ts'
import type { whyNotFree } from '../../../src/domain/payment/money/intents.ts'

import type { merchantUsdc, StaleConversion } from '../../../src/domain/payment/payment-object.ts'
import type { PaymentSnapshot } from '../../../src/domain/payment/snapshot.ts'
import type { endVoid } from '../../../src/settlement/voids.ts'

import { type Defect, plant, withoutIncident } from './defect.ts'

const CONVERSION = 'src/domain/payment/money/conversion.ts'
const LEDGER = 'src/domain/ledger.ts'

/** The conversion, the payout, the books, and what the merchant reads of them. */
export const SETTLEMENT_DEFECTS: readonly Defect[] = [
  {
    name: 'money moves on without a check that it is free',
    caughtBy: 'a refund that takes its time, and an approval meanwhile',
    file: 'src/domain/payment/money/intents.ts',
    seam: 'whyNotFree',
    plant: plant<typeof whyNotFree>((real) => (money) => {
      const why = real(money)
      return why === 'held' || why === 'nothing' ? why : null
    }),
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
    file: CONVERSION,
    seam: 'staleness',
    plant: plant<(before: unknown, fields: PaymentFields) => StaleConversion | null>(() => () => null),
  },
  {
    name: 'USDC is settled while the conversion of lost money is open',
    caughtBy: 'the conversion of money that went is ended before USDC that came in its place is settled',
    file: CONVERSION,
    seam: 'withConversion',
    plant: plant<typeof withConversion>((real) => (before, to, fields) => {
      return real(before, to, fields.providerUsed === 'crypto' ? { ...fields, conversionStale: null } : fields)
    }),
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
    file: 'src/activities/payment/conversion/fills.ts',
    seam: 'mayTake',
    plant: plant<typeof mayTake>(() => () => true),
  },
  {
    name: 'USDC is booked as fiat',
    caughtBy: 'surplus USDC that an operator gave back after the payout leaves the books',
    file: LEDGER,
    seam: 'bookingOfPart',
    plant: plant<typeof bookingOfPart>(
      (real) => (part, payment) => real(part.asset === 'USDC' ? { ...part, asset: 'EUR' } : part, payment),
    ),
  },
  {
    name: 'suspense never clears after a reversal',
    caughtBy: 'a second payment that goes without a word is found by the polls',
    file: LEDGER,
    seam: 'bookingOfPart',
    plant: plant<typeof bookingOfPart>(
      (real) => (part, payment) =>
        real(part.kind === 'reversal' ? { ...part, account: 'merchant_payable' } : part, payment),
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
