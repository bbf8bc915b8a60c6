import type { Hex } from '../../domain/hex.ts'
import { type RawReceipt, rawReceiptOf } from '../receipts/encoding.ts'
import { fieldsOf, hexOf, type Log, listOf, logOf, numberOf, type Transaction, transactionOf } from './answers.ts'
import { isCutOff, isTooLarge, maySplit, NodeFailure } from './failure.ts'
import { LARGE_AT_ONCE, type NodeTransport, quantity } from './transport.ts'

/** Reads of one node that are asked for in parts when the whole is too large for one answer. Throws NodeFailure only. */

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

export type PartReader = {
  logs(filter: LogFilter): Promise<Log[]>
  rawReceipts(block: number): Promise<RawReceipt[]>
  transactions(block: number, from: Hex): Promise<Transaction[]>
}

/** The node, and what is known of it. */
type Source = {
  readonly transport: NodeTransport
  readonly name: string
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
}
type LogSource = Source & { readonly logged: { at: number } }

export function createPartReader(source: Source): PartReader {
  const logSource = { ...source, logged: { at: Number.NEGATIVE_INFINITY } }
  return {
    logs: (filter) => readLogs(logSource, filter, deadline(source, LOGS_MS, TOO_SLOW)),
    // Pruned nodes refuse these too, and other nodes have them: only a size is asked for in parts.
    rawReceipts: (number) => readReceipts(source, number, { parse: rawReceiptOf, isSplit: isTooLarge }),
    transactions: (number, from) => readTransactions(source, number, from),
  }
}

export const unknownBlock = (name: string, tag: number | string): NodeFailure =>
  new NodeFailure(name, { kind: 'refused', answer: `does not know block ${tag}` })

/** For a whole range of logs, in milliseconds: by single blocks that are answered late it would take an hour. */
const LOGS_MS = 30_000
const TOO_SLOW = `has not read a range of logs by smaller ones in ${LOGS_MS / 1000} s`

/** Throws when there is no time left: those who ask then ask for less. */
type AssertTime = () => void

function deadline({ name, now }: Source, ms: number, answer: string): AssertTime {
  const until = now() + ms
  return () => {
    if (now() > until) throw new NodeFailure(name, { kind: 'silent', answer })
  }
}

/**
 * Reads a range of blocks in halves when the node refuses it: nodes have limits, and so have we. A single block that is
 * refused is read by its receipts. If it cannot be, that ends it: a node that refuses everything is asked as often as the
 * range can be halved, ten times for a thousand blocks.
 */
async function readLogs(source: LogSource, filter: LogFilter, assertTime: AssertTime): Promise<Log[]> {
  const { fromBlock, toBlock, topics, orTopics } = filter
  try {
    const questions = orTopics === undefined ? [topics] : [topics, orTopics]
    return (await Promise.all(questions.map((each) => askLogs(source, { ...filter, topics: each })))).flat()
  } catch (failure) {
    if (!maySplit(failure)) throw failure
    if (fromBlock >= toBlock) return readByReceipts(source, filter, failure)
    assertTime()
    const middle = Math.floor((fromBlock + toBlock) / 2)
    const earlier = await readLogs(source, { ...filter, toBlock: middle }, assertTime)
    return [...earlier, ...(await readLogs(source, { ...filter, fromBlock: middle + 1 }, assertTime))]
  }
}

async function askLogs({ transport, logged, now }: LogSource, filter: LogFilter): Promise<Log[]> {
  const { address, topics, fromBlock, toBlock } = filter
  const logs = await transport.read({
    method: 'eth_getLogs',
    params: [{ address, topics, fromBlock: quantity(fromBlock), toBlock: quantity(toBlock) }],
    parse: (answer) => listOf(answer, logOf).map((log) => within(filter, log)),
    alone: true,
  })
  logged.at = now()
  return logs
}

function within({ fromBlock, toBlock }: LogFilter, log: Log): Log {
  if (log.blockNumber < fromBlock || log.blockNumber > toBlock)
    throw new RangeError(`a log of block ${log.blockNumber} instead of ${fromBlock} to ${toBlock}`)
  return log
}

/** For how long, in milliseconds, an answer to `eth_getLogs` shows that a refusal is about the block and not the method. */
const GIVES_LOGS_MS = 600_000

/**
 * The logs of a single block for which `eth_getLogs` is refused. For a dollar a stranger fills one with 24,000 transfers of
 * nothing: 15 MB, and nodes give 10,000 logs at most. Their words for that are too many to know all, so any refusal counts,
 * but only of a node that gives the logs of other blocks: one that gives none costs nothing more. Costs two calls; where all
 * receipts are too large for one answer, as many as the block has transactions, and up to 50 MB.
 */
async function readByReceipts(source: LogSource, filter: LogFilter, refusal: unknown): Promise<Log[]> {
  const { name, now, logged } = source
  if (!isCutOff(refusal) && now() > logged.at + GIVES_LOGS_MS) throw refusal
  const { fromBlock: number } = filter
  const block = await readBlock(source, number)
  const fits = createMatcher(filter)
  const parse = (receipt: unknown) => {
    const { transactionHash, blockHash, logs } = fieldsOf(receipt)
    // Nothing else is kept of a receipt: a block's are a hundred megabytes in memory.
    return {
      txHash: hexOf(transactionHash, 32),
      blockHash: hexOf(blockHash, 32),
      logs: listOf(logs, logOf).filter(fits),
    }
  }
  // By any refusal: not every node has `eth_getBlockReceipts`.
  const receipts = await readReceipts(source, number, { parse, isSplit: maySplit, block })
  const told = new Set(receipts.map(({ txHash }) => txHash))
  const missing = block.transactions.find((hash) => !told.has(hash))
  if (missing !== undefined) throw noReceipt(name, missing)
  const isHere = (log: Log): boolean => log.blockHash === block.hash && log.blockNumber === number
  if (receipts.some(({ blockHash, logs }) => blockHash !== block.hash || !logs.every(isHere)))
    throw new NodeFailure(name, { kind: 'refused', answer: `has receipts of another block than ${block.hash}` })
  return receipts.flatMap(({ logs }) => logs)
}

