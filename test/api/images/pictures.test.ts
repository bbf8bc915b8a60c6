import { crc32, deflateSync, inflateSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { encode } from 'uqr'
import { readPicture } from '../../../src/api/images/image.ts'
import { qrPng, qrSvg } from '../../../src/api/links/qr.ts'
import { PICTURES } from '../support/pictures.ts'

const SECRET = 'taken at 59.91 N, 10.75 E'
const { png, jpg, webp, webpAlpha } = PICTURES

const getRefusal = (sent: Buffer): string => {
  const read = readPicture(sent)
  return read.ok ? `taken as ${read.name}` : read.why
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

type Grey = { readonly width: number; readonly height: number; readonly bytes?: number; readonly interlace?: number }

/** A grey PNG; `bytes` is the number of bytes that its rows really have. */
function greyPng({ width, height, bytes = height * (width + 1), interlace = 0 }: Grey): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width)
  head.writeUInt32BE(height, 4)
  head.set([8, 0, 0, 0, interlace], 8)
  const data = deflateSync(Buffer.alloc(bytes))
  return Buffer.concat([png.subarray(0, 8), chunk('IHDR', head), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))])
}

/** Adds a chunk after the header. */
const withChunk = (type: string): Buffer =>
  Buffer.concat([png.subarray(0, 33), chunk(type, Buffer.from(SECRET)), png.subarray(33)])

/** Adds data after the end of the compressed pixels. */
function withMoreData(): Buffer {
  const end = png.length - 12
  return Buffer.concat([png.subarray(0, end), chunk('IDAT', Buffer.from(SECRET)), png.subarray(end)])
}

/** A grey picture has two bytes of transparency. A decoder that trusts another length can read on without an end. */
function withTransparency(length: number): Buffer {
  const grey = greyPng({ width: 32, height: 32 })
  return Buffer.concat([grey.subarray(0, 33), chunk('tRNS', Buffer.alloc(length)), grey.subarray(33)])
}

/** Repeats its one scan: a browser draws the whole picture for each. */
function withScans(times: number): Buffer {
  const from = jpg.indexOf(Buffer.from([0xff, 0xda]))
  const scan = Buffer.concat([jpg.subarray(from, from + 2 + jpg.readUInt16BE(from + 2)), Buffer.from([0x7f])])
  const end = jpg.length - 2
  return Buffer.concat([jpg.subarray(0, end), ...Array.from({ length: times - 1 }, () => scan), jpg.subarray(end)])
}

function withSegment(marker: number): Buffer {
  const segment = Buffer.from([0xff, marker, 0, SECRET.length + 2, ...Buffer.from(SECRET)])
  return Buffer.concat([jpg.subarray(0, 2), segment, jpg.subarray(2)])
}

const changed = (picture: Buffer, at: number, value: number): Buffer => {
  const copy = Buffer.from(picture)
  copy[at] = value
  return copy
}

test.each(Object.entries(PICTURES))(
  'a %s picture is accepted, and its stored form is accepted unchanged',
  (_kind, sent) => {
    const read = readPicture(sent)
    if (!read.ok) throw new Error(read.why)
    expect(readPicture(read.bytes)).toEqual(read)
  },
)

test.each([
  ['a comment in a PNG', withChunk('tEXt')],
  ['EXIF in a PNG', withChunk('eXIf')],
  ['bytes after the end of a PNG', Buffer.concat([png, Buffer.from(SECRET)])],
  ['EXIF in a JPEG', withSegment(0xe1)],
  ['what another application wrote into a JPEG', withSegment(0xee)],
  ['a comment in a JPEG', withSegment(0xfe)],
  ['bytes after the end of a JPEG', Buffer.concat([jpg, Buffer.from(SECRET)])],
  ['bytes after the end of a WebP', Buffer.concat([webp, Buffer.from(SECRET)])],
])('a stored picture leaves out %s', (_name, sent) => {
  const read = readPicture(sent)
  if (!read.ok) throw new Error(read.why)
  expect(sent.includes(SECRET)).toBe(true)
  expect(read.bytes.includes(SECRET)).toBe(false)
})

test('a picture that becomes too large when it is written again is refused, as the database would', () => {
  const part = (type: string, data: Buffer): Buffer => {
    const head = Buffer.alloc(8, type)
    head.writeUInt32LE(data.length, 4)
    return Buffer.concat([head, data])
  }
  const at = webp.indexOf('VP8 ', 16)
  const picture = part('VP8 ', webp.subarray(at + 8, at + 8 + (webp.readUInt32LE(at + 4) & ~1)))
  // Transparent, and without the header that declares it.
  const parts = (length: number): Buffer => Buffer.concat([part('ALPH', Buffer.alloc(length)), picture])
  const fills = 48_000 - 12 - parts(0).length
  const of = (length: number): Buffer => {
    const head = Buffer.from('RIFF0000WEBP')
    head.writeUInt32LE(4 + parts(length).length, 4)
    return Buffer.concat([head, parts(length)])
  }
  expect([of(fills).length, getRefusal(of(fills))]).toEqual([48_000, 'too_large'])
  expect(getRefusal(of(fills - 18))).toMatch(/^taken as/)
})

