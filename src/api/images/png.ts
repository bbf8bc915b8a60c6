import { crc32, type Inflate, inflateSync } from 'node:zlib'
import type { Drawn, Sides } from './sides.ts'

/**
 * Chunks that are needed to draw (PNG, third edition, 5.6), with the most bytes of each. Other chunks show nothing, and
 * a longer chunk could hide data.
 */
const KEPT = new Map([
  ['IHDR', 13],
  ['PLTE', 768],
  ['tRNS', 256],
  ['gAMA', 4],
  ['sRGB', 1],
  ['IDAT', Number.POSITIVE_INFINITY],
  ['IEND', 0],
])
const SIGNATURE = 8
/** Length, type and checksum of a chunk. */
const AROUND = 12

type Head = Sides & { readonly color: Color; readonly bitsPerPixel: number; readonly interlaced: boolean }

type Color = {
  readonly samples: number
  readonly depths: readonly number[]
  /** Bytes that the transparency chunk can have. */
  readonly transparency: readonly number[]
}

/** PNG, third edition, 11.2.1 and 11.3.1.1. A decoder that trusts another length could read without an end. */
const COLORS: Readonly<Record<number, Color>> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16], transparency: [2] },
  2: { samples: 3, depths: [8, 16], transparency: [6] },
  3: { samples: 1, depths: [1, 2, 4, 8], transparency: Array.from({ length: 256 }, (_, index) => index + 1) },
  4: { samples: 2, depths: [8, 16], transparency: [] },
  6: { samples: 4, depths: [8, 16], transparency: [] },
}

/** Null if the picture is broken, or has an unknown chunk that decoders must not ignore. */
export function readPng(sent: Buffer, isDrawable: (sides: Sides) => boolean): Drawn | null {
  const kept = [sent.subarray(0, SIGNATURE)]
  const packed: Buffer[] = []
  let head: Head | null = null
  for (let at = SIGNATURE; at + AROUND <= sent.length; ) {
    const length = sent.readUInt32BE(at)
    const chunk = sent.subarray(at, at + AROUND + length)
    if (chunk.length !== AROUND + length) return null
    const data = chunk.subarray(8, 8 + length)
    const type = chunk.toString('latin1', 4, 8)
    if (crc32(chunk.subarray(4, 8 + length)) !== chunk.readUInt32BE(8 + length)) return null
    // The header is the first chunk and the only one of its type.
    if ((type === 'IHDR') !== (head === null)) return null
    if (type === 'IHDR') head = readHead(data)
    if (head === null) return null
    if (type === 'tRNS' && !head.color.transparency.includes(length)) return null
    if (!isDrawable(head)) return { ...head, bytes: sent }
    if (type === 'IDAT') packed.push(data)
    const most = KEPT.get(type)
    if (most !== undefined && length > most) return null
    if (most !== undefined) kept.push(chunk)
    // A capital letter: the picture cannot be drawn without this chunk.
    else if (/^[A-Z]/.test(type)) return null
    if (type === 'IEND') return isWhole(head, packed) ? { ...head, bytes: Buffer.concat(kept) } : null
    at += chunk.length
  }
  return null
}

function readHead(data: Buffer): Head | null {
  const [depth = 0, type = -1, , , interlace] = data.subarray(8)
  const color = COLORS[type]
  if (data.length !== 13 || color === undefined || !color.depths.includes(depth)) return null
  return {
    width: data.readUInt32BE(0),
    height: data.readUInt32BE(4),
    color,
    bitsPerPixel: color.samples * depth,
    interlaced: interlace === 1,
  }
}

/** The first pixel of each of the seven passes of an interlaced picture, and its steps: x, y, right, down. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

/** The pixels must unpack to exactly the bytes of the picture. A decompression bomb returns false. */
function isWhole({ width, height, bitsPerPixel, interlaced }: Head, packed: readonly Buffer[]): boolean {
  const passes = interlaced ? PASSES : ([[0, 0, 1, 1]] as const)
  const sides = passes
    .map(([x, y, right, down]) => [Math.ceil((width - x) / right), Math.ceil((height - y) / down)] as const)
    .filter(([columns, rows]) => columns > 0 && rows > 0)
  const rows = sides.flatMap(([columns, count]) =>
    Array.from({ length: count }, () => 1 + Math.ceil((columns * bitsPerPixel) / 8)),
  )
  const bytes = rows.reduce((sum, row) => sum + row, 0)
  try {
    const sent = Buffer.concat(packed)
    const { buffer, engine } = inflate(sent, bytes)
    return buffer.length === bytes && engine.bytesWritten === sent.length && areFiltersKnown(buffer, rows)
  } catch {
    return false
  }
}

/** Each row begins with one of five filters (PNG, third edition, 9.2): decoders fail at any other. */
function areFiltersKnown(pixels: Buffer, rows: readonly number[]): boolean {
  let at = 0
  return rows.every((row) => {
    const isKnown = (pixels[at] ?? 5) < 5
    at += row
    return isKnown
  })
}

/** `info` makes Node return the number of bytes that it read. Its types omit that. */
function inflate(sent: Buffer, most: number) {
  const options = { maxOutputLength: most, info: true }
  return inflateSync(sent, options) as unknown as { readonly buffer: Buffer; readonly engine: Inflate }
}
