import type { Hex } from '../../domain/hex.ts'
import type { FinalizedScan, TreasuryLog } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { NodeFailure } from '../rpc/failure.ts'
import type { Log, LogFilter, Receipt, RpcNode } from '../rpc/node.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { TOPICS } from '../token/contracts.ts'

/** An event of the treasury as read from logs, without the gas paid for it. */
export type Fact = Omit<TreasuryLog, 'gasShare'>

/** Whose logs are read. */
export type Scope = { readonly token: Hex; readonly treasuries: readonly Hex[] }

const WORD = /^0x[0-9a-f]{64}$/

export const asTopic = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`
const asAddress = (topic: Hex | undefined): Hex => `0x${(topic ?? '').slice(-40)}`

const logKey = (log: { txHash: Hex; logIndex: number }): string => `${log.txHash}:${log.logIndex}`

/** All logs of the token about the treasuries in a range of blocks, in the order of the chain. */
export async function treasuryLogs(
  node: RpcNode,
  scope: Scope,
  range: Pick<LogFilter, 'fromBlock' | 'toBlock'>,
): Promise<Log[]> {
  const wallets = scope.treasuries.map(asTopic)
  const events = [TOPICS.authorizationUsed, TOPICS.authorizationCanceled, TOPICS.transfer]
  const incoming = [TOPICS.transfer, null, wallets]
  const logs = await node.logs({ address: scope.token, ...range, topics: [events, wallets], orTopics: incoming })
  const all = new Map(logs.map((log) => [logKey(log), log]))
  return [...all.values()].toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}

/**
 * Reads facts from logs. A payout is the pair `AuthorizationUsed(treasury, nonce)` directly followed by
 * `Transfer(treasury, to, value)` in one transaction, as FiatTokenV2_2 emits them. A transfer without its authorization
 * has no nonce: we did not make it.
 */
export function readFacts(logs: readonly Log[], treasuries: readonly Hex[]): Fact[] {
  const byKey = new Map(logs.map((log) => [logKey(log), log]))
  return logs.flatMap((log): Fact[] => {
    const [topic, first, second] = log.topics
    const from = asAddress(first)
    const to = asAddress(second)
    const { txHash, logIndex, blockNumber, blockHash } = log
    const place = { txHash, logIndex, blockNumber, blockHash }
    if (topic === TOPICS.authorizationCanceled)
      return [
        { ...place, treasury: from, kind: 'cancel', authNonce: second ?? null, counterparty: null, microUsdc: null },
      ]
    if (topic !== TOPICS.transfer || !WORD.test(log.data)) return []
    const microUsdc = BigInt(log.data).toString()
    const before = byKey.get(logKey({ txHash, logIndex: logIndex - 1 }))
    const authNonce = before?.topics[0] === TOPICS.authorizationUsed ? (before.topics[2] ?? null) : null
    // Anybody may move nothing, in the name of anybody. With an authorization it uses up a nonce.
    if (microUsdc === '0' && (authNonce === null || !treasuries.includes(from))) return []
    if (!treasuries.includes(from))
      return [{ ...place, treasury: to, kind: 'in', authNonce: null, counterparty: from, microUsdc }]
    return [{ ...place, treasury: from, kind: 'out', authNonce, counterparty: to, microUsdc }]
  })
}

/**
 * The share of each authorization, in wei, of the gas that one of our wallets paid for its transaction: also a lane whose
 * key was removed since, because what it has sent may be mined later. Such a key explains no transfer any more, so only
 * transactions of the relayers that we have are answered as our own.
 */
export async function shareGas(
  { rpc, journal, relayers }: Pick<SettlementDeps, 'rpc' | 'journal' | 'relayers'>,
  facts: readonly Fact[],
): Promise<Pick<FinalizedScan, 'logs' | 'ownTransactions' | 'paid'>> {
  const counts = new Map<Hex, bigint>()
  for (const fact of facts) if (fact.authNonce !== null) counts.set(fact.txHash, (counts.get(fact.txHash) ?? 0n) + 1n)
  const keyed = new Set<string>(relayers.map(({ address }) => address.toLowerCase()))
  const unshared = { logs: facts.map((fact) => ({ ...fact, gasShare: null })), ownTransactions: [], paid: [] }
  // Most blocks have nothing of ours, and ask nothing.
  if (counts.size === 0) return unshared
  const hashes = [...counts.keys()]
  const { wallets, sent } = await journal.readSenders(hashes)
  const payers = new Set([...keyed, ...wallets])
  // Without lanes nothing was paid by us, and receipts of years ago may be gone.
  if (payers.size === 0) return unshared
  const receipts = await Promise.all(hashes.map((hash) => paidReceipt(rpc, hash, { payers, isSent: sent.has(hash) })))
  const paid = new Map(receipts.flatMap((receipt) => (receipt === null ? [] : [[receipt.txHash, receipt]])))
  const logs = facts.map((fact): TreasuryLog => {
    const receipt = fact.authNonce === null ? undefined : paid.get(fact.txHash)
    const count = counts.get(fact.txHash) ?? 1n
    return { ...fact, gasShare: receipt === undefined ? null : (receipt.gasUsed * receipt.gasPrice) / count }
  })
  const own = [...paid.values()].filter(({ from }) => keyed.has(from))
  return { logs, ownTransactions: own.map(({ txHash }) => txHash), paid: [...paid.values()] }
}

/**
 * What one of our wallets paid for the transaction, by a quorum; null when somebody else has sent it. Such a receipt is not
 * asked for: who carries payouts of ours may put 16 MB of logs beside them. Of what we have signed the hash says whose it is.
 */
async function paidReceipt(
  rpc: Rpc,
  txHash: Hex,
  { payers, isSent }: { payers: ReadonlySet<string>; isSent: boolean },
): Promise<Receipt | null> {
  if (!isSent && (await isOfOthers(rpc, txHash, payers))) return null
  const receipt = await rpc.agreed((node) => present(node, `receipt of ${txHash}`, node.receipt(txHash)))
  if (receipt === null)
    throw new NodeFailure('rpc', { kind: 'silent', answer: `no quorum has the receipt of ${txHash}` })
  return payers.has(receipt.value.from) ? receipt.value : null
}

/** What a quorum says. Nodes that do not give the transaction may give its receipt, which tells the sender too. */
async function isOfOthers(rpc: Rpc, txHash: Hex, payers: ReadonlySet<string>): Promise<boolean> {
  const sender = await rpc.agreed(
    async (node) => (await present(node, `transaction ${txHash}`, node.transaction(txHash))).from,
  )
  return sender !== null && !payers.has(sender.value)
}

/** A node that is behind must not vote for the absence of what it does not know. */
async function present<T>(node: RpcNode, what: string, asked: Promise<T | null>): Promise<T> {
  const found = await asked
  if (found === null) throw new NodeFailure(node.name, { kind: 'refused', answer: `has no ${what}` })
  return found
}
