import { createClient, http, type PublicRpcSchema, type Client as RpcClient, type Transport } from 'viem'
import type { Hex } from '../../domain/hex.ts'
import { classifySendError, type SendOutcome } from './send-outcome.ts'

/** One JSON-RPC endpoint, with every read that settlement needs. Throws for an unexpected answer. */

export type Block = {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  /** Unix seconds. */
  readonly timestamp: number
}

export type Log = {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly txHash: Hex
  readonly logIndex: number
}

export type Receipt = {
  readonly txHash: Hex
  readonly from: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly gasUsed: bigint
  readonly gasPrice: bigint
}

export type Transaction = {
  readonly hash: Hex
  readonly from: Hex
  readonly nonce: number
  readonly to: Hex | null
  readonly input: Hex
}

export type BlockTag = number | 'latest' | 'finalized'

export type LogFilter = {
  /** Addresses of one contract or several. */
  readonly address: Hex | readonly Hex[]
  readonly fromBlock: number
  readonly toBlock: number
  readonly topics: readonly (Hex | readonly Hex[] | null)[]
}

/** What the last blocks paid for gas, in wei for one unit. */
export type FeeHistory = { readonly nextBaseFee: bigint; readonly tips: readonly bigint[] }

export type Call = { readonly to: Hex; readonly data: Hex; readonly from?: Hex; readonly gas?: bigint }

export type RpcNode = {
  readonly name: string
  chainId(): Promise<number>
  block(tag: BlockTag): Promise<Block>
  logs(filter: LogFilter): Promise<Log[]>
  receipt(txHash: Hex): Promise<Receipt | null>
  transactions(block: number): Promise<Transaction[]>
  transactionCount(wallet: Hex, at: BlockTag): Promise<number>
  balance(wallet: Hex): Promise<bigint>
  code(address: Hex): Promise<Hex>
  call(call: Call, at?: BlockTag): Promise<Hex>
  feeHistory(blocks: number): Promise<FeeHistory>
  send(raw: Hex): Promise<{ outcome: SendOutcome; answer: string }>
}

