import { readPassages } from './passages.ts'
import { PATTERNS } from './patterns.ts'

export type Finding = {
  readonly line: number
  readonly pattern: string
  readonly found: string
  readonly instead: string
}

/** Returns what the patterns find in a file, in the order of its lines. */
export function findWords(path: string, text: string): Finding[] {
  const findings = readPassages(path, text).flatMap((passage) =>
    PATTERNS.filter(({ kinds }) => kinds.includes(passage.kind)).flatMap(({ name, words, instead }) =>
      [...passage.text.matchAll(new RegExp(words, `${words.flags}g`))].map(({ index, 0: found }) => {
        const at = passage.start + index + found.length - found.trimStart().length
        return { line: lineAt(text, at), pattern: name, found: found.trim().replaceAll(/\s+/g, ' '), instead }
      }),
    ),
  )
  return findings.toSorted((a, b) => a.line - b.line)
}

function lineAt(text: string, index: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line += 1
  return line
}
