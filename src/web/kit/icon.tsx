/**
 * Pinrail's icons: 24 × 24, a line of 1.6, and a soft fill of the same color. The text next to an icon has the same
 * meaning, so screen readers skip the icon.
 */

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
const RING = circle(12, 12, 8.7)
const WALLET: Drawing = {
  soft: 'M3 9.5h18v7a3 3 0 0 1-3 3H6a3 3 0 0 1-3-3z',
  line: 'M17.5 8.5V7a2.5 2.5 0 0 0-2.5-2.5H6A3 3 0 0 0 3 7.5v9a3 3 0 0 0 3 3h12a3 3 0 0 0 3-3v-5a3 3 0 0 0-3-3H5.6M16.5 14h.01',
}
const GLOBE = 'M3.5 12h17M12 3.3c5 5 5 12.4 0 17.4M12 3.3c-5 5-5 12.4 0 17.4'

const ICONS = {
  banking_app: fillShape(rect(6, 2.5, 12, 19, 3), 'M9.2 12l2 2.1 3.7-4.2'),
  card: { soft: 'M2.5 8.5h19v3h-19z', line: `${rect(2.5, 5, 19, 14, 3)}M2.5 9.8h19M6 15.2h4` },
  device_wallet: fillShape(rect(4, 3, 9.5, 18, 2.6), 'M7.8 18h2M16.6 9.2a5 5 0 0 1 0 5.6M19 7a9 9 0 0 1 0 10'),
  online_wallet: WALLET,
  wallet: WALLET,
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
  clock: fillShape(RING, 'M12 7.2V12l3 2'),
  warning: {
    soft: 'M12 4 3 19.5h18z',
    line: 'M10.6 4.7 3.3 17.4a1.6 1.6 0 0 0 1.4 2.4h14.6a1.6 1.6 0 0 0 1.4-2.4L13.4 4.7a1.6 1.6 0 0 0-2.8 0zM12 10v3.6M12 16.6h.01',
  },
  shield: { soft: 'M12 3v18c4.4-1.7 7.5-5 7.5-9.6V5.7z', line: `${SHIELD}M8.8 12l2.3 2.3 4.2-4.4` },
  phone: fillShape(rect(7, 2.5, 10, 19, 2.8), 'M11 18.4h2'),
  globe: { line: RING + GLOBE },
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
  circle_check: fillShape(RING, 'M8.2 12.3l2.6 2.6 5-5.6'),
  circle_close: fillShape(RING, 'M9 9l6 6M15 9l-6 6'),
  circle_minus: fillShape(RING, 'M8.3 12h7.4'),
  circle_next: fillShape(RING, 'M7.2 12h9.2M13.1 8.3l3.7 3.7-3.7 3.7'),
  balance: { line: 'M4.5 20v-6.5M12 20V4M19.5 20V9' },
  bell: fillShape(
    'M6 10.5a6 6 0 0 1 12 0c0 4.5 1.9 5.4 1.9 6.4H4.1c0-1 1.9-1.9 1.9-6.4z',
    'M9.8 20.2a2.5 2.5 0 0 0 4.5 0',
  ),
  book: fillShape(
    'M12 5.7C9.9 4.4 7.2 3.9 3.8 4.1v14.3c3.4-.2 6.1.2 8.2 1.6 2.1-1.4 4.8-1.8 8.2-1.6V4.1c-3.4-.2-6.1.3-8.2 1.6z',
    'M12 5.7V20',
  ),
  brand: fillShape('M12 3c3.5 4 6 7.2 6 10.7a6 6 0 0 1-12 0C6 10.2 8.5 7 12 3z'),
  code: { line: 'M8.3 6.8 3 12l5.3 5.2M15.7 6.8 21 12l-5.3 5.2' },
  convert: { line: 'M4.1 8.6h14.3M14.2 4.5l4.2 4.1-4.2 4.2M19.9 15.4H5.6M9.8 11.2l-4.2 4.2 4.2 4.1' },
  cube: fillShape('m12 2.9 7.8 4.5v9.2L12 21.1l-7.8-4.5V7.4z', 'M4.2 7.4 12 12l7.8-4.6M12 12v9.1'),
  device: fillShape('M4.9 15.4v-9a1.5 1.5 0 0 1 1.5-1.5h11.2a1.5 1.5 0 0 1 1.5 1.5v9z', 'M2.6 18.8h18.8'),
  dots: { line: 'M5.3 12h.01M12 12h.01M18.7 12h.01' },
  events: fillShape('M13.1 2.6 4.9 13.5h6.4l-1.2 7.9 9-10.9h-6.3z'),
  flask: {
    soft: 'M7.2 14.6h9.6l2.2 3.8a1.6 1.6 0 0 1-1.5 2.2h-11A1.6 1.6 0 0 1 5 18.4z',
    line: 'M9 3.4h6M10.1 3.4v6L5 18.4a1.6 1.6 0 0 0 1.5 2.2h11a1.6 1.6 0 0 0 1.5-2.2l-5.1-9v-6M7.2 14.6h9.6',
  },
  home: fillShape('M3.8 10.5 12 3.8l8.2 6.7v9a.8.8 0 0 1-.8.8h-4.8v-6H9.4v6H4.6a.8.8 0 0 1-.8-.8z'),
  key: fillShape(circle(7.3, 16.5, 3.6), 'M9.9 14 19.5 4.4M16.4 7.5l3 3M13.4 10.5l1.9 1.9'),
  lock: fillShape(rect(4.9, 10.5, 14.2, 9.8, 1.9), 'M7.9 10.5v-3a4.1 4.1 0 0 1 8.2 0v3'),
  log: fillShape(rect(3, 4.1, 18, 15.8, 1.9), 'M7.1 9l3 3-3 3M12.8 15.3h3.7'),
  mail: fillShape(rect(2.6, 4.9, 18.8, 14.2, 1.9), 'M3 7.1l9 6.4 9-6.4'),
  menu: { line: 'M3.8 6.8h16.4M3.8 12h16.4M3.8 17.2h16.4' },
  passkey: fillShape(
    circle(9, 7.5, 3.8),
    'M2.3 20.2c.1-4.2 2.8-6.7 6.7-6.7 1.4 0 2.4.3 3.5.8M20.9 13.4a2.9 2.9 0 1 0-3.9 2.7V21l1.5-1.4-1.2-1.3 1.3-1.4-.7-.9a2.9 2.9 0 0 0 3-2.6z',
  ),
  payments: { line: 'M3.8 7.9h15.4M15 3.8l4.1 4.1L15 12M20.2 16.1H4.9M9 12l-4.1 4.1L9 20.2' },
  plus: { line: 'M12 4.5v15M4.5 12h15' },
  receipt: fillShape('M5.2 3.4h13.6v17.2l-2.3-1.5-2.2 1.5-2.3-1.5-2.3 1.5-2.2-1.5-2.3 1.5z', 'M9 8.2h6M9 12.4h6'),
  team: fillShape(
    circle(9, 7.9, 3.4),
    'M2.6 19.5c.5-3.6 3-5.6 6.4-5.6s5.9 2 6.4 5.6M15.7 4.8a3.4 3.4 0 0 1 0 6.2M17.6 14.4c2.3.8 3.5 2.4 3.8 5.1',
  ),
  user: fillShape(circle(12, 7.9, 3.8), 'M4.5 20.2c.6-4 3.6-6 7.5-6s6.9 2 7.5 6'),
  webhook: fillShape(
    circle(12, 6, 2.6) + circle(6, 18, 2.6) + circle(18, 18, 2.6),
    'M10.8 8.4 7.1 15.7M13.2 8.4l3.7 7.3M8.6 18h6.8',
  ),
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
