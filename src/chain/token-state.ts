import { multicall3Abi } from 'viem'
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import type { Hex, Payout } from '../domain/payout.ts'
import { payoutNonce } from '../payout-nonce.ts'
import { MULTICALL3, usdcViews } from './contracts.ts'
import type { BlockTag, Provider } from './provider.ts'

type ViewName = keyof typeof usdcViews

/** One read function of the token with its arguments. */
export type TokenRead = { readonly view: ViewName; readonly args: readonly unknown[] }

/** Reads per `eth_call`: some 12,000 gas each, so that a call stays far below any provider's limit. */
const READS_PER_CALL = 400

/** Reads several token functions at one block, through Multicall3. Any read that reverts throws. */
export async function readToken(
  provider: Provider,
  token: Hex,
  query: { reads: readonly TokenRead[]; at?: BlockTag },
): Promise<unknown[]> {
  const values: unknown[] = []
  for (let start = 0; start < query.reads.length; start += READS_PER_CALL) {
    const reads = query.reads.slice(start, start + READS_PER_CALL)
    const calls = reads.map(({ view, args }) => ({
      target: token,
      allowFailure: false,
      callData: encodeFunctionData({ abi: [usdcViews[view]], args }),
    }))
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] })
    const returned = await provider.call({ to: MULTICALL3, data }, query.at)
    const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: returned })
    for (const [index, read] of reads.entries())
      values.push(decodeFunctionResult({ abi: [usdcViews[read.view]], data: results[index]?.returnData ?? '0x' }))
  }
  return values
}

export type TokenState = {
  readonly paused: boolean
  readonly treasuryBlacklisted: boolean
  /** Micro-USDC in the treasury at the newest block. */
  readonly balance: bigint
  /** Per payout, in the order asked. */
  readonly payouts: readonly {
    readonly blacklisted: boolean
    readonly used: boolean
    /** The nonce that another treasury of ours would use for the same payment is used on chain. */
    readonly usedByOther: boolean
  }[]
}

/** What has to be known before anything is signed. */
export async function readTokenState(
  provider: Provider,
  treasury: Hex,
  query: { token: Hex; payouts: readonly Payout[]; otherTreasuries: readonly Hex[] },
): Promise<TokenState> {
  const reads: TokenRead[] = [
    { view: 'paused', args: [] },
    { view: 'isBlacklisted', args: [treasury] },
    { view: 'balanceOf', args: [treasury] },
    ...query.payouts.flatMap((payout): TokenRead[] => [
      { view: 'isBlacklisted', args: [payout.recipient] },
      { view: 'authorizationState', args: [treasury, payout.authNonce] },
      ...query.otherTreasuries.map((other): TokenRead => {
        const nonce = payoutNonce({ ...payout, token: query.token, treasury: other })
        return { view: 'authorizationState', args: [other, nonce] }
      }),
    ]),
  ]
  const values = await readToken(provider, query.token, { reads })
  return {
    paused: values[0] === true,
    treasuryBlacklisted: values[1] === true,
    balance: BigInt(values[2] as bigint),
    payouts: query.payouts.map((_payout, index) => {
      const width = 2 + query.otherTreasuries.length
      const [blacklisted, used, ...usedByOthers] = values.slice(3 + width * index, 3 + width * (index + 1))
      return { blacklisted: blacklisted === true, used: used === true, usedByOther: usedByOthers.includes(true) }
    }),
  }
}
