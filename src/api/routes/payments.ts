import { createHash, randomBytes } from 'node:crypto'
import type { Db } from '../../db/db.ts'
import { insertPayment, type NewPayment, readIdempotentAnswer, readPayment, type Tenant } from '../../db/payments.ts'
import { readWallet } from '../../db/wallets.ts'
import { isId } from '../../domain/ids.ts'
import { currenciesOf } from '../../domain/methods.ts'
import { convertToMicroUsdc, type Money, parseAmount, splitFee } from '../../domain/money.ts'
import { type Payment, type PaymentObject, renderPayment } from '../../domain/payment-object.ts'
import { whyNotCancelable } from '../../domain/snapshot.ts'
import type { PaymentWorkflows } from '../../temporal/payments.ts'
import type { RateBook } from '../limits.ts'
import { requireWithinLimits } from '../limits.ts'
import { Problem } from '../problems.ts'
import { type Answer, defineRoute, type Route } from '../route.ts'
import { type CreatePaymentBody, createPaymentBody, paymentObject, paymentPath } from './payment-schemas.ts'

export type PaymentRouteDeps = {
  readonly db: Db
  readonly workflows: Pick<PaymentWorkflows, 'start' | 'cancel'>
  readonly rates: RateBook
  readonly publicUrl: string
  readonly chainId: number
  readonly token: string
  readonly clock: () => number
  readonly newPaymentId: () => string
  /** The workflow was started: the outbox row may go. */
  readonly onStarted: (paymentId: string) => void
}

/** The indicative rate is shown for this long; the rate that counts is locked when the money comes. */
const QUOTE_MS = 15 * 60_000

const CREATE_ROUTE = 'POST /v1/payments'

export function paymentRoutes(deps: PaymentRouteDeps): Route[] {
  const { db, publicUrl } = deps

  const create = defineRoute({
    method: 'post',
    path: '/v1/payments',
    summary: 'Create a payment',
    scope: 'payments:write',
    body: createPaymentBody,
    answers: { 201: paymentObject },
    handle: async ({ caller, body, idempotencyKey }) => {
      const payment = await newPayment(caller, body)
      const object = renderNew(caller, payment)
      const location = `/v1/payments/${payment.id}`
      const text = JSON.stringify(object)
      const claim =
        idempotencyKey === null
          ? null
          : {
              route: CREATE_ROUTE,
              key: idempotencyKey,
              fingerprint: fingerprint(body),
              status: 201,
              location,
              body: text,
            }
      const created = await insertPayment(db, caller, { payment, claim }).catch(refuseWhileRunning)
      if (!created && claim !== null) return replay(caller, claim)
      await startWorkflow(caller, payment)
      return { status: 201, body: text, headers: { location } }
    },
  })

  const read = defineRoute({
    method: 'get',
    path: '/v1/payments/{id}',
    summary: 'Read a payment',
    scope: 'payments:read',
    params: paymentPath,
    answers: { 200: paymentObject },
    handle: async ({ caller, params }) => ({ status: 200, body: await find(caller, params) }),
  })

  const cancel = defineRoute({
    method: 'post',
    path: '/v1/payments/{id}/cancel',
    summary: 'Cancel a payment before any money came',
    scope: 'payments:write',
    params: paymentPath,
    answers: { 200: paymentObject },
    handle: async ({ caller, params }) => {
      const before = await find(caller, params)
      if (before.status === 'canceled') return { status: 200, body: before }
      refuseUnlessCancelable(before)
      const answer = await deps.workflows.cancel(before.id)
      if ('kind' in answer)
        throw new Problem('temporarily_unavailable', 'The cancellation was not confirmed in time. Ask again.', {
          headers: { 'retry-after': '2' },
        })
      const after = await find(caller, params)
      if (after.status !== 'canceled') refuseUnlessCancelable(after)
      return { status: 200, body: after }
    },
  })

  return [create, read, cancel]

  async function newPayment(caller: Tenant, body: CreatePaymentBody): Promise<NewPayment> {
    const amount = readAmount(body)
    if (!currenciesOf(body.provider ?? null).includes(body.currency))
      throw new Problem(
        'currency_not_supported',
        `${body.provider} does not take ${body.currency}. GET /v1/providers lists what it takes.`,
        {
          param: 'currency',
          members: { supported: currenciesOf(body.provider ?? null) },
        },
      )
    for (const field of ['success_url', 'cancel_url'] as const) requireSafeUrl(field, body[field], caller.livemode)
    await requireWithinLimits(deps.rates, amount, body.provider ?? null)
    const [destination, rate] = await Promise.all([readWallet(db, caller), deps.rates.current(amount.currency)])
    if (destination === null)
      throw new Problem('wallet_not_configured', 'Set the wallet that the USDC goes to, then create payments.')
    const now = deps.clock()
    const { net } = splitFee(convertToMicroUsdc(amount, rate.rate))
    return {
      id: deps.newPaymentId(),
      amountText: body.amount,
      amount,
      provider: body.provider ?? null,
      fallback: body.fallback,
      description: body.description ?? null,
      reference: body.reference ?? null,
      metadata: body.metadata ?? null,
      successUrl: body.success_url ?? null,
      cancelUrl: body.cancel_url ?? null,
      // 128 bits: whoever has the link may pay, and nobody guesses one.
      checkoutToken: randomBytes(16).toString('base64url'),
      destination,
      chainId: deps.chainId,
      token: deps.token,
      quote: {
        rate: rate.rate,
        rateSource: rate.source,
        netMicro: net,
        expiresAt: new Date(now + QUOTE_MS).toISOString(),
      },
      createdAt: new Date(now).toISOString(),
      expiresAt: new Date(now + body.expires_in * 1000).toISOString(),
    }
  }

  function renderNew(caller: Tenant, payment: NewPayment): PaymentObject {
    return renderPayment({ ...NOTHING_YET, ...payment, ...caller, updatedAt: payment.createdAt }, [], publicUrl)
  }

  /** The answer does not depend on Temporal: what is not started now, the relay starts within seconds. */
  async function startWorkflow(caller: Tenant, payment: NewPayment): Promise<void> {
    const { id, amount, provider, expiresAt } = payment
    try {
      await deps.workflows.start({ id, merchantId: caller.merchantId, amount, provider, expiresAt, status: 'created' })
      deps.onStarted(id)
    } catch {
      // The outbox row stays, and the relay counts and logs what it finds.
    }
  }

  async function replay(
    caller: Tenant,
    claim: { route: string; key: string; fingerprint: Uint8Array },
  ): Promise<Answer> {
    const stored = await readIdempotentAnswer(db, caller, claim)
    if (stored === null) throw stillRunning()
    if (!Buffer.from(stored.fingerprint).equals(claim.fingerprint))
      throw new Problem(
        'idempotency_key_reused',
        'This Idempotency-Key was used with another request. Use a new key.',
        { param: 'Idempotency-Key' },
      )
    const headers = { 'idempotent-replayed': 'true', ...(stored.location !== null && { location: stored.location }) }
    return { status: stored.status, body: stored.body, headers }
  }

  async function find(caller: Tenant, { id }: { id: string }): Promise<PaymentObject> {
    const found = isId('payment', id) ? await readPayment(db, caller, id) : null
    if (found === null) throw new Problem('resource_missing', 'There is no such payment.')
    return renderPayment(found.payment, found.attempts, publicUrl)
  }
}

