import { CLOCKS_DIFFER_MS, type PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import type { markSilent } from '../../../src/activities/payment/payment-row.ts'

import type { Payment } from '../../../src/domain/payment/payment-object.ts'
import type { createClocks } from '../../../src/workflows/clocks.ts'

import { type Defect, plant } from './defect.ts'

const CLOCKS = 'src/workflows/clocks.ts'
const ORDERS = 'src/activities/payment/partner-orders.ts'

/** Bugs of what must happen in time: the expiry, polls, waits, and the workflows and news that keep a payment going. */
export const CLOCK_DEFECTS: readonly Defect[] = [
  {
    name: 'a buyer who was given more time is still too late',
    caughtBy: 'a buyer asks for more time, and pays when the old end is over (told: false)',
    file: ORDERS,
    seam: 'isExtended',
    plant: plant<(deps: PaymentDeps, payment: Payment, passed: number) => boolean>(() => () => false),
  },
  {
    name: 'an end that was moved is not watched',
    caughtBy: 'a buyer is given more time, and opens an order before the workflow has heard of it',
    file: CLOCKS,
    seam: 'createClocks',
    plant: plant<typeof createClocks>((real) => (face) => {
      const clocks = real(face)
      const watched = new Set<number>()
      return {
        ...clocks,
        watchExpiry: () => {
          watched.add(face.now().expiresAt)
          clocks.watchExpiry()
        },
        due: () => {
          const due = clocks.due()
          return due === 'expired' && !watched.has(face.now().expiresAt) ? null : due
        },
      }
    }),
  },
  {
    name: 'a confirmation that is withdrawn after the expiry leaves the payment open',
    caughtBy: 'a confirmation that is withdrawn after the expiry lets the payment expire',
    file: CLOCKS,
    seam: 'createClocks',
    plant: plant<typeof createClocks>(
      (real) => (face) => real({ ...face, now: () => ({ ...face.now(), version: 0 }) }),
    ),
  },
  {
    name: 'a partner that is confirming is waited for without end',
    caughtBy: 'a partner is silent for too long by the clock of the server, and not yet by that of the worker',
    file: CLOCKS,
    seam: 'createClocks',
    plant: plant<typeof createClocks>((real) => (face) => ({ ...real(face), watchSilence: () => undefined })),
  },
  {
    name: 'a partner looks silent too early for a clock that is behind, and is not looked at again',
    caughtBy: 'a partner is silent for too long by the clock of the server, and not yet by that of the worker',
    file: 'src/activities/payment/payment-row.ts',
    seam: 'markSilent',
    plant: plant<typeof markSilent>((real) => (deps, paymentId) => {
      const now = () => deps.context.now() - CLOCKS_DIFFER_MS
      return real({ ...deps, context: { ...deps.context, now } }, paymentId)
    }),
  },
]
