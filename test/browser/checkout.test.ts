import { describe, expect, test } from '@jest/globals'
import { movePayment } from '../api/checkout/checkout-fixture.ts'
import { complaints, context, fixture, heading, JOURNEYS, open, page, useCheckout } from './checkout-journeys.ts'

useCheckout()

/** `npm run test:long` runs the others without JavaScript: their pages reload themselves after seconds. */
const WITHOUT_JAVASCRIPT = 'a buyer changes the country, and picks another method'

test.each(Object.entries(JOURNEYS))('with JavaScript %s', (_name, journey) => journey(true))

test(`without JavaScript ${WITHOUT_JAVASCRIPT}`, () => JOURNEYS[WITHOUT_JAVASCRIPT](false))

describe('An open page', () => {
  test('an open page becomes expired automatically, in its place, with title and focus right', async () => {
    await open({ javaScript: true })
    const payment = await fixture.create({ provider: 'wallet_app' })
    await page.goto(payment.url)
    await heading('Pay in your banking app').waitFor()
    let loads = 0
    page.on('load', () => {
      loads += 1
    })
    await movePayment(fixture, payment.id, ['expired'])
    await heading('This payment has expired').waitFor({ timeout: 20_000 })
    expect(await page.title()).toBe('Expired: €49.99 to Nightline Rail')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    expect(await page.locator('.sum').innerText()).toContain('Not charged')
    expect(loads).toBe(0)
  })

  test('an open page shows each step without loading again, and never moves the focus', async () => {
    await open({ javaScript: true })
    const payment = await fixture.create({ provider: 'wallet_app' })
    await movePayment(fixture, payment.id, ['pending', 'processing'])
    await page.goto(payment.url)
    let loads = 0
    page.on('load', () => {
      loads += 1
    })
    await page.getByRole('link', { name: 'Back to Nightline Rail' }).focus()
    await movePayment(fixture, payment.id, ['settling'])
    await page.locator('[aria-current=step]').getByText('Sent to Nightline Rail').waitFor()
    expect(await page.locator('.rail .past').count()).toBe(2)
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Back to Nightline Rail')
    expect(loads).toBe(0)
  })

  test('an open page receives each change, and polls only then', async () => {
    await open({ javaScript: true })
    const payment = await fixture.create({ provider: 'wallet_app' })
    await movePayment(fixture, payment.id, ['pending', 'processing'])
    const stream = page.waitForResponse((response) => new URL(response.url()).pathname.endsWith('/live'))
    await page.goto(payment.url)
    expect((await stream).status()).toBe(200)
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/status')) asked.push(request.url())
    })
    await movePayment(fixture, payment.id, ['settling'])
    await page.locator('[aria-current=step]').getByText('Sent to Nightline Rail').waitFor()
    expect(asked).toHaveLength(1)
    expect(fixture.openPages.count()).toBeGreaterThan(0)
  })

  test('an open page continues to poll after the network failed, without a notice', async () => {
    await open({ javaScript: true })
    const payment = await fixture.create({ provider: 'wallet_app' })
    await movePayment(fixture, payment.id, ['pending', 'processing'])
    await page.route('**/live?*', (route) => route.abort())
    await page.clock.install()
    await page.goto(payment.url)
    await page.route('**/status', (route) => route.abort(), { times: 1 })
    const failed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/status'))
    await page.clock.runFor('00:30')
    await failed
    await movePayment(fixture, payment.id, ['settling'])
    await page.clock.runFor('00:30')
    await page.locator('[aria-current=step]').getByText('Sent to Nightline Rail').waitFor()
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes('net::ERR_FAILED')))
  })

  test('an open page says that it is offline, since when it is outdated, and continues automatically', async () => {
    await open({ javaScript: true })
    const payment = await fixture.create({ provider: 'wallet_app' })
    await movePayment(fixture, payment.id, ['pending', 'processing'])
    await page.goto(payment.url)
    const line = page.getByText('You are offline.')
    expect(await line.isVisible()).toBe(false)
    await context.setOffline(true)
    await line.waitFor()
    expect(await page.locator('.line').innerText()).toMatch(/Your payment continues\. Last update: \d\d:\d\d$/)
    await movePayment(fixture, payment.id, ['settling'])
    await context.setOffline(false)
    await page.locator('[aria-current=step]').getByText('Sent to Nightline Rail').waitFor()
    expect(await line.isVisible()).toBe(false)
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes('net::ERR_')))
  })

  test('an open page shows times in the zone of the device', async () => {
    await open({ javaScript: true, timezone: 'America/New_York' })
    const payment = await fixture.create({ provider: 'wallet_app', expiresAt: '2099-11-20T12:00:00.000Z' })
    await page.goto(payment.url)
    expect(await page.locator('.panel time').textContent()).toBe('20 Nov, 07:00')
  })

  test('an open page copies its link and says so', async () => {
    await open({ javaScript: true })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const payment = await fixture.create({ provider: 'wallet_app' })
    await fixture.change(payment.id, (draft) => {
      const asked = { minor: '4999', currency: 'EUR' } as const
      draft.addAttempt({ id: `att_of_${payment.id}`, provider: 'wallet_app', method: 'banking_app', asked })
      draft.setAttempt(`att_of_${payment.id}`, { status: 'open', redirectUrl: `${fixture.partnerUrl}/pay/1` })
    })
    await page.goto(payment.url)
    await page.getByText('Continue on your phone').click()
    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(payment.url)
  })
})

