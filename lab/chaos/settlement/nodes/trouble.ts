/** What one node does wrong for a while, besides losing requests and answers as all of them do. */
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

/** How far ahead of the chain a wrong head is: the logs of so many blocks are not there. */
const AHEAD = 500

/**
 * The node's answers as a node with this trouble gives them; null when nothing of them is about it. Heads and logs alone
 * are wrong: a quorum must be able to tell.
 */
export function troubled(
  { body, answer, newest }: { body: Buffer; answer: Buffer; newest: number },
  trouble: Trouble,
): Buffer | null {
  const calls = listOf<Call>(body)
  const answers = listOf<Answer>(answer)
  let changed = false
  const told = answers.map((one) => {
    const call = calls.find(({ id }) => id === one.id)
    const other = call === undefined ? null : wrongAnswer(call, one, { trouble, newest })
    if (other === null) return one
    changed = true
    return other
  })
  if (!changed) return null
  return Buffer.from(JSON.stringify(Array.isArray(JSON.parse(answer.toString())) ? told : told[0]))
}

/** The highest head that these answers name; 0 when they name none. */
export function newestIn(body: Buffer, answer: Buffer): number {
  const heads = listOf<Call>(body).filter(
    ({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === 'latest',
  )
  const numbers = listOf<Answer>(answer)
    .filter(({ id }) => heads.some((call) => call.id === id))
    .map(({ result }) => Number((result as { number: string } | null | undefined)?.number ?? 0))
  return Math.max(0, ...numbers)
}

/** Most calls that a node on a free plan takes in one batch. */
const BATCH_LIMIT = 3

/** The refusal of a batch that is larger than a node's plan allows, as one object in place of the list; null if it is not. */
export function refuseLargeBatch(body: Buffer): Buffer | null {
  const calls = listOf<Call>(body)
  if (calls.length <= BATCH_LIMIT) return null
  const message = `Batch of more than ${BATCH_LIMIT} requests are not allowed on free tier`
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } }))
}

/** Most blocks of which a node on a free plan gives logs. */
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
  // A node that prunes has the state of the last blocks alone, and says so in words of its own.
  const at = { eth_call: 1, eth_getTransactionCount: 1, eth_getBalance: 1 }[method]
  if (trouble === 'prunedState' && at !== undefined && isOld(params[at], newest))
    return refuse('missing trie node: historical state unavailable')
  return null
}

/** Final blocks are at least as old as this in the storm. */
const KEPT_BLOCKS = 4

const isOld = (tag: unknown, newest: number): boolean =>
  tag === 'finalized' || (typeof tag === 'string' && tag.startsWith('0x') && Number(tag) <= newest - KEPT_BLOCKS)

function listOf<T>(body: Buffer): T[] {
  const parsed = JSON.parse(body.toString()) as T | T[]
  return Array.isArray(parsed) ? parsed : [parsed]
}
