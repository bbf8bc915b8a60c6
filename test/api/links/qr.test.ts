import { inflateSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { encode } from 'uqr'
import { qrPng, qrSvg } from '../../../src/api/links/qr.ts'

const ADDRESS = 'https://pay.example/l/k7Qm2vXa9B'
const { data, size } = encode(ADDRESS, { ecc: 'M', border: 4 })

test('the PNG is the code of the address, pixel for pixel', () => {
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

test('the SVG is the same code', () => {
  const drawn = [...qrSvg(ADDRESS).matchAll(/M(\d+) (\d+)h1v1/g)].map(([, x, y]) => `${x} ${y}`)
  const dark = data.flatMap((modules, y) => modules.flatMap((isDark, x) => (isDark ? [`${x} ${y}`] : [])))
  expect(drawn).toEqual(dark)
})
