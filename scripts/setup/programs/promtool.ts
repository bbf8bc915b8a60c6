import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cachedPath, placeInCache, withCacheLock } from '../cache.ts'
import type { Progress, Step } from '../progress.mjs'
import { isExecutable, run, which } from '../run.ts'

const NAME = 'promtool'

/**
 * Finds promtool on PATH or in the cache, or takes it out of Debian's package there. The package is not installed: it
 * would start a Prometheus. Returns the path.
 */
export async function ensurePromtool(progress: Progress): Promise<string> {
  const found = [which(NAME), cachedPath(NAME)].find((path) => path !== null && isExecutable(path))
  if (found !== undefined && found !== null) return found
  const step = progress.step(NAME)
  return withCacheLock(NAME, step, async () => {
    if (isExecutable(cachedPath(NAME))) return cachedPath(NAME)
    const path = await placeInCache(NAME, (draft) => extract(draft, step))
    step.done('from the Debian package prometheus')
    return path
  })
}

async function extract(draft: string, step: Step): Promise<void> {
  const cwd = await mkdtemp(join(tmpdir(), 'pinrail-promtool-'))
  const parts = join(cwd, 'parts')
  try {
    if (which('apt-get') === null || which('dpkg-deb') === null)
      throw new Error('the alerts are checked with promtool: put the one of Prometheus 2 on PATH')
    step.update('apt-get download prometheus')
    // Without the lists of packages, no package is found.
    await run('apt-get', ['download', 'prometheus'], { cwd }).catch(async () => {
      await run('apt-get', ['update', '-q'], {})
      await run('apt-get', ['download', 'prometheus'], { cwd })
    })
    const [file = ''] = await readdir(cwd)
    await mkdir(parts)
    await run('dpkg-deb', ['-x', join(cwd, file), parts], {})
    await run('cp', [join(parts, 'usr/bin', NAME), draft], {})
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}
