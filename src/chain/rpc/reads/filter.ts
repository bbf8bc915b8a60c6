import type { Hex } from '../../../domain/hex.ts'
import type { Log } from '../answers.ts'

/** Topics as `eth_getLogs` takes them: at each place one, one of several, or any. */
type Topics = readonly (Hex | readonly Hex[] | null)[]

export type LogFilter = {
  /** One contract, or several. */
  readonly address: Hex | readonly Hex[]
  readonly fromBlock: number
  readonly toBlock: number
  readonly topics: Topics
  /** Logs that match these count too: in a separate query, but the receipts of a block are read once for both. */
  readonly orTopics?: Topics
}

/** Returns a function that is true for logs with this address and these topics, as `eth_getLogs` decides it. */
export function createMatcher({ address, topics, orTopics }: LogFilter): (log: Log) => boolean {
  const toSet = (values: Hex | readonly Hex[]): ReadonlySet<string> =>
    new Set([values].flat().map((value) => value.toLowerCase()))
  const addresses = toSet(address)
  const alternatives = [topics, orTopics ?? topics].map((places) => places.map((place) => toSet(place ?? [])))
  return (log) =>
    addresses.has(log.address) &&
    alternatives.some(
      (places) =>
        places.length <= log.topics.length &&
        places.every((allowed, place) => allowed.size === 0 || allowed.has(log.topics[place] ?? '')),
    )
}
