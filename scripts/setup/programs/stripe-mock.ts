import { fileURLToPath } from 'node:url'
import { cachedPath, placeInCache, withCacheLock } from '../cache.ts'
import type { Progress } from '../progress.mjs'
import { isExecutable, run, which } from '../run.ts'

/** The version that tools/stripe-mock/go.mod names. */
const STRIPE_MOCK_VERSION = '0.203.0'
const NAME = `stripe-mock-${STRIPE_MOCK_VERSION}`
const MODULE = fileURLToPath(new URL('../../../tools/stripe-mock', import.meta.url))

/**
 * Finds Stripe's validator in the cache, or builds it there from tools/stripe-mock: 41 s of CPU, once. Returns its path.
 * Another version on PATH could know another version of the API.
 */
export async function ensureStripeMock(progress: Progress): Promise<string> {
  if (isExecutable(cachedPath(NAME))) return cachedPath(NAME)
  const go = which('go')
  if (go === null) throw new Error('requests to Stripe are checked by stripe-mock: install Go 1.26 to build it')
  const step = progress.step('stripe-mock')
  return withCacheLock(NAME, step, async () => {
    if (isExecutable(cachedPath(NAME))) return cachedPath(NAME)
    step.update('build from tools/stripe-mock')
    const path = await placeInCache(NAME, async (draft) => {
      const args = [
        'build',
        '-mod=readonly',
        '-trimpath',
        '-ldflags',
        '-s -w',
        '-o',
        draft,
        'github.com/stripe/stripe-mock',
      ]
      await run(go, args, { cwd: MODULE, env: { ...process.env, CGO_ENABLED: '0' } })
    })
    step.done('built from tools/stripe-mock')
    return path
  })
}
