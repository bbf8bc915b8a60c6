import type { Caller } from '../../auth/auth.ts'
import { Problem } from '../../http/problems.ts'

export type StepUp = { readonly publicUrl: string }

/** Describes an operation that calls `requireTestKey`. */
export const TEST_KEYS_ONLY = 'With a key only in test mode; in live mode a signed-in person does it.'

/**
 * In live mode only a signed-in person changes the wallet, the keys, the team, webhook endpoints and notification
 * channels, and accepts disputes, so that a leaked key can neither redirect or give up money nor hide what it does. A key can add a webhook
 * endpoint; people are notified of it.
 */
export function requireTestKey(
  { publicUrl }: StepUp,
  caller: Caller,
  page: 'keys' | 'wallet' | 'brand' | 'disputes' | 'embedding' | 'deductions' | 'notifications' | 'team' | 'webhooks',
): void {
  // The dashboard calls this only after the person's confirmation.
  if (!caller.livemode || caller.keyId === null) return
  throw new Problem('step_up_required', 'A live key cannot change this. Sign in and confirm it there.', {
    members: { page: `${publicUrl}/dashboard/${page}` },
  })
}
