import type { Hex } from '../../domain/hex.ts'
import type { FinalLogs, TreasuryLog } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { NodeFailure } from '../rpc/failure.ts'
import type { Log, LogFilter, RpcNode } from '../rpc/node.ts'
import { TOPICS } from '../token/contracts.ts'
import { readBlockTimes } from './block-times.ts'

/** An event of the treasury as read from logs, without the gas paid for it. */
export type Fact = Omit<TreasuryLog, 'gasShare'>

export type Scope = {
  readonly token: Hex
  /** The configured treasuries, and those that another worker has recorded since. */
  treasuries: readonly Hex[]
}

const WORD = /^0x[0-9a-f]{64}$/

export const asTopic = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`
const asAddress = (topic: Hex | undefined): Hex => `0x${(topic ?? '').slice(-40)}`

const logKey = (log: { txHash: Hex; logIndex: number }): string => `${log.txHash}:${log.logIndex}`

/** Reads all logs of the token about the treasuries in a range of blocks, in the order of the chain. */
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
 * has no nonce: the platform did not make it.
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
    // Anybody can move zero USDC in the name of anybody. With an authorization it uses up a nonce.
    if (microUsdc === '0' && (authNonce === null || !treasuries.includes(from))) return []
    if (!treasuries.includes(from))
      return [{ ...place, treasury: to, kind: 'in', authNonce: null, counterparty: from, microUsdc }]
    return [{ ...place, treasury: from, kind: 'out', authNonce, counterparty: to, microUsdc }]
  })
}

export function ourLogs(logs: readonly Log[], { token, treasuries }: Scope): Log[] {
  const topics = new Set(treasuries.map(asTopic))
  return logs.filter((entry) => entry.address === token && entry.topics.slice(1, 3).some((topic) => topics.has(topic)))
}

type Reading = Pick<SettlementDeps, 'rpc' | 'journal' | 'relayers' | 'options'>

/**
 * Returns what the logs mean, as the journal stores it. Reads the sender of a transaction only if it used a nonce that
 * no payout here has: the database may have forgotten what a lane of the platform has sent.
 */
export async function readFound(
  { rpc, journal, relayers, options }: Reading,
  logs: readonly Log[],
  treasuries: readonly Hex[],
): Promise<FinalLogs> {
  const facts = readFacts(logs, treasuries)
  const nonces = facts.flatMap(({ kind, authNonce }) => (kind === 'out' && authNonce !== null ? [authNonce] : []))
  const strange = nonces.length === 0 ? new Set() : await journal.listStrange(nonces)
  const asked = new Set(facts.filter(({ authNonce }) => strange.has(authNonce)).map(({ txHash }) => txHash))
  const ours = new Set<string>(relayers.map(({ address }) => address.toLowerCase()))
  const ownTransactions: Hex[] = []
  for (const txHash of asked)
    if (ours.has(await rpc.demand(`who sent ${txHash}`, (node) => readSender(node, txHash))))
      ownTransactions.push(txHash)
  const stored = facts.map((fact) => ({ ...fact, gasShare: null }))
  const blockTimes = await readBlockTimes(rpc, facts)
  return { logs: stored, ownTransactions, treasuries, limits: options.limits, blockTimes }
}

/** Throws for a node that is behind: it must not vote for the absence of what it does not know. */
async function readSender(node: RpcNode, txHash: Hex): Promise<Hex> {
  const found = await node.transaction(txHash)
  if (found === null) throw new NodeFailure(node.name, { kind: 'refused', answer: `has no transaction ${txHash}` })
  return found.from
}
