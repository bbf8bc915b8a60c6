import type { TreasuryBooks } from '../../db/settlement/balance.ts'
import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import { RETAINED_STATES, type SettlementDeps } from '../context.ts'
import { createBlockMemo } from '../lanes/block-memo.ts'
import { balanceReads, readToken } from '../token/token-state.ts'
import type { Place } from './endings.ts'
import type { Scope } from './facts.ts'
import { createLogReader } from './logs.ts'
import type { NonceWatch } from './nonces.ts'

/** Final blocks for which a higher balance must last before it is booked: a node may have a block before its logs. */
const MORE_LASTS = 64

/**
 * Final blocks after which the logs are read although the balance agrees: a top-up may hide a theft of the same amount.
 */
const LOGS_EVERY = 256

export type BalanceWatch = ReturnType<typeof createBalanceWatch>

/**
 * Checks the equation that no thief passes: at each final block, the treasuries have the balance of the books. A lower
 * balance pauses everything, whatever the logs show. A higher one is booked. Payouts whose nonce is used, and whose log
 * is still to be read, are no difference. At the newest block, which is not final, the treasuries must have at least
 * that balance without what is signed and has not ended. Memory contains only the block that was compared last.
 */
export function createBalanceWatch(deps: SettlementDeps, scope: Scope, nonces: NonceWatch) {
  const { journal, rpc, token } = deps
  const { noteLess, noteMore } = createDifferences(deps)
  const readLogs = createLogReader(deps, scope)
  const readBalance = createBlockMemo<bigint | null>()
  let compared = ''
  let logsRead = ''
  let roundBooks: TreasuryBooks | null = null

  async function readBooks(): Promise<TreasuryBooks> {
    roundBooks ??= await journal.readTreasuryBooks(scope.treasuries)
    scope.treasuries = roundBooks.treasuries
    return roundBooks
  }

  /** Returns the micro-USDC in all treasuries at the cursor, by quorum; null if no quorum answers. */
  const askBalance = (books: TreasuryBooks, { number: at, hash }: ChainCursor): Promise<bigint | null> =>
    readBalance(`${hash} ${books.treasuries.join(' ')}`, async () => {
      const reads = balanceReads(books.treasuries)
      const answer = await rpc.agreed((node) => readToken(node, token.address, { reads, at }))
      return answer && answer.value.reduce((sum, micro) => sum + micro, 0n)
    })

  /** Returns true if the treasuries can be compared at the cursor: nodes that prune have no state of older blocks. */
  const isComparable = ({ cursor, head }: Place): boolean =>
    deps.treasuries.length > 0 && head.number - cursor.number <= RETAINED_STATES

  return {
    beginRound(): void {
      roundBooks = null
    },

    readBooks,

    /**
     * Reads the treasuries' logs if their balance at the cursor differs from the books, every 256 final blocks, and if
     * another part needs them (`again`). What the logs show is booked before the comparison. Returns true if logs were
     * read.
     */
    async readLogs(lease: Lease, place: Place, again: boolean): Promise<boolean> {
      const { cursor } = place
      if (logsRead === cursor.hash || (compared === cursor.hash && !again)) return false
      const isDue = again || cursor.number - cursor.logsNumber >= LOGS_EVERY
      const books = isComparable(place) ? await readBooks() : null
      const balance = books && (await askBalance(books, cursor))
      const isDifferent = books !== null && balance !== null && balance !== books.micro
      if (!isDue && !isDifferent) return false
      const read = await readLogs(lease, cursor, isDifferent ? MORE_LASTS : 0)
      if (read === cursor.number) logsRead = cursor.hash
      roundBooks = null
      return true
    },

    hasLogs: (cursor: ChainCursor): boolean => logsRead === cursor.hash || cursor.logsNumber >= cursor.number,

    async compareFinal(lease: Lease, place: Place): Promise<void> {
      const { cursor } = place
      if (cursor.hash === compared || !isComparable(place)) return
      const books = await readBooks()
      // Another engine has read further.
      if (books.number !== cursor.number) return
      const balance = await askBalance(books, cursor)
      if (balance === null) return
      const difference = balance - books.micro
      const used = difference < 0n ? await nonces.findUsed(cursor) : []
      if (used === null) return
      if (used.length > 0) await nonces.search(lease, cursor, used)
      const unproved = used.reduce((sum, { micro }) => sum + micro, 0n)
      if (books.isStale) await journal.noteComparison(lease)
      roundBooks = await noteLess(lease, books, { final: largest(0n, -difference - unproved) })
      await noteMore(lease, books, difference)
      // Payouts that were just found are compared again after they are booked.
      if (used.length === 0) compared = cursor.hash
    },

    /**
     * `balance`: micro-USDC in all treasuries at the newest block. What was sent since the books were read is promised
     * too.
     */
    async compareNewest(lease: Lease, balance: bigint): Promise<void> {
      const isLess = ({ micro, promised }: TreasuryBooks): boolean => balance < micro - promised
      if (isLess(await readBooks())) roundBooks = null
      const books = await readBooks()
      if (deps.treasuries.length === 0 || books.isOpening) return
      roundBooks = await noteLess(lease, books, { newest: largest(0n, books.micro - books.promised - balance) })
    },
  }
}

/**
 * Books a higher balance, and pauses for a lower one. Memory contains since when there is more, and how much is
 * missing.
 */
function createDifferences({ journal, log }: Pick<SettlementDeps, 'journal' | 'log'>) {
  let more: { readonly since: number; readonly micro: bigint } | null = null
  let less = { final: 0n, newest: 0n }

  /** Stores what is missing now, if that has changed. Returns the books with it. */
  async function noteLess(lease: Lease, books: TreasuryBooks, change: Partial<typeof less>): Promise<TreasuryBooks> {
    // An operator has acknowledged it.
    if (books.missing === null) less = { final: 0n, newest: 0n }
    less = { ...less, ...change }
    const missing = less.final > less.newest ? less.final : less.newest
    if (missing === (books.missing ?? 0n)) return books
    const stored = missing === 0n ? null : missing
    await journal.storeMissing(lease, stored)
    const { number: block, micro, promised } = books
    if (missing > 0n)
      log.error(
        { missing, block, micro, promised, less },
        'the treasuries have less than the books say; all lanes pause',
      )
    return { ...books, missing: stored }
  }

  /**
   * Books a higher balance at the block, once it has lasted long enough, or when a treasury is watched for the first
   * time.
   */
  async function noteMore(lease: Lease, books: TreasuryBooks, difference: bigint): Promise<void> {
    const { number } = books
    const least = difference <= 0n || more === null || more.micro > difference ? difference : more.micro
    more = difference <= 0n ? null : { since: more?.since ?? number, micro: least }
    const isDue = more !== null && number - more.since >= MORE_LASTS
    if (!books.isOpening && !isDue) return
    await journal.bookMore(lease, { micro: least > 0n ? least : 0n, number, treasuries: books.treasuries })
    if (least > 0n) log.warn({ micro: least.toString(), block: number }, 'the treasuries have more than the books say')
    more = null
  }

  return { noteLess, noteMore }
}

const largest = (a: bigint, b: bigint): bigint => (a > b ? a : b)
