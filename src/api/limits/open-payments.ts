import type { Queryable, Tenant } from '../../db/db.ts'
import { Problem } from '../http/problems.ts'

/** Bounds the open payments of an account in its mode: each has a workflow, and its page can be asked for. */
export type OpenPayments = {
  /**
   * Counts a payment that is about to be made. Throws `limit_reached` (409) if as many are open as can be. Links create no
   * payments once half as many are open, so that strangers who press buttons do not keep the account's own server from selling.
   */
  readonly countNew: (db: Queryable, tenant: Tenant, by: 'account' | 'buyer') => Promise<void>
}

export type OpenPaymentsSettings = {
  readonly most: number
  /** Returns how many are open now, and no more than `most`. */
  readonly count: (db: Queryable, tenant: Tenant, most: number) => Promise<number>
  /** Unix milliseconds. */
  readonly clock: () => number
}

/** As many as were counted, and were made by this process since. */
type Known = { readonly open: number; readonly countedAt: number; made: number }

/** An account that is refused has its payments counted at most this often. */
const COUNTED_EVERY_MS = 1000
/** Accounts that are remembered; of more the first are forgotten, and counted again. */
const ACCOUNTS = 10_000

/**
 * Counting reads an index entry of each open payment, so it is done after each hundredth of the bound, and not for each
 * payment. Other processes create payments too: together they can exceed the bound by a hundredth each.
 */
export function createOpenPayments({ most, count, clock }: OpenPaymentsSettings): OpenPayments {
  const accounts = new Map<string, Known>()

  const isDue = ({ open, made, countedAt }: Known, bound: number): boolean =>
    made >= most / 100 || (open + made >= bound && clock() - countedAt >= COUNTED_EVERY_MS)

  async function countAgain(db: Queryable, tenant: Tenant): Promise<Known> {
    const known = { open: await count(db, tenant, most), countedAt: clock(), made: 0 }
    const [first] = accounts.keys()
    if (first !== undefined && accounts.size >= ACCOUNTS) accounts.delete(first)
    accounts.set(tenant.merchantId, known)
    return known
  }

  return {
    async countNew(db, tenant, by) {
      const bound = by === 'account' ? most : Math.ceil(most / 2)
      const before = accounts.get(tenant.merchantId)
      const known = before === undefined || isDue(before, bound) ? await countAgain(db, tenant) : before
      if (known.open + known.made >= bound)
        throw new Problem(
          'limit_reached',
          `An account has at most ${most} open payments. Cancel those that nobody will pay, or wait until they expire; with a shorter \`expires_in\` they expire sooner.`,
        )
      known.made += 1
    },
  }
}
