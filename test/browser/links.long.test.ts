import { expect, test } from '@jest/globals'
import { collectComplaints } from '../support/browser.ts'
import { findFaults, newExaminedPage, openFolds } from './faults.ts'
import { fillForm, openLinkPages } from './link-pages.ts'
import { useBrowser } from './use-browser.ts'

const fixture = useBrowser(openLinkPages)

test('the pages that make a link, and its owner’s page, are accessible, fit, and request nothing from elsewhere', async () => {
  const page = await newExaminedPage(fixture.browser)
  const wrong = collectComplaints(page, fixture.origin)
  const look = async (name: string) => wrong.push(...(await findFaults(page, name)))
  await page.goto(`${fixture.origin}/links`)
  await fillForm(page, '12.00')
  await page.frameLocator('.phone iframe').getByText('€12.00').waitFor()
  await page.evaluate(openFolds)
  await look('new')
  await page.locator('input[value=open]').check({ force: true })
  expect(await page.locator('#min_amount').isVisible()).toBe(true)
  expect(await page.locator('#amount').isVisible()).toBe(false)
  await page.locator('input[value=fixed]').check({ force: true })
  await page.locator('#amount').fill('12.00')
  await page.locator('.button.fill').click()
  await page.locator('#owner').waitFor()
  await look('made')
  await page.goto(await page.locator('#owner').inputValue())
  await look('owner')
  await page.goto(`${fixture.origin}/links/report`)
  await look('report')
  await page.goto(`${fixture.origin}/o/nothing`)
  await look('no-owner')
  // The last page answers 404, which the console reports.
  expect(wrong.filter((fault) => !fault.includes('404'))).toEqual([])
  await page.close()
})
