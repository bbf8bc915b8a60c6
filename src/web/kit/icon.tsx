/**
 * Pinrail's icons: 24 × 24, a line of 1.6, and a soft fill of the same color. The text next to an icon has the same
 * meaning, so screen readers skip the icon.
 */

/** Draws a rectangle from its left, top, width, height and corner radius. */
function rect(...[x, y, width, height, r]: [number, number, number, number, number]): string {
  const [w, h] = [width - 2 * r, height - 2 * r]
  const corner = (dx: number, dy: number): string => `a${r} ${r} 0 0 1 ${dx} ${dy}`
  return `M${x + r} ${y}h${w}${corner(r, r)}v${h}${corner(-r, r)}h${-w}${corner(-r, -r)}v${-h}${corner(r, -r)}z`
}

const circle = (x: number, y: number, r: number): string =>
  `M${x - r} ${y}a${r} ${r} 0 1 1 ${2 * r} 0a${r} ${r} 0 1 1 -${2 * r} 0z`

type Drawing = {
  readonly line: string
  readonly soft?: string
  readonly full?: string
}

const fillShape = (shape: string, line = ''): Drawing => ({ soft: shape, line: shape + line })

const SHIELD = 'm12 3 7.5 2.7v5.7c0 4.6-3.1 7.9-7.5 9.6-4.4-1.7-7.5-5-7.5-9.6V5.7z'
const BUBBLE = 'M4 6.5a2 2 0 0 1 2-2h12a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-6l-4.5 3.5v-3.5H6a2 2 0 0 1-2-2z'
const GLOBE = 'M3.5 12h17M12 3.3c5 5 5 12.4 0 17.4M12 3.3c-5 5-5 12.4 0 17.4'

