import type { Hex } from '../../domain/hex.ts'
import { keccak256 } from '../../evm/keccak.ts'
import { type RawHeader, type RawReceipt, rawHeaderOf, rawReceiptOf } from '../receipts/encoding.ts'
import {
  type Block,
  blockOf,
  type FeeHistory,
  feeHistoryOf,
  fieldsOf,
  hexOf,
  type Log,
  listOf,
  logOf,
  numberOf,
  quantityOf,
  type Receipt,
  receiptOf,
  type Transaction,
  transactionOf,
} from './answers.ts'
import { createBudget } from './budget.ts'
import { maySplit, NodeFailure } from './failure.ts'
import { createHealth, type Health, type HealthOptions } from './health.ts'
import { classifySendError, type SendOutcome } from './send-outcome.ts'
import { connectTransport, type NodeTransport } from './transport.ts'

/** One JSON-RPC endpoint, with every read that settlement needs. Throws NodeFailure. */

export type { Block, FeeHistory, Log, Receipt, Transaction } from './answers.ts'

export type BlockTag = number | 'latest' | 'finalized'

export type LogFilter = {
  /** Addresses of one contract or several. */
  readonly address: Hex | readonly Hex[]
  readonly fromBlock: number
  readonly toBlock: number
  readonly topics: readonly (Hex | readonly Hex[] | null)[]
}

export type Call = { readonly to: Hex; readonly data: Hex; readonly from?: Hex; readonly gas?: bigint }

export type Sent = { readonly outcome: SendOutcome; readonly answer: string }

export type RpcNode = {
  readonly name: string
  readonly health: Health
  chainId(): Promise<number>
  block(tag: BlockTag): Promise<Block>
  logs(filter: LogFilter): Promise<Log[]>
  receipt(txHash: Hex): Promise<Receipt | null>
  /** Every log of the transaction; null when the node does not know it. */
  receiptLogs(txHash: Hex): Promise<Log[] | null>
  transactions(block: number): Promise<Transaction[]>
  /** Null when the node does not know it. */
  transaction(txHash: Hex): Promise<Transaction | null>
  rawHeader(block: number): Promise<RawHeader>
  /** Of every transaction of the block, in its order. A large answer. */
  rawReceipts(block: number): Promise<RawReceipt[]>
  transactionCount(wallet: Hex, at: BlockTag): Promise<number>
  balance(wallet: Hex, at: BlockTag): Promise<bigint>
  code(address: Hex): Promise<Hex>
  call(call: Call, at?: BlockTag): Promise<Hex>
  feeHistory(blocks: number): Promise<FeeHistory>
  /** Never throws: what went wrong is an outcome. */
  send(raw: Hex): Promise<Sent>
}

export type NodeOptions = HealthOptions & {
  readonly timeoutMs: number
  readonly chainId: number
  readonly callsPerSecond: number
}

