import type { Hex } from '../../../domain/hex.ts'
import { fieldsOf, hexOf, type Log, listOf, logOf } from '../answers.ts'
import { isCutOff, maySplit, NodeFailure } from '../failure.ts'
import { quantity } from '../transport.ts'
import { type BlockParts, readBlock, readReceipts, readReceiptsOf } from './block.ts'
import { createMatcher, type LogFilter } from './filter.ts'
import { createRoom, logGas, type Room } from './room.ts'
import { type AssertTime, deadline, inTurn, type Source } from './source.ts'

/** For a whole range of logs, in milliseconds: by single blocks that are answered late it would take an hour. */
const LOGS_MS = 30_000
const TOO_SLOW = `has not read a range of logs by smaller ones in ${LOGS_MS / 1000} s`

/** Reads the logs of a range of blocks, by as many smaller ranges as the node needs. */
export function readLogs(source: Source, filter: LogFilter): Promise<Log[]> {
  return readHalves({ ...source, assertTime: deadline(source, LOGS_MS, TOO_SLOW), room: createRoom() }, filter)
}

type Reading = Source & { readonly assertTime: AssertTime; readonly room: Room }

/**
 * Reads a range of blocks in halves when the node refuses it: nodes have limits, and so have we. A single block that is
 * refused is read by its receipts. If it cannot be, that ends it: a node that refuses everything is asked as often as the
 * range can be halved, ten times for a thousand blocks.
 */
async function readHalves(reading: Reading, filter: LogFilter): Promise<Log[]> {
  const { fromBlock, toBlock, topics, orTopics } = filter
  try {
    const questions = orTopics === undefined ? [topics] : [topics, orTopics]
    return kept(
      reading,
      (await Promise.all(questions.map((each) => askLogs(reading, { ...filter, topics: each })))).flat(),
    )
  } catch (failure) {
    if (!maySplit(failure)) throw failure
    if (fromBlock >= toBlock) return kept(reading, await readByReceipts(reading, filter, failure))
    reading.assertTime()
    const middle = Math.floor((fromBlock + toBlock) / 2)
    const earlier = await readHalves(reading, { ...filter, toBlock: middle })
    return [...earlier, ...(await readHalves(reading, { ...filter, fromBlock: middle + 1 }))]
  }
}

/** More than is held at once of one range may be true: then fewer blocks must be asked for. */
function kept({ name, room }: Reading, logs: Log[]): Log[] {
  if (logs.every((log) => room.takes(logGas(log)))) return logs
  throw new NodeFailure(name, { kind: 'silent', answer: 'has more logs of a range of blocks than are held at once' })
}

async function askLogs({ transport, logged, now }: Source, filter: LogFilter): Promise<Log[]> {
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
 * receipts are too large for one answer, as many as the block has transactions, and up to 130 MB.
 */
async function readByReceipts(source: Source, filter: LogFilter, refusal: unknown): Promise<Log[]> {
  if (!isCutOff(refusal) && source.now() > source.logged.at + GIVES_LOGS_MS) throw refusal
  return inTurn(source, async () => {
    const block = await readBlock(source, filter.fromBlock)
    const parse = createParser(block, filter)
    // By any refusal: not every node has `eth_getBlockReceipts`.
    const together = await readReceipts(source, block.number, { parse, isSplit: maySplit, block })
    const told = new Map(together.map(({ txHash, logs }) => [txHash, logs]))
    // Erigon left the state-sync transaction of a block out (0xPolygon/erigon#64), and told its receipt when asked for it.
    const missing = await readReceiptsOf(
      source,
      block.transactions.filter((hash) => !told.has(hash)),
      parse,
    )
    for (const { txHash, logs } of missing) told.set(txHash, logs)
    // Each once, and no others: Erigon told that transaction's twice, under two hashes (0xPolygon/erigon#97).
    return [...new Set(block.transactions)].flatMap((hash) => told.get(hash) ?? [])
  })
}

type Fitting = { readonly txHash: Hex; readonly logs: readonly Log[] }

/**
 * Of a receipt the logs that fit; nothing else is kept, since a block's are a hundred megabytes in memory. At the first one
 * of another block, and at more logs than a block can have, the reading ends: what a node invents is not collected.
 */
function createParser({ number, hash }: BlockParts, filter: LogFilter): (receipt: unknown) => Fitting {
  const fits = createMatcher(filter)
  const room = createRoom()
  return (receipt) => {
    const { transactionHash, blockHash, logs } = fieldsOf(receipt)
    const txHash = hexOf(transactionHash, 32)
    if (hexOf(blockHash, 32) !== hash) throw new RangeError(`a receipt of another block than ${hash}`)
    const fitting = listOf(logs, logOf).filter(fits)
    const isHere = (log: Log): boolean => log.blockNumber === number && log.blockHash === hash && log.txHash === txHash
    if (!fitting.every(isHere)) throw new RangeError(`logs of another block than ${hash}, or of another transaction`)
    if (!fitting.every((log) => room.takes(logGas(log)))) throw new RangeError('more logs than a block can have')
    return { txHash, logs: fitting }
  }
}
