import { randomBytes } from 'node:crypto'
import type { Tenant } from '../../../../db/db.ts'
import type { CreatedEvent } from '../../../../db/payments/payments.ts'
import { splitFee } from '../../../../domain/money.ts'
import { type NewPayment, returnUrl } from '../../../../domain/payment/new-payment.ts'
import type { Price } from '../../../../domain/payment/price.ts'
import type { DeliveryWorkflows } from '../../../../temporal/deliveries.ts'
import type { PaymentWorkflows } from '../../../../temporal/payments.ts'
import { notePayment } from '../../../http/metrics.ts'
import type { Background } from '../../../limits/background.ts'
import { QUOTE_MS } from '../../prices.ts'

export type DraftDeps = {
  readonly chainId: number
  readonly token: string
  /** A payment stores both, as they are when it is created. */
  readonly tolerances: Pick<NewPayment, 'tolerancePercent' | 'fillTolerancePercent'>
  readonly clock: () => number
  readonly newPaymentId: () => string
}

type Draft = Pick<
  NewPayment,
  | 'amountText'
  | 'provider'
  | 'fallback'
  | 'description'
  | 'reference'
  | 'metadata'
  | 'invoice'
  | 'successUrl'
  | 'cancelUrl'
  | 'paymentLink'
  | 'destination'
  | 'feePercent'
  | 'reserve'
>

/** `expiresIn` is in seconds. */
export function draftPayment(
  deps: DraftDeps,
  draft: Draft,
  { price, expiresIn }: { price: Price; expiresIn: number },
): NewPayment {
  const now = deps.clock()
  const { amount, rate, rateSource, gross } = price
  const id = deps.newPaymentId()
  return {
    ...draft,
    id,
    successUrl: returnUrl(draft.successUrl, id),
    cancelUrl: returnUrl(draft.cancelUrl, id),
    amount,
    // 128 bits: anybody with the link can see and pay the payment, so it must be impossible to guess.
    checkoutToken: randomBytes(16).toString('base64url'),
    chainId: deps.chainId,
    token: deps.token,
    ...deps.tolerances,
    quote: {
      rate,
      rateSource,
      netMicro: splitFee(gross, draft.feePercent).net,
      expiresAt: new Date(now + QUOTE_MS).toISOString(),
    },
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + expiresIn * 1000).toISOString(),
  }
}

export type StartDeps = {
  readonly workflows: Pick<PaymentWorkflows, 'start'>
  readonly deliveries: DeliveryWorkflows
  /** The outbox row can then be deleted. */
  readonly onStarted: (paymentId: string) => void
  readonly background: Background
}

export type Created = { readonly payment: NewPayment; readonly event: CreatedEvent }

/**
 * Runs after the response. If it fails, the relay starts the workflow within seconds, and the delivery sweep starts the
 * deliveries within minutes. A buyer who is faster starts the workflow with the first request to it.
 */
export function startWorkflows(deps: StartDeps, caller: Tenant, { payment, event }: Created): void {
  const { eventId, endpointIds } = event
  notePayment(payment.id)
  deps.background.run(async () => {
    const { merchantId } = caller
    const deliveries = endpointIds.map((endpointId) =>
      deps.deliveries.deliverNow({ eventId, endpointId, merchantId, attemptsDone: 0 }),
    )
    await Promise.all([startPayment(deps, caller, payment), ...deliveries])
  })
}

async function startPayment(deps: StartDeps, caller: Tenant, payment: NewPayment): Promise<void> {
  const { id, amount, provider, expiresAt } = payment
  try {
    await deps.workflows.start({ id, merchantId: caller.merchantId, amount, provider, expiresAt, status: 'created' })
    deps.onStarted(id)
  } catch {
    // The outbox row stays. The relay starts the workflow, and counts and logs the failures.
  }
}
