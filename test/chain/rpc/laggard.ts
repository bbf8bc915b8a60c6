import type { RpcCall } from '../../support/anvil.ts'
import type { Malice } from '../../support/hostile-node.ts'
import type { Fixture } from '../fixture.ts'

export const HEADERS = 'eth_getBlockByNumber'

export const quantity = (value: bigint | number): string => `0x${value.toString(16)}`

export const fakeHash = (number: bigint): string => `0x${'f'.repeat(48)}${number.toString(16).padStart(16, '0')}`

/** The chain's block as a node answers it. */
export const rawBlock = ({ chain }: Fixture, number: bigint): Promise<Record<string, string>> =>
  chain.request({ method: HEADERS, params: [quantity(number), false] } as never)

/**
 * An honest node that is this number of blocks behind the chain, and does not know the newer ones. `final`: how far its
 * final block is below its newest; without, it calls final what the chain does.
 */
export async function behindBy(fixture: Fixture, blocks: number, final?: number): Promise<(call: RpcCall) => Malice> {
  const top = (await fixture.chain.getBlockNumber()) - BigInt(blocks)
  const newest = await rawBlock(fixture, top)
  const lastFinal = final === undefined ? null : await rawBlock(fixture, top - BigInt(final))
  const isBeyond = (tag: unknown): boolean => typeof tag === 'string' && tag.startsWith('0x') && BigInt(tag) > top
  return ({ method, params }) => {
    if (method === HEADERS && params[0] === 'latest') return { lie: () => newest }
    if (method === HEADERS && params[0] === 'finalized') return lastFinal === null ? 'honest' : { lie: () => lastFinal }
    if (method === HEADERS) return isBeyond(params[0]) ? { lie: () => null } : 'honest'
    const { toBlock } = (params[0] ?? {}) as { toBlock?: string }
    const isRefused = isBeyond(method === 'eth_getLogs' ? toBlock : params[1])
    return isRefused ? { error: { code: -32000, message: 'header not found' } } : 'honest'
  }
}