/** Whether the filter's logs have this address and these topics, as `eth_getLogs` decides it. */
function createMatcher({ address, topics, orTopics }: LogFilter): (log: Log) => boolean {
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

type BlockParts = { readonly hash: Hex; readonly transactions: readonly Hex[] }

async function readBlock({ transport, name }: Source, number: number): Promise<BlockParts> {
  const block = await transport.read({
    method: 'eth_getBlockByNumber',
    params: [quantity(number), false],
    parse(answer): BlockParts | null {
      if (answer === null) return null
      const { hash, number: told, transactions } = fieldsOf(answer)
      if (numberOf(told) !== number) throw new RangeError(`another block than ${number}`)
      return { hash: hexOf(hash, 32), transactions: listOf(transactions, (one) => hexOf(one, 32)) }
    },
  })
  if (block === null) throw unknownBlock(name, number)
  return block
}

type ReceiptReading<T> = {
  readonly parse: (receipt: unknown) => T
  /** After which failures they are asked for one by one. */
  readonly isSplit: (failure: unknown) => boolean
  /** When it is known already. */
  readonly block?: BlockParts
}

/** What `parse` takes of every receipt of a block, in their order. */
async function readReceipts<T>(source: Source, number: number, reading: ReceiptReading<T>): Promise<T[]> {
  const { parse, isSplit, block } = reading
  try {
    return await source.transport.read({
      method: 'eth_getBlockReceipts',
      params: [quantity(number)],
      parse: (answer) => listOf(answer, parse),
      large: true,
    })
  } catch (failure) {
    if (!isSplit(failure)) throw failure
    const { transactions } = block ?? (await readBlock(source, number))
    return readEach(source, transactions, async (hash) => {
      const receipt = await source.transport.read({
        method: 'eth_getTransactionReceipt',
        params: [hash],
        parse: (answer) => (answer === null ? null : { parsed: parse(ofTransaction(hash, 'transactionHash', answer)) }),
        large: true,
      })
      if (receipt === null) throw noReceipt(source.name, hash)
      return receipt.parsed
    })
  }
}

/** What a wallet has sent in a block. Sixty transactions may have 128 KB each, which are 15 MB in hex: then one by one. */
async function readTransactions(source: Source, number: number, from: Hex): Promise<Transaction[]> {
  const { transport, name } = source
  const sentBy = (all: readonly Transaction[]): Transaction[] => all.filter((one) => one.from === from)
  try {
    const sent = await transport.read({
      method: 'eth_getBlockByNumber',
      params: [quantity(number), true],
      parse: (answer) => (answer === null ? null : sentBy(listOf(fieldsOf(answer)['transactions'], transactionOf))),
      large: true,
    })
    if (sent === null) throw unknownBlock(name, number)
    return sent
  } catch (failure) {
    if (!isTooLarge(failure)) throw failure
    const { transactions } = await readBlock(source, number)
    const sent = await readEach(source, transactions, async (hash) => {
      const transaction = await transport.read({
        method: 'eth_getTransactionByHash',
        params: [hash],
        parse: (answer) => (answer === null ? null : sentBy([transactionOf(ofTransaction(hash, 'hash', answer))])),
        large: true,
      })
      if (transaction === null) throw new NodeFailure(name, { kind: 'refused', answer: `does not know ${hash}` })
      return transaction
    })
    return sent.flat()
  }
}

/** The answer, when it is about the transaction that was asked about. */
function ofTransaction(hash: Hex, field: 'hash' | 'transactionHash', answer: unknown): unknown {
  if (hexOf(fieldsOf(answer)[field], 32) !== hash) throw new RangeError(`another transaction than ${hash}`)
  return answer
}

const noReceipt = (name: string, hash: Hex): NodeFailure =>
  new NodeFailure(name, { kind: 'refused', answer: `has no receipt of ${hash}` })

/**
 * For the transactions of one block, in milliseconds. A block of 140 million gas has 6,660, or 4,000 beside more logs than
 * nodes give: 54 s at six at a time and 80 ms each. What is read is forgotten when the time is over, so with less it would
 * never end.
 */
const BLOCK_MS = 60_000
const BLOCK_TOO_SLOW = `has not given a block's transactions one by one in ${BLOCK_MS / 1000} s`

/** Asks about each, a few at a time; answers in their order. Asks nothing more after the first failure. */
async function readEach<T>(source: Source, hashes: readonly Hex[], read: (hash: Hex) => Promise<T>): Promise<T[]> {
  const assertTime = deadline(source, BLOCK_MS, BLOCK_TOO_SLOW)
  const answers: T[] = []
  let next = 0
  async function goOn(): Promise<void> {
    for (let index = next++; index < hashes.length; index = next++) {
      const hash = hashes[index]
      try {
        assertTime()
        if (hash !== undefined) answers[index] = await read(hash)
      } catch (failure) {
        next = hashes.length
        throw failure
      }
    }
  }
  await Promise.all(Array.from({ length: LARGE_AT_ONCE }, goOn))
  return answers
}
