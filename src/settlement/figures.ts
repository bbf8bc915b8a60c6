import { isRecent, laneWallets, type SettlementDeps } from '../chain/context.ts'
import { type Funds, readFunds } from '../chain/token/funds.ts'
import type { Db } from '../db/db.ts'
import { readExposures, readFloatBalance, readOpenRefills, readRefillResults } from '../db/settlement/float.ts'
import { countSettlementAttention, readChainCursor, readLanes, readQueue } from '../db/settlement/observer/standing.ts'
import { readParts } from '../db/settlement/parts.ts'
import { getDecimals } from '../domain/currencies.ts'
import type { Hex } from '../domain/hex.ts'
import type { MicroUsdc } from '../domain/money.ts'
import { getFailure } from '../domain/settlement/part.ts'

/** Milliseconds for which balances are known: they change slowly, and paid nodes count calls. */
const FUNDS_MS = 30_000

/** Figures are floating point numbers, because the format of the metrics has no other. */
const units = (amount: bigint, decimals: number): number => Number(amount) / 10 ** decimals

type Chain = Pick<SettlementDeps, 'rpc' | 'token' | 'treasuries' | 'relayers' | 'funding'>

/** `reserveMicro`: what conversions leave of the float; null: there is no float. */
type FigureDeps = {
  readonly db: Db
  readonly chain: Chain
  readonly clock: () => Date
  readonly reserveMicro?: MicroUsdc | null
}

/**
 * Returns the metrics of settlement, a row for each series. Queue, cursor, lanes, parts and attention are read by one
 * statement each; the state of nodes is known already.
 */
export function createSettlementFigures({ db, chain, clock, reserveMicro = null }: FigureDeps) {
  const { token } = chain
  const scope = { chainId: token.chainId, token: token.address }
  return {
    ...createFundsFigures(chain, clock),
    ...createNodeFigures(chain.rpc),
    ...createFloatFigures(db, reserveMicro),
    async queue() {
      const rows = await readQueue(db, scope)
      return rows.map(({ state, reason, count, micro, oldestSeconds }) => ({
        state,
        reason: reason ?? 'none',
        count,
        usdc: units(BigInt(micro), 6),
        oldest_seconds: oldestSeconds,
      }))
    },
    async cursor() {
      const cursor = await readChainCursor(db, scope)
      if (cursor === null) return []
      const head = quorumHead(chain.rpc)
      return [
        {
          block: cursor.number,
          age_seconds: cursor.ageSeconds,
          lag_blocks: head === null ? null : Math.max(0, head - cursor.number),
          deposits_behind: cursor.depositsBehind,
          paused: cursor.pausedReason === null ? 0 : 1,
        },
      ]
    },
    async lanes() {
      const rows = await readLanes(db, scope)
      return rows.map(({ wallet, status, open, unminedSeconds }) => ({
        wallet,
        status,
        one: 1,
        open,
        unmined_seconds: unminedSeconds ?? 0,
      }))
    },
    async parts() {
      const rows = await readParts(db, scope)
      return rows.map((standing) => ({
        part: standing.part,
        cause: standing.cause ?? 'failure',
        failing_seconds: getFailure(standing) === null ? 0 : (standing.failingSeconds ?? 0),
      }))
    },
    async attention() {
      const rows = await countSettlementAttention(db)
      return rows.map(({ kind, count, oldestSeconds }) => ({ kind, count, oldest_seconds: oldestSeconds }))
    },
  }
}

function createFundsFigures(chain: Chain, clock: () => Date) {
  const wallets = listWallets(chain)
  const readKnownFunds = createFundsReader({ chain, wallets, clock })
  return {
    async treasuries() {
      const { micro } = await readKnownFunds()
      return wallets.treasuries.map((wallet, index) => ({
        wallet,
        role: index === 0 ? 'current' : 'earlier',
        usdc: units(micro[index] ?? 0n, 6),
      }))
    },
    async gas() {
      const { wei } = await readKnownFunds()
      return wallets.lanes.map((wallet, index) => ({
        wallet,
        role: index < chain.relayers.length ? 'relayer' : 'funding',
        pol: units(wei[index] ?? 0n, 18),
      }))
    },
  }
}

