import type { Hex } from '../../domain/hex.ts'
import type { ChainCursor, Envelope, EnvelopeEnd, TreasuryLog } from '../../domain/settlement/payout.ts'
import { NodeFailure } from '../rpc/failure.ts'
import type { Receipt, RpcNode } from '../rpc/node.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { type Fact, ourLogs, readFacts, type Scope } from './facts.ts'

/** How an envelope ended, and what its transaction did to the treasuries. */
export type Ended = { readonly end: EnvelopeEnd; readonly logs: readonly TreasuryLog[] }

/** How many blocks after a final block a node has its receipts: it may have the block and its state a moment before. */
const RECEIPTS_KNOWN = 2

/** Reads from receipts how envelopes ended whose nonces are used. */
export function createEndReader(rpc: Rpc, scope: Scope) {
  /** With the logs about our treasuries: nodes add others. One that is behind must not vote for the absence of what it does not know. */
  async function readOwn(node: RpcNode, txHash: Hex): Promise<Receipt> {
    const receipt = await node.receipt(txHash)
    if (receipt === null) throw new NodeFailure(node.name, { kind: 'refused', answer: `has no receipt of ${txHash}` })
    return { ...receipt, logs: ourLogs(receipt.logs, scope) }
  }

  function endBy(nonce: number, receipt: Receipt): Ended {
    const facts = readFacts(receipt.logs, scope.treasuries)
    const { txHash, blockNumber, gasUsed, gasPrice } = receipt
    return {
      end: { nonce, state: 'finalized', txHash, blockNumber, gasUsed, gasPrice },
      logs: shareGas(facts, receipt),
    }
  }

  /**
   * Reads whether the nonce of an envelope was used by one of its transactions or, if `isFinal` says that it is used at the cursor, by
   * somebody else. Null: not known yet.
   */
  return async function readEnd(
    { nonce, attempts }: Envelope,
    cursor: ChainCursor,
    isFinal: boolean,
  ): Promise<Ended | null> {
    const hashes = attempts.map(({ txHash }) => txHash)
    // Mostly the newest is the one: the other nodes that do not know it yet are not voted for.
    for (const txHash of hashes.toReversed()) {
      const receipt = await rpc.agreed((node) => readOwn(node, txHash))
      if (receipt !== null) return receipt.value.blockNumber > cursor.number ? null : endBy(nonce, receipt.value)
    }
    if (!isFinal) return null
    const absent = await rpc.agreed(async (node) => {
      // A node that is behind does not know the receipt yet. That must not count as an absent receipt.
      const { number } = await node.block('latest')
      if (number < cursor.number + RECEIPTS_KNOWN) throw new Error(`${node.name} is behind`)
      const found = await Promise.all(hashes.map((hash) => node.receipt(hash)))
      return found.every((receipt) => receipt === null)
    })
    return absent?.value === true ? { end: { nonce, state: 'foreign' }, logs: [] } : null
  }
}

/** The share of each authorization, in wei, of the gas that the transaction cost. */
function shareGas(facts: readonly Fact[], { gasUsed, gasPrice }: Receipt): TreasuryLog[] {
  const count = facts.filter(({ authNonce }) => authNonce !== null).length
  const share = count === 0 ? null : (gasUsed * gasPrice) / BigInt(count)
  return facts.map((fact) => ({ ...fact, gasShare: fact.authNonce === null ? null : share }))
}
