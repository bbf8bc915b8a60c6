import type { Queryable, Tenant } from '../../../../db/db.ts'
import { readWallet } from '../../../../db/merchants/wallets.ts'

/**
 * Saves a payment the statement that reads the wallet. The insert creates no payment if the account has another wallet
 * by then.
 */
export type WalletMemory = {
  readonly read: (db: Queryable, tenant: Tenant) => Promise<string | null>
  readonly forget: (tenant: Tenant) => void
}

/** Accounts in memory. Above this number the first is dropped. */
const ACCOUNTS = 10_000

export function rememberWallets(): WalletMemory {
  const wallets = new Map<string, string>()
  return {
    async read(db, tenant) {
      const known = wallets.get(tenant.merchantId)
      if (known !== undefined) return known
      const wallet = await readWallet(db, tenant)
      const [first] = wallets.keys()
      if (first !== undefined && wallets.size >= ACCOUNTS) wallets.delete(first)
      if (wallet !== null) wallets.set(tenant.merchantId, wallet)
      return wallet
    },
    forget: ({ merchantId }) => void wallets.delete(merchantId),
  }
}
