import { encode } from 'uqr'

/** The space around the code, in modules: ISO/IEC 18004 requires four. */
const QUIET_ZONE = 4

/** Encodes a QR code: its modules by row, with the quiet zone, and the number of modules of a side. */
export const encodeQr = (text: string) => encode(text, { ecc: 'M', border: QUIET_ZONE })

/** Returns the dark modules as an SVG path; a module is one unit wide. */
export const drawQr = ({ data }: ReturnType<typeof encodeQr>): string =>
  data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
