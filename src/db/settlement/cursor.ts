import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import { type ChainCursor, type Lease, LeaseLostError } from '../../domain/settlement/payout.ts'
import { execute, maybeOne, type Queryable, type Statement, sql, type Tx } from '../db.ts'
import type { JournalContext } from './context.ts'
import { hex } from './payouts.ts'

/** How far the final chain was read, and which engine leads: one engine at a time reads it, signs and sends. */

export const here = ({ scope }: JournalContext): Statement =>
  sql`chain_id = ${scope.chainId} and token = ${scope.token}`

const isOwned = ({ owner, epoch }: Lease): Statement => sql`owner = ${owner} and epoch = ${epoch}`

const lost = ({ epoch }: Lease): LeaseLostError => new LeaseLostError(`another engine leads since epoch ${epoch}`)

/** Locks the cursor for this transaction. Throws LeaseLostError if another engine leads. */
export async function fence(context: JournalContext, tx: Tx, lease: Lease): Promise<void> {
  const owned = await execute(
    tx,
    sql`select 1 from chain_cursor where ${here(context)} and ${isOwned(lease)} for update`,
  )
  if (owned !== 1) throw lost(lease)
}

/** Changes the cursor in one statement, which needs no fence. Throws LeaseLostError if another engine leads. */
export async function changeCursor(
  on: Queryable,
  context: JournalContext,
  { lease, set }: { lease: Lease; set: Statement },
): Promise<void> {
  if ((await execute(on, sql`update chain_cursor set ${set} where ${here(context)} and ${isOwned(lease)}`)) !== 1)
    throw lost(lease)
}

export const cursorRow = z.object({
  number: z.coerce.number(),
  hash: hex,
  first: z.coerce.number(),
  logs: z.coerce.number(),
  deposits: z.coerce.number(),
  pause: z.string().nullable(),
})

export const CURSOR_COLUMNS = sql`scanned_number as number, scanned_hash as hash, first_number as first, logs_number as logs,
  deposits_number as deposits, pause`

export const toCursor = ({ number, hash, first, logs, deposits, pause }: z.output<typeof cursorRow>): ChainCursor => ({
  number,
  hash,
  firstNumber: first,
  logsNumber: logs,
  depositsNumber: deposits,
  pausedReason: pause,
})

export async function readCursor(context: JournalContext): Promise<ChainCursor | null> {
  const row = await maybeOne(
    context.db,
    cursorRow,
    sql`select ${CURSOR_COLUMNS} from chain_cursor where ${here(context)}`,
  )
  return row === null ? null : toCursor(row)
}

export async function openCursor(
  { db, scope }: JournalContext,
  { number, hash }: { number: number; hash: Hex },
): Promise<void> {
  await execute(
    db,
    sql`insert into chain_cursor (chain_id, token, scanned_number, scanned_hash, first_number, logs_number, deposits_number)
        values (${scope.chainId}, ${scope.token}, ${number}, ${hash}, ${number}, ${number}, ${number}) on conflict do nothing`,
  )
}

/** Renews the lead. Returns false if another engine has taken it since. */
export async function renewLead(context: JournalContext, lease: Lease, leaseMs: number): Promise<boolean> {
  const until = sql`now() + ${leaseMs} * interval '1 millisecond'`
  const owned = await execute(
    context.db,
    sql`update chain_cursor set lease_until = ${until} where ${here(context)} and ${isOwned(lease)}`,
  )
  return owned === 1
}

/** Releases the lead, if this owner still has it, so that the next engine need not wait for its expiry. */
export async function releaseLead(context: JournalContext, owner: string): Promise<void> {
  await execute(
    context.db,
    sql`update chain_cursor set owner = null, lease_until = '-infinity' where ${here(context)} and owner = ${owner}`,
  )
}

export const moveCursor = (
  context: JournalContext,
  lease: Lease,
  { number, hash }: { number: number; hash: Hex },
): Promise<void> =>
  changeCursor(context.db, context, {
    lease,
    set: sql`scanned_number = ${number}, scanned_hash = ${hash}, scanned_at = now()`,
  })

export const moveLogs = (context: JournalContext, lease: Lease, number: number): Promise<void> =>
  changeCursor(context.db, context, { lease, set: sql`logs_number = ${number}` })
