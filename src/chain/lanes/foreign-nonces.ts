import type { Hex } from '../../domain/hex.ts'
import { RETAINED_STATES, type SettlementDeps } from '../context.ts'
import { isNoAnswer, isTooLarge, NodeFailure } from '../rpc/failure.ts'
import type { RpcNode, Transaction } from '../rpc/node.ts'
import type { Rpc } from '../rpc/rpc.ts'

/** Number of blocks that are searched for the transaction of a nonce, if nodes still have their states. */
const SEARCHED_BLOCKS = 4096

/** Maximum number of nonces that are explained; of more, only the newest. */
const EXPLAINED_NONCES = 20

/**
 * Maximum number of transactions that are read from the treasuries' logs. They include the newest nonces of ten lanes.
 */
const SEARCHED_LOGGED = 200

/** Transactions that are read together: the newest usually suffice. */
const ASKED_TOGETHER = 20

const AGGREGATE3 = '0x82ad56cb'

type Used = { readonly nonces: readonly number[]; readonly final: number; readonly head: number }

/**
 * Returns true if the nonces that this journal did not use belong to transactions that the platform's lanes send:
 * batches (from an engine whose journal was lost), an empty transfer to the wallet itself, or a top-up of a relayer.
 * Any other transaction means that somebody else has the key. Transactions older than the states that nodes retain are
 * searched among the logs of the treasuries; one that is not there is not explained. Throws if too few nodes answer
 * now.
 */
export async function areExplained(deps: SettlementDeps, wallet: Hex, used: Used): Promise<boolean> {
  const history = createHistory(deps.rpc, wallet)
  const lanes = await deps.journal.readLaneWallets()
  const isOurs = (found: Transaction | null | undefined): boolean =>
    found !== null && found !== undefined && isLikeOurs(deps, { wallet, lanes }, found)
  try {
    const { low, mayBeLower } = await findOldest(history, used)
    const older: number[] = []
    for (const nonce of used.nonces.slice(-EXPLAINED_NONCES)) {
      const found = await findTransaction(history, { nonce, low, final: used.final })
      if (found === 'older') older.push(nonce)
      else if (!isOurs(found)) return false
    }
    const logged = await findLogged(deps, wallet, older)
    if (older.every((nonce) => isOurs(logged.get(nonce)))) return true
    if (mayBeLower) throw disagreement()
    return false
  } catch (failure) {
    // A stranger's data in the same block proves nothing about the key, nor does a database that does not answer.
    if (!(failure instanceof NodeFailure) || isNoAnswer(failure) || isTooLarge(failure)) throw failure
    return false
  }
}

/** A relayer whose key was removed since may have received gas money. */
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

/**
 * Returns the number of nonces that a wallet had used by a block, by quorum: a node that lies only when it is asked
 * alone would lead every search to a wrong block. Cached, because neighboring nonces are often in one block.
 */
type History = { readonly rpc: Rpc; readonly wallet: Hex; readonly countAt: (block: number) => Promise<number> }

function createHistory(rpc: Rpc, wallet: Hex): History {
  const counts = new Map<number, Promise<number>>()
  return {
    rpc,
    wallet,
    countAt(block) {
      const value = counts.get(block) ?? agreed(rpc, (node) => node.transactionCount(wallet, block))
      counts.set(block, value)
      return value
    },
  }
}

/**
 * Returns the oldest searched block whose state a quorum has: pruning nodes have only the last ones. `mayBeLower`: a
 * node that does not answer now may have an older one.
 */
async function findOldest(
  { rpc, wallet }: History,
  { final, head }: Used,
): Promise<{ low: number; mayBeLower: boolean }> {
  const farthest = Math.max(0, final - SEARCHED_BLOCKS)
  const kept = Math.min(final, Math.max(farthest, head - RETAINED_STATES))
  let mayBeLower = false
  for (const low of new Set([farthest, kept])) {
    const read = (node: RpcNode): Promise<number> => node.transactionCount(wallet, low)
    if ((await rpc.agreed(read)) !== null) return { low, mayBeLower }
    const answers = await Promise.allSettled(rpc.nodes.map(read))
    const possible = answers.filter((answer) => answer.status === 'fulfilled' || isNoAnswer(answer.reason))
    mayBeLower ||= possible.length >= rpc.quorum
  }
  return { low: final, mayBeLower }
}

/** Finds the transaction of a nonce by bisection: a wallet's transaction count only grows from block to block. */
async function findTransaction(
  { rpc, wallet, countAt }: History,
  { nonce, low: oldest, final }: { nonce: number; low: number; final: number },
): Promise<Transaction | 'older' | null> {
  let low = oldest
  let high = final
  if ((await countAt(low)) > nonce) return 'older'
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if ((await countAt(middle)) > nonce) high = middle
    else low = middle
  }
  // Read again, together with the transactions: the height may have another block since.
  const { before, after, sent } = await agreed(rpc, async (node) => {
    const [usedBefore, usedAfter, transactions] = await Promise.all([
      node.transactionCount(wallet, low),
      node.transactionCount(wallet, high),
      node.transactions(high, wallet),
    ])
    return { before: usedBefore, after: usedAfter, sent: transactions }
  })
  if (before > nonce || after <= nonce) throw disagreement()
  return sent.find((transaction) => transaction.nonce === nonce) ?? null
}

/**
 * Finds the transactions of these nonces among those in the treasuries' logs that this journal did not send. A quorum
 * confirms each of them.
 */
async function findLogged(
  { rpc, journal }: SettlementDeps,
  wallet: Hex,
  nonces: readonly number[],
): Promise<Map<number, Transaction>> {
  const found = new Map<number, Transaction>()
  const left = new Set(nonces)
  const lowest = Math.min(...nonces)
  const logged = left.size === 0 ? [] : await journal.readForgottenTransactions(SEARCHED_LOGGED)
  for (let at = 0; at < logged.length && left.size > 0; at += ASKED_TOGETHER) {
    const hashes = logged.slice(at, at + ASKED_TOGETHER)
    const answers = await Promise.all(hashes.map((hash) => agreed(rpc, (node) => node.transaction(hash))))
    const sent = answers.flatMap((answer) => (answer?.from === wallet ? [answer] : []))
    for (const transaction of sent) if (left.delete(transaction.nonce)) found.set(transaction.nonce, transaction)
    // Newest first, in the order of the chain.
    if (sent.some(({ nonce }) => nonce < lowest)) break
  }
  return found
}

/** Reads by quorum: no single node's answer stops a lane. Throws a node's error if no node has the answer any more. */
async function agreed<T>(rpc: Rpc, read: (node: RpcNode) => Promise<T>): Promise<T> {
  const answer = await rpc.agreed(read)
  if (answer !== null) return answer.value
  await rpc.any(read)
  throw disagreement()
}

const disagreement = (): NodeFailure =>
  new NodeFailure('rpc', { kind: 'silent', answer: 'the nodes do not agree on what a wallet has sent' })
