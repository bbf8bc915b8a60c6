import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type CheckoutFixture, createCheckoutFixture, movePayment } from '../api/checkout/checkout-fixture.ts'
import { collectComplaints, launchBrowser } from '../support/browser.ts'

let browser: Browser
export let fixture: CheckoutFixture
export let context: BrowserContext
export let page: Page
export let complaints: string[]

/** Registers the hooks. A test fails if its page complains. */
export function useCheckout(): void {
  beforeAll(async () => {
    browser = await launchBrowser()
    fixture = await createCheckoutFixture()
  })
  afterAll(async () => {
    await browser?.close()
    await fixture?.close()
  })
  beforeEach(() => {
    fixture.setAnswer('opens')
    fixture.asked.length = 0
  })
  afterEach(async () => {
    await context.close()
    expect(complaints).toEqual([])
  })
}

export async function open(options: { javaScript: boolean; country?: string; timezone?: string }): Promise<void> {
  context = await browser.newContext({
    javaScriptEnabled: options.javaScript,
    viewport: { width: 390, height: 844 },
    timezoneId: options.timezone ?? 'Europe/Berlin',
    extraHTTPHeaders: { 'x-country': options.country ?? 'DE' },
  })
  page = await context.newPage()
  complaints = collectComplaints(page)
}

export const heading = (text: string) => page.getByRole('heading', { level: 1, name: text })

type Journey = (javaScript: boolean) => Promise<void>

/** The journeys of a buyer, with and without JavaScript. */
export const JOURNEYS = {
  'a pinned payment goes from the card to the partner, back, and on to the receipt': async (javaScript) => {
    await open({ javaScript })
    const payment = await fixture.create({ provider: 'wallet_app' })
    await page.goto(payment.url)
    await heading('Pay in your banking app').waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await heading('Partner page').waitFor()
    expect(page.url()).toContain(fixture.partnerUrl)

    // Back leads to the payment, not forward to the partner again.
    await page.goBack()
    await heading('Finish at Velanto').waitFor()
    expect(page.url()).toBe(payment.url)
    expect(await page.getByRole('link', { name: 'Open Velanto again' }).getAttribute('href')).toContain(
      fixture.partnerUrl,
    )

    // The partner's own link is a return: the page checks, and has nothing to press.
    await page.goto(`${fixture.partnerUrl}/pay/1`)
    await page.evaluate((url) => location.assign(url), payment.url)
    await heading('Checking with Velanto…').waitFor()
    expect(await page.locator('.button:visible:not(.text)').count()).toBe(0)

    await movePayment(fixture, payment.id, ['processing'])
    await heading('Your payment is on its way').waitFor()
    await page.getByText('Velanto confirms your payment').waitFor()
    await movePayment(fixture, payment.id, ['settling'])
    await page.locator('[aria-current=step]').getByText('Sent to Nightline Rail').waitFor()
    await movePayment(fixture, payment.id, ['succeeded'])
    await heading('Paid. Thank you.').waitFor()
    expect(await page.getByRole('link', { name: 'Back to Nightline Rail' }).getAttribute('href')).toBe(
      'https://shop.example/thanks',
    )
    expect(fixture.asked).toHaveLength(1)
  },
  'a buyer changes the country, and picks another method': async (javaScript) => {
    await open({ javaScript })
    const payment = await fixture.create({ provider: 'wallet_app' })
    await page.goto(payment.url)
    await page.locator('.more > summary').click()
    await page.getByRole('link', { name: 'Change' }).click()
    await page.getByLabel('Country you are paying from').selectOption('Brazil')
    await page.getByRole('button', { name: 'Save country' }).click()
    await page.getByText('Paying by banking app is not offered in Brazil.').waitFor()
    await page.getByRole('link', { name: /Bank transfer/ }).click()
    await heading('Pay by bank transfer').waitFor()
    await page.getByRole('link', { name: 'Pay another way' }).click()
    await page.getByRole('link', { name: /^Card/ }).click()
    await page.getByRole('button', { name: 'Continue' }).click()
    await heading('Partner page').waitFor()
    expect(fixture.asked).toMatchObject([{ provider: 'local_partner', method: 'card' }])
  },
  'UPI stays on the page and moves on when it is paid': async (javaScript) => {
    await open({ javaScript, country: 'IN' })
    const payment = await fixture.create({ provider: 'local_partner' })
    await page.goto(payment.url)
    await page.getByRole('button', { name: 'Show the UPI code' }).click()
    await page.getByRole('img', { name: 'UPI QR code: pay ₹4,536.90 to Nightline Rail' }).waitFor()
    await movePayment(fixture, payment.id, ['processing'])
    await heading('Your payment is on its way').waitFor()
  },
  'a buyer reads of a decline, and the next try goes through': async (javaScript) => {
    await open({ javaScript })
    const payment = await fixture.create({ provider: 'wallet_app' })
    fixture.setAnswer('declines')
    await page.goto(payment.url)
    await page.getByRole('button', { name: 'Continue' }).click()
    await heading('Your payment was declined').waitFor()
    fixture.setAnswer('opens')
    await page.getByRole('button', { name: 'Try again at Velanto' }).click()
    await heading('Partner page').waitFor()
  },
} satisfies Record<string, Journey>
