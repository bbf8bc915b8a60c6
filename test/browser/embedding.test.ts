import { expect, test } from '@jest/globals'
import { movePayment } from '../api/checkout/checkout-fixture.ts'
import {
  context,
  fixture,
  heading,
  inFrame,
  list,
  open,
  openMerchantPage,
  page,
  pay,
  payment,
  useMerchantSite,
} from './merchant-site.ts'

useMerchantSite()

test('a merchant that opens the checkout in a window sees it as open until the buyer closes it', async () => {
  await open()
  await openMerchantPage()
  const [opened] = await Promise.all([
    context.waitForEvent('page'),
    page.evaluate((url) => void Reflect.set(window, 'opened', window.open(url)), payment.url),
  ])
  await opened.getByRole('heading', { name: 'Pay in your banking app' }).waitFor()
  const isClosed = () => page.evaluate(() => (Reflect.get(window, 'opened') as Window).closed)
  expect(await isClosed()).toBe(false)
  await opened.close()
  expect(await isClosed()).toBe(true)
})

test('the page of the guide opens the checkout over itself; the buyer pays in a tab, and the merchant receives the status', async () => {
  await open()
  await openMerchantPage()
  await pay().click()
  await heading('Pay in your banking app').waitFor()
  await page.getByText(`${payment.id} is created`).waitFor()
  const [tab] = await Promise.all([
    context.waitForEvent('page'),
    inFrame().getByRole('button', { name: 'Continue' }).click(),
  ])
  await tab.getByRole('heading', { name: 'Partner page' }).waitFor()
  expect(tab.url()).toContain(fixture.partnerUrl)
  expect(await tab.evaluate(() => window.opener)).toBeNull()
  await heading('Finish at Velanto').waitFor()
  await movePayment(fixture, payment.id, ['processing', 'settling', 'succeeded'])
  await heading('Paid. Thank you.').waitFor()
  await page.getByText(`${payment.id} is succeeded`).waitFor()
  await inFrame().getByRole('link', { name: 'Back to Nightline Rail' }).click()
  await page.getByRole('heading', { name: 'Thanks' }).waitFor()
})

test('a page that is not in the list is refused by the browser, and the script opens the checkout as a page', async () => {
  await list('https://other.example')
  await open()
  await page.clock.install()
  await openMerchantPage()
  const said = page.waitForEvent('console', (message) => /frame-ancestors|Content Security Policy/.test(message.text()))
  await pay().click()
  await said
  await page.locator('dialog iframe').evaluate(
    (frame) =>
      new Promise<void>((resolve) => {
        if (frame instanceof HTMLIFrameElement && frame.contentDocument === null) resolve()
        frame.addEventListener('load', () => resolve())
      }),
  )
  await page.clock.runFor(5000)
  await page.waitForURL(payment.url)
})
