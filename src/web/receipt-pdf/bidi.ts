import bidiFactory from 'bidi-js'

export type Run = { readonly text: string; readonly rtl: boolean }

const bidi = bidiFactory()

/** Marks that set the direction. They are interpreted and never drawn. */
const MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * Splits a line into runs of one direction, from left to right (Unicode Bidirectional Algorithm). `own`: the first
 * letter sets the direction of the line.
 */
export function splitRuns(line: string, base: 'ltr' | 'rtl', own: boolean): Run[] {
  const { levels } = bidi.getEmbeddingLevels(line, own ? findDirection(line, base) : base)
  const mirrored = bidi.getMirroredCharactersMap(line, levels)
  const runs: { text: string; level: number }[] = []
  for (let at = 0; at < line.length; at += 1) {
    const level = levels[at] ?? 0
    const last = runs.at(-1)
    const character = mirrored.get(at) ?? line.charAt(at)
    if (last !== undefined && last.level === level) last.text += character
    else runs.push({ text: character, level })
  }
  return sortVisually(runs)
    .map(({ text, level }) => ({ text: text.replace(MARKS, ''), rtl: level % 2 === 1 }))
    .filter(({ text }) => text !== '')
}

const STRONG = /[\p{Script=Arabic}\p{Script=Hebrew}]|\p{L}/u
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u

function findDirection(line: string, base: 'ltr' | 'rtl'): 'ltr' | 'rtl' {
  const first = STRONG.exec(line)?.[0]
  if (first === undefined) return base
  return RIGHT_TO_LEFT.test(first) ? 'rtl' : 'ltr'
}

/** Rule L2: from the highest level down to 1, each sequence of runs at that level or higher is reversed. */
function sortVisually<T extends { level: number }>(runs: readonly T[]): T[] {
  const ordered = [...runs]
  const highest = Math.max(0, ...runs.map(({ level }) => level))
  for (let level = highest; level >= 1; level -= 1)
    for (let from = 0; from < ordered.length; from += 1) {
      let to = from
      while (to < ordered.length && (ordered[to]?.level ?? 0) >= level) to += 1
      if (to > from) ordered.splice(from, to - from, ...ordered.slice(from, to).toReversed())
      from = Math.max(from, to - 1)
    }
  return ordered
}