test('a JPEG is accepted with the number of scans that programs write', () => {
  expect(getRefusal(withScans(20))).toMatch(/^taken as/)
})

test('an interlaced PNG is accepted if its seven passes are complete', () => {
  const bytes = 5 * 6 + 5 * 6 + 5 * 11 + 10 * 11 + 10 * 21 + 20 * 21 + 20 * 41
  const interlaced = { width: 40, height: 40, interlace: 1 }
  expect(getRefusal(greyPng({ ...interlaced, bytes }))).toMatch(/^taken as/)
  for (const wrong of [bytes - 1, bytes + 1])
    expect(getRefusal(greyPng({ ...interlaced, bytes: wrong }))).toBe('broken')
})

test.each([
  ['a page with the name of a picture', Buffer.from('<!doctype html><script>alert(1)</script>'), 'not_a_picture'],
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'), 'not_a_picture'],
  ['a GIF', Buffer.from('GIF89a'), 'not_a_picture'],
  ['nothing', Buffer.alloc(0), 'not_a_picture'],
  ['more bytes than may be', Buffer.concat([png, Buffer.alloc(48_001 - png.length)]), 'too_large'],
  ['a page behind the beginning of a PNG', Buffer.concat([png.subarray(0, 8), Buffer.from('<script>')]), 'broken'],
  ['half a PNG', png.subarray(0, png.length / 2), 'broken'],
  ['a PNG with a bit of its header that fell over', changed(png, 29, (png[29] ?? 0) ^ 1), 'broken'],
  ['a PNG of which half is missing', greyPng({ width: 64, height: 64, bytes: 32 * 65 }), 'broken'],
  ['a PNG that unpacks to much more', greyPng({ width: 64, height: 64, bytes: 9_000_000 }), 'broken'],
  ['a PNG with a chunk that must be known', withChunk('EVIL'), 'broken'],
  ['a PNG with a text where its gamma should be', withChunk('gAMA'), 'broken'],
  ['a PNG with something behind its pixels', withMoreData(), 'broken'],
  ['a PNG whose transparency does not fit its colors', withTransparency(12), 'broken'],
  ['a PNG of many pixels', greyPng({ width: 1025, height: 64 }), 'sides'],
  ['a PNG of few pixels', greyPng({ width: 64, height: 31 }), 'sides'],
  ['half a JPEG', jpg.subarray(0, jpg.length / 2), 'broken'],
  ['a JPEG that is drawn a thousand times', withScans(1000), 'broken'],
  ['a JPEG without its end', jpg.subarray(0, jpg.length - 2), 'broken'],
  ['a JPEG in four inks', changed(jpg, jpg.indexOf(Buffer.from([0xff, 0xc0])) + 9, 4), 'broken'],
  ['a page behind the beginning of a JPEG', Buffer.from([0xff, 0xd8, 0xff, 0xd9, ...Buffer.from('<b>')]), 'broken'],
  ['half a WebP', webp.subarray(0, webp.length / 2), 'broken'],
  ['a WebP that moves', changed(webpAlpha, 20, (webpAlpha[20] ?? 0) | 2), 'broken'],
  ['a WAV with the name of a WebP', changed(webp, 0, 0x41), 'broken'],
])('a picture is refused: %s', (_name, sent, why) => {
  expect(getRefusal(sent)).toBe(why)
})

test('a picture that is changed anywhere is refused, or its stored form is read again unchanged', () => {
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(fc.constantFrom(...Object.values(PICTURES)), edits, fc.nat(), (picture, changes, cut) => {
      const sent = changes.reduce((bytes, [at, value]) => changed(bytes, at % bytes.length, value), picture)
      const read = readPicture(sent.subarray(0, cut % 3 === 0 ? cut % sent.length : sent.length))
      if (read.ok) expect(readPicture(read.bytes)).toEqual(read)
    }),
    { numRuns: 2000 },
  )
})

describe('QR codes', () => {
  const ADDRESS = 'https://pay.example/l/k7Qm2vXa9B'
  const { data, size } = encode(ADDRESS, { ecc: 'M', border: 4 })

  test('the PNG is the code of the URL, pixel for pixel', () => {
    const png = qrPng(ADDRESS)
    expect(png.subarray(1, 4).toString()).toBe('PNG')
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([size * 10, size * 10])
    const start = png.indexOf('IDAT')
    const pixels = inflateSync(png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4)))
    const row = Math.ceil((size * 10) / 8) + 1
    const isDark = (x: number, y: number): boolean => ((pixels[y * row + 1 + (x >> 3)] ?? 0) & (0x80 >> (x & 7))) === 0
    const seen = data.map((modules, y) => modules.map((_dark, x) => isDark(x * 10 + 5, y * 10 + 5)))
    expect(seen).toEqual(data)
  })

  test('the SVG is the same code as the PNG', () => {
    const drawn = [...qrSvg(ADDRESS).matchAll(/M(\d+) (\d+)h1v1/g)].map(([, x, y]) => `${x} ${y}`)
    const dark = data.flatMap((modules, y) => modules.flatMap((isDark, x) => (isDark ? [`${x} ${y}`] : [])))
    expect(drawn).toEqual(dark)
  })
})
