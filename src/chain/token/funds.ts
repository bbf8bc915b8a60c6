import type { Hex } from '../../domain/hex.ts'
import type { RpcNode } from '../rpc/node.ts'
import { MULTICALL3, USDC_VIEWS } from './contracts.ts'
import { decodeWords } from './results.ts'
import { type Call3, encodeAggregate3, word } from './words.ts'

/** Selector of Multicall3's `getEthBalance(address)`. */
const GET_ETH_BALANCE = '0x4d2301cc'

export type Funds = {
  /** Micro-USDC of each treasury. */
  readonly micro: readonly bigint[]
  readonly wei: readonly bigint[]
}

/**
 * Reads the balances of treasuries and lanes at the newest block, in one call of one node: to be shown, not to decide
 * by.
 */
export async function readFunds(
  node: RpcNode,
  { token, treasuries, lanes }: { token: Hex; treasuries: readonly Hex[]; lanes: readonly Hex[] },
): Promise<Funds> {
  const read = (target: Hex, selector: Hex, wallet: Hex): Call3 => ({
    target,
    allowFailure: false,
    callData: `${selector}${word(wallet)}`,
  })
  const calls = [
    ...treasuries.map((wallet) => read(token, USDC_VIEWS.balanceOf, wallet)),
    ...lanes.map((wallet) => read(MULTICALL3, GET_ETH_BALANCE, wallet)),
  ]
  const parse = (answer: unknown): bigint[] => decodeWords(answer, calls.length)
  const values = await node.call({ to: MULTICALL3, data: encodeAggregate3(calls) }, { parse })
  return { micro: values.slice(0, treasuries.length), wei: values.slice(treasuries.length) }
}
