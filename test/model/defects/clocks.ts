import type { CloseAs } from '../../../src/activities/payment/partner-orders.ts'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import type { decideWorkflowStep, findNextMoment } from '../../../src/domain/payment/workflow-step.ts'
import { type Defect, plant } from './defect.ts'

const STEP = 'src/domain/payment/workflow-step.ts'
const ORDERS = 'src/activities/payment/partner-orders.ts'

/**
 * Bugs of what must happen in time: the expiry, polls, waits, and the workflows and readings that move a payment
 * forward.
 */
export const CLOCK_DEFECTS: readonly Defect[] = [
  {
    name: 'a buyer who was given more time is still too late',
    caughtBy: 'a buyer asks for more time, and pays when the old end is over (signaled: false)',
    file: ORDERS,
    seam: 'getClosingMoment',
    plant: plant<(state: PaymentWithAttempts, as: CloseAs) => number>(() => () => 0),
  },
  {
    name: 'a confirmation that is withdrawn after the expiry leaves the payment open',
    caughtBy: 'late money of a payment that was held goes back',
    file: STEP,
    seam: 'decideWorkflowStep',
    plant: plant<typeof decideWorkflowStep>((real) => (payment, clock) => {
      const step = real(payment, clock)
      return step.do === 'close' && payment.expiresAt < clock.now - 60_000 ? { do: 'wait' } : step
    }),
  },
  {
    name: 'a partner that is confirming is waited for without end',
    caughtBy: 'a partner is silent for too long by the clock of the server, and not yet by that of the worker',
    file: STEP,
    seam: 'decideWorkflowStep',
    plant: plant<typeof decideWorkflowStep>((real) => (payment, clock) => real({ ...payment, silentAt: null }, clock)),
  },
  {
    name: 'the workflow wakes for nothing but its expiry',
    caughtBy: 'a partner is silent for too long by the clock of the server, and not yet by that of the worker',
    file: STEP,
    seam: 'findNextMoment',
    plant: plant<typeof findNextMoment>(() => ({ expiresAt }) => ({ at: expiresAt, what: 'The payment expires' })),
  },
]
