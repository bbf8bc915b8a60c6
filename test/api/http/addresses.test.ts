import { createServer, request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { onFreePort } from '../../../scripts/system/ports.ts'
import { listen } from '../../../src/main/listen.ts'
import { ASSETS } from '../../../src/web/assets.ts'
import { openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop?.close())

type Asked = { readonly method?: string; readonly headers?: Record<string, string>; readonly at?: Shop }
type Answered = { status: number; headers: Record<string, string | string[] | undefined>; text: string }

/** `path` goes into the request line as it is. */
function ask(path: string, { method = 'GET', headers = {}, at = shop }: Asked = {}): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: at.port, path, method, headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += String(chunk)))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    asked.on('error', reject)
    asked.end()
  })
}

const other = { host: 'localhost:9' }

describe('Another name of the host', () => {
  const PAGES = ['/', '/dashboard?x=1', '/sign-in', '/c/abc', '/l/0123456789', '/o/abc', '/links', '/docs', '/nowhere']

  test.each(PAGES)('another name of the host leads to the same page of the public address: %s', async (path) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await ask(path, { method, headers: other })
      expect([status, headers['location']]).toEqual([307, `${shop.url}${path}`])
    }
    expect((await ask(path)).status).not.toBe(307)
  })

  test.each(['//evil.example/dashboard', 'http://evil.example/dashboard', '//', '//[/'])(
    'a redirect leads to no other host, whatever the request line names: %s',
    async (path) => {
      const { headers } = await ask(path, { headers: { host: 'evil.example' } })
      expect(new URL(String(headers['location'])).origin).toBe(shop.url)
    },
  )

  test.each([
    ['/c/abc/continue', '/c/abc'],
    ['/l/0123456789', '/l/0123456789'],
    ['/sign-in/code', '/sign-in'],
    ['/dashboard/keys', '/dashboard'],
  ])('a form that is sent to %s under another name gets a page that links to %s', async (path, page) => {
    const { status, text, headers } = await ask(path, { method: 'POST', headers: other })
    expect([status, headers['content-type'], text.includes(`<a href="${shop.url}${page}">`)]).toEqual([
      403,
      'text/html; charset=utf-8',
      true,
    ])
  })

  test.each([
    '/v1/payments',
    '/callbacks/wallet_app',
    '/healthz',
    '/readyz',
    '/openapi.json',
    '/llms.txt',
    '/robots.txt',
    '/pinrail.js',
    '/.well-known/jwks.json',
    ASSETS.icon,
    `/logos/${'0'.repeat(32)}.png`,
  ])('programs are served under any name: %s', async (path) => {
    expect((await ask(path, { headers: other })).status).toBe((await ask(path)).status)
  })

  test('the name behind a proxy is the one that the proxy forwards', async () => {
    const proxied = await openShop({ deps: () => ({ trustProxyHops: 1 }) })
    const named = (host: string) =>
      ask('/sign-in', { at: proxied, headers: { host: 'api.internal:4242', 'x-forwarded-host': host } })
    try {
      expect((await ask('/sign-in', { at: proxied, headers: other })).status).toBe(200)
      expect((await named(new URL(proxied.url).host)).status).toBe(200)
      expect((await named('old.example')).headers['location']).toBe(`${proxied.url}/sign-in`)
    } finally {
      await proxied.close()
    }
  })
})

describe('The headers of every answer', () => {
  test.each([
    '/',
    '/v1/payments',
    '/v1/nowhere',
    '/nowhere',
    '/healthz',
    '/readyz',
    '/callbacks/nobody',
    '/openapi.json',
    '/llms.txt',
    '/robots.txt',
    '/favicon.ico',
    '/pinrail.js',
    '/.well-known/jwks.json',
    '/docs',
    '/docs.md',
    '/c/abc',
    '/l/abc',
    '/dashboard',
    ASSETS.icon,
    `/logos/${'0'.repeat(32)}.png`,
  ])('every answer forbids sniffing, and says what can run and be cached: %s', async (path) => {
    const { headers } = await ask(path)
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'/)
    expect(headers['cache-control']).toMatch(/^(?:no-store|public, max-age=\d+(?:, immutable)?)$/)
  })

  test('a shop keeps the handle of a checkout that it opened, and of no other page', async () => {
    const opener = async (path: string) => (await ask(path)).headers['cross-origin-opener-policy']
    expect([await opener('/c/abc'), await opener('/l/abc'), await opener('/sign-in')]).toEqual([
      'unsafe-none',
      'unsafe-none',
      'same-origin',
    ])
  })

  test.each([
    [false, 'max-age=63072000'],
    [true, 'max-age=63072000; includeSubDomains'],
  ])(
    'https answers bind browsers to https, and hosts below the public one only if configured: %s',
    async (sub, value) => {
      const publicUrl = 'https://pay.example'
      const secure = await openShop({ deps: () => ({ publicUrl, hstsIncludeSubdomains: sub }) })
      try {
        for (const path of ['/v1/payments', '/sign-in', '/healthz', '/nowhere', ASSETS.icon])
          expect((await ask(path, { at: secure })).headers['strict-transport-security']).toBe(value)
      } finally {
        await secure.close()
      }
      expect((await ask('/')).headers['strict-transport-security']).toBeUndefined()
    },
  )
})

test('a server at `localhost` answers at both addresses of this machine', async () => {
  const create = () => createServer((_request, response) => response.end('here'))
  const { servers, port } = await onFreePort(async (free) => ({
    servers: await listen(create, { host: 'localhost', port: free }),
    port: free,
  }))
  try {
    const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
    for (const host of ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])])
      expect(await (await fetch(`http://${host}:${port}`)).text()).toBe('here')
  } finally {
    for (const server of servers) server.close()
  }
})
