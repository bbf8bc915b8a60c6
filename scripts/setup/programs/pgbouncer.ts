import { ensureDebianPackages } from '../debian.ts'
import type { Progress } from '../progress.mjs'
import { firstLine, which } from '../run.ts'

/** Makes sure of PgBouncer for the tests behind a pooler: the one that is there, or Debian's. */
export async function ensurePgbouncer(progress: Progress): Promise<void> {
  if (which('pgbouncer') !== null) return
  const step = progress.step('PgBouncer')
  try {
    await ensureDebianPackages({ pgbouncer: 'pgbouncer' }, step)
    step.done()
  } catch (error) {
    step.fail(firstLine(error))
    throw error
  }
}