const ICONS = {
  banking_app: fillShape(rect(6, 2.5, 12, 19, 3), 'M9.2 12l2 2.1 3.7-4.2'),
  card: { soft: 'M2.5 8.5h19v3h-19z', line: `${rect(2.5, 5, 19, 14, 3)}M2.5 9.8h19M6 15.2h4` },
  device_wallet: fillShape(rect(4, 3, 9.5, 18, 2.6), 'M7.8 18h2M16.6 9.2a5 5 0 0 1 0 5.6M19 7a9 9 0 0 1 0 10'),
  online_wallet: {
    soft: 'M3 9.5h18v7a3 3 0 0 1-3 3H6a3 3 0 0 1-3-3z',
    line: 'M17.5 8.5V7a2.5 2.5 0 0 0-2.5-2.5H6A3 3 0 0 0 3 7.5v9a3 3 0 0 0 3 3h12a3 3 0 0 0 3-3v-5a3 3 0 0 0-3-3H5.6M16.5 14h.01',
  },
  bank_transfer: {
    soft: 'M4 9.5 12 4.6l8 4.9z',
    line: 'M3.8 9.6 12 4.5l8.2 5.1zM6.2 12.5v4M10.1 12.5v4M13.9 12.5v4M17.8 12.5v4M4 19.5h16',
  },
  upi: {
    soft: rect(4, 4, 6.2, 6.2, 1.6),
    line: `${rect(4, 4, 6.2, 6.2, 1.6)}${rect(13.8, 4, 6.2, 6.2, 1.6)}${rect(4, 13.8, 6.2, 6.2, 1.6)}M14 14h2.4v2.4M20 14v2.2M14 20h2.2M20 19.8h-1.2v-1.4`,
  },
  usdc: fillShape(circle(9.8, 12, 6.8), 'M14.8 5.4a6.8 6.8 0 0 1 0 13.2M7.6 10.6h4.4M7.6 13.4h4.4'),
  check: { line: 'M5.5 12.6l4.3 4.3 8.7-9' },
  clock: fillShape(circle(12, 12, 8.7), 'M12 7.2V12l3 2'),
  warning: {
    soft: 'M12 4 3 19.5h18z',
    line: 'M10.6 4.7 3.3 17.4a1.6 1.6 0 0 0 1.4 2.4h14.6a1.6 1.6 0 0 0 1.4-2.4L13.4 4.7a1.6 1.6 0 0 0-2.8 0zM12 10v3.6M12 16.6h.01',
  },
  shield: { soft: 'M12 3v18c4.4-1.7 7.5-5 7.5-9.6V5.7z', line: `${SHIELD}M8.8 12l2.3 2.3 4.2-4.4` },
  phone: fillShape(rect(7, 2.5, 10, 19, 2.8), 'M11 18.4h2'),
  globe: { line: circle(12, 12, 8.7) + GLOBE },
  close: { line: 'M7 7l10 10M17 7 7 17' },
  next: { line: 'M9.5 6l6 6-6 6' },
  down: { line: 'M6 9.5l6 6 6-6' },
  out: { line: 'M10 5H7a2 2 0 0 0-2 2v10a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2v-3M14 5h5v5M18.6 5.4 11 13' },
  arrow: { line: 'M5 12h13.5M13 6.5l5.5 5.5-5.5 5.5' },
  shop: {
    soft: 'M5 8.5h14l.9 11H4.1z',
    line: 'M5.6 8.5h12.8a1 1 0 0 1 1 .9l.8 9a1.5 1.5 0 0 1-1.5 1.6H5.3a1.5 1.5 0 0 1-1.5-1.6l.8-9a1 1 0 0 1 1-.9zM8.7 11.5V7a3.3 3.3 0 0 1 6.6 0v4.5',
  },
  save: {
    soft: 'M5 15.5h14v4H5z',
    line: 'M12 4v10.5M7.5 10.5 12 15l4.5-4.5M4.5 15.5v2.5a1.5 1.5 0 0 0 1.5 1.5h12a1.5 1.5 0 0 0 1.5-1.5v-2.5',
  },
  print: {
    soft: 'M7 14h10v6H7z',
    line: 'M7 8.5V4h10v4.5M7 17H5.5a2 2 0 0 1-2-2v-4.5a2 2 0 0 1 2-2h13a2 2 0 0 1 2 2V15a2 2 0 0 1-2 2H17M7 14h10v6H7z',
  },
  link: {
    line: 'M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1-1',
  },
  copy: fillShape(
    rect(8.5, 8.5, 11.5, 11.5, 2.4),
    'M15.5 5.6A1.6 1.6 0 0 0 13.9 4H6.4A2.4 2.4 0 0 0 4 6.4v7.5a1.6 1.6 0 0 0 1.6 1.6',
  ),
  help: fillShape(BUBBLE),
  search: fillShape(circle(10.7, 10.7, 6.5), 'M15.6 15.6l4.9 4.9'),
  offline: {
    line: 'M3.5 3.5l17 17M8.6 16.2a5 5 0 0 1 6.8 0M5.3 12.7a9.7 9.7 0 0 1 4-2.4M14.4 10.2a9.7 9.7 0 0 1 4.3 2.5M2.5 9.2a14 14 0 0 1 4-2.6M10.4 5.3a14 14 0 0 1 11.1 3.9M12 19.4h.01',
  },
  twice: fillShape(rect(3, 9, 13, 9.5, 2), 'M8 6.5a2 2 0 0 1 2-2h9a2 2 0 0 1 2 2v6a2 2 0 0 1-2 2'),
  back: { line: 'M9 6.5 4.5 11 9 15.5M5 11h9.5a5 5 0 0 1 5 5v2' },
  rail: { line: `M2 12h5.2M16.8 12H22${circle(12, 12, 4.8)}`, full: circle(12, 12, 1.6) },
} as const satisfies Readonly<Record<string, Drawing>>

export type IconName = keyof typeof ICONS

/** `points`: the icon points in the direction of reading, so pages that read from right to left mirror it. */
export function Icon({ name, points = false }: { name: IconName; points?: boolean }) {
  const { line, soft, full }: Drawing = ICONS[name]
  return (
    <svg class={points ? 'icon points' : 'icon'} viewBox="0 0 24 24" aria-hidden="true">
      {soft !== undefined && <path class="icon-soft" d={soft} />}
      <path d={line} />
      {full !== undefined && <path class="icon-full" d={full} />}
    </svg>
  )
}
