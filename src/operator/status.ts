import type { Block, RpcNode } from '../chain/rpc/node.ts'
import type { Rpc } from '../chain/rpc/rpc.ts'
import { readFunds } from '../chain/token/funds.ts'
import type { OperatorConfig } from '../config/config.ts'
import type { Db } from '../db/db.ts'
import { readFloat } from '../db/settlement/float.ts'
import {
  listSettlementAttention,
  readChainCursor,
  readLanes,
  readLatelySettled,
  readQueue,
  readTakeOvers,
  readWanting,
} from '../db/settlement/observer/standing.ts'
import { readParts } from '../db/settlement/parts.ts'
import { readTreasuryList } from '../db/settlement/signing/treasuries.ts'
import { formatAmount, formatPol, formatUsdc } from '../domain/money.ts'
import { plural } from '../domain/plural.ts'
import { type Answer, summarizeStanding } from '../domain/settlement/answer.ts'
import type { Standing } from '../domain/settlement/standing.ts'
import { ageText } from '../domain/settlement/troubles.ts'
import { columns } from './call.ts'
import { type Operation, stateText } from './payouts.ts'
import { connectNodes } from './rebuild.ts'

/**
 * The first line says whether money is moving, and if not, why; then what to do, then the figures. Returns 1 if
 * something needs attention.
 */
export async function showStatus(operation: Operation): Promise<number> {
  const { say, give = () => undefined } = operation
  const standing = await readStanding(operation)
  const answer = summarizeStanding(standing)
  give('settlement', { ...answer, ...standing })
  say(answer.text)
  const sections = [queueLines, floatLines, partLines, chainLines, walletLines]
  for (const line of [...todoLines(answer), ...sections.flatMap((renderLines) => renderLines(standing))]) say(line)
  for (const { kind, subject, detail } of standing.attention)
    say(`WARNING: ${kind} ${subject}: ${detail ?? 'no detail'}`)
  return answer.troubles.length === 0 ? 0 : 1
}

type Asking = { readonly db: Db; readonly settings: ChainSettings }
type ChainSettings = Pick<
  OperatorConfig,
  | 'POLYGON_RPC_URLS'
  | 'FINALITY_QUORUM'
  | 'CHAIN_ID'
  | 'USDC_ADDRESS'
  | 'TREASURIES'
  | 'CONVERTER'
  | 'FLOAT_RESERVE_USDC'
>

export async function readStanding(asking: Asking): Promise<Standing> {
  const { db, settings } = asking
  const scope = { chainId: settings.CHAIN_ID, token: settings.USDC_ADDRESS }
  const lanes = await readLanes(db, scope)
  const [queue, wanting, takeOvers, settled, cursor, parts, float, attention, chain] = await Promise.all([
    readQueue(db, scope),
    readWanting(db, scope),
    readTakeOvers(db, scope),
    readLatelySettled(db),
    readChainCursor(db, scope),
    readParts(db, scope),
    settings.CONVERTER === 'float' ? readFloat(db, `${settings.FLOAT_RESERVE_USDC}000000`) : null,
    listSettlementAttention(db),
    readChain(asking, lanes),
  ])
  return { queue, wanting, takeOvers, settled, cursor, lanes, parts, float, attention, chain }
}

async function readChain({ db, settings }: Asking, lanes: Standing['lanes']): Promise<Standing['chain']> {
  const scope = { chainId: settings.CHAIN_ID, token: settings.USDC_ADDRESS }
  const stamped = await readTreasuryList(db, scope)
  const list = stamped.length > 0 ? stamped : settings.TREASURIES
  const treasuries = list.map(({ address }) => address)
  const wallets = lanes.map(({ wallet }) => wallet)
  // The first line is the answer. A failing node is reported below it.
  const rpc = connectNodes({ settings, say: () => undefined })
  const [final, heads, funds] = await Promise.all([
    rpc.finalized().catch(() => null),
    readHeads(rpc),
    rpc.any((node) => readFunds(node, { token: scope.token, treasuries, lanes: wallets })).catch(() => null),
  ])
  return {
    nodes: heads,
    quorum: rpc.quorum,
    final: final?.number ?? null,
    treasuries: treasuries.map((wallet, index) => ({ wallet, micro: funds?.micro[index] ?? null })),
    gas: wallets.map((wallet, index) => ({ wallet, wei: funds?.wei[index] ?? null })),
  }
}

/** Calls in one request, as a worker sends them: a node may refuse that. */
const ASKED_TOGETHER = 6

/** Each node separately, so that a failing one is named with its error. */
function readHeads(rpc: Rpc): Promise<Standing['chain']['nodes'][number][]> {
  return Promise.all(
    rpc.nodes.map(async (node) => {
      const { name } = node
      try {
        const [head, final] = await readHead(node)
        return { name, head: head.number, final: final.number, why: null }
      } catch (error) {
        return { name, head: null, final: null, why: error instanceof Error ? error.message : String(error) }
      }
    }),
  )
}

