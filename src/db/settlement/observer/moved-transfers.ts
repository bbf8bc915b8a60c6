import { type Statement, sql } from '../../db.ts'

/**
 * Transfers whose block left the chain. The same transaction, mined in another block, usually has other log indexes. It
 * is recognized by its sender, recipient and amount, and payments and books continue to name it by its first index.
 */

/** The index of a stored log in payments and books. The table of logs is `l`. */
export const knownIndex = sql`coalesce(l.known_index, l.log_index)`

type StoredAs = 'deposit_log' | 'treasury_log'

/** `removed` returns the columns of `gone_transfer` except `stored_as`, `nth` and `concluded_at`. */
export const remember = (storedAs: StoredAs, removed: Statement): Statement => sql`
  insert into gone_transfer (chain_id, stored_as, tx_hash, known_index, token, sender, recipient, units, direction,
    block_number, nth)
  select chain_id, ${storedAs}, tx_hash, known_index, token, sender, recipient, units, direction, block_number, row_number()
    over (partition by chain_id, tx_hash, token, sender, recipient, units order by known_index) - 1
  from (${removed}) g on conflict do nothing`

/** More logs than a block can have: an index from here on never belonged to another log. */
const BEYOND_LOGS = 1_000_000

/** `gone` is the log's row from before the reversal. A new log might have the index of one that has moved. */
export const firstIndex = (storedAs: StoredAs, chainId: number): Statement => sql`
  coalesce(gone.known_index, case when exists (select 1 from gone_transfer o where o.chain_id = ${chainId}
    and o.stored_as = ${storedAs} and o.tx_hash = g."txHash") then g."logIndex" + ${BEYOND_LOGS}::int end)`

/** Deletes logs that are stored again. `stored` returns chain_id, tx_hash and known_index of the newly stored logs. */
export const deleteReturned = (storedAs: StoredAs): Statement => sql`
  delete from gone_transfer g using stored s where s.known_index is not null and g.stored_as = ${storedAs}
    and (g.chain_id, g.tx_hash, g.known_index) = (s.chain_id, s.tx_hash, s.known_index)`

/** Returns a function that counts the earlier transfers with the same properties. */
export function countAlike(): (likeness: readonly unknown[]) => number {
  const seen = new Map<string, number>()
  return (likeness) => {
    const key = JSON.stringify(likeness)
    const before = seen.get(key) ?? 0
    seen.set(key, before + 1)
    return before
  }
}
