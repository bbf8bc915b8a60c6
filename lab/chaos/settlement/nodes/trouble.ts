/** The troubles of one node for a while, in addition to the losses of requests and answers that all nodes have. */
export const TROUBLES = [
  'hang',
  'drip',
  'wrongHead',
  'emptyAnswer',
  'prunedState',
  'shortRanges',
  'revokedKey',
] as const
export type Trouble = (typeof TROUBLES)[number]

type Call = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] }
type Answer = { readonly id: unknown; readonly result?: unknown; readonly error?: unknown }

/** Blocks by which a wrong head is ahead of the chain: their logs do not exist. */
const AHEAD = 500

/**
 * Returns the node's answers as a node with this trouble gives them; null if none of them changes. Only heads and logs
 * are wrong: a quorum must be able to outvote them.
 */
export function troubled(
  { body, answer, newest }: { body: Buffer; answer: Buffer; newest: number },
  trouble: Trouble,
): Buffer | null {
  const calls = parseList<Call>(body)
  const answers = parseList<Answer>(answer)
  let changed = false
  const replaced = answers.map((one) => {
    const call = calls.find(({ id }) => id === one.id)
    const other = call === undefined ? null : wrongAnswer(call, one, { trouble, newest })
    if (other === null) return one
    changed = true
    return other
  })
  if (!changed) return null
  return Buffer.from(JSON.stringify(Array.isArray(JSON.parse(answer.toString())) ? replaced : replaced[0]))
}

/** Returns the highest head in these answers; 0 if there is none. */
export function newestIn(body: Buffer, answer: Buffer): number {
  const heads = parseList<Call>(body).filter(
    ({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === 'latest',
  )
  const numbers = parseList<Answer>(answer)
    .filter(({ id }) => heads.some((call) => call.id === id))
    .map(({ result }) => Number((result as { number: string } | null | undefined)?.number ?? 0))
  return Math.max(0, ...numbers)
}

/** Maximum number of calls in one batch on a node's free plan. */
const BATCH_LIMIT = 3

/**
 * Returns the refusal of a batch that is larger than a node's plan allows, as one object instead of the list; else
 * null.
 */
export function refuseLargeBatch(body: Buffer): Buffer | null {
  const calls = parseList<Call>(body)
  if (calls.length <= BATCH_LIMIT) return null
  const message = `Batch of more than ${BATCH_LIMIT} requests are not allowed on free tier`
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } }))
}

/** Maximum number of blocks whose logs a node's free plan gives. */
const RANGE_LIMIT = 10

function wrongAnswer(
  { method, params }: Call,
  answer: Answer,
  { trouble, newest }: { trouble: Trouble; newest: number },
): Answer | null {
  const { result } = answer
  const refuse = (message: string): Answer => ({ ...answer, result: undefined, error: { code: -32000, message } })
  if (trouble === 'revokedKey') return refuse('invalid project id')
  if (trouble === 'shortRanges' && method === 'eth_getLogs') {
    const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
    return Number(toBlock) - Number(fromBlock) < RANGE_LIMIT
      ? null
      : refuse(`You can make eth_getLogs requests with up to a ${RANGE_LIMIT} block range`)
  }
  if (trouble === 'emptyAnswer' && method === 'eth_getLogs' && Array.isArray(result) && result.length > 0)
    return { ...answer, result: [] }
  if (
    trouble === 'wrongHead' &&
    method === 'eth_getBlockByNumber' &&
    ['latest', 'finalized'].includes(String(params[0]))
  ) {
    const block = result as { number: string; hash: string }
    const [number, hash] = [`0x${(Number(block.number) + AHEAD).toString(16)}`, `0x${'ab'.repeat(32)}`]
    return { ...answer, result: { ...block, number, hash } }
  }
  // A node that prunes has only the state of the last blocks, and reports that in its own words.
  const at = { eth_call: 1, eth_getTransactionCount: 1, eth_getBalance: 1 }[method]
  if (trouble === 'prunedState' && at !== undefined && isOld(params[at], newest))
    return refuse('missing trie node: historical state unavailable')
  return null
}

/** Final blocks are at least as old as this while there are faults. */
const KEPT_BLOCKS = 4

const isOld = (tag: unknown, newest: number): boolean =>
  tag === 'finalized' || (typeof tag === 'string' && tag.startsWith('0x') && Number(tag) <= newest - KEPT_BLOCKS)

function parseList<T>(body: Buffer): T[] {
  const parsed = JSON.parse(body.toString()) as T | T[]
  return Array.isArray(parsed) ? parsed : [parsed]
}
