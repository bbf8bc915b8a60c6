import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { plantReceipt } from '../api/support/receipts.ts'
import { openShop, type Shop } from '../api/support/shop.ts'
import { complaintsOf, launchBrowser } from '../support/browser.ts'

let browser: Browser
let shop: Shop
beforeAll(async () => {
  browser = await launchBrowser()
  shop = await openShop()
}, 90_000)
afterAll(async () => {
  await shop?.close()
  await browser?.close()
})

test('the page checks a receipt in the browser: it asks nobody but us, and sends nothing of the receipt', async () => {
  const { body } = await shop.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR' } })
  const { claims } = await plantReceipt(shop.db, String(body['id']))
  const { text } = await shop.ask('GET', `/v1/payments/${String(body['id'])}/receipt`)
  const page = await browser.newPage()
  const complaints = complaintsOf(page)
  await page.goto(`${shop.url}/receipts/verify`)
  const asked: string[] = []
  page.on('request', (request) => asked.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`))
  const verdictOf = async (receipt: string, block: string): Promise<string> => {
    await page.getByLabel('Receipt', { exact: true }).fill(receipt)
    await page.getByLabel('Hash of the block').fill(block)
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.locator('#checks').locator('dt').first().waitFor()
    const seen = `${await page.locator('#verdict').textContent()}\n${await page.locator('#checks').innerText()}`
    await page.evaluate(() => document.getElementById('checks')?.replaceChildren())
    return seen
  }
  const proved = await verdictOf(text, claims.block_hash)
  expect(proved).toMatch(/^Proved/)
  expect(proved).toContain('95.500000 USDC')
  expect(proved).not.toMatch(/Open|Fails/)
  expect(await verdictOf(text, '')).toMatch(/^Nothing is wrong, and not everything was compared/)
  const altered = await verdictOf(text.replace('95.500000', '95.500001'), claims.block_hash)
  expect(altered).toMatch(/^Wrong/)
  expect(altered).toContain('claims.net_usdc must be what was transferred, 95.500000')
  expect(await verdictOf('<img src=x onerror=alert(1)>', '')).toMatch(/^Wrong/)
  // The browser fetches the icon when it finds the time.
  const ofThePage = asked.filter((request) => !/^GET [^?]*\/assets\/mark\.\w+\.svg $/.test(request))
  expect(new Set(ofThePage)).toEqual(new Set([`GET ${shop.url}/.well-known/jwks.json `]))
  expect(complaints).toEqual([])
  await page.close()
}, 60_000)
