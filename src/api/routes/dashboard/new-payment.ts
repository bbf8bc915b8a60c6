import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { readWallet } from '../../../db/merchants/wallets.ts'
import { type PaymentDraft, renderNewPayment } from '../../../web/dashboard/new-payment.tsx'
import { Problem } from '../../http/problems.ts'
import { plainAmount } from '../../links/link-form.ts'
import { act, toFieldErrors, type WithRoutes } from './operations.ts'
import { definePage, type Page, type PageCall } from './page.ts'

export type NewPaymentDeps = WithRoutes & { readonly publicUrl: string }

const text = z.string().max(2000).default('')
const form = z.object({
  amount: text,
  currency: z.string().max(10),
  provider: z.string().max(40).default(''),
  description: text,
  reference: text,
  once: z
    .string()
    .regex(/^[\w-]{1,64}$/)
    .default(() => randomUUID()),
})

const EMPTY: PaymentDraft = { amount: '', currency: 'EUR', provider: '', description: '', reference: '' }

/** For example for an order by telephone. */
export function newPaymentPages(deps: NewPaymentDeps): Page[] {
  const show = async (
    { frame, db, tenant }: PageCall,
    { draft, errors }: { draft: PaymentDraft; errors: Readonly<Record<string, string>> },
  ): Promise<string> => {
    const hasWallet = (await readWallet(db, tenant)) !== null
    return renderNewPayment({ frame, draft, errors, once: randomUUID(), hasWallet, publicUrl: deps.publicUrl })
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
        try {
          const made = await act(deps, call, { name: 'createPayment', body: paymentBody(draft), once })
          return { to: `/dashboard/payments/${z.object({ id: z.string() }).parse(made.body).id}`, done: 'payment_made' }
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          return { status: 400, html: await show(call, { draft, errors: toFieldErrors(error, 'amount') }) }
        }
      },
    }),
  ]
}

function paymentBody({ amount, ...rest }: PaymentDraft): Record<string, string> {
  const given = Object.entries(rest).filter(([, value]) => value.trim() !== '')
  return { amount: plainAmount(amount, rest.currency), ...Object.fromEntries(given) }
}
