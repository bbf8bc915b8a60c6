import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { waitForLock } from './lock.mjs'
import { cacheFolder } from './packages.mjs'
import type { Step } from './progress.mjs'

/** Returns the path of the thing of that name in the cache, also before it is there. */
export const cachedPath = (name: string): string => join(cacheFolder(), name)

/** Does work that two processes must not do at once, such as building the same thing into the cache. */
export async function withCacheLock<T>(name: string, step: Step, work: () => Promise<T>): Promise<T> {
  const release = await waitForLock(cachedPath(`${name}.lock`), ({ pid }) =>
    step.update(`waiting for process ${pid}, which is making it`),
  )
  try {
    return await work()
  } finally {
    release()
  }
}

/**
 * Lets `make` fill a draft path, which gets its name when it is complete: a process that is killed leaves nothing half
 * made.
 */
export async function placeInCache(name: string, make: (draft: string) => Promise<void>): Promise<string> {
  const path = cachedPath(name)
  const draft = `${path}.draft`
  await mkdir(cacheFolder(), { recursive: true })
  // This process owns the lock, so a process that was killed left this draft.
  await rm(draft, { recursive: true, force: true })
  try {
    await make(draft)
    await rm(path, { recursive: true, force: true })
    await rename(draft, path)
    return path
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}
