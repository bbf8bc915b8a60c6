import { contrast, type Hex, mix, type Oklch, toHex, toOklch } from './color.ts'

/**
 * Derives a merchant's palette from one color. Each derived color starts at a fixed lightness, which moves until the
 * contrast is enough, so every choice gives a readable page. Green, amber and red never take the merchant's hue: they
 * mean the same on every page.
 */

/** Pinrail's color, for merchants without a color. */
export const PINE: Hex = '#1d5247'

/** WCAG 2.2 requires 4.5:1 for text and 3:1 for edges. The values are higher because colors are rounded to 8 bits. */
export const TEXT = 4.6
export const EDGE = 3.05

const COLORS = [
  'ink',
  'soft',
  'line',
  'outline',
  'paper',
  'surface',
  'raised',
  'brand-ink',
  'on-brand',
  'brand-tint',
  'brand-deep',
  'on-deep',
  'success',
  'success-tint',
  'wait',
  'wait-tint',
  'problem',
  'problem-tint',
  'quiet-tint',
] as const
export type Palette = Readonly<Record<(typeof COLORS)[number], Hex>>

type Shade = (lightness: number, mostChroma: number, share?: number) => Hex

/** Returns shades of the brand's hue, with a chroma of at most `mostChroma` and at most `share` of the brand's. */
const createShades =
  ({ c, h }: Oklch): Shade =>
  (l, mostChroma, share = 1) =>
    toHex({ l, c: Math.min(c * share, mostChroma), h })

/** Moves the lightness of a color by `step` until its contrast to each ground is at least `least`. */
function moveTone(color: Hex, grounds: readonly Hex[], { least, step }: { least: number; step: number }): Hex {
  const { l, c, h } = toOklch(color)
  for (let lightness = l; lightness > 0 && lightness < 1; lightness += step) {
    const moved = toHex({ l: lightness, c, h })
    if (grounds.every((ground) => contrast(moved, ground) >= least)) return moved
  }
  return step < 0 ? '#000000' : '#ffffff'
}

export function lightPalette(brand: Hex): Palette {
  const { l } = toOklch(brand)
  const shade = createShades(toOklch(brand))
  const surface: Hex = '#ffffff'
  const paper = shade(0.965, 0.008)
  const raised = shade(0.98, 0.006)
  const line = shade(0.9, 0.01)
  const tints = { brand: shade(0.95, 0.026, 0.3), success: '#dff4e7', wait: '#fbefd7', problem: '#fdeceb' } as const
  const quiet = mix(line, surface)
  const grounds = [surface, paper, raised, quiet, ...Object.values(tints)]
  const text = { least: TEXT, step: -0.01 }
  const deep = moveTone(shade(Math.min(l, 0.37), 0.11), [surface], text)
  return {
    ink: moveTone(shade(0.25, 0.018), grounds, text),
    soft: moveTone(shade(0.46, 0.018), grounds, text),
    line,
    outline: moveTone(shade(0.64, 0.016), [surface, paper, raised], { least: EDGE, step: -0.01 }),
    paper,
    surface,
    raised,
    'brand-ink': moveTone(shade(Math.min(l, 0.46), 1), [surface, paper, raised, tints.brand, quiet, tints.wait], text),
    'on-brand': surface,
    'brand-tint': tints.brand,
    'brand-deep': deep,
    'on-deep': moveTone(shade(0.88, 0.03), [deep], { least: TEXT, step: 0.01 }),
    success: '#0d6538',
    'success-tint': tints.success,
    wait: '#764c00',
    'wait-tint': tints.wait,
    problem: '#a3231f',
    'problem-tint': tints.problem,
    'quiet-tint': quiet,
  }
}

export function darkPalette(brand: Hex): Palette {
  const { l } = toOklch(brand)
  const shade = createShades(toOklch(brand))
  const surface = shade(0.22, 0.012)
  const paper = shade(0.17, 0.01)
  const raised = shade(0.26, 0.016)
  const line = shade(0.34, 0.014)
  const tints = { brand: shade(0.3, 0.045, 0.6), success: '#0f3624', wait: '#3c2a0e', problem: '#491f1d' } as const
  const quiet = mix(line, surface)
  const grounds = [surface, paper, raised, quiet, ...Object.values(tints)]
  const text = { least: TEXT, step: 0.01 }
  const deep = shade(0.29, 0.06, 0.7)
  const brandInk = moveTone(
    shade(Math.max(l, 0.82), 0.09, 0.8),
    [surface, paper, raised, tints.brand, quiet, tints.wait],
    text,
  )
  return {
    ink: moveTone(shade(0.95, 0.008), grounds, text),
    soft: moveTone(shade(0.76, 0.014), grounds, text),
    line,
    outline: moveTone(shade(0.56, 0.016), [surface, paper, raised], { least: EDGE, step: 0.01 }),
    paper,
    surface,
    raised,
    'brand-ink': brandInk,
    'on-brand': moveTone(shade(0.2, 0.04), [brandInk], { least: TEXT, step: -0.01 }),
    'brand-tint': tints.brand,
    'brand-deep': deep,
    'on-deep': moveTone(shade(0.88, 0.03), [deep], { least: TEXT, step: 0.01 }),
    success: '#8ae1af',
    'success-tint': tints.success,
    wait: '#f5ca7a',
    'wait-tint': tints.wait,
    problem: '#fba8a0',
    'problem-tint': tints.problem,
    'quiet-tint': quiet,
  }
}

/** Returns the palette as CSS variables in both schemes. Paper is always light, and so is every printed page. */
export function brandStyle(brand: Hex): string {
  const light = toDeclarations(lightPalette(brand))
  const dark = toDeclarations(darkPalette(brand))
  return `:root{--brand:${brand};${light}}@media (prefers-color-scheme:dark){:root{${dark}}.paper{${light}}}@media print{:root{${light}}}`
}

function toDeclarations(palette: Palette): string {
  return COLORS.map((name) => `--${name}:${palette[name]}`).join(';')
}
