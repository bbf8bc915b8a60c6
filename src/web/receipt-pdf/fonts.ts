import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { create, type Font, type GlyphRun } from 'fontkit'
import { newest } from '../newest.ts'
import { unpackFont } from './woff.ts'

/**
 * The faces of a sheet: Noto Sans, one file for each part of Unicode. They cover every language of the checkout, and
 * Cyrillic names. A name in another script has no face, so the buyer prints the receipt in the browser.
 */
const FACES = {
  latin: 'noto-sans/files/noto-sans-latin',
  'latin-ext': 'noto-sans/files/noto-sans-latin-ext',
  greek: 'noto-sans/files/noto-sans-greek',
  cyrillic: 'noto-sans/files/noto-sans-cyrillic',
  devanagari: 'noto-sans-devanagari/files/noto-sans-devanagari-devanagari',
  arabic: 'noto-sans-arabic/files/noto-sans-arabic-arabic',
} as const

export type Weight = 400 | 700
export type FaceName = keyof typeof FACES
export type Face = { readonly key: string; readonly font: Font }

const NAMES = Object.keys(FACES) as FaceName[]
const require = createRequire(import.meta.url)
const loaded = new Map<string, Face>()

function loadFace(name: FaceName, weight: Weight): Face {
  const key = `${name}-${weight}`
  const known = loaded.get(key)
  if (known !== undefined) return known
  const font = create(unpackFont(readFileSync(require.resolve(`@fontsource/${FACES[name]}-${weight}-normal.woff`))))
  if ('fonts' in font) throw new Error(`${key} must be one font`)
  const face = { key, font: cacheLayouts(font, key) }
  loaded.set(key, face)
  return face
}

/** Maximum number of cached layouts. Each text is measured, broken into lines and drawn, and most texts are on every receipt. */
const RUNS = 1000
const runs = newest<GlyphRun>(RUNS)

/** Returns a font that lays out a text once. Drawing changes the positions, so each caller gets a copy of them. */
function cacheLayouts(font: Font, key: string): Font {
  const caching = Object.create(font) as Font
  caching.layout = (text) => {
    const run = runs(`${key} ${text}`, () => font.layout(text))
    return Object.assign(Object.create(run) as GlyphRun, {
      positions: run.positions.map((position) => ({ ...position })),
    })
  }
  return caching
}

export const faces = (weight: Weight): Face[] => NAMES.map((name) => loadFace(name, weight))

const hasGlyph = ({ font }: Face, character: string): boolean =>
  font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0)

/** Combining marks and joiners. Each stays with the character before it. */
const JOINERS = /[\p{M}\u200c\u200d]/u

export type FaceRun = { readonly face: Face; readonly text: string }

/** Splits a text by faces, in the order of reading. A run keeps its face while it can: also for digits in Arabic. */
export function splitByFace(text: string, weight: Weight): FaceRun[] {
  const runs: { face: Face; text: string }[] = []
  for (const character of text) {
    const last = runs.at(-1)
    const stays = last !== undefined && (JOINERS.test(character) || hasGlyph(last.face, character))
    const face = stays ? last.face : faces(weight).find((one) => hasGlyph(one, character))
    if (face === undefined) continue
    if (last?.face === face) last.text += character
    else runs.push({ face, text: character })
  }
  return runs
}

const PICTURES = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\ufe0e\ufe0f\u20e3]/gu

/** Returns the text on one line, without pictures. The signs ©, ® and ™ and digits stay. */
export function settable(text: string): string {
  return text
    .replace(PICTURES, (picture) => (/[©®™]/u.test(picture) ? picture : ''))
    .replace(/\s+/gu, (space) => (/^[\u00a0\u202f]$/.test(space) ? '\u00a0' : ' '))
    .trim()
}

export function hasFaces(text: string): boolean {
  return Array.from(settable(text)).every(
    (character) =>
      JOINERS.test(character) || /\p{Cf}/u.test(character) || faces(400).some((face) => hasGlyph(face, character)),
  )
}
