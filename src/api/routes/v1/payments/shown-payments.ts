import type { Queryable, Tenant } from '../../../../db/db.ts'
import { readCustomers } from '../../../../db/payments/buyers.ts'
import { type CustomerFields, renderCustomer } from '../../../../domain/payment/buyer.ts'
import {
  type PaymentObject,
  type PaymentWithAttempts,
  renderPayment,
} from '../../../../domain/payment/payment-object.ts'

export type ShownPayment = PaymentObject & CustomerFields

type Reader = { readonly db: Queryable; readonly tenant: Tenant; readonly publicUrl: string }
type State = Pick<PaymentWithAttempts, 'payment' | 'attempts'>

/** Renders payments for their merchant, with what it has of their buyers. Events are without that. */
export async function showPayments(
  { db, tenant, publicUrl }: Reader,
  states: readonly State[],
): Promise<ShownPayment[]> {
  const ids = states.map(({ payment }) => payment.id)
  const customers = await readCustomers(db, tenant, ids)
  return states.map(({ payment, attempts }) => ({
    ...renderPayment(payment, attempts, publicUrl),
    ...renderCustomer(customers.get(payment.id)),
  }))
}

export async function answerPayment(reader: Reader, state: State): Promise<{ status: number; body: ShownPayment }> {
  const [body] = await showPayments(reader, [state])
  if (body === undefined) throw new Error('a payment is shown as one object')
  return { status: 200, body }
}