/** What a payment does not have before anything has happened to it. */
const NOTHING_YET: Omit<Payment, keyof NewPayment | keyof Tenant | 'updatedAt'> = {
  status: 'created',
  statusReason: null,
  exception: null,
  parkReason: null,
  held: false,
  providerUsed: null,
  methodUsed: null,
  paidAttemptId: null,
  confirmed: null,
  rate: null,
  usdc: null,
  transfer: null,
  expiryPostponed: false,
  listenEnded: false,
  paidAt: null,
  succeededAt: null,
  failedAt: null,
  canceledAt: null,
  closedAt: null,
  version: 1,
}

function readAmount(body: CreatePaymentBody): Money {
  const parsed = parseAmount(body.amount, body.currency)
  if (parsed.ok) return parsed.money
  const messages = {
    format: 'amount: is a plain decimal number in major units, without sign, exponent or leading zeros, such as 49.99.',
    precision: `amount: has more decimals than ${body.currency} has.`,
    zero: 'amount: is more than zero.',
  }
  const code = parsed.problem === 'precision' ? 'amount_precision' : 'amount_invalid'
  const message = messages[parsed.problem]
  throw new Problem('validation_failed', message, { param: 'amount', errors: [{ pointer: '/amount', code, message }] })
}

/** https always; http for a shop on the developer's own machine, in test mode. */
function requireSafeUrl(field: string, value: string | undefined, livemode: boolean): void {
  if (value === undefined) return
  const url = new URL(value)
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (url.protocol === 'https:' || (local && !livemode)) return
  const message = `${field}: is an https URL${livemode ? '' : ' (http only for localhost)'}.`
  throw new Problem('validation_failed', message, {
    param: field,
    errors: [{ pointer: `/${field}`, code: 'url_invalid', message }],
  })
}

function refuseUnlessCancelable(payment: PaymentObject): void {
  const why = whyNotCancelable(payment)
  if (why !== null)
    throw new Problem('payment_not_cancelable', `Too late to cancel: ${why}.`, {
      members: { payment_status: payment.status },
    })
}

/** Of the validated request, with sorted keys: the order in which a client writes its fields does not matter. */
function fingerprint(body: object): Buffer {
  return createHash('sha256').update(CREATE_ROUTE).update(canonical(body)).digest()
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}

/** lock_not_available: the first request with this key has not committed within lock_timeout. */
function refuseWhileRunning(error: unknown): never {
  if (error instanceof Error && 'code' in error && error.code === '55P03') throw stillRunning()
  throw error
}

function stillRunning(): Problem {
  return new Problem(
    'idempotency_key_in_use',
    'A request with this Idempotency-Key is still running. Ask again in a second.',
    {
      headers: { 'retry-after': '1' },
    },
  )
}
