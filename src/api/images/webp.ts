import type { Drawn, Sides } from './sides.ts'

/** `RIFF`, the length of what follows, `WEBP` (RFC 9649, 2.4). */
const HEAD = 12
/** Name and length of a chunk. */
const AROUND = 8
/** Bits of the extended header: transparency, animation. */
const [ALPHA, MOVING] = [0x10, 0x02]

/** Null if it is broken or animated. Drops profiles, EXIF and XMP. */
export function readWebp(sent: Buffer): Drawn | null {
  if (sent.toString('latin1', 0, 4) !== 'RIFF' || sent.length < HEAD) return null
  const end = sent.readUInt32LE(4) + 8
  if (end > sent.length) return null
  let alpha: Buffer | null = null
  for (let at = HEAD; at + AROUND <= end; ) {
    const length = sent.readUInt32LE(at + 4)
    const chunk = sent.subarray(at, Math.min(end, at + AROUND + length))
    if (chunk.length !== AROUND + length) return null
    const data = chunk.subarray(AROUND)
    const type = chunk.toString('latin1', 0, 4)
    if (type === 'VP8X' && ((data[0] ?? MOVING) & MOVING) !== 0) return null
    if (type === 'ALPH') alpha = chunk
    if (type === 'VP8 ' || type === 'VP8L') {
      const sides = type === 'VP8 ' ? sidesOfLossy(data) : sidesOfLossless(data)
      return sides === null ? null : { ...sides, bytes: writeWebp(chunk, { alpha, sides }) }
    }
    at += chunk.length + (length % 2)
  }
  return null
}

/** The beginning of a key frame (RFC 6386, 9.1). */
function sidesOfLossy(data: Buffer): Sides | null {
  if (data.length < 10 || ((data[0] ?? 1) & 1) !== 0 || data.toString('hex', 3, 6) !== '9d012a') return null
  return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff }
}

/** The beginning of a lossless picture (RFC 9649, 3.4): both sides minus one, 14 bits each. */
function sidesOfLossless(data: Buffer): Sides | null {
  if (data.length < 5 || data[0] !== 0x2f) return null
  const bits = data.readUInt32LE(1)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

function writeWebp(picture: Buffer, { alpha, sides }: { alpha: Buffer | null; sides: Sides }): Buffer {
  const chunks = alpha === null ? [picture] : [extendedHeader(sides), alpha, picture]
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks.map(padToEven)])
  const head = Buffer.alloc(8, 'RIFF')
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}

/** The header that a lossy picture with transparency needs (RFC 9649, 2.7). */
function extendedHeader({ width, height }: Sides): Buffer {
  const chunk = Buffer.alloc(18)
  chunk.write('VP8X', 'latin1')
  chunk.writeUInt32LE(10, 4)
  chunk.writeUInt8(ALPHA, 8)
  chunk.writeUIntLE(width - 1, 12, 3)
  chunk.writeUIntLE(height - 1, 15, 3)
  return chunk
}

const padToEven = (chunk: Buffer): Buffer => (chunk.length % 2 === 0 ? chunk : Buffer.concat([chunk, Buffer.alloc(1)]))