async function readHead(node: RpcNode): Promise<readonly [Block, Block]> {
  const others = Array.from({ length: ASKED_TOGETHER - 2 }, () => node.chainId())
  const [head, final] = await Promise.all([node.block('latest'), node.block('finalized'), ...others])
  return [head, final]
}

const todoLines = ({ troubles }: Answer): string[] =>
  troubles.length === 0
    ? []
    : ['', 'What to do', ...troubles.flatMap(({ what, todo }) => [`  ${capital(what)}.`, `    ${todo}`])]

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

function queueLines({ queue, settled }: Standing): string[] {
  const rows = queue.map(({ state, reason, count, micro, oldestSeconds }) => [
    `  ${stateText(state, reason)}`,
    plural(count, 'payout'),
    `${formatUsdc(micro)} USDC`,
    `the oldest for ${ageText(oldestSeconds)}`,
  ])
  const last = settled.secondsAgo === null ? 'none yet' : `the last one ${ageText(settled.secondsAgo)} ago`
  return ['', 'Payouts', ...columns(rows), `  settled: ${settled.count} in the last ten minutes, ${last}`]
}

function floatLines({ float }: Standing): string[] {
  if (float === null) return []
  const { freeMicro, reserveMicro, waiting, exposures, refills, results } = float
  const exposed = exposures.map(({ money, costMicro }) => [
    `  exposure ${money.currency}`,
    formatAmount(money),
    `for ${formatUsdc(costMicro)} USDC`,
  ])
  const open = refills.map(({ id, money, partner, word, seconds }) => [
    `  refill ${id}`,
    `${formatAmount(money)} ${money.currency}`,
    `${partner}: ${word ?? 'not asked yet'}`,
    `since ${ageText(seconds)}`,
  ])
  const done = results.map(({ currency, gainMicro, spreadMicro, costMicro }) => [
    `  30 days ${currency}`,
    `${formatUsdc(costMicro)} USDC refilled`,
    `gain ${formatUsdc(gainMicro)}`,
    `spread ${formatUsdc(spreadMicro)}`,
  ])
  const wait =
    waiting.count === 0
      ? ''
      : `, ${plural(waiting.count, 'conversion')} not filled for ${ageText(waiting.oldestSeconds)}`
  return [
    '',
    'Float',
    `  ${formatUsdc(freeMicro)} USDC, reserve ${formatUsdc(reserveMicro)}${wait}`,
    ...columns(exposed),
    ...columns(open),
    ...columns(done),
  ]
}

function chainLines({ cursor, chain }: Standing): string[] {
  const read =
    cursor === null
      ? '  never read'
      : `  read to final block ${cursor.number} ${cursor.hash}, ${ageText(cursor.ageSeconds)} ago`
  const final =
    chain.final === null ? 'no quorum agrees on a final block' : `a quorum agrees that block ${chain.final} is final`
  const pause = cursor === null || cursor.pausedReason === null ? [] : [`  PAUSED: ${cursor.pausedReason}`]
  const nodes = chain.nodes.map(({ name, head, final: last, why }) => [
    `  ${name}`,
    head === null ? `no answer: ${why}` : `at ${head}, final ${last}`,
  ])
  return ['', 'Chain', read, `  ${final}`, ...pause, ...columns(nodes)]
}

function partLines({ parts }: Standing): string[] {
  const rows = parts.map(({ part, reportedSeconds, succeededSeconds, failingSeconds, failure }) => [
    `  ${part}`,
    succeededSeconds === null ? 'never succeeded' : `succeeded ${ageText(succeededSeconds)} ago`,
    `reported ${ageText(reportedSeconds)} ago`,
    failingSeconds === null ? '' : `failing for ${ageText(failingSeconds)}: ${failure}`,
  ])
  return rows.length === 0 ? [] : ['', 'Workers', ...columns(rows)]
}

function walletLines({ lanes, chain }: Standing): string[] {
  const lines = lanes.map(({ wallet, status, reason, nextNonce, open, unminedSeconds, isFunding }) => [
    `  ${isFunding ? 'gas money' : 'lane'} ${wallet}`,
    status,
    polText(chain.gas.find((each) => each.wallet === wallet)?.wei ?? null),
    `next nonce ${nextNonce}, ${open} on the way`,
    unminedSeconds === null ? '' : `not mined for ${ageText(unminedSeconds)}`,
    reason === null ? '' : `(${reason})`,
  ])
  const treasuries = chain.treasuries.map(({ wallet, micro }) => [
    `  treasury ${wallet}`,
    micro === null ? 'USDC unknown' : `${formatUsdc(String(micro))} USDC`,
  ])
  return ['', 'Wallets', ...columns(treasuries), ...columns(lines)]
}

const polText = (wei: bigint | null): string => (wei === null ? 'POL unknown' : `${formatPol(wei)} POL`)
