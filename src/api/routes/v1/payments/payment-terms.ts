import type { Queryable, Tenant } from '../../../../db/db.ts'
import { type PaymentTerms, readPaymentTerms } from '../../../../db/merchants/agreement.ts'
import type { StandardAgreement } from '../../../../domain/account/agreement.ts'

/**
 * Saves a payment the statement that reads the wallet, the fee and the reserve. The insert creates no payment if the account has
 * other ones by then.
 */
export type TermsMemory = {
  readonly read: (db: Queryable, tenant: Tenant) => Promise<PaymentTerms>
  readonly forget: (tenant: Tenant) => void
}

/** Accounts in memory. Above this number the first is dropped. */
const ACCOUNTS = 10_000

export function rememberTerms(standard: StandardAgreement): TermsMemory {
  const accounts = new Map<string, PaymentTerms>()
  return {
    async read(db, tenant) {
      const known = accounts.get(tenant.merchantId)
      if (known !== undefined) return known
      const terms = await readPaymentTerms(db, tenant, standard)
      const [first] = accounts.keys()
      if (first !== undefined && accounts.size >= ACCOUNTS) accounts.delete(first)
      if (terms.wallet !== null) accounts.set(tenant.merchantId, terms)
      return terms
    },
    forget: ({ merchantId }) => void accounts.delete(merchantId),
  }
}
