import { setTimeout as delay } from 'node:timers/promises'

/** A file that is generated as it is read, so it needs only the memory of one chunk. */
export type ExportFile = { readonly name: string; readonly type: string; readonly chunks: AsyncIterable<string> }

/** Without the byte order mark of `excel`, Excel assumes another encoding than UTF-8. */
export const EXPORT_FORMATS = ['json', 'csv', 'excel'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export function csvFile(name: string, form: 'csv' | 'excel', chunks: AsyncIterable<string>): ExportFile {
  return { name: `${name}.csv`, type: 'text/csv; charset=utf-8', chunks: form === 'excel' ? marked(chunks) : chunks }
}

async function* marked(chunks: AsyncIterable<string>): AsyncIterable<string> {
  let mark = '\ufeff'
  for await (const chunk of chunks) {
    yield `${mark}${chunk}`
    mark = ''
  }
}

/** A long file uses at most a fifth of the process, so that other requests do not wait for it. */
const RESTS = 4
/** Milliseconds. A longer pause would look like the end of the file to the reader. */
const LONGEST_REST = 1000

const TIME = { now: () => performance.now(), rest: (ms: number): Promise<unknown> => delay(ms) }

/** After each chunk it rests four times as long as the chunk took. */
export async function* unhurried(chunks: AsyncIterable<string>, { now, rest } = TIME): AsyncIterable<string> {
  let began = now()
  for await (const chunk of chunks) {
    const took = now() - began
    yield chunk
    await rest(Math.min(took * RESTS, LONGEST_REST))
    began = now()
  }
}
