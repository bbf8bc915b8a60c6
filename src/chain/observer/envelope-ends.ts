import type { Hex } from '../../domain/hex.ts'
import type { ChainCursor, Envelope, EnvelopeEnd, TreasuryLog } from '../../domain/settlement/payout.ts'
import { NodeFailure } from '../rpc/failure.ts'
import type { Receipt, RpcNode } from '../rpc/node.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { type Fact, ourLogs, readFacts, type Scope } from './facts.ts'

export type Ended = { readonly end: EnvelopeEnd; readonly logs: readonly TreasuryLog[] }

/**
 * Blocks after a final one that a node must have before its receipts count: it may have a block and its state earlier.
 */
const RECEIPTS_KNOWN = 2

export function createEndReader(rpc: Rpc, scope: Scope) {
  /**
   * Returns only the logs about the treasuries: nodes add others. Throws for a node that is behind: it must not vote
   * for the absence of what it does not know.
   */
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
   * Reads if one of the envelope's transactions used its nonce or, if the nonce is used at the cursor (`isFinal`),
   * somebody else. Null if that is not known yet.
   */
  return async function readEnd(
    { nonce, attempts }: Envelope,
    cursor: ChainCursor,
    isFinal: boolean,
  ): Promise<Ended | null> {
    const hashes = attempts.map(({ txHash }) => txHash)
    // The newest is usually the mined one: then the others are not read.
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

/** Returns the logs with each authorization's share, in wei, of the transaction's gas cost. */
function shareGas(facts: readonly Fact[], { gasUsed, gasPrice }: Receipt): TreasuryLog[] {
  const count = facts.filter(({ authNonce }) => authNonce !== null).length
  const share = count === 0 ? null : (gasUsed * gasPrice) / BigInt(count)
  return facts.map((fact) => ({ ...fact, gasShare: fact.authNonce === null ? null : share }))
}
