import { setTimeout as delay } from 'node:timers/promises'

/** A file that is made while it is read, so that it needs the memory of a piece. */
export type ExportFile = { readonly name: string; readonly type: string; readonly chunks: AsyncIterable<string> }

export const EXPORT_FORMATS = ['json', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const CSV_TYPE = 'text/csv; charset=utf-8'

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
