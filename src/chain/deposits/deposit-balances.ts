import type { Hex } from '../../domain/hex.ts'
import type { DepositLog } from '../../domain/settlement/deposit.ts'
import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import { KEPT_STATES, type SettlementDeps } from '../context.ts'
import { createBlockMemo } from '../lanes/block-memo.ts'
import type { Place } from '../observer/endings.ts'
import { createRange, LOG_ROUND_MS } from '../observer/logs.ts'
import { createStall } from '../observer/stall.ts'
import { readToken } from '../token/token-state.ts'
import { depositLogs } from './deposit-logs.ts'

/** Final blocks after which an amount that no log explains is logged for people, and not looked for any more. */
const GIVEN_UP_AFTER = 64

/**
 * Watches the addresses of payments: the token says at each final block what they hold, and only where it is not what their logs say are logs
 * read, which say who has paid. Reading them holds up no payout. In memory it keeps the differences, and which were given up.
 */
export function createDepositWatch(deps: SettlementDeps) {
  const { deposits, journal, rpc, log } = deps
  const stall = createStall(deps, 'the reading of deposits')
  const tokens = watchedTokens(deps)
  const findDifferences = createComparison(deps, tokens)
  const range = createRange()
  const differing = new Map<string, Difference>()
  let compared = ''
  let grown: { readonly place: Place; readonly addresses: readonly Hex[] } | null = null

  /** Null: no quorum shows them now. */
  const askLogs = (addresses: readonly Hex[], fromBlock: number, toBlock: number): Promise<DepositLog[] | null> =>
    rpc
      .agreed((node) => depositLogs(node, { tokens, addresses }, { fromBlock, toBlock }))
      .then(
        (logs) => logs?.value ?? null,
        () => null,
      )

  /** Returns the addresses whose logs are to be read; if there are none, all is read up to the cursor. Null: no quorum says. */
  async function compareAt(lease: Lease, { cursor, timestamp }: Place): Promise<Hex[] | null> {
    const differences = await findDifferences(cursor)
    if (differences === null) return null
    const open = new Set<Hex>()
    for (const key of differing.keys()) if (!differences.has(key)) differing.delete(key)
    for (const [key, { address, units }] of differences) {
      const known = differing.get(key)
      const since = known?.units === units ? known.since : cursor.number
      const isGivenUp = cursor.number - since >= GIVEN_UP_AFTER
      if (isGivenUp && known?.isGivenUp !== true)
        log.error({ address, units: units.toString() }, 'an address of a payment does not hold what its logs show')
      if (!isGivenUp) open.add(address)
      differing.set(key, { units, since, isGivenUp })
    }
    if (open.size === 0) await journal.moveDeposits(lease, { number: cursor.number, timestamp })
    return [...open]
  }

  return {
    /** Compares at the cursor. Returns true if logs are to be read. */
    async compare(lease: Lease, place: Place): Promise<boolean> {
      const { cursor, head } = place
      const isDue = deposits !== null && cursor.hash !== compared && head.number - cursor.number <= KEPT_STATES
      const addresses = isDue ? await compareAt(lease, place) : null
      if (addresses !== null) {
        compared = cursor.hash
        grown = addresses.length === 0 ? null : { place, addresses }
      }
      return grown !== null
    },

    /** Reads the transfers to the addresses that hold more, as far as one round goes. Returns true if any were found. */
    async readLogs(lease: Lease): Promise<boolean> {
      if (grown === null) return false
      const { place, addresses } = grown
      const { cursor } = place
      const until = performance.now() + LOG_ROUND_MS
      let isFound = false
      for (let from = cursor.depositsNumber + 1; from <= cursor.number && performance.now() < until; ) {
        const to = Math.min(cursor.number, from + range.size() - 1)
        const logs = await askLogs(addresses, from, to)
        range.note(logs !== null)
        if (logs === null) {
          stall.goesOn(`no quorum shows the logs of block ${from} and those after it`)
          return isFound
        }
        isFound ||= logs.length > 0
        await journal.recordDeposits(lease, { logs, at: deps.clock() })
        from = to + 1
        // A node may have a block before its logs: the last ones are read again as long as there is a difference.
        const number = Math.min(to, cursor.number - GIVEN_UP_AFTER)
        if (number > cursor.depositsNumber) await journal.moveDeposits(lease, { number, timestamp: null })
      }
      stall.ends()
      // Now their logs must show what they hold.
      if ((await compareAt(lease, place))?.length === 0) grown = null
      return isFound
    },
  }
}

/** Units that an address holds beyond its logs (negative: less), and since which block they have not changed. */
type Difference = { readonly units: bigint; readonly since: number; readonly isGivenUp: boolean }

/** USDC, and other tokens that buyers take for it. */
const watchedTokens = ({ token, deposits }: Pick<SettlementDeps, 'token' | 'deposits'>): Hex[] => [
  token.address,
  ...(deposits?.wrongTokens ?? []),
]

/** Compares what the addresses hold with what their logs say. */
function createComparison({ journal, rpc }: SettlementDeps, tokens: readonly Hex[]) {
  const readBalances = createBlockMemo<bigint[][] | null>()

  /** Asks the balance of each address in each token. A contract of another token that does not answer as USDC does counts as empty. */
  async function askBalances(addresses: readonly Hex[], at: number): Promise<bigint[][] | null> {
    const reads = addresses.map((address) => ({ view: 'balanceOf' as const, args: [address] }))
    const ask = (asked: Hex) => rpc.agreed((node) => readToken(node, asked, { reads, at }))
    const [ours, ...others] = await Promise.all(tokens.map(ask))
    return ours ? [ours.value, ...others.map((answer) => answer?.value ?? addresses.map(() => 0n))] : null
  }

  /** The addresses that hold something else than their logs show, by token and address; null: no quorum says. */
  return async function findDifferences({
    hash,
    number,
  }: ChainCursor): Promise<Map<string, { address: Hex; units: bigint }> | null> {
    const watched = await journal.readWatchedDeposits()
    const addresses = watched.map(({ address }) => address)
    if (addresses.length === 0) return new Map()
    const balances = await readBalances(`${hash} ${addresses.join(' ')}`, () => askBalances(addresses, number))
    const compared = watched.flatMap(({ address, micro, others }, index) =>
      tokens.map((asked, place) => {
        const known = place === 0 ? micro : (others.get(asked) ?? 0n)
        return { key: `${asked} ${address}`, address, units: (balances?.[place]?.[index] ?? 0n) - known }
      }),
    )
    return balances && new Map(compared.flatMap(({ key, ...one }) => (one.units !== 0n ? [[key, one]] : [])))
  }
}
