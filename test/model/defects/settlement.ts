import type { mayTake } from '../../../src/activities/payment/conversion/fills.ts'
import type { PaymentWrite } from '../../../src/db/payments/payment-writes.ts'
import type { recordEvents } from '../../../src/db/webhooks/events.ts'
import type { bookingOfPart } from '../../../src/domain/ledger.ts'
import type { exceptionAtEnd, PaymentFields } from '../../../src/domain/payment/changes.ts'
import type { withConversion } from '../../../src/domain/payment/money/conversion.ts'
import type { whyNotFree } from '../../../src/domain/payment/money/intents.ts'
import { unitSum } from '../../../src/domain/payment/money/parts.ts'
import type { merchantUsdc, PaymentWithAttempts, StaleConversion } from '../../../src/domain/payment/payment-object.ts'
import type { PaymentSnapshot } from '../../../src/domain/payment/snapshot.ts'
import type { endVoid } from '../../../src/settlement/voids.ts'
import type { CONVERSION_WAITS } from '../../../src/workflows/options.ts'
import { type Defect, plant, withoutIncident } from './defect.ts'

const CONVERSION = 'src/domain/payment/money/conversion.ts'
const LEDGER = 'src/domain/ledger.ts'

/** The conversion, the payout, the books, and what the merchant reads of them. */
export const SETTLEMENT_DEFECTS: readonly Defect[] = [
  {
    name: 'money moves on without a check that it is free',
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
    file: CONVERSION,
    seam: 'staleness',
    plant: plant<(before: unknown, fields: PaymentFields) => StaleConversion | null>(() => () => null),
  },
  {
    name: 'USDC is settled while the conversion of lost money is open',
    file: CONVERSION,
    seam: 'withConversion',
    plant: plant<typeof withConversion>((real) => (before, to, fields) => {
      return real(before, to, fields.providerUsed === 'crypto' ? { ...fields, conversionStale: null } : fields)
    }),
  },
  {
    name: 'a conversion that is open at the end is forgotten',
    file: 'src/domain/payment/snapshot.ts',
    seam: 'isConversionLeft',
    plant: plant<(payment: PaymentSnapshot) => boolean>(() => () => false),
  },
  {
    name: 'a conversion is waited for without end',
    file: 'src/workflows/options.ts',
    seam: 'CONVERSION_WAITS',
    plant: plant<Record<keyof typeof CONVERSION_WAITS, number>>((real) => ({
      ...real,
      overdueMs: real.overdueMs * 1000,
    })),
  },
  {
    name: 'a fill far off the locked rate is taken',
    file: 'src/activities/payment/conversion/fills.ts',
    seam: 'mayTake',
    plant: plant<typeof mayTake>(() => () => true),
  },
  {
    name: 'an old rate is taken',
    file: 'src/providers/converter/rates.ts',
    seam: 'OLDEST_RATE_SECONDS',
    plant: plant<number>(() => Number.POSITIVE_INFINITY),
  },
  {
    name: 'the rest of an underpaid crypto payment is our gain',
    file: 'src/activities/payment/settlement.ts',
    seam: 'countedUnits',
    plant: plant<(state: PaymentWithAttempts) => string>(() => ({ payment, parts }) => {
      return unitSum(parts, { attemptId: payment.paidAttemptId, states: ['counted', 'surplus', 'late'] })
    }),
  },
  {
    name: 'USDC is booked as fiat',
    file: LEDGER,
    seam: 'bookingOfPart',
    plant: plant<typeof bookingOfPart>(
      (real) => (part, payment) => real(part.asset === 'USDC' ? { ...part, asset: 'EUR' } : part, payment),
    ),
  },
  {
    name: 'suspense never clears after a reversal',
    file: LEDGER,
    seam: 'bookingOfPart',
    plant: plant<typeof bookingOfPart>(
      (real) => (part, payment) =>
        real(part.kind === 'reversal' ? { ...part, account: 'merchant_payable' } : part, payment),
    ),
  },
  {
    name: 'a second payment is booked as sold with the first',
    file: LEDGER,
    seam: 'bookingOfPart',
    plant: plant<typeof bookingOfPart>(
      (real) => (part, payment) => real(part, { ...payment, paidAttemptId: part.attemptId }),
    ),
  },
  {
    name: 'the end of a payout is not recorded as the end of its void',
    file: 'src/settlement/voids.ts',
    seam: 'endVoid',
    plant: plant<typeof endVoid>((real) => async (work, state) => {
      if (state !== 'done') await real(work, state)
    }),
  },
  {
    name: 'an unexpected settlement opens no incident',
    ...withoutIncident(({ kind }) => kind === 'unexpected_settlement'),
  },
  {
    name: 'a refunded payment names a fee',
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
    file: 'src/domain/payment/changes.ts',
    seam: 'exceptionAtEnd',
    plant: plant<typeof exceptionAtEnd>(() => (exception) => exception),
  },
]
