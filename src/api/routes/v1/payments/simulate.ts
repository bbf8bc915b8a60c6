import { z } from 'zod'
import { FAILURE_CODES, type FailureCode } from '../../../../domain/payment/partner.ts'
import { SIMULATED_ACTIONS } from '../../../../domain/simulation.ts'
import { defineOperation } from '../../../operation.ts'
import { idPath } from '../fields.ts'
import { paymentObject } from './payment-schemas.ts'
import { answerPayment } from './shown-payments.ts'
import { type SimulateDeps, simulateOutcome } from './simulate-outcome.ts'
import { loadTestPayment, missing } from './skip-time.ts'

const body = z.strictObject({
  action: z.enum([...SIMULATED_ACTIONS, 'twice']).meta({
    description:
      '`under`: half of the price arrives. `over`: half more than the price arrives. `late`: an open payment expires, then the money arrives. `twice`: the buyer pays in two ways. `partner_down`: the partner answers the next five requests about the order with an error.',
  }),
  received_minor: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'must be a whole number of minor units, at least 1')
    .optional()
    .meta({
      description:
        'With `pay`: what arrives, if it differs from the price. With `top_up` or a partial `reverse`: the new total.',
    }),
  failure_code: z.enum(Object.keys(FAILURE_CODES) as [FailureCode, ...FailureCode[]]).optional(),
})

export const simulatePayment = defineOperation({
  name: 'simulatePayment',
  method: 'post',
  path: '/v1/test/payments/{id}/simulate',
  tag: 'Test mode',
  summary: 'Act as the buyer and the partner of a test payment',
  description:
    'Opens a partner order if there is none. The partner then does what the request says, and the payment follows a moment later, as with a real partner.',
  scope: 'payments:write',
  params: idPath,
  body,
  answers: { 202: paymentObject },
  problems: ['not_possible_now', 'temporarily_unavailable'],
  example: { body: { action: 'pay' } },
  handle: async ({ caller, db, params: { id }, body: wanted }, deps: SimulateDeps) => {
    if (deps.simulate === null) throw missing()
    const read = () => loadTestPayment(db, caller, id)
    const { action, received_minor: receivedMinor, failure_code: failureCode } = wanted
    await simulateOutcome(deps, read, {
      action,
      ...(receivedMinor !== undefined && { receivedMinor }),
      ...(failureCode !== undefined && { failureCode }),
    })
    const after = await read()
    return { ...(await answerPayment({ db, tenant: caller, publicUrl: deps.publicUrl }, after)), status: 202 }
  },
})
