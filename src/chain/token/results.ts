import type { Hex } from '../../domain/hex.ts'
import { parseHex } from '../rpc/answers.ts'
import { word } from './words.ts'

/**
 * A result of Multicall3 `aggregate3`, which returns `Result[]`, each `(bool success, bytes returnData)`. Decoded here,
 * since a node may invent it: a general decoder copied 4 MB, of 8 KB on the wire, once for each of the forty offsets
 * that named them. Solidity encodes it in one way only, without gaps or sharing, so the work is never more than the
 * bytes.
 */
export type Result = {
  readonly success: boolean
  /** At most the first MAX_RETURNED bytes. */
  readonly returnData: Hex
}

/** Maximum bytes of all results: of a hundred transfers ten thousand each, a hundred times Circle's longest reason. */
const MAX_BYTES = 1024 * 1024

/** Maximum bytes that are kept of one result: operators read the reason of a revert. */
const MAX_RETURNED = 1024

const WORD = 64

/** Throws for anything else than the results of `count` calls. */
export function decodeResults(answer: unknown, count: number): Result[] {
  if (typeof answer !== 'string' || answer.length > 2 + 2 * MAX_BYTES)
    throw new RangeError('more bytes than results have')
  const data = parseHex(answer).slice(2)
  const wordAt = (place: number): string => data.slice(place, place + WORD)
  const demand = (isSo: boolean): void => {
    if (!isSo) throw new RangeError(`not the results of ${count} calls`)
  }
  demand(wordAt(0) === word(0x20) && wordAt(WORD) === word(count))
  const start = 2 * WORD
  let place = start + count * WORD
  const results: Result[] = []
  for (let index = 0; index < count; index++) {
    demand(wordAt(start + index * WORD) === word((place - start) / 2))
    const success = wordAt(place)
    demand((success === word(0) || success === word(1)) && wordAt(place + WORD) === word(0x40))
    const length = parseLength(wordAt(place + 2 * WORD))
    const bytes = place + 3 * WORD
    place = bytes + Math.ceil(length / 32) * WORD
    demand(place <= data.length)
    const returnData: Hex = `0x${data.slice(bytes, bytes + 2 * Math.min(length, MAX_RETURNED))}`
    results.push({ success: success === word(1), returnData })
  }
  demand(place === data.length)
  return results
}

/** Returns the words of `count` calls that each return one word. Throws if one has failed. */
export function decodeWords(answer: unknown, count: number): bigint[] {
  return decodeResults(answer, count).map(({ success, returnData }) => {
    if (!success || returnData.length !== 2 + WORD)
      throw new Error(`a contract does not answer as USDC does: ${returnData.slice(0, 80)}`)
    return BigInt(returnData)
  })
}

/** Returns the length in bytes. A length beyond what a number holds exactly is more than there are. */
function parseLength(digits: string): number {
  return digits.length === WORD ? Number(`0x${digits}`) : Number.POSITIVE_INFINITY
}

const ERROR = `0x08c379a0${word(0x20)}`
const PANIC = '0x4e487b71'

/**
 * Returns the text of a revert: `Error(string)` or `Panic(uint256)`, or the first raw bytes if it is something else.
 */
export function revertReason(data: Hex): string {
  if (data === '0x') return 'reverted without a reason'
  if (data.startsWith(ERROR) && data.length >= ERROR.length + WORD) {
    const text = ERROR.length + WORD
    const length = parseLength(data.slice(ERROR.length, text))
    return Buffer.from(data.slice(text, text + 2 * length), 'hex').toString()
  }
  if (data.startsWith(PANIC) && data.length === PANIC.length + WORD) return `panic ${BigInt(`0x${data.slice(10)}`)}`
  return `reverted with ${data.slice(0, 74)}`
}
