import { parseArgs } from 'node:util'

export const USAGE = `npm run cluster -- [options]
  --seconds N     how long payments are counted for each count of workers (default 30)
  --workers LIST  the counts (default 1,2,4)
  --merchants N   merchants that take payments at the same time while payments are counted (default 24)
  --faults LIST   which faults are played, by name (default all of them); none: no fault
  --keep          leaves the folder with the logs`

export type Options = {
  readonly seconds: number
  readonly workers: readonly number[]
  readonly merchants: number
  /** Null: all. */
  readonly faults: readonly string[] | null
  readonly keep: boolean
}

/** Returns null if help was requested. Throws for what is not understood, with what must be. */
export function readOptions(args: readonly string[], faults: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '30' },
      workers: { type: 'string', default: '1,2,4' },
      merchants: { type: 'string', default: '24' },
      faults: { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return null
  return {
    seconds: whole('seconds', values.seconds, { from: 1, to: 600 }),
    workers: values.workers.split(',').map((count) => whole('workers', count, { from: 1, to: 8 })),
    merchants: whole('merchants', values.merchants, { from: 1, to: 200 }),
    faults: values.faults === undefined ? null : named(values.faults, faults),
    keep: values.keep,
  }
}

function whole(name: string, text: string, { from, to }: { from: number; to: number }): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < from || value > to)
    throw new Error(`--${name} must be a whole number from ${from} to ${to}, not ${JSON.stringify(text)}`)
  return value
}

function named(text: string, known: readonly string[]): string[] {
  if (text === 'none') return []
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`--faults must be of: ${known.join(', ')}; not ${unknown.join(', ')}`)
  return names
}
