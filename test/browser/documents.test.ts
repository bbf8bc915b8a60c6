import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32, deflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { plantReceipt } from '../api/support/receipts.ts'
import { openTestApi, type TestApi } from '../api/support/test-api.ts'
import { collectComplaints, launchBrowser } from '../support/browser.ts'

let browser: Browser
let testApi: TestApi
beforeAll(async () => {
  browser = await launchBrowser()
  testApi = await openTestApi()
}, 90_000)
afterAll(async () => {
  await testApi?.close()
  await browser?.close()
})

describe('receipts', () => {
  test('the page checks a receipt in the browser: it requests only the platform, and sends no part of the receipt', async () => {
    const { body } = await testApi.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR' } })
    const { claims } = await plantReceipt(testApi.db, String(body['id']))
    const { text } = await testApi.ask('GET', `/v1/payments/${String(body['id'])}/receipt`)
    const page = await browser.newPage()
    const complaints = collectComplaints(page)
    await page.goto(`${testApi.url}/receipts/verify`)
    const asked: string[] = []
    page.on('request', (request) => asked.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`))
    const readVerdict = async (receipt: string, block: string): Promise<string> => {
      await page.getByLabel('Receipt', { exact: true }).fill(receipt)
      await page.getByLabel('Hash of the block').fill(block)
      await page.getByRole('button', { name: 'Verify' }).click()
      await page.locator('#checks').locator('dt').first().waitFor()
      const seen = `${await page.locator('#verdict').textContent()}\n${await page.locator('#checks').innerText()}`
      await page.evaluate(() => document.getElementById('checks')?.replaceChildren())
      return seen
    }
    const proved = await readVerdict(text, claims.block_hash)
    expect(proved).toMatch(/^Proved/)
    expect(proved).toContain('95.500000 USDC')
    expect(proved).not.toMatch(/Not checked|Failed/)
    expect(await readVerdict(text, '')).toMatch(/^Incomplete: nothing is wrong, but not everything was checked/)
    const altered = await readVerdict(text.replace('95.500000', '95.500001'), claims.block_hash)
    expect(altered).toMatch(/^Wrong/)
    expect(altered).toContain('claims.net_usdc must be what was transferred, 95.500000')
    expect(await readVerdict('<img src=x onerror=alert(1)>', '')).toMatch(/^Wrong/)
    // The browser fetches the icon when it finds the time.
    const ofThePage = asked.filter((request) => !/^GET [^?]*\/assets\/mark\.\w+\.svg $/.test(request))
    expect(new Set(ofThePage)).toEqual(new Set([`GET ${testApi.url}/.well-known/jwks.json `]))
    expect(complaints).toEqual([])
    await page.close()
  }, 60_000)

  test('the link of a receipt opens the verifier with the receipt of that payment, and checks it', async () => {
    const { body } = await testApi.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR' } })
    const path = new URL(String(body['checkout_url'])).pathname
    const page = await browser.newPage()
    await page.goto(`${testApi.url}/receipts/verify#${path}/receipt.json`)
    await page.getByText('The receipt of this payment is not there yet').waitFor()
    await plantReceipt(testApi.db, String(body['id']))
    await page.reload()
    await page.getByText('Incomplete: nothing is wrong').waitFor()
    expect(await page.getByLabel('Receipt', { exact: true }).inputValue()).toContain(String(body['id']))
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(`${testApi.url}/receipts/verify#https://example.com/receipt.json`)
    await page.reload()
    expect(asked.filter((url) => url.includes('receipt.json') && !url.includes('#'))).toEqual([])
    await page.close()
  }, 60_000)
})

describe('logos', () => {
  const SIDE = 44

  /** A white disc on a transparent ground, as a PNG of grey with an alpha channel. */
  function whiteLogo(): Buffer {
    const rows = Array.from({ length: SIDE }, (_row, y) =>
      Buffer.from([
        0,
        ...Array.from({ length: SIDE }, (_pixel, x) => [255, Math.hypot(x - 22, y - 22) < 14 ? 255 : 0]).flat(),
      ]),
    )
    const chunk = (type: string, data: Buffer): Buffer => {
      const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
      const around = Buffer.alloc(8)
      around.writeUInt32BE(data.length, 0)
      around.writeUInt32BE(crc32(named), 4)
      return Buffer.concat([around.subarray(0, 4), named, around.subarray(4)])
    }
    const head = Buffer.alloc(13)
    head.writeUInt32BE(SIDE, 0)
    head.writeUInt32BE(SIDE, 4)
    head.set([8, 4], 8)
    return Buffer.concat([
      Buffer.from('89504e470d0a1a0a', 'hex'),
      chunk('IHDR', head),
      chunk('IDAT', deflateSync(Buffer.concat(rows))),
      chunk('IEND', Buffer.alloc(0)),
    ])
  }

  async function logoUrl(): Promise<string> {
    const body = { logo: whiteLogo().toString('base64') }
    const { status, body: brand, text } = await testApi.ask('PATCH', '/v1/settings/brand', { body })
    if (status !== 200) throw new Error(text)
    return `${testApi.url}${new URL(String(brand['logo_url'])).pathname}`
  }

  test.each(['light', 'dark'] as const)('a white logo is visible on its tile (%s)', async (colorScheme) => {
    await logoUrl()
    const { body } = await testApi.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR' } })
    const context = await browser.newContext({ colorScheme })
    const page = await context.newPage()
    await page.goto(`${testApi.url}${new URL(String(body['checkout_url'])).pathname}`)
    const tile = page.locator('.logo.own').first()
    await tile.locator('img').evaluate((image: HTMLImageElement) => image.decode())
    const picture = (await tile.screenshot()).toString('base64')
    // Inside the tile's own edge, so that only the logo counts.
    const dark = await page.evaluate(async (png) => {
      const bytes = Uint8Array.from(atob(png), (character) => character.charCodeAt(0))
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
      const drawing = canvas.getContext('2d')
      drawing?.drawImage(bitmap, 0, 0)
      const inset = 6
      const { data } =
        drawing?.getImageData(inset, inset, bitmap.width - 2 * inset, bitmap.height - 2 * inset) ?? new ImageData(1, 1)
      return data.filter((value, index) => index % 4 === 0 && value < 225).length
    }, picture)
    expect(dark).toBeGreaterThan(20)
    await context.close()
  })

  /** A page with the policy that shows in its title what it can do. */
  async function servedWith(policy: string): Promise<{ url: string; server: Server }> {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy })
      response.end('<!doctype html><title>quiet</title><script>document.title = `ran in ${self.origin}`</script>')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server }
  }

  test('only the sandbox keeps a logo from running a script and having an origin, whatever type a browser assumes', async () => {
    const answer = await fetch(await logoUrl())
    const directives = (answer.headers.get('content-security-policy') ?? '').split(';').map((part) => part.trim())
    const alone = directives.filter((directive) => directive.startsWith('sandbox')).join('; ')
    const seen: string[] = []
    for (const policy of [alone, "img-src 'self'"]) {
      const { url, server } = await servedWith(policy)
      const page = await browser.newPage()
      await page.goto(url)
      seen.push(await page.title(), await page.evaluate(() => String(self.origin === 'null')))
      await page.close()
      server.closeAllConnections()
      server.close()
    }
    // The second page is the same without the sandbox: there the script runs.
    expect([alone, ...seen]).toEqual([
      'sandbox',
      'quiet',
      'true',
      expect.stringMatching(/^ran in http:\/\/127\.0\.0\.1:\d+$/),
      'false',
    ])
  })
})

describe('The search of the documentation', () => {
  test('it shows headings while a person types, without a request for each letter', async () => {
    const page = await browser.newPage()
    const complaints = collectComplaints(page)
    await page.goto(`${testApi.url}/docs`)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const field = page.getByRole('searchbox', { name: 'Search the docs' })
    await field.pressSequentially('webhook sig')
    const found = page.locator('.found a')
    await found.first().waitFor()
    expect((await found.allTextContents()).every((name) => /webhook/i.test(name) && /sig/i.test(name))).toBe(true)
    expect(asked.filter((path) => path.startsWith('/docs'))).toEqual(['/docs/index.json'])
    await field.fill('no heading has this')
    await page.getByRole('status').getByText('0 headings').waitFor({ state: 'attached' })
    expect(await found.count()).toBe(0)
    await field.fill('create a payment')
    await found.first().click()
    await page.waitForURL(/\/docs\/.*#/)
    expect(complaints).toEqual([])
    await page.close()
  }, 60_000)
})
