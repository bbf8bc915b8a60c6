import type { Hex } from '../../domain/hex.ts'
import type { Payout } from '../../domain/settlement/payout.ts'
import type { RpcNode } from '../rpc/node.ts'
import { MULTICALL3, USDC_VIEWS } from './contracts.ts'
import { decodeResults, decodeWords } from './results.ts'
import { type Call3, encodeAggregate3, word } from './words.ts'

export type TokenRead = { readonly view: keyof typeof USDC_VIEWS; readonly args: readonly Hex[] }

/** Returns reads of the wallets’ balances, in micro-USDC. */
export const balanceReads = (wallets: readonly Hex[]): TokenRead[] =>
  wallets.map((wallet) => ({ view: 'balanceOf', args: [wallet] }))

/** Maximum number of reads in one `eth_call`. With about 12,000 gas each, it stays far below any node's limit. */
const READS_PER_CALL = 400

/** Reads several token functions at one block through Multicall3, one word each. Throws if one reverts. */
export async function readToken(
  node: RpcNode,
  token: Hex,
  query: { readonly reads: readonly TokenRead[]; readonly at?: number },
): Promise<bigint[]> {
  const { reads, at } = query
  const values: bigint[] = []
  for (let start = 0; start < reads.length; start += READS_PER_CALL) {
    const part = reads.slice(start, start + READS_PER_CALL)
    const calls = part.map(({ view, args }): Call3 => {
      const callData: Hex = `${USDC_VIEWS[view]}${args.map(word).join('')}`
      return { target: token, allowFailure: false, callData }
    })
    const parse = (answer: unknown): bigint[] => decodeWords(answer, part.length)
    values.push(...(await node.call({ to: MULTICALL3, data: encodeAggregate3(calls) }, { parse, at })))
  }
  return values
}

/**
 * Reads balances of wallets in any ERC-20 token at one block. A contract that does not answer as a token does counts as
 * empty: operators configure the addresses of tokens that buyers send by mistake.
 */
export async function readBalances(
  node: RpcNode,
  { token, wallets, at }: { readonly token: Hex; readonly wallets: readonly Hex[]; readonly at: number },
): Promise<bigint[]> {
  const values: bigint[] = []
  for (let start = 0; start < wallets.length; start += READS_PER_CALL) {
    const calls = wallets.slice(start, start + READS_PER_CALL).map((wallet): Call3 => {
      return { target: token, allowFailure: true, callData: `${USDC_VIEWS.balanceOf}${word(wallet)}` }
    })
    const parse = (answer: unknown): bigint[] =>
      decodeResults(answer, calls.length).map(({ success, returnData }) =>
        success && returnData.length === 66 ? BigInt(returnData) : 0n,
      )
    values.push(...(await node.call({ to: MULTICALL3, data: encodeAggregate3(calls) }, { parse, at })))
  }
  return values
}

export type TokenState = {
  readonly paused: boolean
  readonly treasuryBlacklisted: boolean
  /** Micro-USDC in the treasury. */
  readonly balance: bigint
  /** One for each payout, in the order of the arguments. */
  readonly payouts: readonly {
    readonly blacklisted: boolean
    readonly used: boolean
  }[]
}

export async function readTokenState(
  node: RpcNode,
  treasury: Hex,
  query: { token: Hex; payouts: readonly Payout[]; at: number },
): Promise<TokenState> {
  const reads: TokenRead[] = [
    { view: 'paused', args: [] },
    { view: 'isBlacklisted', args: [treasury] },
    { view: 'balanceOf', args: [treasury] },
    ...query.payouts.flatMap((payout): TokenRead[] => [
      { view: 'isBlacklisted', args: [payout.recipient] },
      { view: 'authorizationState', args: [treasury, payout.authNonce] },
    ]),
  ]
  const values = await readToken(node, query.token, { reads, at: query.at })
  return {
    paused: values[0] === 1n,
    treasuryBlacklisted: values[1] === 1n,
    balance: values[2] ?? 0n,
    payouts: query.payouts.map((_payout, index) => ({
      blacklisted: values[3 + 2 * index] === 1n,
      used: values[4 + 2 * index] === 1n,
    })),
  }
}
