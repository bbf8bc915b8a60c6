import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedPath, placeInCache, withCacheLock } from '../cache.ts'
import type { Progress, Step } from '../progress.mjs'
import { firstLine, isExecutable, which } from '../run.ts'

export type Source = {
  /** A past participle for the progress lines: "built from tools/temporal". */
  readonly how: string
  /** The name of the folder in the cache, with the version. */
  readonly cacheName: string
  /** A program that the server needs at each run. */
  readonly runsWith?: string
  /** Fills the folder. The program must then be in its `bin`. */
  readonly make: (folder: string, step: Step) => Promise<void>
}

export type ServerProgram = {
  readonly title: string
  readonly name: string
  /** Tried in this order. */
  readonly sources: readonly Source[]
  /** Returns why the program at this path cannot be used, or null. */
  readonly findProblem: (path: string) => Promise<string | null>
}

export type Found = { readonly path: string; readonly origin: string }

/**
 * Finds the program in the user's cache, or gets it from the first source that works. Reports in one line why each
 * other source failed.
 */
export async function ensureProgram(server: ServerProgram, progress: Progress): Promise<Found> {
  const cached = findCached(server)
  if (cached !== null) return cached
  const step = progress.step(server.title)
  try {
    return await withCacheLock(server.name, step, async () => {
      const found = findCached(server) ?? (await make(server, progress, step))
      step.done(found.origin)
      return found
    })
  } catch (error) {
    step.fail(firstLine(error))
    throw error
  }
}

const getPath = ({ name }: ServerProgram, { cacheName }: Source): string => join(cachedPath(cacheName), 'bin', name)

function findCached(server: ServerProgram): Found | null {
  const source = server.sources.find(
    (each) => isExecutable(getPath(server, each)) && (each.runsWith === undefined || which(each.runsWith) !== null),
  )
  return source === undefined
    ? null
    : { path: getPath(server, source), origin: `the copy in ${getPath(server, source)}` }
}

async function make(server: ServerProgram, progress: Progress, step: Step): Promise<Found> {
  let last: unknown
  for (const source of server.sources) {
    try {
      await placeInCache(source.cacheName, async (draft) => {
        await mkdir(draft)
        await source.make(draft, step)
        const problem = await server.findProblem(join(draft, 'bin', server.name))
        if (problem !== null) throw new Error(problem)
      })
      return { path: getPath(server, source), origin: source.how }
    } catch (error) {
      last = error
      progress.line(`${server.title}: not ${source.how}: ${firstLine(error)}`)
    }
  }
  throw last
}
