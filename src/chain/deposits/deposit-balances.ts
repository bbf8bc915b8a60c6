import type { Hex } from '../../domain/hex.ts'
import type { DepositLog, ReturnLog, WatchKind } from '../../domain/settlement/deposit.ts'
import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import { isRecent, RETAINED_STATES, type SettlementDeps, watchedTreasuries } from '../context.ts'
import { createBlockMemo } from '../lanes/block-memo.ts'
import { readBlockTimes } from '../observer/block-times.ts'
import type { Place } from '../observer/endings.ts'
import { createRange, LOG_ROUND_MS } from '../observer/logs.ts'
import { createStall } from '../observer/stall.ts'
import { readBalances } from '../token/token-state.ts'
import { depositLogs, returnLogs } from './deposit-logs.ts'

/**
 * Final blocks after which a difference is listed for operators and no longer examined, if the logs do not explain it.
 */
const GIVEN_UP_AFTER = 64

/** Milliseconds between two comparisons of the addresses whose watch has ended: one day. */
const ENDED_EVERY_MS = 86_400_000

/**
 * Blocks before the last comparison of the watched addresses that are searched for the ended ones: two days of Polygon.
 */
const ENDED_BLOCKS = 86_400

export function createDepositWatch(deps: SettlementDeps) {
  const watches = [createAddressWatch(deps, 'watched'), createAddressWatch(deps, 'ended')]
  return {
    /** Compares balances with logs at the cursor. Returns true if logs must be read. */
    async compare(lease: Lease, place: Place): Promise<boolean> {
      const grown: boolean[] = []
      for (const watch of watches) grown.push(await watch.compare(lease, place))
      return grown.includes(true)
    },

    /** Reads the transfers to the addresses that differ, within the time of one round. Returns true if it found any. */
    async readLogs(lease: Lease): Promise<boolean> {
      const found: boolean[] = []
      for (const watch of watches) found.push(await watch.readLogs(lease))
      return found.includes(true)
    },
  }
}

/** Addresses whose balance differs from their logs at a final block, and the block up to which their logs are read. */
type Grown = { readonly place: Place; readonly addresses: readonly Hex[]; readonly readTo: number }

/** Decides when addresses are compared: watched ones at each final block, those whose watch has ended once a day. */
function createPace({ journal, clock }: Pick<SettlementDeps, 'journal' | 'clock'>, kind: WatchKind) {
  const isWatched = kind === 'watched'
  let agreedAt = Number.NEGATIVE_INFINITY
  return {
    isDue: (): boolean => isWatched || !isRecent(agreedAt, clock().getTime(), ENDED_EVERY_MS),

    /** Returns the block after which the logs of the differing addresses are read. */
    readFrom({ firstNumber, depositsNumber, number }: ChainCursor, grown: Grown | null): number {
      if (isWatched) return depositsNumber
      if (grown !== null) return Math.min(grown.readTo, number - GIVEN_UP_AFTER)
      return Math.max(firstNumber, depositsNumber - ENDED_BLOCKS)
    },

    async agree(lease: Lease, { cursor: { number }, timestamp }: Place): Promise<void> {
      agreedAt = clock().getTime()
      if (isWatched) await journal.moveDeposits(lease, { number, timestamp })
    },

    /**
     * Records that logs are read up to a block. A node may have a block before its logs, so the last ones are read
     * again.
     */
    async noteRead(lease: Lease, cursor: ChainCursor, to: number): Promise<void> {
      const number = Math.min(to, cursor.number - GIVEN_UP_AFTER)
      if (isWatched && number > cursor.depositsNumber) await journal.moveDeposits(lease, { number, timestamp: null })
    },
  }
}

type Moved = { readonly arrived: readonly DepositLog[]; readonly returned: readonly ReturnLog[] }

function createDepositReader(deps: SettlementDeps, tokens: readonly Hex[]) {
  const { rpc, journal, token } = deps
  const range = createRange()
  const treasuries = watchedTreasuries(deps)
  return {
    size: range.size,
    /** Null if no quorum shows them now. */
    async ask(addresses: readonly Hex[], fromBlock: number, toBlock: number): Promise<Moved | null> {
      const blocks = { fromBlock, toBlock }
      const returning = await journal.listReturning(addresses)
      const senders = { token: token.address, addresses: returning, treasuries }
      const logs = await rpc
        .agreed(async (node) => ({
          arrived: await depositLogs(node, { tokens, addresses }, blocks),
          returned: returning.length === 0 ? [] : await returnLogs(node, senders, blocks),
        }))
        .catch(() => null)
      range.note(logs !== null)
      return logs?.value ?? null
    },
  }
}

/**
 * Reads logs only of addresses whose balance differs: the token has the balances, and the logs show who paid. Reading
 * them delays no payout. Memory contains only the differences.
 */
