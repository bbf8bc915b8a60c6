import type { Hex } from '../../domain/hex.ts'
import { keccak256 } from '../../evm/keccak.ts'
import { createLimiter } from '../../runtime/limiter.ts'
import { parseRawHeader, type RawHeader, type RawReceipt } from '../receipts/encoding.ts'
import {
  type Block,
  type FeeHistory,
  type Log,
  parseBlock,
  parseFeeHistory,
  parseFields,
  parseHex,
  parseNumber,
  parseQuantity,
  parseReceipt,
  parseTransaction,
  type Receipt,
  type Transaction,
} from './answers.ts'
import { lacksMethod, NodeFailure } from './failure.ts'
import { createHealth, type Health, type HealthOptions } from './health.ts'
import { unknownBlock } from './reads/block.ts'
import type { LogFilter } from './reads/filter.ts'
import { createPartReaders } from './reads/reader.ts'
import { classifySendError, type SendOutcome } from './send-outcome.ts'
import { connectTransport, type NodeTransport, quantity } from './transport.ts'

/** One JSON-RPC endpoint, with every read that settlement needs. Throws NodeFailure. */

export type { Block, FeeHistory, Log, Receipt, Transaction } from './answers.ts'
export type { LogFilter } from './reads/filter.ts'

export type BlockTag = number | 'latest' | 'finalized'

export type Call = { readonly to: Hex; readonly data: Hex; readonly from?: Hex; readonly gas?: bigint }

export type Sent = { readonly outcome: SendOutcome; readonly answer: string }

export type RpcNode = {
  readonly name: string
  readonly health: Health
  /**
   * Returns the same node for an answer that is not needed once the signal is aborted: calls that wait for their turn
   * then end, and so do reads in parts. A call in flight is still answered, so that the node's health is known.
   */
  until(signal: AbortSignal): RpcNode
  chainId(): Promise<number>
  block(tag: BlockTag): Promise<Block>
  /** A log that matches both kinds of topics may be listed twice. */
  logs(filter: LogFilter): Promise<Log[]>
  /** Null if the node does not know it. */
  receipt(txHash: Hex): Promise<Receipt | null>
  transactions(block: number, from: Hex): Promise<Transaction[]>
  /** Null if the node does not know it. */
  transaction(txHash: Hex): Promise<Transaction | null>
  rawHeader(block: number): Promise<RawHeader>
  /** Returns the receipt of every transaction of the block, in its order. */
  rawReceipts(block: number): Promise<RawReceipt[]>
  transactionCount(wallet: Hex, at: BlockTag): Promise<number>
  balance(wallet: Hex, at: BlockTag): Promise<bigint>
  code(address: Hex): Promise<Hex>
  /**
   * `parse` throws for what no contract of the platform returns, which counts as a wrong answer. Default: the newest
   * block.
   */
  call<T>(call: Call, reading: { parse: (answer: unknown) => T; at?: BlockTag | undefined }): Promise<T>
  feeHistory(blocks: number): Promise<FeeHistory>
  /** Never throws: a failure is an outcome. */
  send(raw: Hex): Promise<Sent>
}

export type NodeOptions = HealthOptions & {
  readonly timeoutMs: number
  readonly chainId: number
  readonly callsPerSecond: number
}

const at = (tag: BlockTag): string => (typeof tag === 'number' ? quantity(tag) : tag)

export function connectNode(url: string, options: NodeOptions): RpcNode {
  const health = createHealth(options)
  const { callsPerSecond: rate, timeoutMs: waitMs, now } = options
  // No call waits that cannot begin in time.
  const budget = createLimiter({ rate, queued: Math.floor((rate * waitMs) / 1000), waitMs }, now)
  const transport = connectTransport(url, { ...options, health, budget })
  const readers = createPartReaders({ name: options.name, now: options.now })
  return asNode({ name: options.name, health, transport, readers })
}

type Parts = Pick<RpcNode, 'name' | 'health'> & {
  readonly transport: NodeTransport
  readonly readers: ReturnType<typeof createPartReaders>
}

function asNode(parts: Parts, signal?: AbortSignal): RpcNode {
  const { name, health, readers } = parts
  const transport: NodeTransport = { read: (call) => parts.transport.read({ ...call, signal }) }
  const read: Read = (method, params, parse) => transport.read({ method, params, parse })

  return {
    name,
    health,
    ...readers(transport, signal),
    until: (other) => asNode(parts, other),
    chainId: () => read('eth_chainId', [], parseNumber),
    async block(tag) {
      const block = await read('eth_getBlockByNumber', [at(tag), false], (answer) =>
        answer === null ? null : asAsked(tag, parseBlock(answer)),
      )
      if (block === null) throw unknownBlock(name, tag)
      if (tag === 'latest') health.sawHead(block.number)
      return block
    },
    receipt: (txHash) =>
      transport.read({
        method: 'eth_getTransactionReceipt',
        params: [txHash],
        parse: (answer) => (answer === null ? null : parseReceipt(answer)),
        indivisible: true,
      }),
    transaction: (txHash) =>
      read('eth_getTransactionByHash', [txHash], (answer) => (answer === null ? null : parseTransaction(answer))),
    rawHeader: (number) => read('eth_getBlockByNumber', [quantity(number), false], parseRawHeader),
    transactionCount: (wallet, tag) => read('eth_getTransactionCount', [wallet, at(tag)], parseNumber),
    balance: (wallet, tag) => read('eth_getBalance', [wallet, at(tag)], parseQuantity),
    code: (address) => read('eth_getCode', [address, 'latest'], (answer) => parseHex(answer)),
    call: ({ gas, ...call }, { parse, at: tag = 'latest' }) =>
      read('eth_call', [gas === undefined ? call : { ...call, gas: quantity(gas) }, at(tag)], parse),
    feeHistory: (blocks) =>
      read('eth_feeHistory', [quantity(blocks), 'latest', [50]], parseFeeHistory).catch((failure: unknown) => {
        if (!lacksMethod(failure)) throw failure
        return readGasPrice(read)
      }),
    send: (raw) => send(transport, raw),
  }
}

type Read = <T>(method: string, params: readonly unknown[], parse: (answer: unknown) => T) => Promise<T>

/** Without a history, a gas price is the base fee and the tip of now. */
async function readGasPrice(read: Read): Promise<FeeHistory> {
  const [price, baseFee] = await Promise.all([
    read('eth_gasPrice', [], parseQuantity),
    read('eth_getBlockByNumber', ['latest', false], (answer) => parseQuantity(parseFields(answer)['baseFeePerGas'])),
  ])
  return { nextBaseFee: baseFee, tips: [price > baseFee ? price - baseFee : 0n] }
}

function asAsked(tag: BlockTag, block: Block): Block {
  if (typeof tag === 'number' && block.number !== tag) throw new RangeError(`block ${block.number} instead of ${tag}`)
  return block
}

async function send(transport: NodeTransport, raw: Hex): Promise<Sent> {
  const method = 'eth_sendRawTransaction'
  try {
    const hash = await transport.read({ method, params: [raw], parse: (answer) => parseHex(answer, 32), alone: true })
    if (hash === keccak256(raw)) return { outcome: 'accepted', answer: hash }
    return { outcome: 'unknown', answer: `the node answers another hash: ${hash}` }
  } catch (failure) {
    const answer = failure instanceof NodeFailure ? failure.answer : String(failure)
    return { outcome: classifySendError(answer), answer }
  }
}