const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`
const at = (tag: BlockTag): string => (typeof tag === 'number' ? quantity(tag) : tag)
const lower = (value: string): Hex => value.toLowerCase() as Hex

type RawLog = {
  address: string
  topics: string[]
  data: string
  blockNumber: string
  blockHash: string
  transactionHash: string
  logIndex: string
  removed?: boolean
}

function parseLog(log: RawLog): Log {
  if (log.removed === true) throw new Error(`the node returned a removed log of ${log.transactionHash}`)
  return {
    address: lower(log.address),
    topics: log.topics.map(lower),
    data: lower(log.data),
    blockNumber: Number(log.blockNumber),
    blockHash: lower(log.blockHash),
    txHash: lower(log.transactionHash),
    logIndex: Number(log.logIndex),
  }
}

type RawTransaction = { hash: string; from: string; nonce: string; to: string | null; input: string }

function parseTransaction(transaction: RawTransaction): Transaction {
  const { hash, from, nonce, to, input } = transaction
  return {
    hash: lower(hash),
    from: lower(from),
    nonce: Number(nonce),
    to: to === null ? null : lower(to),
    input: lower(input),
  }
}

/** The node's own text, because viem has one error class for "already known" and "nonce too low". */
function answerOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure)
  const details = 'details' in failure && typeof failure.details === 'string' ? failure.details : ''
  return (details === '' ? failure.message : details).slice(0, 300)
}

/** Whether a read may succeed later: no answer came, or the node says that it has too many requests. */
export function isNoAnswer(failure: unknown): boolean {
  if (failure instanceof Error && ['HttpRequestError', 'TimeoutError'].includes(failure.name)) return true
  return /limit|too many|busy|timed? ?out|try again|overloaded|capacity/i.test(answerOf(failure))
}

type Client = Pick<RpcClient<Transport, undefined, undefined, PublicRpcSchema>, 'request'>

/** For methods that viem's typed schema does not have. */
type Request = (call: { method: string; params: readonly unknown[] }) => Promise<unknown>

export function connectNode(url: string, options: { timeoutMs: number; name: string }): RpcNode {
  // viem must not retry: reads fail over to the next node, and a lost answer to a broadcast means "unknown".
  const transport = { timeout: options.timeoutMs, retryCount: 0 }
  // Reads of one moment share an HTTP request. Transactions do not, so that a lost answer concerns only one.
  const reads = createClient({ transport: http(url, { ...transport, batch: { batchSize: 50 } }), cacheTime: 0 })
  const sends = createClient({ transport: http(url, transport) })
  // Nor do logs: an answer that is too large would fail the other reads of its request.
  const scans = createClient({ transport: http(url, transport), cacheTime: 0 }).request as unknown as Request
  const request = reads.request as unknown as Request

  async function read<T>(method: string, params: readonly unknown[]): Promise<T> {
    const value = await request({ method, params })
    if (value === null || value === undefined) throw new Error(`${method} answered nothing`)
    return value as T
  }

  return {
    name: options.name,
    chainId: async () => Number(await read<string>('eth_chainId', [])),
    async block(tag) {
      type RawBlock = { number: string; hash: string; parentHash: string; timestamp: string }
      const block = await read<RawBlock>('eth_getBlockByNumber', [at(tag), false])
      return {
        number: Number(block.number),
        hash: lower(block.hash),
        parentHash: lower(block.parentHash),
        timestamp: Number(block.timestamp),
      }
    },
    logs: (filter) => readLogs(scans, filter),
    async receipt(txHash) {
      type RawReceipt = {
        from: string
        blockNumber: string
        blockHash: string
        gasUsed: string
        effectiveGasPrice: string
      }
      const receipt = (await request({ method: 'eth_getTransactionReceipt', params: [txHash] })) as RawReceipt | null
      if (receipt === null) return null
      return {
        txHash,
        from: lower(receipt.from),
        blockNumber: Number(receipt.blockNumber),
        blockHash: lower(receipt.blockHash),
        gasUsed: BigInt(receipt.gasUsed),
        gasPrice: BigInt(receipt.effectiveGasPrice),
      }
    },
    async transactions(number) {
      const block = await read<{ transactions: RawTransaction[] }>('eth_getBlockByNumber', [quantity(number), true])
      return block.transactions.map(parseTransaction)
    },
    transactionCount: async (wallet, tag) => Number(await read<string>('eth_getTransactionCount', [wallet, at(tag)])),
    balance: async (wallet) => BigInt(await read<string>('eth_getBalance', [wallet, 'latest'])),
    code: (address) => read<Hex>('eth_getCode', [address, 'latest']),
    call: ({ gas, ...call }, tag = 'latest') =>
      read<Hex>('eth_call', [gas === undefined ? call : { ...call, gas: quantity(gas) }, at(tag)]),
    async feeHistory(blocks) {
      type RawHistory = { baseFeePerGas: string[]; reward?: string[][] }
      const history = await read<RawHistory>('eth_feeHistory', [quantity(blocks), 'latest', [50]])
      return {
        nextBaseFee: BigInt(history.baseFeePerGas.at(-1) ?? '0x0'),
        tips: (history.reward ?? []).map((tips) => BigInt(tips[0] ?? '0x0')),
      }
    },
    send: (raw) => send(sends, raw),
  }
}

/** Reads a range of blocks in halves when the answer is too large. Nodes have limits, and viem one of 10 MiB. */
async function readLogs(request: Request, filter: LogFilter): Promise<Log[]> {
  const { address, topics, fromBlock, toBlock } = filter
  const range = { fromBlock: quantity(fromBlock), toBlock: quantity(toBlock) }
  try {
    const logs = await request({ method: 'eth_getLogs', params: [{ address, topics, ...range }] })
    if (!Array.isArray(logs)) throw new Error('eth_getLogs answered no list')
    return (logs as RawLog[]).map(parseLog)
  } catch (failure) {
    if (!isTooMuch(failure) || fromBlock >= toBlock) throw failure
    const middle = Math.floor((fromBlock + toBlock) / 2)
    const earlier = await readLogs(request, { ...filter, toBlock: middle })
    return [...earlier, ...(await readLogs(request, { ...filter, fromBlock: middle + 1 }))]
  }
}

/** Judged by the text: code -32005 also means too many requests, to which splitting would add more. */
function isTooMuch(failure: unknown): boolean {
  if (failure instanceof Error && failure.name === 'ResponseBodyTooLargeError') return true
  return /more than \d+ results|response size|too large|block range/i.test(answerOf(failure))
}

async function send(client: Client, raw: Hex): Promise<{ outcome: SendOutcome; answer: string }> {
  try {
    const hash = await client.request({ method: 'eth_sendRawTransaction', params: [raw] })
    return { outcome: 'accepted', answer: hash }
  } catch (failure) {
    const answer = answerOf(failure)
    return { outcome: classifySendError(answer), answer }
  }
}
