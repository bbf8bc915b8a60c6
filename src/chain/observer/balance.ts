import type { TreasuryBooks } from '../../db/settlement/balance.ts'
import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import { KEPT_STATES, type SettlementDeps } from '../context.ts'
import { readToken, type TokenRead } from '../token/token-state.ts'
import type { Scope } from './facts.ts'

/** More than the books say is booked when it has stood for so many final blocks: a log that was missed is found before. */
const MORE_STANDS = 64

/** Nonces that are asked for together. */
const ASKED = 2400

export type BalanceWatch = ReturnType<typeof createBalanceWatch>

/**
 * The equation that no thief passes: at each final block, the treasuries hold what the books say. Less pauses everything,
 * whatever the logs show. More is booked. Payouts whose nonce is used, and whose log is still to be read, are no difference.
 * At the newest block, which is not final, they hold at least that without what is signed and has not ended.
 * In memory it keeps the block that was compared last, and since when there is more or less.
 */
export function createBalanceWatch(deps: SettlementDeps, { treasuries }: Scope) {
  const { journal, log } = deps
  let compared = -1
  let more: { readonly since: number; readonly micro: bigint } | null = null
  let less = { final: 0n, newest: 0n }
  /** The books of this round: both comparisons need them. */
  let fresh: TreasuryBooks | null = null

  /** Stores what is missing now, if that has changed. */
  async function noteLess(lease: Lease, books: TreasuryBooks, change: Partial<typeof less>): Promise<void> {
    // Acknowledged by an operator.
    if (books.missing === null) less = { final: 0n, newest: 0n }
    less = { ...less, ...change }
    const missing = less.final > less.newest ? less.final : less.newest
    if (missing === (books.missing ?? 0n)) return
    const stored = missing === 0n ? null : missing
    await journal.storeMissing(lease, stored)
    if (fresh !== null) fresh = { ...fresh, missing: stored }
    if (missing > 0n)
      log.error({ micro: missing.toString() }, 'the treasuries hold less than the books say; all lanes pause')
  }

  /** Books what there is more at the block, once it has stood long enough, or when a treasury is watched for the first time. */
  async function noteMore(lease: Lease, books: TreasuryBooks, difference: bigint): Promise<void> {
    const { number } = books
    const least = difference <= 0n || more === null || more.micro > difference ? difference : more.micro
    more = difference <= 0n ? null : { since: more?.since ?? number, micro: least }
    const isDue = more !== null && number - more.since >= MORE_STANDS
    if (!books.isOpening && !isDue) return
    await journal.bookMore(lease, { micro: least > 0n ? least : 0n, number, treasuries: books.treasuries })
    if (least > 0n) log.warn({ micro: least.toString(), block: number }, 'the treasuries hold more than the books say')
    more = null
  }

  async function compare(lease: Lease, cursor: ChainCursor, books: TreasuryBooks): Promise<void> {
    // Another engine has read on.
    if (books.number !== cursor.number) return
    const held = await askFinal(
      deps,
      cursor,
      books.treasuries.map((treasury) => ({ view: 'balanceOf', args: [treasury] })),
    )
    if (held === null) return
    const difference = held.value.reduce((sum, micro) => sum + micro, 0n) - books.micro
    const unproved = difference < 0n ? await readUnproved(deps, cursor) : 0n
    if (unproved === null) return
    compared = cursor.number
    if (books.isStale) await journal.noteComparison(lease)
    await noteLess(lease, books, { final: largest(0n, -difference - unproved) })
    await noteMore(lease, books, difference)
  }

  return {
    async readBooks(): Promise<TreasuryBooks> {
      fresh = await journal.readTreasuryBooks(treasuries)
      return fresh
    },

    /** `newest`: the newest block that a quorum has shown; null: none. Nodes that prune have no state of older blocks. */
    async compareFinal(lease: Lease, cursor: ChainCursor, newest: number | null): Promise<void> {
      const known = fresh
      fresh = null
      if (deps.treasuries.length === 0 || cursor.number === compared) return
      if (newest === null || newest - cursor.number > KEPT_STATES) return
      await compare(lease, cursor, known ?? (await journal.readTreasuryBooks(treasuries)))
    },

    /** `held`: micro-USDC in all treasuries at the newest block. */
    async compareNewest(lease: Lease, { books, held }: { books: TreasuryBooks; held: bigint }): Promise<void> {
      if (deps.treasuries.length === 0 || books.isOpening) return
      await noteLess(lease, books, { newest: largest(0n, books.micro - books.promised - held) })
    },
  }
}

const askFinal = ({ rpc, token }: SettlementDeps, { number: at }: ChainCursor, reads: readonly TokenRead[]) =>
  rpc.agreed((node) => readToken(node, token.address, { reads, at }))

/** Micro-USDC of payouts that the token calls used, paid or canceled, and whose log is not stored. Null: no quorum says. */
async function readUnproved(deps: SettlementDeps, cursor: ChainCursor): Promise<bigint | null> {
  let sum = 0n
  for (let after: string | undefined = ''; after !== undefined; ) {
    const open = await deps.journal.readOpenNonces({ after, limit: ASKED })
    const reads = open.map(
      ({ treasury, authNonce }): TokenRead => ({ view: 'authorizationState', args: [treasury, authNonce] }),
    )
    const used = await askFinal(deps, cursor, reads)
    if (used === null) return null
    sum += open.reduce((total, { micro }, index) => (used.value[index] === 0n ? total : total + micro), 0n)
    after = open.length < ASKED ? undefined : open.at(-1)?.paymentId
  }
  return sum
}

const largest = (a: bigint, b: bigint): bigint => (a > b ? a : b)
