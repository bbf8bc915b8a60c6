import { type Statement, sql, type Tenant } from './db.ts'

/** Conditions on rows of a merchant and mode. */

export const ownedBy = (tenant: Tenant): Statement =>
  sql`merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`

/** Filters of lists of what is about payments, such as refunds and disputes. */
export type AboutPayment = { readonly payment?: string | undefined; readonly status?: string | undefined }

export function ownedAbout(tenant: Tenant, { payment, status }: AboutPayment): Statement {
  const ofPayment = payment === undefined ? sql`` : sql`and payment_id = ${payment}`
  const ofStatus = status === undefined ? sql`` : sql`and status = ${status}`
  return sql`${ownedBy(tenant)} ${ofPayment} ${ofStatus}`
}