test('a second press of Continue, while the first is not answered, sends no second request', async () => {
  await open({ javaScript: true })
  const payment = await fixture.create({ provider: 'wallet_app' })
  await page.goto(payment.url)
  // Inside the page: from outside, a browser under control waits for the response before it presses again.
  const pressed = await page.evaluate(() => {
    let sent = 0
    document.addEventListener('submit', (event) => {
      if (!event.defaultPrevented) sent += 1
    })
    const button = document.querySelector<HTMLButtonElement>('form[data-busy] button')
    button?.click()
    button?.click()
    return { sent, label: button?.textContent }
  })
  expect(pressed).toEqual({ sent: 1, label: 'Opening…' })
  await heading('Partner page').waitFor()
  expect(fixture.asked).toHaveLength(1)
})

test('another name of the host leads to the public one, where the forms work', async () => {
  await open({ javaScript: true })
  const payment = await fixture.create({ provider: 'wallet_app' })
  await page.goto(payment.url.replace('127.0.0.1', 'localhost'))
  expect(page.url()).toBe(payment.url)
  await page.getByRole('button', { name: 'Continue' }).click()
  await heading('Partner page').waitFor()
})

test('every action of the checkout works with the keyboard alone, and the focus is always visible', async () => {
  await open({ javaScript: true })
  const payment = await fixture.create({ provider: 'wallet_app' })
  await page.goto(payment.url)
  await tabTo('Details of this payment')
  await page.keyboard.press('Enter')
  await tabTo('Change')
  await page.keyboard.press('Enter')
  await heading('Where are you paying from?').waitFor()
  await tabTo('Country you are paying from')
  await page.keyboard.type('Brazil')
  await tabTo('Save country')
  await page.keyboard.press('Enter')
  await page.getByText('not offered in Brazil.').waitFor()
  await tabTo('Bank transfer')
  await page.keyboard.press('Enter')
  await heading('Pay by bank transfer').waitFor()
  await tabTo('Continue')
  await page.keyboard.press('Enter')
  await heading('Partner page').waitFor()
})

/** Presses Tab until the focus is on the element with the name. */
async function tabTo(name: string): Promise<void> {
  for (let press = 0; press < 15; press += 1) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const element = document.activeElement
      if (!(element instanceof HTMLElement)) return null
      const label = element instanceof HTMLSelectElement ? element.labels[0] : element
      return { name: label?.innerText ?? '', outline: getComputedStyle(element).outlineStyle }
    })
    if (focused?.name.includes(name)) {
      expect(focused.outline).toBe('solid')
      return
    }
  }
  throw new Error(`Tab does not reach ${name}`)
}
