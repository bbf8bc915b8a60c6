import { splitRuns } from './bidi.ts'
import { type Face, type FaceRun, settable, splitByFace, type Weight } from './fonts.ts'

export type Style = { readonly size: number; readonly weight: Weight; readonly color: string }

/** A text in one face. Positions are in points from the upper left corner of the sheet. */
export type Placed = {
  readonly face: Face
  readonly text: string
  readonly x: number
  readonly baseline: number
  readonly style: Style
}

export type Block = {
  readonly text: string
  /** True for a text without a translation, such as a name: its first letter sets its direction. */
  readonly own?: boolean
  readonly style: Style
  /** The left edge of the column. */
  readonly x: number
  readonly width: number
  readonly top: number
  readonly align: 'left' | 'right'
  readonly base: 'ltr' | 'rtl'
}

/** Multiples of the font size, with room for the marks above and below the letters of Arabic and Hindi. */
const LINE = 1.5
const ASCENT = 1.1

/** PDFKit lays out a text without a feature list word by word, which puts Arabic words into the wrong order. */
export const FEATURES: [] = []

const measureRun = ({ face, text }: FaceRun, size: number): number =>
  (face.font.layout(text).advanceWidth / face.font.unitsPerEm) * size

export function setBlock(block: Block): { readonly placed: Placed[]; readonly height: number } {
  const { style, top } = block
  const lines = breakLines(block)
  const placed = lines.flatMap((line, nth) => setLine(block, line, top + (nth * LINE + ASCENT) * style.size))
  return { placed, height: lines.length * LINE * style.size }
}

function setLine({ own = false, style, x, width, align, base }: Block, line: string, baseline: number): Placed[] {
  const runs = splitRuns(line, base, own).flatMap(({ text, rtl }) => {
    const parts = splitByFace(text, style.weight)
    return rtl ? parts.toReversed().map(reverseText) : parts
  })
  const widths = runs.map((run) => measureRun(run, style.size))
  const whole = widths.reduce((sum, each) => sum + each, 0)
  let at = align === 'left' ? x : x + width - whole
  return runs.map(({ face, text }, nth) => {
    const placed = { face, text, x: at, baseline, style }
    at += widths[nth] ?? 0
    return placed
  })
}

const ARABIC = /\p{Script=Arabic}/u

/** The shaper reverses Arabic automatically, but no other script. */
function reverseText({ face, text }: FaceRun): FaceRun {
  return ARABIC.test(text) ? { face, text } : { face, text: Array.from(text).toReversed().join('') }
}

/** Breaks a text between words, and a word that is wider than the column between characters. */
function breakLines({ text, style, width }: Block): string[] {
  const measure = (part: string): number =>
    splitByFace(part, style.weight).reduce((sum, run) => sum + measureRun(run, style.size), 0)
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
      const cut = countFitting(line.text, (part) => measure(part) <= width)
      const rest = line.text.slice(cut)
      lines.push(line.text.slice(0, cut))
      line = { text: rest, width: measure(rest) }
    }
  }
  return [...lines, line.text]
}

/** Returns the number of UTF-16 units of the word that fit; at least one character. */
function countFitting(word: string, fits: (part: string) => boolean): number {
  let [least, most] = [1, word.length]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (fits(word.slice(0, middle))) least = middle
    else most = middle - 1
  }
  const isTorn = /[\ud800-\udbff]/.test(word.charAt(least - 1))
  return isTorn && least > 1 ? least - 1 : least
}
