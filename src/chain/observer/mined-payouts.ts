import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import type { Block } from '../rpc/node.ts'
import { balanceReads, readToken, type TokenRead } from '../token/token-state.ts'
import type { BalanceWatch } from './balance.ts'
import { createStall } from './stall.ts'

/** Maximum number of payouts that are read at a block: what ten lanes can have in flight, in twenty calls. */
const ASKED = 8000

/**
 * Reads at each new block the balances of the treasuries, and which nonces of payouts in flight are used. A used nonce
 * marks its payout as mined: a hint for people and for the order of work, which ends nothing. The same answer shows a
 * reorganization: a payout whose nonce is no longer used is sent again. Memory contains only the last block that was
 * read.
 */
export function createMinedWatch(deps: SettlementDeps, balance: BalanceWatch) {
  const { journal, rpc, token, log } = deps
  const stall = createStall(deps, 'the watch of new blocks')
  let last: Block | null = null

  /** Returns the newest block that a quorum has shown; null if none has. `isSent`: payouts are in flight. */
  return async function watchMined(
    lease: Lease,
    { cursor, head, isSent }: { cursor: ChainCursor; head: Block; isSent: boolean },
  ): Promise<number | null> {
    if (head.number < cursor.number) return null
    // A head that is lower for a moment would undo what is mined.
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
      stall.persists(`no quorum gives the state of the token at block ${head.number}`)
      return null
    }
    stall.ends()
    const total = state.value.slice(0, books.treasuries.length).reduce((sum, micro) => sum + micro, 0n)
    await balance.compareNewest(lease, total)
    const used = state.value.slice(books.treasuries.length)
    const mined = sent.filter(({ isMined }, index) => !isMined && used[index] === 1n)
    const gone = sent.filter(({ isMined }, index) => isMined && used[index] === 0n)
    if (gone.length > 0) log.warn({ payouts: gone.length }, 'payouts are no longer in the chain and go out again')
    if (mined.length + gone.length > 0)
      await journal.markMined(lease, {
        number: head.number,
        mined: mined.map(({ ownerId }) => ownerId),
        gone: gone.map(({ ownerId }) => ownerId),
      })
    // Stored last, so that the same block is read again after a failure.
    last = head
    return head.number
  }
}
