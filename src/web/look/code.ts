import { encode } from 'uqr'

/** Space around the code, in modules: ISO/IEC 18004 asks for four. */
const QUIET_ZONE = 4

/** The modules of a QR code, row by row, with its quiet zone, and how many a side has. */
export const codeOf = (text: string) => encode(text, { ecc: 'M', border: QUIET_ZONE })

/** The dark modules as the path of an SVG, one unit a module. */
export const pathOf = ({ data }: ReturnType<typeof codeOf>): string =>
  data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
