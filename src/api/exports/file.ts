import { setTimeout as delay } from 'node:timers/promises'

/** A file that is made while it is read, so that it needs the memory of a piece. */
export type ExportFile = { readonly name: string; readonly type: string; readonly chunks: AsyncIterable<string> }

/** `excel` is CSV that begins with a byte order mark, without which Excel takes UTF-8 for another encoding. */
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

/** A long file takes a fifth of the process at most: who asks for one payment beside it does not wait for it. */
const RESTS = 4
/** Milliseconds: a reader must not take a rest for the end. */
const LONGEST_REST = 1000

const TIME = { now: () => performance.now(), rest: (ms: number): Promise<unknown> => delay(ms) }

/** The same pieces. After each it rests four times as long as the piece took, while others have their turn. */
export async function* unhurried(chunks: AsyncIterable<string>, { now, rest } = TIME): AsyncIterable<string> {
  let began = now()
  for await (const chunk of chunks) {
    const took = now() - began
    yield chunk
    await rest(Math.min(took * RESTS, LONGEST_REST))
    began = now()
  }
}
