import { multicall3Abi } from 'viem'
import { decodeFunctionData } from 'viem/utils'
import type { Hex } from '../domain/hex.ts'
import type { SignedPayout } from '../domain/settlement/payout.ts'
import { MULTICALL3 } from './token/contracts.ts'
import { decodeResults, revertReason } from './token/results.ts'
import { encodeAggregate3, word } from './token/words.ts'

export type Authorization = Pick<
  SignedPayout,
  'ownerId' | 'treasury' | 'recipient' | 'microUsdc' | 'authNonce' | 'signed'
> & {
  /** True if the platform does not have the key: it may be a contract's, whose signature has any length (EIP-1271). */
  readonly isForeign?: true
}

/** Gas of a contract that checks a signature, in items: a Safe with five owners needs less. */
const FOREIGN_ITEMS = 5

/** Returns the number of items whose gas the authorizations need. */
export const countGasItems = (items: readonly Authorization[]): number =>
  items.reduce((sum, { isForeign }) => sum + (isForeign === true ? FOREIGN_ITEMS : 1), 0)

export type PayoutCodec = {
  readonly maxItems: number
  encode(token: Hex, payouts: readonly Authorization[]): { target: Hex; calldata: Hex }
  /**
   * Computed, not estimated: an estimate suffices for the outer call, which succeeds even if every transfer runs out of
   * gas.
   */
  gasLimit(items: number): bigint
  /** Unix seconds from which no item can move money any more. Null if an item never expires or there are no items. */
  deadline(calldata: Hex): number | null
  /**
   * Returns the outcome of each item of a simulated batch: null for success, else the reason of the revert. Throws if a
   * node's answer does not have that number of items.
   */
  decodeSimulation(answer: unknown, items: number): (string | null)[]
}

/** Measured on Circle's FiatTokenV2_2: 110,859 gas for one new recipient, 65,097 each in a hundred; 12 % above that. */
const GAS_BASE = 80_000n
const GAS_PER_ITEM = 72_000n

/**
 * The `(v, r, s)` overloads of FiatTokenV2: they exist since V2 and are for signatures of keys only. V2.2 has one that
 * takes `bytes`, and asks the sender if it is a contract.
 */
const TRANSFER_WITH_AUTHORIZATION = '0xe3ee160e'
const TRANSFER_WITH_SIGNATURE = '0xcf092995'
const CANCEL_AUTHORIZATION = '0x5a049a70'
const AGGREGATE3 = '0x82ad56cb'
/** The fifth word after the selector: from, to, value, validAfter, validBefore. */
const VALID_BEFORE = [10 + 4 * 64, 10 + 5 * 64] as const

function encodeItem(authorization: Authorization): Hex {
  const { signed, treasury, recipient, microUsdc, authNonce, ownerId, isForeign } = authorization
  const digits = signed.signature.slice(2)
  const vrs = word(`0x${digits.slice(128)}`) + digits.slice(0, 128)
  if (signed.kind === 'cancel') return `${CANCEL_AUTHORIZATION}${word(treasury)}${word(authNonce)}${vrs}`
  if (signed.validBefore === null) throw new Error(`transfer of ${ownerId} without a deadline`)
  const struct = [treasury, recipient, BigInt(microUsdc), 0, signed.validBefore, authNonce]
  const words = struct.map(word).join('')
  if (isForeign !== true) return `${TRANSFER_WITH_AUTHORIZATION}${words}${vrs}`
  const padded = digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')
  return `${TRANSFER_WITH_SIGNATURE}${words}${word(7 * 32)}${word(digits.length / 2)}${padded}`
}

/**
 * Multicall3 `aggregate3` with every item allowed to fail: an item that another relayer sent first, or that the token
 * refuses, must not revert the others. Multicall3 has no allowance and no funds; the signatures alone move the money.
 */
export const multicallCodec: PayoutCodec = {
  maxItems: 100,
  encode(token, payouts) {
    const calls = payouts.map((payout) => ({ target: token, allowFailure: true, callData: encodeItem(payout) }))
    return { target: MULTICALL3, calldata: encodeAggregate3(calls) }
  },
  gasLimit: (items) => GAS_BASE + GAS_PER_ITEM * BigInt(items),
  deadline(calldata) {
    if (!calldata.startsWith(AGGREGATE3)) return null
    const call = decodeFunctionData({ abi: multicall3Abi, data: calldata })
    const calls = call.functionName === 'aggregate3' ? call.args[0] : []
    const deadlines = calls.map(({ callData }) =>
      callData.startsWith(TRANSFER_WITH_AUTHORIZATION) || callData.startsWith(TRANSFER_WITH_SIGNATURE)
        ? Number(BigInt(`0x${callData.slice(...VALID_BEFORE)}`))
        : null,
    )
    return deadlines.includes(null) || deadlines.length === 0 ? null : Math.max(...deadlines.map(Number))
  },
  decodeSimulation: (answer, items) =>
    decodeResults(answer, items).map(({ success, returnData }) => (success ? null : revertReason(returnData))),
}
