import { fileURLToPath } from 'node:url'
import { cachedPath, placeInCache, withCacheLock } from '../cache.ts'
import type { Progress } from '../progress.mjs'
import { isExecutable, run, which } from '../run.ts'

export type GoProgram = {
  /** With its version: another version has another place in the cache. */
  readonly name: string
  /** The folder under `tools` whose go.mod names the version. */
  readonly module: string
  readonly source: string
  readonly ldflags?: string
}

/** Builds a program from its module in `tools`, once, into the user's cache. Returns its path. Throws without Go. */
export async function ensureGoProgram(program: GoProgram, progress: Progress): Promise<string> {
  const { name, module, source, ldflags = '' } = program
  if (isExecutable(cachedPath(name))) return cachedPath(name)
  const go = which('go')
  if (go === null) throw new Error(`${module} is missing: install it, or Go 1.26 to build it`)
  const step = progress.step(name)
  return withCacheLock(name, step, async () => {
    if (isExecutable(cachedPath(name))) return cachedPath(name)
    step.update(`build from tools/${module}`)
    const path = await placeInCache(name, async (draft) => {
      const args = ['build', '-mod=readonly', '-trimpath', '-ldflags', `-s -w ${ldflags}`, '-o', draft, source]
      const cwd = fileURLToPath(new URL(`../../../tools/${module}`, import.meta.url))
      await run(go, args, { cwd, env: { ...process.env, CGO_ENABLED: '0' } })
    })
    step.done(`built from tools/${module}`)
    return path
  })
}
