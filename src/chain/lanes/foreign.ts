import type { Hex } from '../../domain/hex.ts'
import type { SettlementDeps } from '../context.ts'
import { isNoAnswer, NodeFailure } from '../rpc/failure.ts'
import type { RpcNode, Transaction } from '../rpc/node.ts'
import type { Rpc } from '../rpc/rpc.ts'

/** How many blocks back the transaction of a nonce is looked for: nodes without an archive keep so many. */
const SEARCHED_BLOCKS = 4096

/** Most nonces that are explained; of more, only the newest. */
const EXPLAINED_NONCES = 20

const AGGREGATE3 = '0x82ad56cb'

/**
 * Whether nonces that this journal did not use were used by transactions that our lanes send: batches (from an engine
 * whose journal was lost), an empty transfer to the wallet itself, or a top-up of a relayer. Any other transaction
 * means that somebody else has the key. Blocks that nodes no longer keep are not explained. Throws when no node
 * answers now.
 */
export async function areExplained(
  deps: SettlementDeps,
  wallet: Hex,
  range: { nonces: readonly number[]; final: number },
): Promise<boolean> {
  const history = createHistory(deps.rpc, wallet)
  const lanes = await deps.journal.readLaneWallets()
  try {
    for (const nonce of range.nonces.slice(-EXPLAINED_NONCES)) {
      const found = await findTransaction(history, { nonce, final: range.final })
      if (found === null || !isLikeOurs(deps, { wallet, lanes }, found)) return false
    }
    return true
  } catch (failure) {
    if (isNoAnswer(failure)) throw failure
    return false
  }
}

/** Gas money may have gone to a relayer whose key was removed since. */
function isLikeOurs(
  deps: SettlementDeps,
  { wallet, lanes }: { wallet: Hex; lanes: readonly Hex[] },
  transaction: Transaction,
): boolean {
  const { to, input } = transaction
  const relayers = [...lanes, ...deps.relayers.map(({ address }) => address.toLowerCase())]
  if (to === wallet || (to !== null && relayers.includes(to))) return input === '0x'
  const { target } = deps.codec.encode(deps.token.address, [])
  return to === target && input.startsWith(AGGREGATE3) && input.includes(deps.token.address.slice(2))
}

/** How many nonces a wallet had used by a block. Cached, because neighbouring nonces are often in one block. */
type History = { readonly rpc: Rpc; readonly wallet: Hex; readonly countAt: (block: number) => Promise<number> }

function createHistory(rpc: Rpc, wallet: Hex): History {
  const counts = new Map<number, Promise<number>>()
  return {
    rpc,
    wallet,
    countAt(block) {
      const value = counts.get(block) ?? rpc.any((node) => node.transactionCount(wallet, block))
      counts.set(block, value)
      return value
    },
  }
}

/**
 * Finds the transaction of a nonce. One node's word is enough to find the block, by bisection: a wallet's transaction count
 * only grows from block to block. What is found there, or that nothing is, a quorum must say.
 */
async function findTransaction(
  { rpc, wallet, countAt }: History,
  { nonce, final }: { nonce: number; final: number },
): Promise<Transaction | null> {
  let low = Math.max(0, final - SEARCHED_BLOCKS)
  let high = final
  if ((await countAt(low)) > nonce) {
    if ((await agreed(rpc, (node) => node.transactionCount(wallet, low))) > nonce) return null
    throw disagreement()
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if ((await countAt(middle)) > nonce) high = middle
    else low = middle
  }
  const { before, after, sent } = await agreed(rpc, async (node) => {
    const [usedBefore, usedAfter, transactions] = await Promise.all([
      node.transactionCount(wallet, low),
      node.transactionCount(wallet, high),
      node.transactions(high),
    ])
    return { before: usedBefore, after: usedAfter, sent: transactions.filter(({ from }) => from === wallet) }
  })
  if (before > nonce || after <= nonce) throw disagreement()
  return sent.find((transaction) => transaction.nonce === nonce) ?? null
}

/** By a quorum: no single node's word stops a lane. Throws what a node says when none has the answer any more. */
async function agreed<T>(rpc: Rpc, read: (node: RpcNode) => Promise<T>): Promise<T> {
  const answer = await rpc.agreed(read)
  if (answer !== null) return answer.value
  await rpc.any(read)
  throw disagreement()
}

const disagreement = (): NodeFailure =>
  new NodeFailure('rpc', { kind: 'silent', answer: 'the nodes do not agree on what a wallet has sent' })
