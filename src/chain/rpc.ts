import type { Hex } from '../domain/payout.ts'
import { type Block, createProvider, type Provider } from './provider.ts'
import type { SendOutcome } from './send-outcome.ts'

/** Several providers as one: reads fail over, broadcasts go to all, and what ends a payout needs a quorum. */
export type Rpc = {
  readonly providers: readonly Provider[]
  readonly quorum: number
  /** The first answer that a provider gives; throws when none does. For what may be wrong for a moment. */
  any<T>(read: (provider: Provider) => Promise<T>): Promise<T>
  /** The answer on which at least `quorum` providers agree, or null: wait, never fall back to less. */
  agreed<T>(read: (provider: Provider) => Promise<T>): Promise<{ value: T } | null>
  /** Sends the bytes to every provider; the best outcome counts. */
  broadcast(raw: Hex): Promise<{ outcome: SendOutcome; answer: string }>
  /** The newest block that a provider knows, and that provider. */
  newest(): Promise<{ block: Block; provider: Provider }>
  /** The highest block that a quorum calls final, with the same hash; null when there is none now. */
  finalized(): Promise<Block | null>
}

const OUTCOME_RANK: readonly SendOutcome[] = [
  'accepted',
  'nonce_used',
  'underpriced_replacement',
  'underpriced',
  'no_gas_money',
  'delegated',
  'unknown',
]

const key = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => (typeof part === 'bigint' ? part.toString() : part)) ?? 'undefined'

export function createRpc(providers: readonly Provider[], quorum: number): Rpc {
  if (quorum < 1 || quorum > providers.length)
    throw new RangeError(`a quorum of ${quorum} needs as many providers, there are ${providers.length}`)

  async function answers<T>(read: (provider: Provider) => Promise<T>): Promise<{ provider: Provider; value: T }[]> {
    const settled = await Promise.allSettled(
      providers.map(async (provider) => ({ provider, value: await read(provider) })),
    )
    return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  }

  async function agreed<T>(read: (provider: Provider) => Promise<T>): Promise<{ value: T } | null> {
    const given = await answers(read)
    // One provider agrees with itself; comparing is for several.
    if (providers.length === 1) return given[0] === undefined ? null : { value: given[0].value }
    const votes = new Map<string, { value: T; count: number }>()
    for (const { value } of given) {
      const vote = votes.get(key(value)) ?? { value, count: 0 }
      votes.set(key(value), { ...vote, count: vote.count + 1 })
    }
    const [first, second] = [...votes.values()].toSorted((a, b) => b.count - a.count)
    // A tie is a disagreement, even where one vote would be enough.
    if (first === undefined || first.count < quorum || first.count === second?.count) return null
    return { value: first.value }
  }

  return {
    providers,
    quorum,
    agreed,
    async any(read) {
      let failure: unknown
      for (const provider of providers) {
        try {
          return await read(provider)
        } catch (error) {
          failure = error
        }
      }
      throw failure
    },
    async broadcast(raw) {
      const sent = await Promise.all(providers.map((provider) => provider.send(raw)))
      const best = sent.toSorted((a, b) => OUTCOME_RANK.indexOf(a.outcome) - OUTCOME_RANK.indexOf(b.outcome))[0]
      return best ?? { outcome: 'unknown', answer: 'no provider' }
    },
    async newest() {
      const heads = await answers((provider) => provider.block('latest'))
      const best = heads.toSorted((a, b) => b.value.number - a.value.number)[0]
      if (best === undefined) throw new Error('no provider answers')
      return { block: best.value, provider: best.provider }
    },
    async finalized() {
      const final = await answers((provider) => provider.block('finalized'))
      // The height that `quorum` providers have reached: the quorum-th highest of their finalized blocks.
      const height = final.map(({ value }) => value.number).toSorted((a, b) => b - a)[quorum - 1]
      if (height === undefined) return null
      const block = await agreed((provider) => provider.block(height))
      return block?.value ?? null
    },
  }
}

export type RpcOptions = { readonly urls: readonly string[]; readonly quorum: number; readonly timeoutMs?: number }

/** A provider that has not answered in four seconds is not waited for: two Polygon blocks have passed. */
const PROVIDER_TIMEOUT_MS = 4000

export function connectRpc(options: RpcOptions): Rpc {
  const timeoutMs = options.timeoutMs ?? PROVIDER_TIMEOUT_MS
  const providers = options.urls.map((url, index) => createProvider(url, { timeoutMs, name: `rpc${index + 1}` }))
  return createRpc(providers, options.quorum)
}
