import { whyKeysDiffer } from '../domain/settlement/treasuries.ts'
import { domainSeparator } from './authorization.ts'
import { assertNotBehind, laneWallets, type SettlementDeps, watchedTreasuries } from './context.ts'
import { describeError } from './part-report.ts'
import type { RpcNode } from './rpc/node.ts'
import { readToken } from './token/token-state.ts'

/** Thrown for a configuration with which the engine must not run. */
export class SettlementRefusal extends Error {
  override readonly name = 'SettlementRefusal'
}

function demand(condition: boolean, message: string): asserts condition {
  if (!condition) throw new SettlementRefusal(message)
}

/**
 * Checks configuration and chain before the first round. Throws SettlementRefusal for what only an operator can
 * correct; a paused token is not refused, payouts wait for it. If fewer nodes than a quorum answer, throws another
 * error: try again.
 */
export async function assertReady(deps: SettlementDeps, livemode: boolean): Promise<void> {
  const { rpc, token, relayers, log } = deps
  const treasuries = watchedTreasuries(deps)
  const wallets = laneWallets(deps)
  demand(deps.treasuries.length > 0, 'settlement needs a treasury key')
  demand(relayers.length > 0, 'settlement needs a relayer key')
  const keys = deps.treasuries.map(({ address }) => address)
  demand(new Set(keys).size === keys.length, 'the key of a treasury is configured twice')
  const differing = whyKeysDiffer(keys, deps.treasuryList)
  demand(differing === null, differing ?? '')
  demand(new Set(wallets).size === wallets.length, 'two keys of relayers and of their gas money are the same')
  demand(
    !treasuries.some((treasury) => wallets.includes(treasury)),
    'the treasury must not be a relayer or hold their gas money: it signs typed data only',
  )
  demand(!livemode || rpc.quorum >= 2, 'live mode needs a finality quorum of at least 2')
  if (rpc.quorum < 2) log.warn({ quorum: rpc.quorum }, 'finality is decided by one node')
  await assertNodes(deps)
  const signers = [...keys, ...wallets]
  // One read: each further one could fail separately while nodes lose answers.
  const { state, codes } = await agreed(deps, async (node) => {
    const reads = (['decimals', 'paused', 'domainSeparator'] as const).map((view) => ({ view, args: [] }))
    const [values, ...found] = await Promise.all([
      readToken(node, token.address, { reads }),
      ...signers.map((wallet) => node.code(wallet)),
    ])
    return { state: values, codes: found }
  })
  const [decimals, paused, separator] = state
  demand(decimals === 6n, `${token.address} has ${String(decimals)} decimals: not USDC`)
  demand(
    separator === BigInt(domainSeparator(token)),
    `the EIP-712 domain of ${token.address} is not "${token.name}", version 2`,
  )
  if (paused === 1n) log.warn({}, 'the USDC contract is paused: payouts are held until it is not')
  for (const [index, wallet] of signers.entries())
    demand(codes[index] === '0x', `${wallet} carries code (an EIP-7702 delegation?): its signatures would be refused`)
  await assertChainHasHistory(deps)
}

/**
 * Requires a quorum of nodes on the configured chain; the others may be down, and return later. A node of another chain
 * is left out and named. Throws SettlementRefusal if so many serve another chain that no quorum can ever be left.
 */
async function assertNodes({ rpc, log }: SettlementDeps): Promise<void> {
  const answers = await Promise.allSettled(rpc.nodes.map((node) => node.chainId()))
  const good = answers.filter(({ status }) => status === 'fulfilled').length
  const wrong = rpc.nodes.filter(({ health }) => health.leftOut()).map(({ health }) => health.view().why)
  const quorum = `a quorum needs ${rpc.quorum} of ${rpc.nodes.length} nodes`
  demand(rpc.nodes.length - wrong.length >= rpc.quorum, `${wrong.join(', ')}: ${quorum}`)
  if (good < rpc.quorum) {
    const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [describeError(answer.reason)] : []))
    throw new Error(`${good} nodes answer, and ${quorum}: ${refusals.join(', ')}`)
  }
  for (const [index, answer] of answers.entries())
    if (answer.status === 'rejected')
      log.warn({ node: rpc.nodes[index]?.name, err: answer.reason }, 'settlement starts without this node')
}

/** Returns a quorum's answer; throws if there is none now. */
async function agreed<T>({ rpc }: SettlementDeps, read: (node: RpcNode) => Promise<T>): Promise<T> {
  const answer = await rpc.agreed(read)
  if (answer === null) throw new Error('the nodes do not agree, or too few of them answer')
  return answer.value
}

/**
 * Throws SettlementRefusal for another chain than the one that was read: it must not be paid on. A quorum that is
 * behind throws another error: a node that is down and another that is late are an ordinary day.
 */
async function assertChainHasHistory(deps: SettlementDeps): Promise<void> {
  const cursor = await deps.journal.readCursor()
  if (cursor === null) return
  const { block: head } = await deps.rpc.newest(cursor.number)
  assertNotBehind(head, cursor.number)
  const known = await agreed(deps, (node) => node.block(cursor.number))
  demand(
    known.hash === cursor.hash,
    `block ${cursor.number} was final as ${cursor.hash} and is ${known.hash} now: another chain, or finality was reversed (pinrail settlement repair-finality)`,
  )
}
