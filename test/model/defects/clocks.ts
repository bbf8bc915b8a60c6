import type { cancelAndRead } from '../../../src/activities/payment/cancel-order.ts'
import { CLOCKS_DIFFER_MS, type PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import type { parkSilent } from '../../../src/activities/payment/payment-row.ts'
import type { takeUnread } from '../../../src/db/payments/partner-events.ts'
import type { partOfPrice } from '../../../src/domain/payment/order-changes.ts'
import type { Payment } from '../../../src/domain/payment/payment-object.ts'
import type { createClocks } from '../../../src/workflows/clocks.ts'
import type { startLateMoney } from '../../../src/workflows/late-money.ts'
import type { createOrders } from '../../../src/workflows/payment/orders.ts'
import { type Defect, plant } from './defect.ts'

const CLOCKS = 'src/workflows/clocks.ts'
const ORDERS = 'src/activities/payment/partner-orders.ts'

/** The relay starts no workflow of late money again. */
const NOT_ADOPTED = {
  file: 'src/worker/orphans.ts',
  seam: 'adoptLateMoney',
  plant: plant<() => Promise<number>>(() => async () => 0),
}

/** Bugs of what must happen in time: the expiry, polls, waits, and the workflows and news that keep a payment going. */
export const CLOCK_DEFECTS: readonly Defect[] = [
  {
    name: 'a buyer who was given more time is still too late',
    file: ORDERS,
    seam: 'isExtended',
    plant: plant<(deps: PaymentDeps, payment: Payment, passed: number) => boolean>(() => () => false),
  },
  {
    name: 'an end that was moved is not watched',
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
    file: CLOCKS,
    seam: 'createClocks',
    plant: plant<typeof createClocks>(
      (real) => (face) => real({ ...face, now: () => ({ ...face.now(), version: 0 }) }),
    ),
  },
  {
    name: 'a partner that is confirming is waited for without end',
    file: CLOCKS,
    seam: 'createClocks',
    plant: plant<typeof createClocks>((real) => (face) => ({ ...real(face), watchSilence: () => undefined })),
  },
  {
    name: 'only the next poll marks a settlement that takes too long',
    file: CLOCKS,
    seam: 'createClocks',
    plant: plant<typeof createClocks>((real) => (face) => ({ ...real(face), watchDelay: () => undefined })),
  },
  {
    name: 'a partner looks silent too early for a clock that is behind, and is not looked at again',
    file: 'src/activities/payment/payment-row.ts',
    seam: 'parkSilent',
    plant: plant<typeof parkSilent>((real) => (deps, paymentId) => {
      const now = () => deps.context.now() - CLOCKS_DIFFER_MS
      return real({ ...deps, context: { ...deps.context, now } }, paymentId)
    }),
  },
  {
    name: 'a clock that is behind closes a payment again and again',
    file: ORDERS,
    seam: 'isExtended',
    plant: plant<(deps: PaymentDeps, payment: Payment, passed: number) => boolean>(
      (real) => (deps, payment) => real(deps, payment, 0),
    ),
  },
  {
    name: 'a part of the price is closed away at the expiry',
    file: 'src/domain/payment/order-changes.ts',
    seam: 'partOfPrice',
    plant: plant<typeof partOfPrice>(() => () => null),
  },
  {
    name: 'a closing forgets what it has read',
    file: 'src/activities/payment/cancel-order.ts',
    seam: 'cancelAndRead',
    plant: plant<typeof cancelAndRead>((real) => async (deps, before, cancellation) => {
      const news = await real(deps, before, cancellation)
      return cancellation.partner === 'may be silent' ? [] : news
    }),
  },
  {
    name: 'news that was repeated once is forgotten',
    file: 'src/db/payments/partner-events.ts',
    seam: 'takeUnread',
    plant: plant<typeof takeUnread>((real) => async (db, page) => {
      const taken = await real(db, page)
      const attempts = taken.map(({ attempt_id }) => attempt_id)
      await db.query('update partner_event set applied_at = now() where attempt_id = any($1)', [attempts])
      return taken
    }),
    and: [
      {
        file: 'src/workflows/payment/orders.ts',
        seam: 'createOrders',
        plant: plant<typeof createOrders>((real) => (face) => {
          const orders = real(face)
          return { ...orders, areRead: () => true, poll: (attemptIds) => attemptIds.forEach(orders.add) }
        }),
      },
    ],
  },
  {
    name: 'late money has no workflow',
    file: 'src/workflows/late-money.ts',
    seam: 'startLateMoney',
    plant: plant<typeof startLateMoney>(() => async () => undefined),
    and: [NOT_ADOPTED],
  },
  { name: 'a workflow of late money that was lost is not started again', ...NOT_ADOPTED },
]
