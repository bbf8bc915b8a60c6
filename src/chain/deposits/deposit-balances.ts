import type { Hex } from '../../domain/hex.ts'
import type { DepositLog } from '../../domain/settlement/deposit.ts'
import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import { KEPT_STATES, type SettlementDeps } from '../context.ts'
import { createBlockMemo } from '../lanes/block-memo.ts'
import { readBlockTimes } from '../observer/block-times.ts'
import type { Place } from '../observer/endings.ts'
import { createRange, LOG_ROUND_MS } from '../observer/logs.ts'
import { createStall } from '../observer/stall.ts'
import { readBalances } from '../token/token-state.ts'
import { depositLogs } from './deposit-logs.ts'

/** Final blocks after which an amount is listed for people, and not looked for any more, if logs that were read do not explain it. */
const GIVEN_UP_AFTER = 64

/**
 * Watches the addresses of payments: the token says at each final block what they hold, and only where it is not what their logs say are logs
 * read, which say who has paid. Reading them holds up no payout. In memory it keeps the differences.
 */
export function createDepositWatch(deps: SettlementDeps) {
  const { deposits, journal, rpc } = deps
  const stall = createStall(deps, 'the reading of deposits')
  const tokens = watchedTokens(deps)
  const findDifferences = createComparison(deps, tokens)
  const range = createRange()
  const patience = createPatience(deps)
  let compared = ''
  let grown: { readonly place: Place; readonly addresses: readonly Hex[]; readonly readTo: number } | null = null

  /** Null: no quorum shows them now. */
  const askLogs = (addresses: readonly Hex[], fromBlock: number, toBlock: number): Promise<DepositLog[] | null> =>
    rpc
      .agreed((node) => depositLogs(node, { tokens, addresses }, { fromBlock, toBlock }))
      .then(
        (logs) => logs?.value ?? null,
        () => null,
      )

  /** Returns the addresses whose logs are to be read; if there are none, all is read up to the cursor. Null: no quorum says. */
  async function compareAt(lease: Lease, { cursor, timestamp }: Place, isRead: boolean): Promise<Hex[] | null> {
    const differences = await findDifferences(cursor)
    if (differences === null) return null
    const open = await patience.choose(differences, { number: cursor.number, isRead })
    if (open.size === 0) await journal.moveDeposits(lease, { number: cursor.number, timestamp })
    return [...open]
  }

  return {
    /** Compares at the cursor. Returns true if logs are to be read. */
    async compare(lease: Lease, place: Place): Promise<boolean> {
      const { cursor, head } = place
      const isDue = deposits !== null && cursor.hash !== compared && head.number - cursor.number <= KEPT_STATES
      const addresses = isDue ? await compareAt(lease, place, false) : null
      if (addresses !== null) {
        compared = cursor.hash
        grown = addresses.length === 0 ? null : { place, addresses, readTo: cursor.depositsNumber }
      }
      return grown !== null
    },

    /** Reads the transfers to the addresses that hold more, as far as one round goes. Returns true if any were found. */
    async readLogs(lease: Lease): Promise<boolean> {
      if (grown === null) return false
      const { place, addresses, readTo } = grown
      const { cursor } = place
      const until = performance.now() + LOG_ROUND_MS
      let isFound = false
      let from = readTo + 1
      while (from <= cursor.number && performance.now() < until) {
        const to = Math.min(cursor.number, from + range.size() - 1)
        const logs = await askLogs(addresses, from, to)
        range.note(logs !== null)
        if (logs === null) {
          stall.goesOn(`no quorum shows the logs of block ${from} and those after it`)
          return isFound
        }
        isFound ||= logs.length > 0
        await journal.recordDeposits(lease, { logs, blockTimes: await readBlockTimes(rpc, logs) })
        from = to + 1
        grown = { place, addresses, readTo: to }
        // A node may have a block before its logs: the last ones are read again as long as there is a difference.
        const number = Math.min(to, cursor.number - GIVEN_UP_AFTER)
        if (number > cursor.depositsNumber) await journal.moveDeposits(lease, { number, timestamp: null })
      }
      // Out of time: the next round reads on.
      if (from <= cursor.number) return isFound
      stall.ends()
      // Now their logs must show what they hold.
      const open = await compareAt(lease, place, true)
      grown = open?.length === 0 ? null : { place, addresses: open ?? addresses, readTo: cursor.depositsNumber }
      return isFound
    },
  }
}

/**
 * Units that an address holds beyond its logs (negative: less), and the first block up to which all logs were read and they stood
 * as now; null: none yet.
 */
type Difference = { readonly units: bigint; readonly since: number | null; readonly isGivenUp: boolean }

/** Keeps which differences stand although all logs are read, and lists those that have stood long enough. */
function createPatience({ journal, log }: Pick<SettlementDeps, 'journal' | 'log'>) {
  const differing = new Map<string, Difference>()
  return {
    /** Returns the addresses whose logs are still to be read. `isRead`: those up to the block are. */
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

/** USDC, and other tokens that buyers take for it. */
const watchedTokens = ({ token, deposits }: Pick<SettlementDeps, 'token' | 'deposits'>): Hex[] => [
  token.address,
  ...(deposits?.wrongTokens ?? []),
]

/** Compares what the addresses hold with what their logs say. */
function createComparison({ journal, rpc }: SettlementDeps, tokens: readonly Hex[]) {
  const known = createBlockMemo<bigint[][] | null>()

  /** Asks the balance of each address in each token, by quorum. */
  async function askBalances(wallets: readonly Hex[], at: number): Promise<bigint[][] | null> {
    const answer = await rpc.agreed((node) =>
      Promise.all(tokens.map((token) => readBalances(node, { token, wallets, at }))),
    )
    return answer?.value ?? null
  }

  /** The addresses that hold something else than their logs show, by token and address; null: no quorum says. */
  return async function findDifferences({
    hash,
    number,
  }: ChainCursor): Promise<Map<string, { address: Hex; units: bigint }> | null> {
    const watched = await journal.readWatchedDeposits()
    const addresses = watched.map(({ address }) => address)
    if (addresses.length === 0) return new Map()
    const balances = await known(`${hash} ${addresses.join(' ')}`, () => askBalances(addresses, number))
    const compared = watched.flatMap(({ address, micro, others }, index) =>
      tokens.map((asked, place) => {
        const logged = place === 0 ? micro : (others.get(asked) ?? 0n)
        return { key: `${asked} ${address}`, address, units: (balances?.[place]?.[index] ?? 0n) - logged }
      }),
    )
    return balances && new Map(compared.flatMap(({ key, ...one }) => (one.units !== 0n ? [[key, one]] : [])))
  }
}
