import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import { KEPT_STATES, type SettlementDeps } from '../context.ts'
import { readToken } from '../token/token-state.ts'
import type { Scope } from './facts.ts'

/** More than the books say is booked when it has stood for so many final blocks: a log that was missed is found before. */
const MORE_STANDS = 64

/** Most nonces in flight that are asked for in one comparison that shows too little. */
const ASKED = 2400

/**
 * The equation that no thief passes: at each final block, the treasuries hold what the books say. Less pauses everything,
 * whatever the logs show. More is booked. Payouts whose nonce is used, and whose log is still to be read, are no difference.
 * In memory it keeps the block that was compared last, and since when there is more.
 */
export function createBalanceWatch(deps: SettlementDeps, { token, treasuries }: Scope) {
  const { journal, rpc, log } = deps
  let compared = -1
  let more: { readonly since: number; readonly micro: bigint } | null = null

  const ask = (cursor: ChainCursor, reads: Parameters<typeof readToken>[2]['reads']) =>
    rpc.agreed((node) => readToken(node, token, { reads, at: cursor.number }))

  /** Micro-USDC of payouts that the token calls used, paid or canceled, and whose log is not stored. Null: no quorum says. */
  async function readUnproved(cursor: ChainCursor): Promise<bigint | null> {
    const open = await journal.readOpenNonces({ after: '', limit: ASKED })
    const used = await ask(
      cursor,
      open.map(({ treasury, authNonce }) => ({ view: 'authorizationState', args: [treasury, authNonce] })),
    )
    return used && open.reduce((sum, { micro }, index) => (used.value[index] === 0n ? sum : sum + micro), 0n)
  }

  async function compare(lease: Lease, cursor: ChainCursor): Promise<void> {
    const { number } = cursor
    const books = await journal.readTreasuryBooks(treasuries)
    // Another engine has read on.
    if (books.number !== number) return
    const held = await ask(
      cursor,
      books.treasuries.map((treasury) => ({ view: 'balanceOf', args: [treasury] })),
    )
    if (held === null) return
    const difference = held.value.reduce((sum, micro) => sum + micro, 0n) - books.micro
    const unproved = difference < 0n ? await readUnproved(cursor) : 0n
    if (unproved === null) return
    compared = number
    const missing = difference + unproved < 0n ? -difference - unproved : null
    if (missing !== books.missing) {
      await journal.storeMissing(lease, missing)
      if (missing !== null)
        log.error(
          { micro: missing.toString(), block: number },
          'the treasuries hold less than the books say; all lanes pause',
        )
    }
    const least = difference <= 0n || more === null || more.micro > difference ? difference : more.micro
    more = difference <= 0n ? null : { since: more?.since ?? number, micro: least }
    const isDue = more !== null && number - more.since >= MORE_STANDS
    if (!books.isOpening && !isDue) return
    await journal.bookMore(lease, { micro: least > 0n ? least : 0n, number, treasuries: books.treasuries })
    if (least > 0n) log.warn({ micro: least.toString(), block: number }, 'the treasuries hold more than the books say')
    more = null
  }

  /** `newest`: the newest block that a quorum has shown; null: none. Nodes that prune have no state of older blocks. */
  return async function checkBalance(lease: Lease, cursor: ChainCursor, newest: number | null): Promise<void> {
    if (deps.treasuries.length === 0 || cursor.number === compared) return
    if (newest === null || newest - cursor.number > KEPT_STATES) return
    await compare(lease, cursor)
  }
}
