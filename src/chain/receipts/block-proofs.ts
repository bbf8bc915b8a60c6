import { toRlp } from 'viem/utils'
import type { Hex } from '../../domain/hex.ts'
import { keccak256 } from '../../evm/keccak.ts'
import { NodeFailure } from '../rpc/failure.ts'
import type { RpcNode } from '../rpc/node.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { RawLog, RawReceipt } from './encoding.ts'
import { buildTrie, proveEntry, type TrieNode } from './trie.ts'

/** Proof that a transaction's receipt is in a block. The block's hash alone verifies it. */
export type InclusionProof = {
  readonly txHash: Hex
  readonly txIndex: number
  /** The header in RLP. Its keccak256 is the block's hash. */
  readonly header: Hex
  /** Unix seconds. */
  readonly timestamp: number
  /** The nodes from the header's `receiptsRoot` to the receipt. */
  readonly nodes: readonly Hex[]
  readonly logs: readonly RawLog[]
}

/**
 * Proves transactions of one final block. One node is enough: data that does not hash to the block is no proof, and the
 * next node is asked. Throws NodeFailure if no node can prove them now.
 */
export function proveInBlock(
  rpc: Rpc,
  block: { readonly number: number; readonly hash: Hex },
  txHashes: ReadonlySet<Hex>,
): Promise<InclusionProof[]> {
  return rpc.any(async (node) => {
    const [header, receipts] = await Promise.all([node.rawHeader(block.number), node.rawReceipts(block.number)])
    if (keccak256(header.encoded) !== block.hash) throw unproved(node, `its block ${block.number} is not ${block.hash}`)
    if (receipts.length === 0) throw unproved(node, `it has no receipts of block ${block.number}`)
    const { trie, counted } = buildReceiptTrie(receipts, { ...block, root: header.receiptsRoot })
    if (trie.hash !== header.receiptsRoot)
      throw unproved(node, `its receipts are not those of block ${block.number}: they have another root`)
    return counted.flatMap(({ txHash, logs }, txIndex) => {
      if (!txHashes.has(txHash)) return []
      const nodes = proveEntry(trie, encodePath(txIndex))
      return [{ txHash, txIndex, header: header.encoded, timestamp: header.timestamp, nodes, logs }]
    })
  })
}

/**
 * Not a wrong answer: pruned nodes have lost receipts, and Erigon's had other ones
 * (https://github.com/0xPolygon/erigon/issues/97). It must cost no node its trust.
 */
const unproved = (node: RpcNode, answer: string): NodeFailure => new NodeFailure(node.name, { kind: 'refused', answer })

/**
 * Builds the trie of a block's receipts. Before the Madhugiri fork (PIP-74) Polygon's nodes append the receipt of the
 * state sync, which is not in the root.
 */
function buildReceiptTrie(
  receipts: readonly RawReceipt[],
  block: { readonly number: number; readonly hash: Hex; readonly root: Hex },
): { trie: TrieNode; counted: readonly RawReceipt[] } {
  const trie = build(receipts)
  const last = receipts.at(-1)
  if (trie.hash === block.root || receipts.length < 2 || last?.txHash !== stateSyncHash(block))
    return { trie, counted: receipts }
  const counted = receipts.slice(0, -1)
  return { trie: build(counted), counted }
}

const build = (receipts: readonly RawReceipt[]): TrieNode =>
  buildTrie(receipts.map(({ encoded }, index) => ({ path: encodePath(index), value: encoded })))

/**
 * Returns the hash under which Bor shows a block's state sync: of `matic-bor-receipt-`, the number in 8 bytes, the
 * hash.
 */
function stateSyncHash({ number, hash }: { readonly number: number; readonly hash: Hex }): Hex {
  const prefix = Buffer.from('matic-bor-receipt-').toString('hex')
  return keccak256(`0x${prefix}${number.toString(16).padStart(16, '0')}${hash.slice(2)}`)
}

function encodePath(index: number): string {
  const digits = index === 0 ? '' : index.toString(16)
  return toRlp(`0x${digits.length % 2 === 0 ? digits : `0${digits}`}`).slice(2)
}
