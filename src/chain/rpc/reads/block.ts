import type { Hex } from '../../../domain/hex.ts'
import { parseFields, parseHex, parseList, parseNumber, parseTransaction, type Transaction } from '../answers.ts'
import { isNoAnswer, isTooLarge, lacksMethod, NodeFailure } from '../failure.ts'
import { pause } from '../pause.ts'
import { LARGE_AT_ONCE, quantity } from '../transport.ts'
import { createRoom, transactionGas } from './room.ts'
import { deadline, inTurn, type Source } from './source.ts'

export const unknownBlock = (name: string, tag: number | string): NodeFailure =>
  new NodeFailure(name, { kind: 'refused', answer: `does not know block ${tag}` })

export type BlockParts = { readonly number: number; readonly hash: Hex; readonly transactions: readonly Hex[] }

export async function readBlock({ transport, name }: Source, number: number): Promise<BlockParts> {
  const block = await transport.read({
    method: 'eth_getBlockByNumber',
    params: [quantity(number), false],
    parse(answer): BlockParts | null {
      if (answer === null) return null
      const { hash, number: reported, transactions } = parseFields(answer)
      if (parseNumber(reported) !== number) throw new RangeError(`another block than ${number}`)
      return { number, hash: parseHex(hash, 32), transactions: parseList(transactions, (one) => parseHex(one, 32)) }
    },
  })
  if (block === null) throw unknownBlock(name, number)
  return block
}

type ReceiptReading<T> = {
  readonly parse: (receipt: unknown) => T
  /** Returns true for failures after which they are read one by one; always read so if the node has no other way. */
  readonly isSplit: (failure: unknown) => boolean
  readonly block?: BlockParts
}

/** Returns what `parse` makes of every receipt of a block, in their order. */
export async function readReceipts<T>(source: Source, number: number, reading: ReceiptReading<T>): Promise<T[]> {
  const { parse, isSplit, block } = reading
  const receipts = await source.transport
    .read({
      method: 'eth_getBlockReceipts',
      params: [quantity(number)],
      parse: (answer) => (answer === null ? null : parseList(answer, parse)),
      large: true,
    })
    .catch(async (failure: unknown) => {
      if (!lacksMethod(failure) && !isSplit(failure)) throw failure
      const { transactions } = block ?? (await readBlock(source, number))
      return readEachReceipt(source, transactions, parse)
    })
  // A node returns null for a block that it does not have, or whose receipts are not there yet.
  if (receipts === null) throw unknownBlock(source.name, number)
  return receipts
}

export function readEachReceipt<T>(
  source: Source,
  hashes: readonly Hex[],
  parse: (receipt: unknown) => T,
): Promise<T[]> {
  return readEach(source, hashes, async (hash) => {
    const receipt = await source.transport.read({
      method: 'eth_getTransactionReceipt',
      params: [hash],
      parse: (answer) => (answer === null ? null : { parsed: parse(ofTransaction(hash, 'transactionHash', answer)) }),
      indivisible: true,
    })
    if (receipt === null) throw new NodeFailure(source.name, { kind: 'refused', answer: `has no receipt of ${hash}` })
    return receipt.parsed
  })
}

/**
 * Returns a wallet's transactions in a block. Sixty may have 128 KB each, which are 15 MB in hex: then reads them one
 * by one.
 */
export async function readTransactions(source: Source, number: number, from: Hex): Promise<Transaction[]> {
  const { transport, name } = source
  const sentBy = (all: readonly Transaction[]): Transaction[] => all.filter((one) => one.from === from)
  try {
    const sent = await transport.read({
      method: 'eth_getBlockByNumber',
      params: [quantity(number), true],
      parse: (answer) =>
        answer === null ? null : sentBy(parseList(parseFields(answer)['transactions'], parseTransaction)),
      large: true,
    })
    if (sent === null) throw unknownBlock(name, number)
    return sent
  } catch (failure) {
    if (!isTooLarge(failure)) throw failure
    return inTurn(source, () => readSentOneByOne(source, number, sentBy))
  }
}

async function readSentOneByOne(
  source: Source,
  number: number,
  sentBy: (all: readonly Transaction[]) => Transaction[],
): Promise<Transaction[]> {
  const { transport, name } = source
  const room = createRoom()
  const { transactions } = await readBlock(source, number)
  const sent = await readEach(source, transactions, async (hash) => {
    const transaction = await transport.read({
      method: 'eth_getTransactionByHash',
      params: [hash],
      parse(answer) {
        if (answer === null) return null
        const found = sentBy([parseTransaction(ofTransaction(hash, 'hash', answer))])
        if (!found.every((one) => room.takes(transactionGas(one))))
          throw new RangeError('more bytes of transactions than a block can have')
        return found
      },
      large: true,
    })
    if (transaction === null) throw new NodeFailure(name, { kind: 'refused', answer: `does not know ${hash}` })
    return transaction
  })
  return sent.flat()
}

/** Returns the answer if it is about the requested transaction. Throws otherwise. */
function ofTransaction(hash: Hex, field: 'hash' | 'transactionHash', answer: unknown): unknown {
  if (parseHex(parseFields(answer)[field], 32) !== hash) throw new RangeError(`another transaction than ${hash}`)
  return answer
}

/**
 * Milliseconds for the transactions of one block: the rest of a round must not wait longer. A block of 140 million gas
 * has 6,660, or 4,000 next to more logs than nodes return: 54 s at six at a time and 80 ms each. A slower node is asked
 * for the rest when it is asked for the block again.
 */
const BLOCK_MS = 60_000
const BLOCK_TOO_SLOW = `has not given a block's transactions one by one in ${BLOCK_MS / 1000} s`

/**
 * Milliseconds after which a lost answer is requested again. If one in a thousand is lost, a block loses four or more.
 */
const PAUSES_MS = [500, 2000]

/** Reads each, a few at a time. Returns the answers in their order. Sends no call after the first failure. */
async function readEach<T>(source: Source, hashes: readonly Hex[], read: (hash: Hex) => Promise<T>): Promise<T[]> {
  const assertTime = deadline(source, BLOCK_MS, BLOCK_TOO_SLOW)
  const answers: T[] = []
  let next = 0
  async function readAgain(readOne: () => Promise<T>): Promise<T> {
    for (const pauseMs of PAUSES_MS) {
      assertTime()
      try {
        return await readOne()
      } catch (failure) {
        if (!isNoAnswer(failure)) throw failure
        await pause(pauseMs, source.signal)
      }
    }
    assertTime()
    return readOne()
  }
  async function readNext(): Promise<void> {
    for (let index = next++; index < hashes.length; index = next++) {
      const hash = hashes[index]
      try {
        if (hash !== undefined) answers[index] = await readAgain(() => read(hash))
      } catch (failure) {
        next = hashes.length
        throw failure
      }
    }
  }
  await Promise.all(Array.from({ length: LARGE_AT_ONCE }, readNext))
  return answers
}
