import { toRlp } from 'viem/utils'
import type { Hex } from '../../domain/hex.ts'
import { parseFields, parseHex, parseList, parseQuantity } from '../rpc/answers.ts'

/** A header in the bytes that hash to the block's hash. */
export type RawHeader = { readonly encoded: Hex; readonly receiptsRoot: Hex; readonly timestamp: number }

export type RawReceipt = {
  readonly txHash: Hex
  /** The bytes that are in the trie (EIP-2718). */
  readonly encoded: Hex
  readonly logs: readonly RawLog[]
}

export type RawLog = { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }

/** Fields in their order, with a fixed length in bytes. A block has the later fields that its fork has. */
const FIELDS = [
  ['parentHash', 32],
  ['sha3Uncles', 32],
  ['miner', 20],
  ['stateRoot', 32],
  ['transactionsRoot', 32],
  ['receiptsRoot', 32],
  ['logsBloom', 256],
  ['difficulty', 'quantity'],
  ['number', 'quantity'],
  ['gasLimit', 'quantity'],
  ['gasUsed', 'quantity'],
  ['timestamp', 'quantity'],
  ['extraData', 'bytes'],
  ['mixHash', 32],
  ['nonce', 8],
] as const
const LATER_FIELDS = [
  ['baseFeePerGas', 'quantity'],
  ['withdrawalsRoot', 32],
  ['blobGasUsed', 'quantity'],
  ['excessBlobGas', 'quantity'],
  ['parentBeaconBlockRoot', 32],
  ['requestsHash', 32],
] as const

export function parseRawHeader(value: unknown): RawHeader {
  const block = parseFields(value)
  const later = LATER_FIELDS.filter(([name]) => block[name] !== undefined && block[name] !== null)
  const items = [...FIELDS, ...later].map(([name, kind]) =>
    kind === 'quantity'
      ? minimal(parseQuantity(block[name]))
      : parseHex(block[name], kind === 'bytes' ? undefined : kind),
  )
  return {
    encoded: toRlp(items),
    receiptsRoot: parseHex(block['receiptsRoot'], 32),
    timestamp: Number(parseQuantity(block['timestamp'])),
  }
}

export function parseRawReceipt(value: unknown): RawReceipt {
  const receipt = parseFields(value)
  const logs = parseList(receipt['logs'], parseRawLog)
  const payload = toRlp([
    minimal(parseQuantity(receipt['status'])),
    minimal(parseQuantity(receipt['cumulativeGasUsed'])),
    parseHex(receipt['logsBloom'], 256),
    logs.map(({ address, topics, data }) => [address, [...topics], data]),
  ])
  const type = parseQuantity(receipt['type'] ?? '0x0')
  return {
    txHash: parseHex(receipt['transactionHash'], 32),
    encoded: type === 0n ? payload : `${minimal(type)}${payload.slice(2)}`,
    logs,
  }
}

function parseRawLog(value: unknown): RawLog {
  const log = parseFields(value)
  return {
    address: parseHex(log['address'], 20),
    topics: parseList(log['topics'], (topic) => parseHex(topic, 32)),
    data: parseHex(log['data']),
  }
}

/** Returns a number as RLP encodes it: without leading zeros, and zero without any byte. */
function minimal(value: bigint): Hex {
  if (value === 0n) return '0x'
  const digits = value.toString(16)
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`
}
