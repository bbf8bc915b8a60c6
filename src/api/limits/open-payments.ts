import type { Queryable, Tenant } from '../../db/db.ts'
import { Problem } from '../http/problems.ts'

/** Limits the open payments of an account in one mode: each has a workflow and a page that can be polled. */
export type OpenPayments = {
  /**
   * Throws `limit_reached` (409) at the limit. Links stop at half of it, so that strangers who press buttons cannot
   * keep the account's own server from selling.
   */
  readonly countNew: (db: Queryable, tenant: Tenant, by: 'account' | 'buyer') => Promise<void>
}

export type OpenPaymentsSettings = {
  readonly most: number
  readonly count: (db: Queryable, tenant: Tenant, most: number) => Promise<number>
  /** Unix milliseconds. */
  readonly clock: () => number
}

type Known = { readonly open: number; readonly countedAt: number; made: number }

/** Milliseconds between two counts for an account that is refused. */
const COUNTED_EVERY_MS = 1000
/** Accounts in memory. Above this number the first is dropped, and counted again. */
const ACCOUNTS = 10_000

/**
 * A count reads an index entry for each open payment, so it runs only after every hundredth of the limit. Each further
 * process can exceed the limit by a hundredth.
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