function createAddressWatch(deps: SettlementDeps, kind: WatchKind) {
  const { deposits, journal, rpc } = deps
  const stall = createStall(deps, 'the reading of deposits')
  const tokens = watchedTokens(deps)
  const findDifferences = createComparison(deps, tokens, kind)
  const reader = createDepositReader(deps, tokens)
  const pace = createPace(deps, kind)
  const differenceTracker = createDifferenceTracker(deps)
  let compared = ''
  let grown: Grown | null = null

  /**
   * Returns the addresses whose logs must be read; none if all are read up to the cursor; null if no quorum answers.
   */
  async function compareAt(lease: Lease, place: Place, isRead: boolean): Promise<Hex[] | null> {
    const differences = await findDifferences(place.cursor)
    if (differences === null) return null
    if (differences.explained.length > 0) await journal.dropDepositFindings(differences.explained)
    const open = await differenceTracker.choose(differences.found, { number: place.cursor.number, isRead })
    if (open.size === 0) await pace.agree(lease, place)
    return [...open]
  }

  return {
    async compare(lease: Lease, place: Place): Promise<boolean> {
      const { cursor, head } = place
      const isNew = deposits !== null && cursor.hash !== compared && head.number - cursor.number <= RETAINED_STATES
      const addresses = isNew && pace.isDue() ? await compareAt(lease, place, false) : null
      if (addresses !== null) {
        compared = cursor.hash
        grown = addresses.length === 0 ? null : { place, addresses, readTo: pace.readFrom(cursor, grown) }
      }
      return grown !== null
    },

    async readLogs(lease: Lease): Promise<boolean> {
      if (grown === null) return false
      const { place, addresses, readTo } = grown
      const { cursor } = place
      const until = performance.now() + LOG_ROUND_MS
      let isFound = false
      let from = readTo + 1
      while (from <= cursor.number && performance.now() < until) {
        const to = Math.min(cursor.number, from + reader.size() - 1)
        const logs = await reader.ask(addresses, from, to)
        if (logs === null) {
          stall.persists(`no quorum shows the logs of block ${from} and those after it`)
          return isFound
        }
        const { arrived, returned } = logs
        isFound ||= arrived.length > 0
        await journal.recordDeposits(lease, { logs: arrived, blockTimes: await readBlockTimes(rpc, arrived) })
        await journal.recordReturns(lease, returned)
        from = to + 1
        grown = { place, addresses, readTo: to }
        await pace.noteRead(lease, cursor, to)
      }
      // Out of time: the next round continues.
      if (from <= cursor.number) return isFound
      stall.ends()
      // Now the logs must explain the balances.
      const open = await compareAt(lease, place, true)
      grown = open?.length === 0 ? null : { place, addresses: open ?? addresses, readTo: pace.readFrom(cursor, grown) }
      return isFound
    },
  }
}

/**
 * Units that an address has beyond its logs (negative: fewer). `since`: the first block up to which all logs were read
 * and left this difference; null if there is none yet.
 */
type Difference = { readonly units: bigint; readonly since: number | null; readonly isGivenUp: boolean }

/** Tracks the differences that remain after all logs are read, and lists those that have lasted long enough. */
function createDifferenceTracker({ journal, log }: Pick<SettlementDeps, 'journal' | 'log'>) {
  const differing = new Map<string, Difference>()
  return {
    /** Returns the addresses whose logs must still be read. `isRead`: the logs up to the block are read. */
    async choose(
      differences: ReadonlyMap<string, { readonly address: Hex; readonly units: bigint }>,
      { number, isRead }: { readonly number: number; readonly isRead: boolean },
    ): Promise<Set<Hex>> {
      const open = new Set<Hex>()
      for (const key of differing.keys()) if (!differences.has(key)) differing.delete(key)
      for (const [key, { address, units }] of differences) {
        const known = differing.get(key)
        const stood = known?.units === units ? known.since : null
        const since = stood ?? (isRead ? number : null)
        const isGivenUp = since !== null && number - since >= GIVEN_UP_AFTER
        if (!isGivenUp) open.add(address)
        else if (known?.isGivenUp !== true) {
          log.error({ address, units: units.toString() }, 'an address of a payment does not hold what its logs show')
          await journal.storeDepositFinding(address, units)
        }
        differing.set(key, { units, since, isGivenUp })
      }
      return open
    },
  }
}

/** USDC, and other tokens that buyers mistake for it. */
const watchedTokens = ({ token, deposits }: Pick<SettlementDeps, 'token' | 'deposits'>): Hex[] => [
  token.address,
  ...(deposits?.wrongTokens ?? []),
]

function createComparison({ journal, rpc }: SettlementDeps, tokens: readonly Hex[], kind: WatchKind) {
  const known = createBlockMemo<bigint[][] | null>()

  async function askBalances(wallets: readonly Hex[], at: number): Promise<bigint[][] | null> {
    const answer = await rpc.agreed((node) =>
      Promise.all(tokens.map((token) => readBalances(node, { token, wallets, at }))),
    )
    return answer?.value ?? null
  }

  /** Null if no quorum answers. */
  return async function findDifferences({ hash, number }: ChainCursor): Promise<Differences | null> {
    const watched = await journal.readWatchedDeposits(kind)
    const addresses = watched.map(({ address }) => address)
    if (addresses.length === 0) return { found: new Map(), explained: [] }
    const balances = await known(`${hash} ${addresses.join(' ')}`, () => askBalances(addresses, number))
    if (balances === null) return null
    const compared = watched.flatMap(({ address, micro, others }, index) =>
      tokens.map((asked, place) => {
        const logged = place === 0 ? micro : (others.get(asked) ?? 0n)
        return { key: `${asked} ${address}`, address, units: (balances[place]?.[index] ?? 0n) - logged }
      }),
    )
    const found = compared.filter(({ units }) => units !== 0n)
    const explained = watched.filter((one) => one.isListed && !found.some(({ address }) => address === one.address))
    return {
      found: new Map(found.map(({ key, ...one }) => [key, one])),
      explained: explained.map(({ address }) => address),
    }
  }
}

type Differences = {
  /** The addresses whose balance differs from their logs, by token and address. */
  readonly found: ReadonlyMap<string, { readonly address: Hex; readonly units: bigint }>
  readonly explained: readonly Hex[]
}
