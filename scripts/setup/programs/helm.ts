import { fileURLToPath } from 'node:url'
import { cachedPath, placeInCache, withCacheLock } from '../cache.ts'
import type { Progress } from '../progress.mjs'
import { isExecutable, run, which } from '../run.ts'

/** The version that tools/helm/go.mod names. */
const HELM_VERSION = '3.21.4'
const NAME = `helm-${HELM_VERSION}`
const MODULE = fileURLToPath(new URL('../../../tools/helm', import.meta.url))

/** Finds helm on PATH or in the cache, or builds it there from tools/helm: 130 s of CPU, once. Returns its path. */
export async function ensureHelm(progress: Progress): Promise<string> {
  const found = [which('helm'), cachedPath(NAME)].find((path) => path !== null && isExecutable(path))
  if (found !== undefined && found !== null) return found
  const go = which('go')
  if (go === null) throw new Error('the chart is checked by helm: install helm 3, or Go 1.26 to build it')
  const step = progress.step('helm')
  return withCacheLock(NAME, step, async () => {
    if (isExecutable(cachedPath(NAME))) return cachedPath(NAME)
    step.update('build from tools/helm')
    const path = await placeInCache(NAME, async (draft) => {
      const args = ['build', '-mod=readonly', '-trimpath', '-ldflags', '-s -w', '-o', draft, 'helm.sh/helm/v3/cmd/helm']
      await run(go, args, { cwd: MODULE, env: { ...process.env, CGO_ENABLED: '0' } })
    })
    step.done('built from tools/helm')
    return path
  })
}
