import { setTimeout as later } from 'node:timers/promises'
import type { MethodName, ProviderName } from '../../../../domain/methods.ts'
import type { Offering } from '../../../../domain/partner/offering.ts'
import { canStillBePaid, isOpen } from '../../../../domain/payment/payment.ts'
import type { Attempt, PaymentWithAttempts } from '../../../../domain/payment/payment-object.ts'
import { MAX_ATTEMPTS } from '../../../../domain/payment/requests.ts'
import type { SimulatedAction } from '../../../../domain/simulation.ts'
import type { PaymentWorkflows } from '../../../../temporal/payments.ts'
import { Problem } from '../../../http/problems.ts'
import { missing, type SkipTimeDeps, skipPaymentTime } from './skip-time.ts'

/** Returns the order's status if the order does not allow the action. */
export type Simulate = (
  provider: ProviderName,
  attemptId: string,
  act: Readonly<Record<string, unknown>>,
) => Promise<{ readonly done: true } | { readonly done: false; readonly status: string }>

export type SimulateDeps = SkipTimeDeps & {
  readonly workflows: Pick<PaymentWorkflows, 'openAttempt'>
  readonly newAttemptId: () => string
  readonly offering: Offering
  readonly clock: () => number
  /** Null if the partners are real. */
  readonly simulate: Simulate | null
}

export type Wanted = {
  /** `twice`: in two ways, the first of which is paid although the buyer left it. */
  readonly action: SimulatedAction | 'twice'
  readonly receivedMinor?: string
  readonly failureCode?: string
}

type Order = { readonly provider: ProviderName; readonly attemptId: string }

/** Throws a problem if the action is not possible. */
export async function simulateOutcome(
  deps: SimulateDeps,
  read: () => Promise<PaymentWithAttempts>,
  wanted: Wanted,
): Promise<void> {
  const before = await read()
  const order = await openOrder(deps, before)
  if (wanted.action === 'twice') {
    const other = await openOther(deps, before, order)
    await act(deps, other, { action: 'pay' })
    await act(deps, order, { action: 'late' })
    return
  }
  if (wanted.action === 'late' && isOpen(before.payment.status)) await letExpire(deps, read)
  await act(deps, order, wanted)
}

async function act({ simulate }: SimulateDeps, { provider, attemptId }: Order, wanted: Wanted): Promise<void> {
  if (simulate === null) throw missing()
  const result = await simulate(provider, attemptId, wanted).catch(() => {
    throw notNow('The simulated partner does not respond. Try again.')
  })
  if (result.done) return
  throw new Problem(
    'not_possible_now',
    `The order at the partner is ${result.status}: ${wanted.action} is not possible.`,
    { members: { order_status: result.status } },
  )
}

function openOrder(deps: SimulateDeps, { payment, attempts }: PaymentWithAttempts): Promise<Order> {
  const last = attempts.at(-1)
  if (last !== undefined && (canStillBePaid(last.status) || !isOpen(payment.status))) return simulated(last)
  const provider = payment.provider ?? 'card_partner'
  return open(deps, payment, provider)
}

/** As in a second tab. Opening it cancels the order of the first. */
function openOther(deps: SimulateDeps, { payment }: PaymentWithAttempts, first: Order): Promise<Order> {
  return open(deps, payment, first.provider === 'card_partner' ? 'wallet_app' : 'card_partner')
}

async function open(
  { workflows, offering, newAttemptId }: SimulateDeps,
  { id, status }: PaymentWithAttempts['payment'],
  provider: ProviderName,
): Promise<Order> {
  const [method = 'card']: readonly MethodName[] = offering[provider].methods
  const answer = await workflows.openAttempt(id, { attemptId: newAttemptId(), provider, method })
  if (answer.kind === 'redirect') return { provider, attemptId: answer.attemptId }
  if (answer.kind === 'unavailable') throw notNow('The order was not opened in time. Try again.')
  const detail =
    answer.kind === 'too_many_attempts'
      ? `The payment has used all of its ${MAX_ATTEMPTS} attempts. Create another payment.`
      : 'No order could be opened at the partner.'
  throw new Problem('not_possible_now', detail, { members: { payment_status: status } })
}

/** Checks that wait for the expiry, and milliseconds between them. */
const LOOKS = 50
const LOOK_MS = 200

async function letExpire(deps: SimulateDeps, read: () => Promise<PaymentWithAttempts>): Promise<void> {
  const { payment } = await read()
  const seconds = Math.max(1, Math.ceil((Date.parse(payment.expiresAt) - deps.clock()) / 1000))
  await skipPaymentTime(deps, payment.id, seconds)
  for (let look = 0; look < LOOKS; look++) {
    if (!isOpen((await read()).payment.status)) return
    await later(LOOK_MS)
  }
  throw notNow('The payment has not expired yet. Try again.')
}

/** USDC transfers are real ones on the test chain, and not simulated. */
async function simulated({ provider, id }: Attempt): Promise<Order> {
  if (provider !== 'crypto') return { provider, attemptId: id }
  throw new Problem('not_possible_now', 'Send USDC to the address on the test chain instead.')
}

function notNow(detail: string): Problem {
  return new Problem('temporarily_unavailable', detail, { headers: { 'retry-after': '2' } })
}
