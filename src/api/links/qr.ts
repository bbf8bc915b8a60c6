import { crc32, deflateSync } from 'node:zlib'
import { drawQr, encodeQr } from '../../web/kit/qr.tsx'
import { newest } from '../../web/newest.ts'

/** Pixels of a module: about 400 for the whole code, which prints sharply at 3 cm. */
const SCALE = 10

/** A code takes milliseconds to make and a few kilobytes to cache, and is requested often. */
const MOST_KEPT = 500
const keptSvg = newest<string>(MOST_KEPT)
const keptPng = newest<Buffer>(MOST_KEPT)

export const qrSvg = (text: string): string => keptSvg(text, () => makeSvg(text))

export const qrPng = (text: string): Buffer => keptPng(text, () => makePng(text))

function makeSvg(text: string): string {
  const code = encodeQr(text)
  const { size } = code
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width="${size * SCALE}" height="${size * SCALE}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${drawQr(code)}"/></svg>`
}

function makePng(text: string): Buffer {
  const { data, size } = encodeQr(text)
  const side = size * SCALE
  const rowBytes = Math.ceil(side / 8)
  const pixels = Buffer.alloc(side * (rowBytes + 1))
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) {
      const dark = data[Math.floor(y / SCALE)]?.[Math.floor(x / SCALE)] === true
      const at = y * (rowBytes + 1) + 1 + (x >> 3)
      if (!dark) pixels[at] = (pixels[at] ?? 0) | (0x80 >> (x & 7))
    }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  // One bit of grey per pixel; no palette, no interlacing.
  header.set([1, 0, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(content.length, 0)
  framed.set(body, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}
