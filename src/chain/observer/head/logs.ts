import type { Hex } from '../../../domain/hex.ts'
import type { SettlementDeps } from '../../context.ts'
import { NodeFailure } from '../../rpc/failure.ts'
import type { RpcNode } from '../../rpc/node.ts'
import { type Fact, readFacts, type Scope, treasuryLogs } from '../facts.ts'
import { type Blocks, createReach } from '../reach.ts'
import { createTransferWatch } from './transfers.ts'
import { type Hashes, newestRange } from './walk.ts'

/**
 * A block is read a second time, by a quorum, when so many have followed, and as many together. A node that has the newest
 * block but not its logs yet answers an empty list, and so does one that hides something; most blocks are final before.
 */
const READ_AGAIN_AFTER = 8

/** What blocks show whose logs were read now. */
type Reading = { readonly range: Blocks; readonly facts: readonly Fact[] }

/** The blocks above the cursor, and what those of them show that were read now. */
export type View = { readonly chain: Hashes; readonly readings: readonly Reading[] }

/**
 * Reads the logs of blocks that are not final, each once or twice, and watches the transfers that they show. That there is
 * nothing one node says at first; what there is a quorum says, since it keeps a payout from being sent again.
 */
export function createHeadLogs(deps: SettlementDeps, scope: Scope) {
  const { rpc } = deps
  const watchTransfers = createTransferWatch(deps, scope)
  const reach = createReach()
  const secondReach = createReach()
  let read: ReadTimes = new Map()

  async function factsOf(node: RpcNode, chain: Hashes, { from, to }: Blocks): Promise<Fact[]> {
    const logs = await treasuryLogs(node, scope, { fromBlock: from, toBlock: to })
    if (logs.some((entry) => chain.get(entry.blockNumber) !== entry.blockHash))
      throw new NodeFailure(node.name, { kind: 'refused', answer: 'has logs of another branch' })
    return readFacts(logs, scope.treasuries)
  }

  /** Of what a quorum says, or of nothing; null when there is no quorum now. */
  async function readingOf(range: Blocks, told: { value: Fact[] } | null): Promise<Reading[] | null> {
    if (told === null) return null
    if (told.value.length > 0) await watchTransfers(told.value)
    return [{ range, facts: told.value }]
  }

  async function readNewest(chain: Hashes, numbers: readonly number[]): Promise<Reading[] | null> {
    if (numbers.length === 0) return []
    return reach.read(numbers.length, async (count) => {
      const range = newestRange(numbers, count)
      const suffices = (facts: Fact[]): boolean => facts.length === 0
      return readingOf(range, await rpc.first({ suffices, read: (node) => factsOf(node, chain, range) }))
    })
  }

  /** None when there is no quorum now: the newest do not wait for them. */
  async function readOlder(chain: Hashes, numbers: readonly number[]): Promise<Reading[]> {
    const isNew = numbers.some((number) => !read.has(chain.get(number) ?? '0x'))
    if (numbers.length < READ_AGAIN_AFTER && !isNew) return []
    const readings = await secondReach.read(numbers.length, async (count) => {
      const range = newestRange(numbers, count)
      return readingOf(range, await rpc.agreed((node) => factsOf(node, chain, range)))
    })
    return readings ?? []
  }

  return {
    /** What is not read yet. Null when what one node shows can neither be confirmed nor dismissed now. */
    async read(chain: Hashes): Promise<Reading[] | null> {
      const { newest, older } = unreadOf(chain, read)
      const readings = await readNewest(chain, newest)
      return readings && [...readings, ...(await readOlder(chain, older))]
    },
    /** What it has shown is recorded: these blocks are not read again. */
    keep(view: View): void {
      read = readTimes(view, read)
    },
  }
}

/** By a block's hash: how often its logs were read, the second time when others had followed. */
type ReadTimes = ReadonlyMap<Hex, number>

/** How often the logs of a block should have been read. */
const dueTimes = (number: number, head: number): number => (number + READ_AGAIN_AFTER <= head ? 2 : 1)

function unreadOf(chain: Hashes, read: ReadTimes): { newest: number[]; older: number[] } {
  const head = Math.max(...chain.keys())
  const unread = [...chain].filter(([number, hash]) => (read.get(hash) ?? 0) < dueTimes(number, head))
  const numbers = unread.map(([number]) => number)
  return {
    newest: numbers.filter((number) => dueTimes(number, head) === 1),
    older: numbers.filter((number) => dueTimes(number, head) === 2),
  }
}

function readTimes({ chain, readings }: View, before: ReadTimes): ReadTimes {
  const head = Math.max(...chain.keys())
  const times = [...chain].map(([number, hash]): [Hex, number] => {
    const isRead = readings.some(({ range }) => number >= range.from && number <= range.to)
    return [hash, isRead ? dueTimes(number, head) : (before.get(hash) ?? 0)]
  })
  return new Map(times.filter(([, count]) => count > 0))
}
