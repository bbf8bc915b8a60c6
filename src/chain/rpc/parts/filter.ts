import type { Hex } from '../../../domain/hex.ts'
import type { Log } from '../answers.ts'

/** As `eth_getLogs` takes them: at each place one, one of several, or any. */
type Topics = readonly (Hex | readonly Hex[] | null)[]

export type LogFilter = {
  /** Addresses of one contract or several. */
  readonly address: Hex | readonly Hex[]
  readonly fromBlock: number
  readonly toBlock: number
  readonly topics: Topics
  /** What these fit counts too: a question of its own, but the receipts of a block are read once for both. */
  readonly orTopics?: Topics
}

/** Whether the filter's logs have this address and these topics, as `eth_getLogs` decides it. */
export function createMatcher({ address, topics, orTopics }: LogFilter): (log: Log) => boolean {
  const setOf = (values: Hex | readonly Hex[]): ReadonlySet<string> =>
    new Set([values].flat().map((value) => value.toLowerCase()))
  const addresses = setOf(address)
  const alternatives = [topics, orTopics ?? topics].map((places) => places.map((place) => setOf(place ?? [])))
  return (log) =>
    addresses.has(log.address) &&
    alternatives.some(
      (places) =>
        places.length <= log.topics.length &&
        places.every((allowed, place) => allowed.size === 0 || allowed.has(log.topics[place] ?? '')),
    )
}
