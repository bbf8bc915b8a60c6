import type { Part } from '../domain/settlement/part.ts'
import { NOTHING, type Progress, type SettlementDeps } from './context.ts'

/** Milliseconds after which the same outcome is written again, and for which a failure is shown at least. */
const REPEAT_MS = 15_000
const SHORTEST_MS = 3000

/** Maximum number of characters that are stored of a failure. */
const MAX_CHARACTERS = 300

export const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * Records for operators how the rounds of a part end: last success, failing since when, and why. A change is written at
 * once, everything else every 15 seconds, so that a deployment stays cheap.
 */
export function createPartReporter({ journal, options, log }: SettlementDeps, part: Part) {
  let last = { outcome: '', at: Number.NEGATIVE_INFINITY }

  async function write({ done, rest, failure: words }: Pick<Progress, 'done' | 'rest' | 'failure'>): Promise<void> {
    const failure = rest?.why ?? words?.slice(0, MAX_CHARACTERS) ?? null
    const now = performance.now()
    const outcome = rest?.cause ?? (failure === null ? 'well' : 'failure')
    const least = outcome === last.outcome ? REPEAT_MS : outcome === 'well' ? SHORTEST_MS : 0
    if (now - last.at < least) return
    last = { outcome, at: now }
    await journal
      .reportPart({
        owner: options.owner,
        part,
        isDone: failure === null || done > 0,
        cause: rest?.cause ?? null,
        failure,
      })
      .catch((error: unknown) => log.warn({ err: error, part }, 'how a round ended could not be stored'))
  }

  return {
    /** Records how `work` ends, and returns or throws the same. Null: the part could not work yet. */
    async report<T extends Progress | null>(work: () => Promise<T>): Promise<T> {
      try {
        const progress = await work()
        await write(progress ?? NOTHING)
        return progress
      } catch (error) {
        await write({ ...NOTHING, failure: describeError(error) })
        throw error
      }
    },
  }
}
