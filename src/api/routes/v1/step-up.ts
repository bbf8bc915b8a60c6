import type { Caller } from '../../auth/auth.ts'
import { Problem } from '../../http/problems.ts'

export type StepUp = { readonly publicUrl: string }

/**
 * Throws `step_up_required` for a live key. In live mode only a signed-in person changes the wallet and the keys, so
 * that a leaked key cannot redirect the money.
 */
export function requireTestKey({ publicUrl }: StepUp, caller: Caller, page: 'keys' | 'wallet' | 'brand'): void {
  // A person has confirmed it: the dashboard lets nobody here who has not.
  if (!caller.livemode || caller.keyId === null) return
  throw new Problem('step_up_required', 'A live key cannot change this. Sign in and confirm it there.', {
    members: { page: `${publicUrl}/dashboard/${page}` },
  })
}
