import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { readOrigin } from '../../../src/domain/account/origin.ts'

const LIVE = { livemode: true }
const TEST = { livemode: false }

test.each([
  ['https://shop.example', 'https://shop.example'],
  [' https://Shop.Example/cart?id=1#top ', 'https://shop.example'],
  ['https://shop.example:443', 'https://shop.example'],
  ['https://shop.example:8443', 'https://shop.example:8443'],
  ['https://bücher.example', 'https://xn--bcher-kva.example'],
  // 253 characters: the longest valid host name.
  [`https://${'a.'.repeat(125)}bbb`, `https://${'a.'.repeat(125)}bbb`],
])('%j is the origin %j', (written, origin) => {
  expect(readOrigin(written, LIVE)).toBe(origin)
})

test.each([
  '',
  '*',
  'https://*',
  'https://*.shop.example',
  'https:',
  'shop.example',
  'null',
  'https://shop.example;script-src',
  'https://sh\u200bop.example',
  'https://shop.example/\u202ea',
  'https://my_shop.example',
  "https://shop.example;'none'",
  'https://shop.example,https://evil.example',
  'https://shop.example https://evil.example',
  'https://shop.example\nset-cookie: a=b',
  'https://shop.example@evil.example',
  'https://[::1]',
  'data:text/html,x',
  'javascript:alert(1)',
  'blob:https://shop.example/1',
  `https://${'a.'.repeat(125)}${'b'.repeat(4)}`,
  'file:///tmp/page.html',
  'ftp://shop.example',
  `https://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(60)}`,
])('%j is not an origin', (written) => {
  expect([readOrigin(written, LIVE), readOrigin(written, TEST)]).toEqual([null, null])
})

test('only test mode accepts http, and only on the same device', () => {
  for (const own of ['http://localhost:3000', 'http://127.0.0.1:8080'])
    expect([readOrigin(own, TEST), readOrigin(own, LIVE)]).toEqual([own, null])
  for (const other of ['http://shop.example', 'http://10.0.0.7', 'http://localhost.evil.example'])
    expect(readOrigin(other, TEST)).toBeNull()
})

test('an origin that was read is one word, and is read again as itself', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string().map((rest) => `https://shop.example${rest}`),
    fc.webUrl(),
  )
  fc.assert(
    fc.property(text, fc.boolean(), (written, livemode) => {
      const origin = readOrigin(written, { livemode })
      if (origin === null) return
      expect(origin).toMatch(/^https?:\/\/[a-z0-9.-]+(:\d+)?$/)
      expect(readOrigin(origin, { livemode })).toBe(origin)
    }),
  )
})
