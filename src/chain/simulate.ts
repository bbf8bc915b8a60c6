import type { Authorization } from './codec.ts'
import type { SettlementDeps } from './context.ts'

/** The outcome of an item of a batch: null for success, else the reason of the revert. */
export type Simulated<T> = { readonly item: T; readonly reason: string | null }

/**
 * Simulates the exact batch that would be sent, so that no gas is spent on items that the token would refuse. Throws
 * when no node can simulate; that only delays the batch.
 */
export async function simulate<T>(
  { codec, rpc, token }: SettlementDeps,
  batch: readonly T[],
  authorizationOf: (item: T) => Authorization,
): Promise<Simulated<T>[]> {
  const { target, calldata } = codec.encode(token.address, batch.map(authorizationOf))
  const returned = await rpc.any((node) => node.call({ to: target, data: calldata, gas: codec.gasLimit(batch.length) }))
  const reasons = codec.decodeSimulation(returned)
  return batch.map((item, index) => {
    const reason = reasons[index]
    if (reason === undefined) throw new Error('the simulation answered fewer items than the batch has')
    return { item, reason }
  })
}
