import type { Drawn, Sides } from './sides.ts'

/** Markers of ITU T.81, table B.1. */
const [FILL, START, END, SCAN] = [0xff, 0xd8, 0xd9, 0xda]
/** Baseline, extended and progressive frames: what browsers draw. */
const FRAMES = [0xc0, 0xc1, 0xc2]
/** Tables, frames, restart intervals and scans. Comments and application segments (EXIF, XMP, profiles) are dropped. */
const KEPT = [0xc4, 0xdb, 0xdd, SCAN, ...FRAMES]
/** Adobe's segment defines how the colors are encoded, so it stays. */
const ADOBE = 0xee
/** Browsers draw the whole picture for each scan: ten are usual, but a few thousand would fit into an accepted file. */
const MOST_SCANS = 64
const isExtra = (marker: number): boolean => (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe

/** Null if the picture is broken, or of a kind that browsers draw differently (CMYK, lossless). */
export function readJpeg(sent: Buffer): Drawn | null {
  const kept: Buffer[] = [Buffer.from([FILL, START])]
  let sides: Sides | null = null
  let scans = 0
  for (let at = 2; at + 2 <= sent.length; ) {
    const marker = sent[at + 1] ?? 0
    if (sent[at] !== FILL) return null
    if (marker === FILL) {
      at += 1
      continue
    }
    if (marker === END) return sides === null || scans === 0 ? null : { ...sides, bytes: appendEnd(kept) }
    const length = at + 4 <= sent.length ? sent.readUInt16BE(at + 2) : 0
    const segment = sent.subarray(at, at + 2 + length)
    if (length < 2 || segment.length !== 2 + length) return null
    if (!KEPT.includes(marker) && !isExtra(marker)) return null
    if (FRAMES.includes(marker)) {
      if (sides !== null) return null
      sides = readFrame(segment)
      if (sides === null) return null
    }
    at += segment.length
    if (KEPT.includes(marker) || (marker === ADOBE && isAdobe(segment))) kept.push(segment)
    if (marker !== SCAN) continue
    const scanned = endOfScan(sent, at)
    kept.push(sent.subarray(at, scanned))
    scans += 1
    if (scans > MOST_SCANS) return null
    at = scanned
  }
  return null
}

const appendEnd = (kept: readonly Buffer[]): Buffer => Buffer.concat([...kept, Buffer.from([FILL, END])])

function readFrame(segment: Buffer): Sides | null {
  const components = segment[9]
  if (segment.length < 10 || (components !== 1 && components !== 3)) return null
  return { height: segment.readUInt16BE(5), width: segment.readUInt16BE(7) }
}

function isAdobe(segment: Buffer): boolean {
  return segment.length === 16 && segment.toString('latin1', 4, 9) === 'Adobe'
}

/** 0 after 0xff is a byte of the picture, and restarts (0xd0 to 0xd7) belong to the scan. */
function endOfScan(sent: Buffer, from: number): number {
  for (let at = sent.indexOf(FILL, from); at !== -1; at = sent.indexOf(FILL, at + 1)) {
    const next = sent[at + 1]
    if (next !== undefined && next !== 0 && (next < 0xd0 || next > 0xd7)) return at
  }
  return sent.length
}
