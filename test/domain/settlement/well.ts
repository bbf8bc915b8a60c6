import type { Part, PartStanding } from '../../../src/domain/settlement/part.ts'
import type { Standing } from '../../../src/domain/settlement/standing.ts'

/** A settlement without troubles, in which a test changes one thing. */

export const LANE = `0x${'a'.repeat(40)}` as const
export const FUNDING = `0x${'f'.repeat(40)}` as const
export const TREASURY = `0x${'7'.repeat(40)}` as const

export const QUEUED = { state: 'queued', reason: null, count: 2, micro: '30000000', oldestSeconds: 5 }
export const CURSOR = {
  number: 1000,
  hash: '0x00',
  ageSeconds: 3,
  comparedSeconds: 30,
  depositsBehind: 0,
  isObserved: true,
  pausedReason: null,
} as const
export const OPEN_LANE = {
  wallet: LANE,
  status: 'open',
  reason: null,
  nextNonce: 7,
  open: 1,
  unminedSeconds: null,
  isFunding: false,
} as const
export const CHAIN = {
  nodes: ['one', 'two', 'three'].map((name) => ({ name, head: 1010, final: 1005, why: null })),
  quorum: 2,
  final: 1005,
  treasuries: [{ wallet: TREASURY, micro: 500_000_000n }],
  gas: [],
}
/** Two payouts are on the way, and nothing is wrong. */
export const WELL: Standing = {
  queue: [QUEUED],
  wanting: [],
  takeOvers: [],
  settled: { count: 4, secondsAgo: 9 },
  cursor: CURSOR,
  lanes: [OPEN_LANE],
  parts: [],
  float: null,
  attention: [],
  chain: CHAIN,
}
export const stopped = (reason: string | null, count = 1) => ({
  state: 'stopped',
  reason,
  count,
  micro: '10000000',
  oldestSeconds: 5,
})
/** A part of the engine that succeeded ten minutes ago, and reported just now. */
export const part = (name: Part, fields: Partial<PartStanding> = {}): PartStanding => ({
  part: name,
  reportedSeconds: 1,
  succeededSeconds: 600,
  failingSeconds: null,
  cause: null,
  failure: null,
  ...fields,
})
