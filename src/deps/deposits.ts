import type { DepositKeys } from '../chain/deposits/deposit-keys.ts'
import type { Db } from '../db/db.ts'
import { openDeposit, readDeposit, readOldDeposit } from '../db/payments/deposits.ts'
import type { Hex } from '../domain/hex.ts'
import type { DepositBook } from '../providers/crypto.ts'

export type DepositBookSettings = {
  readonly db: Db
  readonly chainId: number
  /** Lower case. */
  readonly token: Hex
  /** How long after its payment's expiry an address is watched. */
  readonly watchDays: number
  /** Null: nothing is opened here, what was opened is read. */
  readonly keys: DepositKeys | null
}

/**
 * Throws when no deposit seed here is the one of the addresses shown before: what came to them could not be moved, and
 * nobody would notice for long. To be called before anything can show an address of the wrong seed.
 */
export async function assertSameSeed(
  db: Db,
  keys: DepositKeys,
  scope: { readonly chainId: number; readonly livemode: boolean },
): Promise<void> {
  const shown = await readOldDeposit(db, scope)
  if (shown === null) return
  const { paymentId, address } = shown
  if (keys.accountAt(paymentId, address) !== null) return
  throw new Error(
    `DEPOSIT_SEED is not the one of before: the address of ${paymentId} was ${address} and would be ` +
      `${keys.addressOf(paymentId)}. Write the seed of before to RETIRED_DEPOSIT_SEEDS`,
  )
}

/** The deposits in the database, as the way to pay by crypto knows them. */
export function createDepositBook({ db, chainId, token, watchDays, keys }: DepositBookSettings): DepositBook {
  return {
    read: (attemptId) => readDeposit(db, attemptId),
    open: async (deposit) => {
      if (keys === null) throw new Error('no addresses are opened here: CRYPTO_DEPOSITS is off')
      const { addressOf } = keys
      await openDeposit(db, { ...deposit, chainId, token, watchSeconds: watchDays * 86_400, addressOf })
    },
  }
}
