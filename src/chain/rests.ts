import type { Hex } from '../domain/hex.ts'
import type { Rest } from '../domain/settlement/part.ts'
import { isRecent, type SettlementDeps } from './context.ts'
import { readToken } from './token/token-state.ts'

/** Milliseconds until a cause is checked again. */
const LOOK_MS = 60_000

/** Returns the rest that the token imposes on a treasury; null if it lets the treasury pay. */
export function findRest(
  treasury: Hex,
  state: { readonly paused: boolean; readonly treasuryBlacklisted: boolean },
): Rest | null {
  if (state.paused) return { cause: 'token_paused', why: 'the USDC contract is paused' }
  if (!state.treasuryBlacklisted) return null
  return { cause: 'treasury_blacklisted', why: `the USDC contract has blacklisted the treasury ${treasury}` }
}

/** Treasuries that cannot pay now, although nothing is wrong with any payout. Signing and sending share them. */
export type Rests = ReturnType<typeof createRests>

export function createRests({ rpc, token, clock, log }: Pick<SettlementDeps, 'rpc' | 'token' | 'clock' | 'log'>) {
  const resting = new Map<Hex, { readonly rest: Rest; readonly at: number }>()

  function current(): [Hex, Rest][] {
    const now = clock().getTime()
    return [...resting]
      .filter(([, { at }]) => isRecent(at, now, LOOK_MS))
      .map(([treasury, { rest }]) => [treasury, rest])
  }

  function begin(treasury: Hex, rest: Rest): void {
    resting.set(treasury, { rest, at: clock().getTime() })
    log.warn({ treasury, cause: rest.cause }, `${rest.why}: its payouts wait, and it is checked again in a minute`)
  }

  return {
    treasuries: (): Hex[] => current().map(([treasury]) => treasury),
    /** Returns why one of them rests; null if none does. */
    first: (): Rest | null => current()[0]?.[1] ?? null,
    begin,

    /**
     * Reads by quorum if token or treasury is the reason of a refusal, and then lets the treasury rest. Returns
     * `unknown` if the nodes do not agree now.
     */
    async look(treasury: Hex): Promise<'rests' | 'pays' | 'unknown'> {
      const reads = [
        { view: 'paused', args: [] },
        { view: 'isBlacklisted', args: [treasury] },
      ] as const
      const answer = await rpc.agreed(async (node) => ({
        state: await readToken(node, token.address, { reads }),
        code: await node.code(treasury),
      }))
      if (answer === null) return 'unknown'
      const { state, code } = answer.value
      const delegated: Rest = {
        cause: 'treasury_delegated',
        why: `the treasury ${treasury} carries code (an EIP-7702 delegation), so the USDC contract refuses its signatures`,
      }
      const rest = findRest(treasury, { paused: state[0] === 1n, treasuryBlacklisted: state[1] === 1n })
      const found = rest ?? (code === '0x' ? null : delegated)
      if (found === null) return 'pays'
      begin(treasury, found)
      return 'rests'
    },
  }
}
