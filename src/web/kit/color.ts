/** Colors: sRGB, OKLCH (https://www.w3.org/TR/css-color-4/#ok-lab) and the contrast of WCAG 2.2. */

/** `#rrggbb`, lower case. */
export type Hex = `#${string}`

/** Lightness 0..1, chroma 0..0.4, hue in radians. */
export type Oklch = { readonly l: number; readonly c: number; readonly h: number }

/** Red, green and blue, 0..1. */
type Rgb = readonly number[]

export function isHex(text: string): text is Hex {
  return /^#[0-9a-f]{6}$/.test(text)
}

export function toOklch(hex: Hex): Oklch {
  const [r = 0, g = 0, b = 0] = toChannels(hex).map(toLinear)
  const long = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const middle = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const short = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  const a = 1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short
  const bb = 0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short
  const l = 0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short
  return { l, c: Math.hypot(a, bb), h: Math.atan2(bb, a) }
}

/** Returns the nearest sRGB color: the same lightness and hue, with as much of the chroma as sRGB has. */
export function toHex({ l, c, h }: Oklch): Hex {
  let [least, most] = [0, c]
  if (isShown(toSrgb({ l, c, h }))) least = c
  // After 12 halvings the error is less than one of 255 steps.
  else
    for (let round = 0; round < 12; round += 1) {
      const half = (least + most) / 2
      if (isShown(toSrgb({ l, c: half, h }))) least = half
      else most = half
    }
  return fromChannels(toSrgb({ l, c: least, h }))
}

/** Returns the contrast ratio of WCAG 2.2: 1..21. */
export function contrast(a: Hex, b: Hex): number {
  const [x, y] = [luminance(a), luminance(b)]
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)
}

export function mix(a: Hex, b: Hex): Hex {
  const other = toChannels(b)
  return fromChannels(toChannels(a).map((value, index) => (value + (other[index] ?? 0)) / 2))
}

function luminance(hex: Hex): number {
  const [r = 0, g = 0, b = 0] = toChannels(hex).map(toLinear)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function toSrgb({ l, c, h }: Oklch): Rgb {
  const [a, b] = [c * Math.cos(h), c * Math.sin(h)]
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const middle = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    fromLinear(4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short),
    fromLinear(-1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short),
    fromLinear(-0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short),
  ]
}

const isShown = (srgb: Rgb): boolean => srgb.every((value) => value >= -0.0005 && value <= 1.0005)

const toLinear = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)

const fromLinear = (value: number): number => (value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055)

function toChannels(hex: Hex): Rgb {
  return [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16) / 255)
}

function fromChannels(srgb: Rgb): Hex {
  const digits = srgb.map((value) =>
    Math.round(Math.min(1, Math.max(0, value)) * 255)
      .toString(16)
      .padStart(2, '0'),
  )
  return `#${digits.join('')}`
}
