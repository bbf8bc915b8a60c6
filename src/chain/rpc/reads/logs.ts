import type { Hex } from '../../../domain/hex.ts'
import { type Log, parseFields, parseHex, parseList, parseLog } from '../answers.ts'
import { isCutOff, maySplit, NodeFailure } from '../failure.ts'
import { quantity } from '../transport.ts'
import { type BlockParts, readBlock, readEachReceipt, readReceipts } from './block.ts'
import { createMatcher, type LogFilter } from './filter.ts'
import { createRoom, logGas, type Room } from './room.ts'
import { type AssertTime, deadline, inTurn, type Source } from './source.ts'

/** Milliseconds for a whole range of logs: by single blocks that are answered late it would take an hour. */
const LOGS_MS = 30_000
const TOO_SLOW = `has not read a range of logs by smaller ones in ${LOGS_MS / 1000} s`

export function readLogs(source: Source, filter: LogFilter): Promise<Log[]> {
  return readHalves({ ...source, assertTime: deadline(source, LOGS_MS, TOO_SLOW), room: createRoom() }, filter)
}

type Reading = Source & { readonly assertTime: AssertTime; readonly room: Room }

/**
 * Reads a range of blocks in halves if the node refuses it: nodes have limits, and so has this program. A single block
 * that is refused is read by its receipts. If that fails, the reading ends: a node that refuses everything is asked as
 * often as the range can be halved, ten times for a thousand blocks, and once more.
 */
async function readHalves(reading: Reading, filter: LogFilter): Promise<Log[]> {
  const { fromBlock, toBlock, topics, orTopics } = filter
  try {
    const questions = orTopics === undefined ? [topics] : [topics, orTopics]
    return takeRoom(
      reading,
      (await Promise.all(questions.map((each) => askLogs(reading, { ...filter, topics: each })))).flat(),
    )
  } catch (failure) {
    if (!maySplit(failure)) throw failure
    if (fromBlock >= toBlock) return readByReceipts(reading, filter, failure)
    reading.assertTime()
    const middle = Math.floor((fromBlock + toBlock) / 2)
    const earlier = await readHalves(reading, { ...filter, toBlock: middle })
    return [...earlier, ...(await readHalves(reading, { ...filter, fromBlock: middle + 1 }))]
  }
}

/** A true range may have more logs than memory is to contain at once: then fewer blocks must be requested. */
function takeRoom({ name, room }: Reading, logs: Log[]): Log[] {
  if (logs.every((log) => room.takes(logGas(log)))) return logs
  throw new NodeFailure(name, { kind: 'silent', answer: 'has more logs of a range of blocks than are held at once' })
}

async function askLogs({ transport }: Source, filter: LogFilter): Promise<Log[]> {
  const { address, topics, fromBlock, toBlock } = filter
  return transport.read({
    method: 'eth_getLogs',
    params: [{ address, topics, fromBlock: quantity(fromBlock), toBlock: quantity(toBlock) }],
    parse: (answer) => parseList(answer, parseLog).map((log) => within(filter, log)),
    alone: true,
  })
}

function within({ fromBlock, toBlock }: LogFilter, log: Log): Log {
  if (log.blockNumber < fromBlock || log.blockNumber > toBlock)
    throw new RangeError(`a log of block ${log.blockNumber} instead of ${fromBlock} to ${toBlock}`)
  return log
}

/** The topic of no event: not even a block that is full of logs has one with it. */
const NO_TOPIC: Hex = `0x${'0'.repeat(64)}`

/** Returns true if a refusal is about the block and not the method. */
async function givesLogs(source: Source, { address, fromBlock }: LogFilter): Promise<boolean> {
  const before = Math.max(0, fromBlock - 1)
  try {
    await askLogs(source, { address, topics: [NO_TOPIC], fromBlock: before, toBlock: before })
    return true
  } catch (failure) {
    if (!maySplit(failure)) throw failure
    return false
  }
}

/**
 * Reads the logs of a single block for which `eth_getLogs` is refused. For a dollar a stranger fills one with 24,000
 * transfers of zero: 15 MB, and nodes return 10,000 logs at most. Their texts for that are too many to know all, so any
 * refusal counts, but only of a node that returns logs at all: one that returns none costs one call more. Costs three
 * calls; if all receipts are too large for one answer, as many as the block has transactions, and up to 130 MB.
 */
async function readByReceipts(source: Reading, filter: LogFilter, refusal: unknown): Promise<Log[]> {
  if (!isCutOff(refusal) && !(await givesLogs(source, filter))) throw refusal
  return inTurn(source, async () => {
    const block = await readBlock(source, filter.fromBlock)
    const isMatch = createMatcher(filter)
    const found = new Map<Hex, readonly Log[]>()
    const parse = createParser(block, { isMatch, found, room: source.room })
    // After any refusal: not every node has `eth_getBlockReceipts`.
    await readReceipts(source, block.number, { parse, isSplit: maySplit, block })
    // Erigon leaves out the state-sync transaction of a block (0xPolygon/erigon#64), and returns its receipt on
    // request.
    const missing = block.transactions.filter((hash) => !found.has(hash))
    await readEachReceipt(source, missing, parse)
    // Each once, and no others: Erigon listed that transaction's logs twice, under two hashes (0xPolygon/erigon#97).
    return [...new Set(block.transactions)].flatMap((hash) => found.get(hash) ?? [])
  })
}

type Fitting = {
  readonly isMatch: (log: Log) => boolean
  readonly found: Map<Hex, readonly Log[]>
  readonly room: Room
}

/**
 * Collects the logs of a receipt that match, and nothing else: a block's receipts are a hundred megabytes in memory.
 * The first log of another block, or more logs than a block can have, ends the reading: what a node invents is not
 * collected.
 */
function createParser({ number, hash }: BlockParts, { isMatch, found, room }: Fitting): (receipt: unknown) => void {
  return (receipt) => {
    const { transactionHash, blockHash, logs } = parseFields(receipt)
    const txHash = parseHex(transactionHash, 32)
    if (parseHex(blockHash, 32) !== hash) throw new RangeError(`a receipt of another block than ${hash}`)
    const fitting = parseList(logs, parseLog).filter(isMatch)
    const isHere = (log: Log): boolean => log.blockNumber === number && log.blockHash === hash && log.txHash === txHash
    if (!fitting.every(isHere)) throw new RangeError(`logs of another block than ${hash}, or of another transaction`)
    if (!fitting.every((log) => room.takes(logGas(log)))) throw new RangeError('more logs than a block can have')
    found.set(txHash, fitting)
  }
}
