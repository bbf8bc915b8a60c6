import { inflateSync } from 'node:zlib'

/** Sizes in WOFF 1.0 (https://www.w3.org/TR/WOFF/#OverallStructure) and OpenType, in bytes. */
const WOFF_HEAD = 44
const WOFF_ENTRY = 20
const SFNT_HEAD = 12
const SFNT_ENTRY = 16

/**
 * Returns the font in a WOFF file. fontkit also reads WOFF, but it unpacks a whole table for each letter, which takes
 * seconds a page.
 */
export function unpackFont(woff: Buffer): Buffer {
  if (woff.toString('latin1', 0, 4) !== 'wOFF') throw new Error('must be a WOFF file')
  const tables = Array.from({ length: woff.readUInt16BE(12) }, (_table, nth) => {
    const at = WOFF_HEAD + nth * WOFF_ENTRY
    const [offset, packed, length] = [woff.readUInt32BE(at + 4), woff.readUInt32BE(at + 8), woff.readUInt32BE(at + 12)]
    const bytes = woff.subarray(offset, offset + packed)
    return {
      tag: woff.subarray(at, at + 4),
      sum: woff.readUInt32BE(at + 16),
      bytes: packed < length ? inflateSync(bytes) : bytes,
    }
  })
  const power = Math.floor(Math.log2(tables.length))
  const head = Buffer.alloc(SFNT_HEAD + tables.length * SFNT_ENTRY)
  woff.copy(head, 0, 4, 8)
  head.writeUInt16BE(tables.length, 4)
  head.writeUInt16BE(2 ** power * 16, 6)
  head.writeUInt16BE(power, 8)
  head.writeUInt16BE(tables.length * 16 - 2 ** power * 16, 10)
  const parts = [head]
  let offset = head.length
  for (const [nth, { tag, sum, bytes }] of tables.entries()) {
    const at = SFNT_HEAD + nth * SFNT_ENTRY
    tag.copy(head, at)
    head.writeUInt32BE(sum, at + 4)
    head.writeUInt32BE(offset, at + 8)
    head.writeUInt32BE(bytes.length, at + 12)
    // Tables start at multiples of four bytes.
    const padded = Buffer.alloc(Math.ceil(bytes.length / 4) * 4)
    bytes.copy(padded)
    parts.push(padded)
    offset += padded.length
  }
  return Buffer.concat(parts)
}
