import type { Hex } from '../../domain/hex.ts'

/** Parses the answers of nodes from `unknown` to named types. A shape that the method does not have throws. */

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
  readonly logs: readonly Log[]
}

export type Transaction = {
  readonly hash: Hex
  readonly from: Hex
  readonly nonce: number
  readonly to: Hex | null
  readonly input: Hex
}

/** Gas prices of the last blocks, in wei for one unit. */
export type FeeHistory = { readonly nextBaseFee: bigint; readonly tips: readonly bigint[] }

type Fields = Readonly<Record<string, unknown>>

export function parseFields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no object')
  return value as Fields
}

export function parseList<T>(value: unknown, parse: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw new Error('no list')
  return value.map(parse)
}

const HEX = /^0x(?:[0-9a-f]{2})*$/

/** Parses bytes in hex, lower-case; of a fixed length if `bytes` is given. */
export function parseHex(value: unknown, bytes?: number): Hex {
  if (typeof value !== 'string') throw new Error('no hex')
  const hex = value.toLowerCase()
  if (!HEX.test(hex) || (bytes !== undefined && hex.length !== 2 + 2 * bytes))
    throw new Error(`${hex.slice(0, 80)} is not hex of ${bytes ?? 'whole'} bytes`)
  return hex as Hex
}

/** Parses a quantity in wei or gas. */
export function parseQuantity(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw new Error('no quantity')
  return BigInt(value)
}

/** Parses a count or a place in the chain. */
export function parseNumber(value: unknown): number {
  const number = Number(parseQuantity(value))
  if (!Number.isSafeInteger(number)) throw new Error('a number beyond every block')
  return number
}

export function parseBlock(value: unknown): Block {
  const { number, hash, parentHash, timestamp } = parseFields(value)
  return {
    number: parseNumber(number),
    hash: parseHex(hash, 32),
    parentHash: parseHex(parentHash, 32),
    timestamp: parseNumber(timestamp),
  }
}

export function parseLog(value: unknown): Log {
  const log = parseFields(value)
  if (log['removed'] === true) throw new Error('a removed log')
  return {
    address: parseHex(log['address'], 20),
    topics: parseList(log['topics'], (topic) => parseHex(topic, 32)),
    data: parseHex(log['data']),
    blockNumber: parseNumber(log['blockNumber']),
    blockHash: parseHex(log['blockHash'], 32),
    txHash: parseHex(log['transactionHash'], 32),
    logIndex: parseNumber(log['logIndex']),
  }
}

export function parseReceipt(value: unknown): Receipt {
  const receipt = parseFields(value)
  return {
    txHash: parseHex(receipt['transactionHash'], 32),
    from: parseHex(receipt['from'], 20),
    blockNumber: parseNumber(receipt['blockNumber']),
    blockHash: parseHex(receipt['blockHash'], 32),
    gasUsed: parseQuantity(receipt['gasUsed']),
    gasPrice: parseQuantity(receipt['effectiveGasPrice']),
    logs: parseList(receipt['logs'], parseLog),
  }
}

export function parseTransaction(value: unknown): Transaction {
  const { hash, from, nonce, to, input } = parseFields(value)
  return {
    hash: parseHex(hash, 32),
    from: parseHex(from, 20),
    nonce: parseNumber(nonce),
    to: to === null || to === undefined ? null : parseHex(to, 20),
    input: parseHex(input),
  }
}

export function parseFeeHistory(value: unknown): FeeHistory {
  const { baseFeePerGas, reward } = parseFields(value)
  const baseFees = parseList(baseFeePerGas, parseQuantity)
  return {
    nextBaseFee: baseFees.at(-1) ?? 0n,
    tips: parseList(reward ?? [], (tips) => parseList(tips, parseQuantity)[0] ?? 0n),
  }
}
