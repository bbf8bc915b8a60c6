import { type Authorization, countGasItems } from './codec.ts'
import type { SettlementDeps } from './context.ts'
import type { RpcNode } from './rpc/node.ts'

/** The outcome of an item of a batch: null for success, else the reason of the revert. */
export type Simulated<T> = { readonly item: T; readonly reason: string | null }

/**
 * Simulates the exact batch that would be sent, so that no gas is spent on items that the token would refuse. Throws if
 * no node can simulate, or no quorum agrees on what is refused; that only delays the batch.
 */
export async function simulate<T>(
  { codec, rpc, token }: SettlementDeps,
  batch: readonly T[],
  toAuthorization: (item: T) => Authorization,
): Promise<Simulated<T>[]> {
  const items = batch.map(toAuthorization)
  const { target, calldata } = codec.encode(token.address, items)
  const gas = codec.gasLimit(countGasItems(items))
  const parse = (answer: unknown): (string | null)[] => codec.decodeSimulation(answer, batch.length)
  const ask = (node: RpcNode): Promise<(string | null)[]> => node.call({ to: target, data: calldata, gas }, { parse })
  let reasons = await rpc.any(ask)
  // One node may report that all is well: that costs gas at most. It must not have a payout stopped for an operator.
  if (reasons.some((reason) => reason !== null)) {
    const agreed = await rpc.agreed(ask)
    if (agreed === null) throw new Error('the nodes do not agree on what the token would refuse')
    reasons = agreed.value
  }
  return batch.map((item, index) => ({ item, reason: reasons[index] ?? null }))
}
