import type { Progress } from '../progress.mjs'
import { ensureGoProgram } from './go-program.ts'

/** The version that tools/stripe-mock/go.mod names. */
const STRIPE_MOCK_VERSION = '0.203.0'

/**
 * Finds Stripe's validator in the cache, or builds it there from tools/stripe-mock: 41 s of CPU, once. Returns its path.
 * Another version on PATH could know another version of the API.
 */
export function ensureStripeMock(progress: Progress): Promise<string> {
  const name = `stripe-mock-${STRIPE_MOCK_VERSION}`
  return ensureGoProgram({ name, module: 'stripe-mock', source: 'github.com/stripe/stripe-mock' }, progress)
}
