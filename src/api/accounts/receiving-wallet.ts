import type { Queryable } from '../../db/db.ts'
import { isOwnAddress } from '../../db/merchants/wallets.ts'
import { checkWallet, type WalletCheck } from '../../domain/wallet.ts'
import { checksumAddress } from '../../evm/checksum.ts'

export type WalletDeps = { readonly token: string }

/** Checks the rules for wallets, and that the address does not belong to the platform. */
export async function checkReceivingWallet({ token }: WalletDeps, db: Queryable, text: string): Promise<WalletCheck> {
  const check = checkWallet(text, { checksum: checksumAddress, token })
  if (!check.ok || !(await isOwnAddress(db, check.address))) return check
  return { ok: false, code: 'wallet_forbidden', message: 'must be your own address: this one belongs to the platform' }
}
