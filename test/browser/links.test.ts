import { beforeAll, describe, expect, test } from '@jest/globals'
import { FORM, OWN_WALLET } from '../api/links/maker.ts'
import { collectComplaints } from '../support/browser.ts'
import { findFaults, findSidewaysScroll, findSmallTargets, newExaminedPage } from './faults.ts'
import { fillForm, openLinkPages } from './link-pages.ts'
import { useBrowser } from './use-browser.ts'

const fixture = useBrowser(openLinkPages)

/** The pages of a payment link in a buyer's browser. */
describe('a payment link', () => {
  let path: string
  beforeAll(async () => {
    const body = { title: 'Tip jar', currency: 'EUR', min_amount: 5, max_amount: 50, max_payments: 3 }
    path = `/l/${String((await fixture.testApi.ask('POST', '/v1/payment_links', { body })).body['code'])}`
  })

  test('the pages of a link are accessible, fit, and request nothing from elsewhere', async () => {
    const page = await newExaminedPage(fixture.browser)
    const wrong = collectComplaints(page, fixture.origin)
    for (const at of [path, `${path}/report`]) {
      await page.goto(`${fixture.origin}${at}`)
      wrong.push(...(await findFaults(page, at, { layout: [findSidewaysScroll, findSmallTargets] })))
    }
    expect(wrong).toEqual([])
    await page.close()
  })

  test('without JavaScript a buyer sets the amount, is corrected, and comes to the checkout', async () => {
    const context = await fixture.browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${fixture.origin}${path}`)
    await page.locator('input[name=amount]').fill('2')
    await page.locator('.way').first().click()
    expect(await page.locator('[role=alert]').textContent()).toBe('The minimum here is €5.00.')
    await page.locator('input[name=amount]').fill('12,50')
    await page.locator('.way').first().click()
    expect(new URL(page.url()).pathname).toMatch(/^\/c\//)
    expect(await page.locator('.amount').textContent()).toBe('€12.50')
    await context.close()
  })

  test('a double click makes one payment', async () => {
    const before = await fixture.testApi.count('payment')
    const context = await fixture.browser.newContext()
    const page = await context.newPage()
    await page.goto(`${fixture.origin}${path}`)
    await page.locator('input[name=amount]').fill('10')
    await page.locator('.way >> nth=0').dblclick()
    await page.waitForURL('**/c/*')
    expect(await fixture.testApi.count('payment')).toBe(before + 1)
    await context.close()
  })
})

/** Making a link without an account, and the page of its owner, in a browser. */
describe('making a link', () => {
  test('without JavaScript a link is made, corrected, followed and paused', async () => {
    const context = await fixture.browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${fixture.origin}/links`)
    await fillForm(page, '1')
    await page.locator('.button.fill').click()
    expect(await page.locator('#amount-e').textContent()).toMatch(/^The minimum is 1\.\d0 EUR\.$/)
    expect(await page.locator('#title').inputValue()).toBe(FORM['title'])
    expect(await page.frameLocator('.phone iframe').locator('.amount').textContent()).toBe('€1.00')
    await page.locator('#amount').fill('64')
    await page.locator('.button.fill').click()
    const owner = await page.locator('#owner').inputValue()
    const link = await page.locator('#url').inputValue()
    await page.goto(owner)
    await page.getByRole('button', { name: 'Pause' }).click()
    expect(await page.locator('h1').textContent()).toContain('Paused')
    await page.goto(link)
    expect(await page.locator('.way').count()).toBe(0)
    await page.goto(owner)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.goto(link)
    await page.locator('.way').first().click()
    expect(new URL(page.url()).pathname).toMatch(/^\/c\//)
    await context.close()
  })

  test('the preview and the limits follow the typing, and Back leads to the page before', async () => {
    const context = await fixture.browser.newContext()
    const page = await context.newPage()
    await page.goto(`${fixture.origin}/links/report`)
    await page.goto(`${fixture.origin}/links`)
    await page.locator('#wallet').fill(OWN_WALLET)
    await page.getByText('The checksum is valid.').waitFor()
    await page.locator('#amount').fill('5')
    await page.locator('input[value=wallet_app]').check()
    await page.getByText('The minimum for Banking app is 6.00 EUR.').waitFor()
    await page.locator('#title').fill('Two boxes')
    await page.frameLocator('.phone iframe').getByText('Two boxes').waitFor()
    await page.goBack()
    expect(new URL(page.url()).pathname).toBe('/links/report')
    await context.close()
  })

  test('the page of the owner hides its URL from every page that it leads to', async () => {
    const context = await fixture.browser.newContext()
    const page = await context.newPage()
    await page.goto(`${fixture.origin}/links`)
    await fillForm(page, '64')
    await page.locator('.button.fill').click()
    const owner = await page.locator('#owner').inputValue()
    await page.goto(owner)
    await page.getByRole('link', { name: 'Open' }).click()
    await page.locator('.way').first().waitFor()
    expect(await page.evaluate(() => document.referrer)).toBe('')
    await context.close()
  })
})
