import type { Session, Tenant } from '../../../../db/db.ts'
import { type CreationRefusal, insertPayment } from '../../../../db/payments/payments.ts'
import type { StandardAgreement } from '../../../../domain/account/agreement.ts'
import { type Customer, renderCustomer } from '../../../../domain/payment/buyer.ts'
import { createInvoice } from '../../../../domain/payment/invoice.ts'
import { createdPayment, type NewPayment } from '../../../../domain/payment/new-payment.ts'
import { type PaymentObject, renderPayment } from '../../../../domain/payment/payment-object.ts'
import type { Platform } from '../../../../domain/platform.ts'
import type { Caller } from '../../../auth/auth.ts'
import { CREATED_PAYMENT } from '../../../document/examples.ts'
import type { Answer } from '../../../http/answer.ts'
import { type Claim, readReplay, refuseWhileRunning, stillRunning } from '../../../http/idempotency.ts'
import { Problem, refuseField } from '../../../http/problems.ts'
import { explainRefusal } from '../../../limits/agreement.ts'
import { defineOperation } from '../../../operation.ts'
import { type PriceDeps, requirePrice } from '../../prices.ts'
import { type DraftDeps, draftPayment, type StartDeps, startWorkflows } from './draft.ts'
import { toInvoiceFields } from './invoice-schemas.ts'
import { type CreatePaymentBody, createPaymentBody, isLocal, paymentObject } from './payment-schemas.ts'
import type { TermsMemory } from './payment-terms.ts'

export type PaymentCreateDeps = DraftDeps &
  StartDeps &
  PriceDeps & {
    readonly publicUrl: string
    readonly platform: Pick<Platform, 'support'>
    readonly terms: TermsMemory
    readonly agreement: StandardAgreement
  }

export const createPayment = defineOperation({
  name: 'createPayment',
  method: 'post',
  path: '/v1/payments',
  tag: 'Payments',
  summary: 'Create a payment',
  scope: 'payments:write',
  idempotency: 'itself',
  reachesOut: true,
  body: createPaymentBody,
  answers: { 201: paymentObject },
  problems: [
    'amount_too_small',
    'amount_too_large',
    'currency_not_supported',
    'wallet_not_configured',
    'limit_reached',
    'account_not_approved',
    'account_suspended',
  ],
  example: {
    answer: CREATED_PAYMENT,
    body: {
      amount: 49.99,
      currency: 'EUR',
      provider: 'wallet_app',
      description: 'Two tickets',
      reference: 'order-1042',
      metadata: { cart: '77' },
      customer_email: 'anna@mail.example',
      invoice_number: 'R-2026-118',
      merchant_tax_id: 'DE129273398',
      items: [
        { name: 'Ticket to Vienna', quantity: 2, unit_amount: 22, tax_percent: 7 },
        { name: 'Seat reservation', unit_amount: 5.99, tax_percent: 19 },
      ],
      success_url: 'https://shop.example/thanks',
      cancel_url: 'https://shop.example/cart',
    },
  },
  handle: async ({ caller, db, body, claim }, deps: PaymentCreateDeps) => {
    for (;;) {
      const answer = await createOnce(deps, { db, caller, claim }, body)
      if (answer !== 'other_terms') return answer
      deps.terms.forget(caller)
    }
  },
})

type Asked = {
  readonly db: Session
  readonly caller: Caller
  readonly claim: Claim | null
}

async function createOnce(
  deps: PaymentCreateDeps,
  asked: Asked,
  body: CreatePaymentBody,
): Promise<Answer<never> | 'other_terms'> {
  const { db, caller, claim } = asked
  const payment = await newPayment(deps, asked, body).catch((refusal) => replayOr(asked, refusal))
  if ('status' in payment) return payment
  const { publicUrl, agreement } = deps
  const customer = readCustomer(body)
  const text = JSON.stringify({ ...renderNew(deps, caller, payment), ...renderCustomer(customer ?? undefined) })
  const location = `/v1/payments/${payment.id}`
  const stored = claim === null ? null : { ...claim, status: 201, location, body: text }
  const created = insertPayment(db, caller, { payment, customer, claim: stored, publicUrl, agreement, by: 'account' })
  // Without a key it waited for the account's other events, and not for a request with the same key.
  const event = await (claim === null ? created : created.catch(refuseWhileRunning))
  if (event === 'other_terms') return event
  if (typeof event === 'string') return replayOr(asked, await findRefusal(deps, asked, event))
  startWorkflows(deps, caller, { payment, event })
  return { status: 201, body: text, headers: { location } }
}

const findRefusal = (deps: PaymentCreateDeps, { db, caller }: Asked, why: CreationRefusal) =>
  why === 'claimed' ? stillRunning() : explainRefusal(db, caller, { ...deps, why })

async function newPayment(
  deps: PaymentCreateDeps,
  { db, caller }: Asked,
  body: CreatePaymentBody,
): Promise<NewPayment> {
  for (const field of ['success_url', 'cancel_url'] as const) if (caller.livemode) refuseLocalUrl(field, body[field])
  const provider = body.provider ?? null
  const price = await requirePrice(deps, { text: body.amount, currency: body.currency, provider })
  const { wallet: destination, feePercent, reserve } = await deps.terms.read(db, caller)
  if (destination === null)
    throw new Problem('wallet_not_configured', 'Set the wallet that the USDC goes to, then create payments.')
  const draft = {
    amountText: body.amount,
    provider,
    fallback: body.fallback,
    description: body.description ?? null,
    reference: body.reference ?? null,
    metadata: body.metadata ?? null,
    invoice: createInvoice(toInvoiceFields(body), body.currency),
    successUrl: body.success_url ?? null,
    cancelUrl: body.cancel_url ?? null,
    paymentLink: null,
    destination,
    feePercent,
    reserve,
  }
  return draftPayment(deps, draft, { price, expiresIn: body.expires_in })
}

function readCustomer(body: CreatePaymentBody): Customer | null {
  const [email, taxId] = [body.customer_email ?? null, body.customer_tax_id ?? null]
  return email === null && taxId === null ? null : { email, taxId }
}

function renderNew({ publicUrl }: PaymentCreateDeps, caller: Tenant, payment: NewPayment): PaymentObject {
  return renderPayment(createdPayment(payment, caller), [], publicUrl)
}

/**
 * Rethrows the refusal unless a response is stored: the first request may have been accepted, at another rate,
 * wallet or fee.
 */
async function replayOr({ db, caller, claim }: Asked, refusal: unknown): Promise<Answer<never>> {
  const stored = claim === null ? null : await readReplay(db, caller, claim)
  if (stored === null) throw refusal
  return stored
}

/** In live mode a buyer must be able to reach the merchant. */
export function refuseLocalUrl(field: string, value: string | undefined): void {
  if (value !== undefined && isLocal(new URL(value)))
    throw refuseField(field, 'must be an https URL of a public host', 'url_invalid')
}
