import type { StandardAgreement } from '../../domain/account/agreement.ts'
import type { NewPayment } from '../../domain/payment/new-payment.ts'
import { type Statement, sql, type Tenant } from '../db.ts'
import { isPaidTo } from './wallets.ts'

/** Decides from a merchant's agreement if it can create a payment. */

export type WhyRefused = 'not_approved' | 'other_terms' | 'payment_limit' | 'day_limit' | 'open_limit'

/** `by`: a buyer who presses Continue on a link, or the merchant. */
export type Asked = { readonly agreement: StandardAgreement; readonly by: 'account' | 'buyer' }

type Priced = { readonly payment: NewPayment; readonly quotedMicro: string }

/**
 * An expression of a row of `agreement`: why the merchant cannot create the payment; null: it can. Links stop at half of
 * the day and of the open payments, so that strangers who press buttons cannot keep the merchant's own server from
 * selling.
 */
export function whyRefused(tenant: Tenant, { payment, quotedMicro }: Priced, asked: Asked | null): Statement {
  if (asked === null) return sql`case when status <> 'approved' then 'not_approved' end`
  const { feePercent, reserve, limits } = asked.agreement
  const share = asked.by === 'buyer' ? 2 : 1
  return sql`case
      when status <> 'approved' then 'not_approved'
      when coalesce(fee_percent, ${feePercent}::numeric) <> ${payment.feePercent}::numeric then 'other_terms'
      when nullif(coalesce(reserve_percent, ${reserve.percent}::numeric), 0) is distinct from ${payment.reserve?.percent ?? null}::numeric
        or coalesce(reserve_days, ${reserve.days}) <> ${payment.reserve?.days ?? null}::int then 'other_terms'
      when ${payment.paymentLink === null} and not ${isPaidTo(tenant, payment.destination)} then 'other_terms'
      when ${quotedMicro}::numeric > coalesce(payment_limit_micro, ${limits.paymentMicro}::numeric) then 'payment_limit'
      when ${quotedMicro}::numeric + case when day >= (${payment.createdAt}::timestamptz at time zone 'UTC')::date then day_micro else 0 end
        > coalesce(day_limit_micro, ${limits.dayMicro}::numeric) / ${share}::numeric then 'day_limit'
      when open_payments >= ceil(coalesce(open_limit, ${limits.openPayments}) / ${share}::numeric) then 'open_limit'
    end`
}
