import type { ReceiptContent, SheetText } from './content.ts'
import { type Placed, type Style, setBlock } from './typeset.ts'

/** An A4 sheet, in points. */
export const SHEET = { width: 595.28, height: 841.89 } as const
export const MARGIN = 56
const COLUMN = SHEET.width - 2 * MARGIN

const INK = '#17191c'
const SOFT = '#5a616b'
const HAIRLINE = '#c9ced6'

const body: Style = { size: 10.5, weight: 400, color: INK }
const soft: Style = { ...body, color: SOFT }
const small: Style = { ...soft, size: 9 }
const sum: Style = { size: 13, weight: 700, color: INK }
const title: Style = { size: 26, weight: 700, color: INK }

export type Rule = { readonly top: number; readonly weight: number; readonly color: string }
/** `x` is its left side. */
export type Square = { readonly x: number; readonly top: number; readonly side: number }
export type Sheet = {
  readonly placed: readonly Placed[]
  readonly rules: readonly Rule[]
  readonly logo: Square | null
  readonly platformLogo: Square | null
  readonly code: Square & { readonly text: string }
  readonly bottom: number
}

const MAIL_WIDTH = 180
const AMOUNTS_WIDTH = 150
const NAMES_WIDTH = 150
const CODE_SIDE = 84
const LOGO_SIDE = 36
const FOOT_LOGO_SIDE = 24
const GAP = 12

/** `offset` is measured from the side on which the language begins. `end` aligns the text to the other side. */
type Place = { readonly offset: number; readonly width: number; readonly end?: boolean }

/** A sheet that is filled from top to bottom. For languages that are read from right to left it is mirrored. */
class SheetWriter {
  readonly placed: Placed[] = []
  readonly rules: Rule[] = []
  top = MARGIN
  readonly #dir: 'ltr' | 'rtl'

  constructor(dir: 'ltr' | 'rtl') {
    this.#dir = dir
  }

  left({ offset, width }: Place): number {
    return this.#dir === 'ltr' ? MARGIN + offset : SHEET.width - MARGIN - offset - width
  }

  /** Returns the height of the text. `top` stays, so that the next text can begin at the same height. */
  put(text: SheetText, style: Style, place: Place): number {
    const align = (this.#dir === 'ltr') === (place.end === true) ? 'right' : 'left'
    const { top } = this
    const column = { x: this.left(place), width: place.width, top, align, base: this.#dir } as const
    const { placed, height } = setBlock({ ...text, style, ...column })
    this.placed.push(...placed)
    return height
  }

  rule(weight: number, color: string): void {
    this.rules.push({ top: this.top, weight, color })
  }
}

export function layOutReceipt(content: ReceiptContent, dir: 'ltr' | 'rtl'): Sheet {
  const sheet = new SheetWriter(dir)
  const logo = setHead(sheet, content)
  setLines(sheet, content)
  setFacts(sheet, content)
  const code = setCheck(sheet, content)
  const platformLogo = setFoot(sheet, content)
  return { placed: sheet.placed, rules: sheet.rules, logo, platformLogo, code, bottom: sheet.top }
}

function setHead(sheet: SheetWriter, { shop, logo, supportEmail, heading }: ReceiptContent): Sheet['logo'] {
  const { top } = sheet
  const side = logo === null ? 0 : LOGO_SIDE
  const offset = side && side + GAP
  const mail = supportEmail === null ? 0 : MAIL_WIDTH
  const named = sheet.put(
    { text: shop, own: true },
    { ...title, size: 15 },
    { offset, width: COLUMN - offset - mail - (mail && GAP) },
  )
  const second = { offset: COLUMN - mail, width: mail, end: true }
  const asked = supportEmail === null ? 0 : sheet.put({ text: supportEmail, own: true }, soft, second)
  sheet.top += Math.max(named, asked, side) + 28
  sheet.top += sheet.put({ text: heading }, title, { offset: 0, width: COLUMN }) + 14
  return logo === null ? null : { x: sheet.left({ offset: 0, width: side }), top, side }
}

function setLines(sheet: SheetWriter, { lines }: ReceiptContent): void {
  for (const [nth, { what, amount }] of lines.entries()) {
    const style = nth === lines.length - 1 ? sum : body
    sheet.rule(nth === 0 ? 1.5 : 0.5, nth === 0 ? INK : HAIRLINE)
    sheet.top += 9
    const label = sheet.put(what, style, { offset: 0, width: COLUMN - AMOUNTS_WIDTH - GAP })
    const place = { offset: COLUMN - AMOUNTS_WIDTH, width: AMOUNTS_WIDTH, end: true }
    sheet.top += Math.max(label, sheet.put({ text: amount }, style, place)) + 9
  }
  sheet.rule(1.5, INK)
  sheet.top += 18
}

function setFacts(sheet: SheetWriter, { facts }: ReceiptContent): void {
  const second = { offset: NAMES_WIDTH + GAP, width: COLUMN - NAMES_WIDTH - GAP }
  for (const { name, value } of facts) {
    const named = sheet.put({ text: name }, soft, { offset: 0, width: NAMES_WIDTH })
    sheet.top += Math.max(named, sheet.put(value, body, second)) + 5
  }
  sheet.top += 22
}

function setCheck(sheet: SheetWriter, { check: { heading, text, url } }: ReceiptContent): Sheet['code'] {
  const { top } = sheet
  const second = { offset: CODE_SIDE + GAP, width: COLUMN - CODE_SIDE - GAP }
  sheet.top += sheet.put({ text: heading }, { ...body, weight: 700 }, second)
  sheet.top += sheet.put({ text }, body, second)
  sheet.top += sheet.put({ text: url, own: true }, small, second)
  sheet.top = Math.max(sheet.top, top + CODE_SIDE) + 18
  return { text: url, x: sheet.left({ offset: 0, width: CODE_SIDE }), top, side: CODE_SIDE }
}

function setFoot(sheet: SheetWriter, { foot: { text, addresses, logo } }: ReceiptContent): Sheet['platformLogo'] {
  const { top } = sheet
  const side = logo === null ? 0 : FOOT_LOGO_SIDE
  const offset = side && side + GAP
  const place = { offset, width: COLUMN - offset }
  sheet.top += sheet.put({ text }, small, place)
  if (addresses !== '') sheet.top += sheet.put({ text: addresses, own: true }, small, place)
  sheet.top = Math.max(sheet.top, top + side)
  return logo === null ? null : { x: sheet.left({ offset: 0, width: side }), top, side }
}
