import { readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { tryLock } from '../../setup/lock.mjs'
import { readMemory } from '../../system/data-folder.ts'
import { ChildRecords } from '../../system/recorded.ts'

/** Milliseconds: a younger folder may belong to a run that has not locked it yet. */
const YOUNG_MS = 60_000

/**
 * Ends the processes and removes the temporary folders, found by their prefix, that killed runs of this user left. A
 * run that is alive has locked its folder, which stays.
 */
export async function removeLeftovers(prefix: string): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const folder = join(tmpdir(), name)
    const found = statSync(folder, { throwIfNoEntry: false })
    if (found === undefined || found.uid !== process.getuid?.() || Date.now() - found.birthtimeMs < YOUNG_MS) continue
    const lock = tryLock(join(folder, 'lock'))
    if (!lock.ok) continue
    await new ChildRecords(folder).endLeftovers(() => undefined)
    // Postgres' data may be in a separate folder.
    const postgresFolder = readMemory(folder)?.postgresFolder ?? folder
    if (!postgresFolder.startsWith(folder)) rmSync(dirname(postgresFolder), { recursive: true, force: true })
    rmSync(folder, { recursive: true, force: true })
  }
}
