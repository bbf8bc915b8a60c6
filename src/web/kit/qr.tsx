import { encode } from 'uqr'
import { newest } from '../newest.ts'

/** The space around the code, in modules: ISO/IEC 18004 requires four. */
const QUIET_ZONE = 4

/** Encodes a QR code: its modules by row, with the quiet zone, and the number of modules of a side. */
export const encodeQr = (text: string) => encode(text, { ecc: 'M', border: QUIET_ZONE })

/** Returns the dark modules as an SVG path; a module is one unit wide. */
export const drawQr = ({ data }: ReturnType<typeof encodeQr>): string =>
  data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')

/** A cache, because a buyer loads the page with the code of a payment about five times. */
const codes = newest<{ readonly modules: number; readonly path: string }>(500)

/** A QR code as one path, black on white in every scheme. `name` describes its content for screen readers. */
export function Qr({ text, name, size = 'usual' }: { text: string; name: string; size?: 'usual' | 'large' | 'small' }) {
  const { modules, path } = codes(text, () => {
    const code = encodeQr(text)
    return { modules: code.size, path: drawQr(code) }
  })
  return (
    <div class={`plate ${size}`}>
      <svg role="img" aria-label={name} viewBox={`0 0 ${modules} ${modules}`} shape-rendering="crispEdges">
        <path d={path} />
      </svg>
    </div>
  )
}

/** A QR code as a file, which a browser requests when the code scrolls into view. */
export function QrImage({ src, name }: { src: string; name: string }) {
  return (
    <div class="plate">
      <img src={src} alt={name} width="210" height="210" loading="lazy" />
    </div>
  )
}
