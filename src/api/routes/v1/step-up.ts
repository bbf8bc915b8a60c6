import type { Tenant } from '../../../db/db.ts'
import { Problem } from '../../http/problems.ts'

export type StepUp = { readonly publicUrl: string }

/**
 * Throws `step_up_required` for a live key. In live mode only a signed-in person changes the wallet and the keys, so
 * that a leaked key cannot redirect the money.
 */
export function requireTestKey({ publicUrl }: StepUp, caller: Tenant, page: 'keys' | 'wallet'): void {
  if (!caller.livemode) return
  throw new Problem('step_up_required', 'A live key cannot change this. Sign in and confirm it there.', {
    members: { page: `${publicUrl}/dashboard/${page}` },
  })
}