const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`
const at = (tag: BlockTag): string => (typeof tag === 'number' ? quantity(tag) : tag)

export function connectNode(url: string, options: NodeOptions): RpcNode {
  const health = createHealth(options)
  const budget = createBudget(options.callsPerSecond, options.now)
  const transport = connectTransport(url, { ...options, health, budget })
  const read = <T>(method: string, params: readonly unknown[], parse: (answer: unknown) => T): Promise<T> =>
    transport.read({ method, params, parse })

  return {
    name: options.name,
    health,
    chainId: () => read('eth_chainId', [], numberOf),
    async block(tag) {
      const block = await read('eth_getBlockByNumber', [at(tag), false], (answer) =>
        answer === null ? null : asAsked(tag, blockOf(answer)),
      )
      if (block === null) throw unknownBlock(options.name, tag)
      if (tag === 'latest') health.sawHead(block.number)
      return block
    },
    logs: (filter) => {
      const until = options.now() + LOGS_MS
      return readLogs(transport, filter, () => {
        if (options.now() > until) throw new NodeFailure(options.name, { kind: 'silent', answer: TOO_SLOW })
      })
    },
    receipt: (txHash) =>
      read('eth_getTransactionReceipt', [txHash], (answer) => (answer === null ? null : receiptOf(answer))),
    receiptLogs: (txHash) =>
      read('eth_getTransactionReceipt', [txHash], (answer) =>
        answer === null ? null : listOf(fieldsOf(answer)['logs'], logOf),
      ),
    async transactions(number) {
      const found = await read('eth_getBlockByNumber', [quantity(number), true], (answer) =>
        answer === null ? null : listOf(fieldsOf(answer)['transactions'], transactionOf),
      )
      if (found === null) throw unknownBlock(options.name, number)
      return found
    },
    transaction: (txHash) =>
      read('eth_getTransactionByHash', [txHash], (answer) => (answer === null ? null : transactionOf(answer))),
    rawHeader: (number) => read('eth_getBlockByNumber', [quantity(number), false], rawHeaderOf),
    rawReceipts: (number) =>
      transport.read({
        method: 'eth_getBlockReceipts',
        params: [quantity(number)],
        parse: (answer) => listOf(answer, rawReceiptOf),
        alone: true,
      }),
    transactionCount: (wallet, tag) => read('eth_getTransactionCount', [wallet, at(tag)], numberOf),
    balance: (wallet, tag) => read('eth_getBalance', [wallet, at(tag)], quantityOf),
    code: (address) => read('eth_getCode', [address, 'latest'], (answer) => hexOf(answer)),
    call: ({ gas, ...call }, tag = 'latest') =>
      read('eth_call', [gas === undefined ? call : { ...call, gas: quantity(gas) }, at(tag)], (answer) =>
        hexOf(answer),
      ),
    feeHistory: (blocks) => read('eth_feeHistory', [quantity(blocks), 'latest', [50]], feeHistoryOf),
    send: (raw) => send(transport, raw),
  }
}

function asAsked(tag: BlockTag, block: Block): Block {
  if (typeof tag === 'number' && block.number !== tag) throw new RangeError(`block ${block.number} instead of ${tag}`)
  return block
}

function within({ fromBlock, toBlock }: LogFilter, log: Log): Log {
  if (log.blockNumber < fromBlock || log.blockNumber > toBlock)
    throw new RangeError(`a log of block ${log.blockNumber} instead of ${fromBlock} to ${toBlock}`)
  return log
}

const unknownBlock = (name: string, tag: BlockTag): NodeFailure =>
  new NodeFailure(name, { kind: 'refused', answer: `does not know block ${tag}` })

/** For a whole range of logs, in milliseconds: by single blocks that are answered late it would take an hour. */
const LOGS_MS = 30_000
const TOO_SLOW = `has not read a range of logs by smaller ones in ${LOGS_MS / 1000} s`

/**
 * Reads a range of blocks in halves when the node refuses it: nodes have limits, and so have we. The first single block that
 * is refused ends it: a node that refuses everything is asked as often as the range can be halved, ten times for a thousand blocks.
 * `assertTime` throws when there is none left: those who ask then ask for less.
 */
async function readLogs(transport: NodeTransport, filter: LogFilter, assertTime: () => void): Promise<Log[]> {
  const { address, topics, fromBlock, toBlock } = filter
  const range = { fromBlock: quantity(fromBlock), toBlock: quantity(toBlock) }
  try {
    return await transport.read({
      method: 'eth_getLogs',
      params: [{ address, topics, ...range }],
      parse: (answer) => listOf(answer, logOf).map((log) => within(filter, log)),
      alone: true,
    })
  } catch (failure) {
    if (!maySplit(failure) || fromBlock >= toBlock) throw failure
    assertTime()
    const middle = Math.floor((fromBlock + toBlock) / 2)
    const earlier = await readLogs(transport, { ...filter, toBlock: middle }, assertTime)
    return [...earlier, ...(await readLogs(transport, { ...filter, fromBlock: middle + 1 }, assertTime))]
  }
}

async function send(transport: NodeTransport, raw: Hex): Promise<Sent> {
  const method = 'eth_sendRawTransaction'
  try {
    const hash = await transport.read({ method, params: [raw], parse: (answer) => hexOf(answer, 32), alone: true })
    if (hash === keccak256(raw)) return { outcome: 'accepted', answer: hash }
    return { outcome: 'unknown', answer: `the node answers another hash: ${hash}` }
  } catch (failure) {
    const answer = failure instanceof NodeFailure ? failure.answer : String(failure)
    return { outcome: classifySendError(answer), answer }
  }
}
