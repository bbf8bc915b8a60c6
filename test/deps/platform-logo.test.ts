import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import express from 'express'
import { createLogoRouter } from '../../src/api/routes/logos.ts'
import { readPlatformLogo } from '../../src/deps/platform-logo.ts'
import { PICTURES } from '../api/support/pictures.ts'

let folder: string
let server: Server
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-logo-'))
})
afterAll(() => {
  server?.close()
  rmSync(folder, { recursive: true })
})

function write(name: string, bytes: Buffer | string): string {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

test('the platform’s logo is read from its file and served under its name', async () => {
  const logo = readPlatformLogo(write('logo', PICTURES.png))
  const db = { livemode: false, query: () => Promise.reject(new Error('no merchant has this logo')) }
  server = createServer(express().use(createLogoRouter({ db, platformLogo: logo })))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}/logos/${logo.name}`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(logo.bytes)
})

test.each([
  ['a picture that runs scripts', 'logo.svg', '<svg/>', 'PLATFORM_LOGO: must be a PNG, JPEG or WebP picture'],
  ['a file that is too large', 'large.png', Buffer.alloc(50_000), 'PLATFORM_LOGO: must have at most 48 KB'],
])('the start refuses %s as the platform’s logo', (_what, name, bytes, message) => {
  expect(() => readPlatformLogo(write(name, bytes))).toThrow(message)
})

test('the start refuses a logo whose file is missing', () => {
  const path = join(folder, 'missing.png')
  expect(() => readPlatformLogo(path)).toThrow(`PLATFORM_LOGO: must be a file that can be read: ${path}`)
})
