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

export function fieldsOf(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no object')
  return value as Fields
}

export function listOf<T>(value: unknown, parse: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw new Error('no list')
  return value.map(parse)
}

const HEX = /^0x(?:[0-9a-f]{2})*$/

/** Parses bytes in hex, lower-case; of a fixed length if `bytes` is given. */
export function hexOf(value: unknown, bytes?: number): Hex {
  if (typeof value !== 'string') throw new Error('no hex')
  const hex = value.toLowerCase()
  if (!HEX.test(hex) || (bytes !== undefined && hex.length !== 2 + 2 * bytes))
    throw new Error(`${hex.slice(0, 80)} is not hex of ${bytes ?? 'whole'} bytes`)
  return hex as Hex
}

/** Parses a quantity in wei or gas. */
export function quantityOf(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw new Error('no quantity')
  return BigInt(value)
}

/** Parses a count or a place in the chain. */
export function numberOf(value: unknown): number {
  const number = Number(quantityOf(value))
  if (!Number.isSafeInteger(number)) throw new Error('a number beyond every block')
  return number
}

export function blockOf(value: unknown): Block {
  const { number, hash, parentHash, timestamp } = fieldsOf(value)
  return {
    number: numberOf(number),
    hash: hexOf(hash, 32),
    parentHash: hexOf(parentHash, 32),
    timestamp: numberOf(timestamp),
  }
}

export function logOf(value: unknown): Log {
  const log = fieldsOf(value)
  if (log['removed'] === true) throw new Error('a removed log')
  return {
    address: hexOf(log['address'], 20),
    topics: listOf(log['topics'], (topic) => hexOf(topic, 32)),
    data: hexOf(log['data']),
    blockNumber: numberOf(log['blockNumber']),
    blockHash: hexOf(log['blockHash'], 32),
    txHash: hexOf(log['transactionHash'], 32),
    logIndex: numberOf(log['logIndex']),
  }
}

export function receiptOf(value: unknown): Receipt {
  const receipt = fieldsOf(value)
  return {
    txHash: hexOf(receipt['transactionHash'], 32),
    from: hexOf(receipt['from'], 20),
    blockNumber: numberOf(receipt['blockNumber']),
    blockHash: hexOf(receipt['blockHash'], 32),
    gasUsed: quantityOf(receipt['gasUsed']),
    gasPrice: quantityOf(receipt['effectiveGasPrice']),
    logs: listOf(receipt['logs'], logOf),
  }
}

export function transactionOf(value: unknown): Transaction {
  const { hash, from, nonce, to, input } = fieldsOf(value)
  return {
    hash: hexOf(hash, 32),
    from: hexOf(from, 20),
    nonce: numberOf(nonce),
    to: to === null || to === undefined ? null : hexOf(to, 20),
    input: hexOf(input),
  }
}

export function feeHistoryOf(value: unknown): FeeHistory {
  const { baseFeePerGas, reward } = fieldsOf(value)
  const baseFees = listOf(baseFeePerGas, quantityOf)
  return {
    nextBaseFee: baseFees.at(-1) ?? 0n,
    tips: listOf(reward ?? [], (tips) => listOf(tips, quantityOf)[0] ?? 0n),
  }
}
