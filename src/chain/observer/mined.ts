import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import type { Block } from '../rpc/node.ts'
import { balanceReads, readToken, type TokenRead } from '../token/token-state.ts'
import type { BalanceWatch } from './balance.ts'
import { createStall } from './stall.ts'

/** Most payouts asked about at a block: what ten lanes can have in flight, in twenty calls. */
const ASKED = 8000

/**
 * Asks the token at each new block what the treasuries hold, and which nonces of payouts on their way are used. A used one
 * marks its payout as mined: a hint for people and for the order of work, which ends nothing. A reorganization shows in the
 * same answer: what is used no more goes out again. In memory it keeps the block that was asked about last.
 */
export function createMinedWatch(deps: SettlementDeps, balance: BalanceWatch) {
  const { journal, rpc, token, log } = deps
  const stall = createStall(deps, 'the watch of new blocks')
  let last: Block | null = null

  /** Returns the newest block that a quorum has shown; null if none has. `isSent`: something is on its way. */
  return async function watchMined(
    lease: Lease,
    { cursor, head, isSent }: { cursor: ChainCursor; head: Block; isSent: boolean },
  ): Promise<number | null> {
    if (head.number < cursor.number) return null
    // A head that is lower for a moment would take back what is mined.
    const isNew = last === null || (head.hash !== last.hash && head.number >= last.number)
    if (!isNew) return head.number
    const [books, sent] = await Promise.all([balance.readBooks(), isSent ? journal.readSent(ASKED) : []])
    const reads: TokenRead[] = [
      ...balanceReads(books.treasuries),
      ...sent.map(
        ({ treasury, authNonce }): TokenRead => ({ view: 'authorizationState', args: [treasury, authNonce] }),
      ),
    ]
    const state = await rpc.agreed((node) => readToken(node, token.address, { reads, at: head.number }))
    if (state === null) {
      stall.goesOn(`no quorum gives the state of the token at block ${head.number}`)
      return null
    }
    stall.ends()
    const held = state.value.slice(0, books.treasuries.length).reduce((sum, micro) => sum + micro, 0n)
    await balance.compareNewest(lease, held)
    const used = state.value.slice(books.treasuries.length)
    const mined = sent.filter(({ isMined }, index) => !isMined && used[index] === 1n)
    const gone = sent.filter(({ isMined }, index) => isMined && used[index] === 0n)
    if (gone.length > 0) log.warn({ payouts: gone.length }, 'payouts are no longer in the chain and go out again')
    if (mined.length + gone.length > 0)
      await journal.markMined(lease, {
        number: head.number,
        mined: mined.map(({ paymentId }) => paymentId),
        gone: gone.map(({ paymentId }) => paymentId),
      })
    // Stored last, so that the same block is asked about again after a failure.
    last = head
    return head.number
  }
}
