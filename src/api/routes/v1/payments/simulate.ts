import { z } from 'zod'
import type { Session, Tenant } from '../../../../db/db.ts'
import { readPayment } from '../../../../db/payments/payments.ts'
import { isId } from '../../../../domain/ids.ts'
import { PROVIDERS, type ProviderName } from '../../../../domain/methods.ts'
import { FAILURE_CODES, type FailureCode } from '../../../../domain/payment/partner.ts'
import { isOpen, mayStillBePaid } from '../../../../domain/payment/payment.ts'
import type { Attempt, PaymentWithAttempts } from '../../../../domain/payment/payment-object.ts'
import { renderPayment } from '../../../../domain/payment/payment-object.ts'
import { MAX_ATTEMPTS } from '../../../../domain/payment/requests.ts'
import { SIMULATED_ACTIONS } from '../../../../domain/simulation.ts'
import type { PaymentWorkflows } from '../../../../temporal/payments.ts'
import { Problem } from '../../../http/problems.ts'
import { defineRoute, type Route } from '../../../route.ts'
import { idPath } from '../fields.ts'
import { paymentObject } from './payment-schemas.ts'

/** Acts at a simulated partner. When the order does not allow it, answers with the order's status. */
export type Simulate = (
  provider: ProviderName,
  attemptId: string,
  act: Readonly<Record<string, unknown>>,
) => Promise<{ readonly done: true } | { readonly done: false; readonly status: string }>

export type SimulateRouteDeps = {
  readonly publicUrl: string
  readonly workflows: Pick<PaymentWorkflows, 'openAttempt'>
  readonly newAttemptId: () => string
  /** Null where the partners are real. */
  readonly simulate: Simulate | null
}

const body = z.strictObject({
  action: z.enum(SIMULATED_ACTIONS),
  received_minor: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'must be a whole number of minor units, at least 1')
    .optional()
    .meta({
      description:
        'With pay: what arrives, when it is not what was asked for. With top_up, or with a reverse of a part: the new total.',
    }),
  failure_code: z.enum(Object.keys(FAILURE_CODES) as [FailureCode, ...FailureCode[]]).optional(),
})

export function simulateRoutes(deps: SimulateRouteDeps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/v1/test/payments/{id}/simulate',
      operationId: 'simulatePayment',
      tag: 'Test mode',
      summary: 'Act as the buyer and the partner of a test payment',
      description:
        'Opens a partner order when there is none; then the partner does what is asked. The payment follows, as with a real partner, a moment later.',
      scope: 'payments:write',
      params: idPath,
      body,
      answers: { 202: paymentObject },
      problems: ['not_possible_now', 'temporarily_unavailable'],
      example: { body: { action: 'pay' } },
      handle: async ({ caller, db, params: { id }, body: wanted }) => {
        if (deps.simulate === null || caller.livemode) throw missing()
        const { provider, attemptId } = await openOrder(deps, await find(db, caller, id))
        const { action, received_minor: receivedMinor, failure_code: failureCode } = wanted
        const act = {
          action,
          ...(receivedMinor !== undefined && { receivedMinor }),
          ...(failureCode !== undefined && { failureCode }),
        }
        const result = await deps.simulate(provider, attemptId, act).catch(() => {
          throw notNow('The simulated partner does not answer. Ask again.')
        })
        if (!result.done)
          throw new Problem(
            'not_possible_now',
            `The order at the partner is ${result.status}: ${action} is not possible.`,
            {
              members: { order_status: result.status },
            },
          )
        const after = await find(db, caller, id)
        return { status: 202, body: renderPayment(after.payment, after.attempts, deps.publicUrl) }
      },
    }),
  ]
}

async function openOrder(
  deps: SimulateRouteDeps,
  { payment, attempts }: PaymentWithAttempts,
): Promise<{ provider: ProviderName; attemptId: string }> {
  const last = attempts.at(-1)
  if (last !== undefined && (mayStillBePaid(last.status) || !isOpen(payment.status))) return simulated(last)
  const provider = payment.provider ?? 'card_partner'
  const [method = 'card'] = PROVIDERS[provider].methods
  const answer = await deps.workflows.openAttempt(payment.id, { attemptId: deps.newAttemptId(), provider, method })
  if (answer.kind === 'redirect') return { provider, attemptId: answer.attemptId }
  if (answer.kind === 'unavailable') throw notNow('The order was not opened in time. Ask again.')
  const detail =
    answer.kind === 'too_many_attempts'
      ? `The payment has had its ${MAX_ATTEMPTS} attempts. Create another payment.`
      : 'No order could be opened at the partner.'
  throw new Problem('not_possible_now', detail, {
    members: { payment_status: payment.status },
  })
}

/** Throws for USDC: its transfers are real ones on the test chain, and not simulated. */
function simulated({ provider, id }: Attempt): { provider: ProviderName; attemptId: string } {
  if (provider !== 'crypto') return { provider, attemptId: id }
  throw new Problem('not_possible_now', 'Send USDC to the address on the test chain instead.')
}

async function find(db: Session, caller: Tenant, id: string) {
  const found = isId('payment', id) ? await readPayment(db, caller, id) : null
  if (found === null) throw missing()
  return found
}

function notNow(detail: string): Problem {
  return new Problem('temporarily_unavailable', detail, { headers: { 'retry-after': '2' } })
}

function missing(): Problem {
  return new Problem('resource_missing', 'There is no such test payment.')
}
