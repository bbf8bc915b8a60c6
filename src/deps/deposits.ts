import type { RefundAddresses } from '../activities/refund/refund-deps.ts'
import { type DepositKeys, fundingNonce } from '../chain/deposits/deposit-keys.ts'
import type { WorkerConfig } from '../config/config.ts'
import type { Db } from '../db/db.ts'
import { isOwnAddress } from '../db/merchants/wallets.ts'
import { openDeposit, readDeposit, readOldDeposit } from '../db/payments/deposits.ts'
import type { Hex } from '../domain/hex.ts'
import type { DepositBook } from '../partners/crypto.ts'
import { getToken } from './keys.ts'

export type DepositBookSettings = {
  readonly db: Db
  readonly chainId: number
  readonly token: Hex
  /** Days after its payment's expiry that an address is watched. */
  readonly watchDays: number
  /** Null: existing deposits are read here, and none is opened. */
  readonly keys: DepositKeys | null
}

/**
 * Throws if no configured deposit seed made the addresses that were shown before: money sent to them could not be
 * moved, and this could go unnoticed for long. Call it before anything can show an address of the wrong seed.
 */
export async function assertSameSeed(
  db: Db,
  keys: DepositKeys,
  scope: { readonly chainId: number; readonly livemode: boolean },
): Promise<void> {
  const shown = await readOldDeposit(db, scope)
  if (shown === null) return
  const { ownerId, address } = shown
  if (keys.findAccount(ownerId, address) !== null) return
  throw new Error(
    `DEPOSIT_SEED is not the one of before: the address of ${ownerId} was ${address} and would be ` +
      `${keys.deriveAddress(ownerId)}. Write the seed of before to RETIRED_DEPOSIT_SEEDS`,
  )
}

export function createDepositBook({ db, chainId, token, watchDays, keys }: DepositBookSettings): DepositBook {
  return {
    read: (attemptId) => readDeposit(db, attemptId),
    open: async (deposit) => {
      if (keys === null) throw new Error('no addresses are opened here: CRYPTO_DEPOSITS is off')
      const { deriveAddress } = keys
      await openDeposit(db, { ...deposit, chainId, token, watchSeconds: watchDays * 86_400, deriveAddress })
    },
  }
}

/** Null without a seed: then no refund can be paid for. */
export function createRefundAddresses(
  config: WorkerConfig,
  { db, keys }: { readonly db: Db; readonly keys: DepositKeys | null },
): RefundAddresses | null {
  if (keys === null) return null
  const { name: tokenName } = getToken(config)
  return {
    place: (refund) => ({ address: keys.deriveAddress(refund.id), nonce: fundingNonce(refund), tokenName }),
    watchSeconds: config.DEPOSIT_WATCH_DAYS * 86_400,
    isOwn: (address) => isOwnAddress(db, address),
  }
}
