import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { brandSheet, findAsset } from '../../src/web/assets.ts'
import { brandStyle, darkPalette, EDGE, lightPalette, type Palette, TEXT } from '../../src/web/kit/brand.ts'
import { contrast, type Hex, toHex, toOklch } from '../../src/web/kit/color.ts'

type Name = keyof Palette

/** The pairs of a text and its background; the second voice and links also appear on the tints of notes. */
const TEXTS: readonly (readonly [Name, readonly Name[]])[] = [
  ['ink', ['surface', 'paper', 'raised', 'brand-tint', 'wait-tint', 'success-tint', 'problem-tint', 'quiet-tint']],
  ['soft', ['surface', 'paper', 'raised', 'brand-tint', 'wait-tint', 'quiet-tint']],
  ['brand-ink', ['surface', 'paper', 'raised', 'brand-tint', 'wait-tint', 'quiet-tint']],
  ['on-brand', ['brand-ink']],
  ['on-deep', ['brand-deep']],
  ['success', ['surface', 'success-tint']],
  ['wait', ['surface', 'wait-tint']],
  ['problem', ['surface', 'problem-tint']],
  ['surface', ['success']],
]
const EDGES: readonly Name[] = ['surface', 'paper', 'raised']

/** The lowest required contrast that is missing; the names of the two colors. */
function unreadable(palette: Palette): string[] {
  const texts = TEXTS.flatMap(([name, grounds]) =>
    grounds.filter((ground) => contrast(palette[name], palette[ground]) < 4.5).map((ground) => `${name} on ${ground}`),
  )
  const edges = EDGES.filter((ground) => contrast(palette.outline, palette[ground]) < 3).map((at) => `outline on ${at}`)
  const panel = contrast('#ffffff', palette['brand-deep']) < 4.5 ? ['white on brand-deep'] : []
  return [...texts, ...edges, ...panel]
}

const colors = fc.integer({ min: 0, max: 0xffffff }).map((value): Hex => `#${value.toString(16).padStart(6, '0')}`)
const EXTREMES: readonly Hex[] = [
  '#000000',
  '#ffffff',
  '#ffff00',
  '#00ff00',
  '#0000ff',
  '#ff00ff',
  '#808080',
  '#00ffff',
]

describe('Any color of a merchant', () => {
  test('every text and every edge has enough contrast in light mode and in dark mode', () => {
    const holds = (brand: Hex) => {
      expect([brand, unreadable(lightPalette(brand))]).toEqual([brand, []])
      expect([brand, unreadable(darkPalette(brand))]).toEqual([brand, []])
    }
    for (const brand of EXTREMES) holds(brand)
    fc.assert(fc.property(colors, holds), { numRuns: 400 })
  })

  test('green, amber and red never change with the brand', () => {
    const states = (brand: Hex) => [lightPalette(brand), darkPalette(brand)].map((p) => [p.success, p.wait, p.problem])
    expect(states('#ff0000')).toEqual(states('#00ff00'))
  })

  test('a brand color with enough contrast is used for the button unchanged', () => {
    expect(lightPalette('#1d5247')['brand-ink']).toBe('#1d5247')
    expect(contrast(lightPalette('#ffe600')['brand-ink'], '#ffffff')).toBeGreaterThan(TEXT)
    expect(EDGE).toBeGreaterThan(3)
  })
})

test('a color that is converted to OKLCH and back does not change', () => {
  fc.assert(fc.property(colors, (hex) => expect(toHex(toOklch(hex))).toBe(hex)))
})

test('the contrast follows the formula of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2)
})

test('the style sheet of a merchant is served under its color, and under no other name', () => {
  const address = brandSheet('#b5520a')
  expect(findAsset(address.replace('/assets/', ''))?.body.toString()).toBe(brandStyle('#b5520a'))
  for (const name of ['brand.00000000.b5520a.css', address.slice(8).replace('b5520a', 'b5520a}'), 'brand', 'brand..'])
    expect(findAsset(name)).toBeNull()
})
