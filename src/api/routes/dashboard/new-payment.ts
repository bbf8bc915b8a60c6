import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { readWallet } from '../../../db/merchants/wallets.ts'
import { listCurrencies } from '../../../domain/partner/offering.ts'
import { type PaymentDraft, renderNewPayment } from '../../../web/dashboard/new-payment.tsx'
import { catchRefusal, Problem } from '../../http/problems.ts'
import { toFieldErrors } from '../../http/validation.ts'
import { plainAmount } from '../../links/link-form.ts'
import { createPayment, type PaymentCreateDeps } from '../v1/payments/payment-create.ts'
import { onceField } from './fields.ts'
import { runOperation } from './operations.ts'
import { definePage, type Page, type PageCall } from './page.ts'

const text = z.string().max(2000).default('')
const form = z.object({
  amount: text,
  currency: z.string().max(10),
  provider: z.string().max(40).default(''),
  description: text,
  reference: text,
  customer_email: text,
  once: onceField,
})

const EMPTY: PaymentDraft = {
  amount: '',
  currency: 'EUR',
  provider: '',
  description: '',
  reference: '',
  customer_email: '',
}

/** For example for an order by telephone. */
export function newPaymentPages(deps: PaymentCreateDeps): Page[] {
  const show = async (
    { frame, db, tenant }: PageCall,
    { draft, errors }: { draft: PaymentDraft; errors: Readonly<Record<string, string>> },
  ): Promise<string> => {
    const hasWallet = (await readWallet(db, tenant)) !== null
    const currencies = listCurrencies(deps.offering, null)
    const { publicUrl } = deps
    return renderNewPayment({ frame, draft, currencies, errors, once: randomUUID(), hasWallet, publicUrl })
  }
  return [
    definePage({
      method: 'get',
      path: '/dashboard/payments/new',
      needs: 'sell',
      handle: async (call) => ({ html: await show(call, { draft: EMPTY, errors: {} }) }),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/payments',
      needs: 'sell',
      form,
      handle: async (call) => {
        const { once, ...draft } = call.form
        const request = { operation: createPayment, body: toPaymentBody(draft), once }
        const made = await catchRefusal(runOperation(deps, call, request))
        if (!(made instanceof Problem)) return { to: `/dashboard/payments/${made.id}`, done: 'payment_made' }
        return { status: 400, html: await show(call, { draft, errors: toFieldErrors(made, 'amount') }) }
      },
    }),
  ]
}

/** Empty fields are omitted. */
function toPaymentBody({ amount, currency, provider, description, reference, customer_email }: PaymentDraft) {
  return {
    amount: plainAmount(amount, currency),
    currency,
    ...(provider.trim() !== '' && { provider }),
    ...(description.trim() !== '' && { description }),
    ...(reference.trim() !== '' && { reference }),
    ...(customer_email.trim() !== '' && { customer_email }),
  }
}
