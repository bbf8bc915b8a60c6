import type { Tenant } from '../../../db/db.ts'
import { Problem } from '../../http/problems.ts'

export type StepUp = { readonly publicUrl: string }

/**
 * Where the money goes, and who may ask for it, is changed by a signed-in person in live mode: a live key that leaked
 * must not be able to.
 */
export function requireTestKey({ publicUrl }: StepUp, caller: Tenant, page: 'keys' | 'wallet'): void {
  if (!caller.livemode) return
  throw new Problem('step_up_required', 'A live key cannot change this. Sign in and confirm it there.', {
    members: { page: `${publicUrl}/dashboard/${page}` },
  })
}
