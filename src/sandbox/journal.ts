import { existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'

/**
 * An append-only file with one line of JSON for each change. The state is the sum of the entries, so a killed process
 * restarts with every change that it has acknowledged.
 */
export type Journal<Entry> = {
  readonly file: string
  /**
   * Applies the entries to the state at once, and resolves when they are on disk. They are one line, so all or none of
   * them survive a crash. If writing fails, this call and all later ones reject.
   */
  append: (...entries: Entry[]) => Promise<void>
  /** Resolves when all applied entries are on disk. Await it before you return the state to a caller. */
  settled: () => Promise<void>
  close: () => Promise<void>
}

export async function openJournal<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  apply: (entry: z.infer<Schema>) => void,
): Promise<Journal<z.infer<Schema>>> {
  mkdirSync(dirname(file), { recursive: true })
  for (const entry of readEntries(file, schema)) apply(entry)
  const handle = await open(file, 'a')
  let waiting: string[] = []
  let writing: Promise<void> = Promise.resolve()
  let queued = false

  async function writeWaiting(): Promise<void> {
    queued = false
    const lines = waiting
    waiting = []
    await handle.appendFile(lines.join(''))
    // All entries that arrived during the last write share one sync.
    await handle.datasync()
  }

  return {
    file,
    append(...entries) {
      for (const entry of entries) apply(entry)
      waiting.push(`${JSON.stringify(entries)}\n`)
      if (!queued) {
        queued = true
        writing = writing.then(writeWaiting)
        // Callers receive the failure. This only keeps an unhandled rejection from ending the process.
        writing.catch(() => undefined)
      }
      return writing
    },
    settled: () => writing,
    async close() {
      await writing.catch(() => undefined)
      await handle.close()
    },
  }
}

/** Removes an incomplete last line, which was never acknowledged. Throws for any other damage, with the line's number. */
function readEntries<Schema extends z.ZodType>(file: string, schema: Schema): z.infer<Schema>[] {
  if (!existsSync(file)) return []
  const bytes = readFileSync(file)
  const length = bytes.lastIndexOf('\n') + 1
  if (length < bytes.length) truncateSync(file, length)
  const lines = bytes.toString('utf8', 0, length).split('\n').slice(0, -1)
  const line = z.array(schema)
  return lines.flatMap((text, index) => {
    try {
      return line.parse(JSON.parse(text))
    } catch {
      throw new Error(
        `${file}: line ${index + 1} is not an entry of this journal: restore the file, or delete it to start without orders`,
      )
    }
  })
}
