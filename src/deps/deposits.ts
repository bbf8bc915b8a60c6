import type { DepositKeys } from '../chain/deposits/deposit-keys.ts'
import type { Db } from '../db/db.ts'
import { openDeposit, readDeposit } from '../db/deposits.ts'
import type { Hex } from '../domain/payout.ts'
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