function createFloatFigures(db: Db, reserveMicro: MicroUsdc | null) {
  const usdc = (micro: MicroUsdc): number => units(BigInt(micro), 6)
  const withFloat = async <Row>(read: () => Promise<Row[]>): Promise<Row[]> => (reserveMicro === null ? [] : read())
  return {
    float: () =>
      withFloat(async () => {
        const { freeMicro, waiting } = await readFloatBalance(db)
        return [{ usdc: usdc(freeMicro), reserve_usdc: usdc(reserveMicro ?? '0'), waiting_usdc: usdc(waiting.micro) }]
      }),
    exposures: () =>
      withFloat(async () =>
        (await readExposures(db)).map(({ money: { minor, currency }, costMicro }) => ({
          currency,
          amount: units(BigInt(minor), getDecimals(currency)),
          cost_usdc: usdc(costMicro),
        })),
      ),
    refills: () =>
      withFloat(async () =>
        (await readOpenRefills(db)).map(({ money: { currency }, partner, seconds, isStuck }) => ({
          currency,
          partner,
          open_seconds: seconds,
          stuck: isStuck ? 1 : 0,
        })),
      ),
    results: () =>
      withFloat(async () =>
        (await readRefillResults(db)).map(({ currency, gainMicro, spreadMicro }) => ({
          currency,
          gain_usdc: usdc(gainMicro),
          spread_usdc: usdc(spreadMicro),
        })),
      ),
  }
}

function createNodeFigures(rpc: Chain['rpc']) {
  return {
    async nodes() {
      return rpc.health().map(({ name, state, head, latencyMs, failures, wrong }) => ({
        node: name,
        state,
        one: 1,
        head,
        latency_seconds: latencyMs === null ? null : latencyMs / 1000,
        failures,
        wrong,
      }))
    },
    async calls() {
      return rpc
        .health()
        .flatMap(({ name, calls }) => Object.entries(calls).map(([method, count]) => ({ node: name, method, count })))
    },
    async quorum() {
      const usable = rpc.health().filter(({ state }) => state === 'good' || state === 'doubtful')
      return [{ spare: usable.length - rpc.quorum }]
    },
  }
}

export type SettlementFigures = ReturnType<typeof createSettlementFigures>

type Wallets = { readonly treasuries: readonly Hex[]; readonly lanes: readonly Hex[] }

const listWallets = (chain: Chain): Wallets => ({
  treasuries: chain.treasuries.map(({ address }) => address.toLowerCase() as Hex),
  lanes: laneWallets(chain),
})

/** Makes one call of one node for all wallets, and none if they were read recently. */
function createFundsReader({ chain, wallets, clock }: { chain: Chain; wallets: Wallets; clock: () => Date }) {
  let known: { readonly at: number; readonly funds: Promise<Funds> } | null = null
  return function readKnownFunds(): Promise<Funds> {
    const now = clock().getTime()
    if (known !== null && isRecent(known.at, now, FUNDS_MS)) return known.funds
    const funds = chain.rpc.any((node) => readFunds(node, { token: chain.token.address, ...wallets }))
    const asked = { at: now, funds }
    known = asked
    // After a failure, the next page asks again.
    funds.catch(() => {
      if (known === asked) known = null
    })
    return funds
  }
}

/** Returns the newest block that a quorum of nodes has shown this process; null while fewer have. */
function quorumHead(rpc: Chain['rpc']): number | null {
  const heads = rpc.health().flatMap(({ head }) => (head === null ? [] : [head]))
  return heads.toSorted((a, b) => b - a)[rpc.quorum - 1] ?? null
}
