import { ensureChromium } from '../setup/chromium.ts'
import { ensureLanguages } from '../setup/programs/languages.ts'
import { ensurePgbouncer } from '../setup/programs/pgbouncer.ts'
import type { Progress } from '../setup/progress.mjs'
import { ensureTemporalServer } from '../setup/temporal/temporal-server.ts'
import { ensureTestServer } from '../setup/temporal/test-server.ts'

/** Layers that need nothing that must be fetched or built first. */
const PLAIN = 'domain chain operator providers webhooks activities histories sandbox docs client'.split(' ')
/** Layers that need some of it. A layer in no list may need all. */
const TIME_SKIPPING = ['workflows', 'scripts', 'examples']
const TEMPORAL = ['api', 'scripts', 'e2e']
const BROWSER = ['browser', 'web', 'e2e']
const POOLER = ['db']
/** The examples of the documentation are run, each in its language: a part of the long tests. */
const LANGUAGES = ['examples']
const KNOWN = new Set([...PLAIN, ...POOLER, ...LANGUAGES, ...TIME_SKIPPING, ...TEMPORAL, ...BROWSER])

/** Installs what the selected tests need. Returns the variables that tell the tests where it is. */
export async function prepareFor(args: readonly string[], progress: Progress): Promise<NodeJS.ProcessEnv> {
  const layers = args.flatMap((argument) => /^(?:\.\/)?test\/([^/]+)/.exec(argument)?.[1] ?? [])
  const needs = (list: readonly string[]): boolean =>
    layers.length === 0 || layers.some((layer) => list.includes(layer) || !KNOWN.has(layer))
  const env: NodeJS.ProcessEnv = {}
  // The quick ones first: what a person must install is said before minutes are spent on a build.
  if (needs(BROWSER)) env['CHROMIUM'] = await ensureChromium(progress)
  if (needs(POOLER)) await ensurePgbouncer(progress)
  const isShort = layers.length === 0 && !args.includes('long')
  if (needs(LANGUAGES) && !isShort) await ensureLanguages(progress)
  if (needs(TIME_SKIPPING)) await ensureTestServer(progress)
  if (needs(TEMPORAL)) await ensureTemporalServer(progress)
  return env
}
