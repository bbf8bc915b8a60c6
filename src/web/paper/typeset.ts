import { runsOf } from './bidi.ts'
import { byFace, type Face, type FaceRun, settable, type Weight } from './fonts.ts'

export type Style = { readonly size: number; readonly weight: Weight; readonly colour: string }

/** Text of one face, on a sheet that is measured in points from its upper left corner. */
export type Placed = {
  readonly face: Face
  readonly text: string
  readonly x: number
  readonly baseline: number
  readonly style: Style
}

export type Block = {
  readonly text: string
  /** A name that somebody gave: its first letter says its direction. */
  readonly own?: boolean
  readonly style: Style
  /** Of the column, from its left edge. */
  readonly x: number
  readonly width: number
  readonly top: number
  readonly align: 'left' | 'right'
  readonly base: 'ltr' | 'rtl'
}

/** Of the size of the type: room for the marks above and below the letters of Arabic and Hindi. */
const LINE = 1.5
const ASCENT = 1.1

/** Without features a library would lay out word by word, which puts the words of Arabic into the wrong order. */
export const FEATURES: [] = []

const widthOf = ({ face, text }: FaceRun, size: number): number =>
  (face.font.layout(text).advanceWidth / face.font.unitsPerEm) * size

/** Sets the text into its column, and breaks it into as many lines as it needs. */
export function setBlock(block: Block): { readonly placed: Placed[]; readonly height: number } {
  const { style, top } = block
  const lines = linesOf(block)
  const placed = lines.flatMap((line, nth) => setLine(block, line, top + (nth * LINE + ASCENT) * style.size))
  return { placed, height: lines.length * LINE * style.size }
}

function setLine({ own = false, style, x, width, align, base }: Block, line: string, baseline: number): Placed[] {
  const runs = runsOf(line, base, own).flatMap(({ text, rtl }) => {
    const parts = byFace(text, style.weight)
    return rtl ? parts.toReversed().map(turned) : parts
  })
  const widths = runs.map((run) => widthOf(run, style.size))
  const whole = widths.reduce((sum, each) => sum + each, 0)
  let at = align === 'left' ? x : x + width - whole
  return runs.map(({ face, text }, nth) => {
    const placed = { face, text, x: at, baseline, style }
    at += widths[nth] ?? 0
    return placed
  })
}

const ARABIC = /\p{Script=Arabic}/u

/** The shaper turns Arabic around by itself, and nothing else. */
function turned({ face, text }: FaceRun): FaceRun {
  return ARABIC.test(text) ? { face, text } : { face, text: Array.from(text).toReversed().join('') }
}

/** By words; a word that is wider than its column by characters. */
function linesOf({ text, style, width }: Block): string[] {
  const measure = (part: string): number =>
    byFace(part, style.weight).reduce((sum, run) => sum + widthOf(run, style.size), 0)
  const space = measure(' ')
  const lines: string[] = []
  let line = { text: '', width: 0 }
  for (const word of settable(text).split(' ')) {
    const wide = measure(word)
    if (line.text !== '' && line.width + space + wide <= width) {
      line = { text: `${line.text} ${word}`, width: line.width + space + wide }
      continue
    }
    if (line.text !== '') lines.push(line.text)
    line = { text: word, width: wide }
    while (line.width > width) {
      const cut = fitting(line.text, (part) => measure(part) <= width)
      const rest = line.text.slice(cut)
      lines.push(line.text.slice(0, cut))
      line = { text: rest, width: measure(rest) }
    }
  }
  return [...lines, line.text]
}

/** How many characters of the word fit, one at least; in UTF-16 units. */
function fitting(word: string, fits: (part: string) => boolean): number {
  let [least, most] = [1, word.length]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (fits(word.slice(0, middle))) least = middle
    else most = middle - 1
  }
  const isTorn = /[\ud800-\udbff]/.test(word.charAt(least - 1))
  return isTorn && least > 1 ? least - 1 : least
}
