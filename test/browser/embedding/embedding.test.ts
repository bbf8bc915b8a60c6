import { AxeBuilder } from '@axe-core/playwright'
import { describe, expect, test } from '@jest/globals'
import { movePayment } from '../../api/checkout/checkout-world.ts'
import { layoutFaults } from '../layout-faults.ts'
import {
  context,
  dialog,
  examples,
  heading,
  inFrame,
  newPayment,
  open,
  openShop,
  page,
  pay,
  payment,
  shop,
  useShop,
  world,
} from './shop-page.ts'

/** The checkout over the shop's page of the guide. */

useShop()

describe('the page of the guide', () => {
  test('opens the checkout over itself; the buyer pays in a tab, and the shop hears how it goes', async () => {
    await open()
    await openShop()
    await pay().click()
    await heading('Pay in your banking app').waitFor()
    await page.getByText(`${payment.id} is created`).waitFor()
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      inFrame().getByRole('button', { name: 'Continue' }).click(),
    ])
    await tab.getByRole('heading', { name: 'Partner page' }).waitFor()
    expect(tab.url()).toContain(world.partnerUrl)
    expect(await tab.evaluate(() => window.opener)).toBeNull()
    await heading('Finish at Velanto').waitFor()
    await movePayment(world, payment.id, ['processing', 'settling', 'succeeded'])
    await heading('Paid. Thank you.').waitFor()
    await page.getByText(`${payment.id} is succeeded`).waitFor()
    await inFrame().getByRole('link', { name: 'Back to Nightline Rail' }).click()
    await page.getByRole('heading', { name: 'Thanks' }).waitFor()
  })

  test('is bought from without JavaScript, by the same link', async () => {
    await open({ javaScriptEnabled: false })
    await openShop()
    await pay().click()
    expect(page.url()).toBe(payment.url)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Partner page' }).waitFor()
  })

  test('lets the buyer pick in the frame, and leave it for the whole page', async () => {
    await newPayment({})
    await open()
    await openShop()
    await pay().click()
    await inFrame().getByRole('link', { name: /^Card/ }).click()
    await heading('Pay by card').waitFor()
    await inFrame().getByRole('link', { name: 'Pay another way' }).click()
    await heading('How would you like to pay?').waitFor()
    expect(context.pages()).toHaveLength(1)
    await inFrame().getByRole('link', { name: 'Open as a whole page' }).click()
    await page.waitForURL(payment.url)
  })

  test('opens a tab where the link says so', async () => {
    await open()
    await openShop((html) => html.replace('data-pinrail>', 'data-pinrail="tab">'))
    const [tab] = await Promise.all([context.waitForEvent('page'), pay().click()])
    await tab.getByRole('heading', { name: 'Pay in your banking app' }).waitFor()
    expect([await tab.evaluate(() => window.opener), await dialog().count()]).toEqual([null, 0])
  })

  test('has the script checked by the browser, and a policy of its own', async () => {
    // A header that browsers do not send would make them ask first.
    await open({ extraHTTPHeaders: {} })
    const policy = `default-src 'none'; script-src ${world.url}; frame-src ${world.url}`
    await openShop((html) =>
      html
        .replace(/<script src.*<\/script>/, examples()[1] ?? '')
        .replace('<meta charset', `<meta http-equiv="content-security-policy" content="${policy}"><meta charset`),
    )
    await pay().click()
    await heading('Pay in your banking app').waitFor()
  })
})

describe('the dialog', () => {
  test.each([
    { name: 'on a phone', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
    { name: 'on a desk in the dark', viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  ] as const)('$name is accessible, fits, and gives the focus back', async ({ viewport, colorScheme }) => {
    await open({ viewport, colorScheme })
    await openShop((html) => html.replace('lang="en"', 'lang="de"'))
    await pay().focus()
    await page.keyboard.press('Enter')
    await heading('Pay in your banking app').waitFor()
    await page.getByText(`${payment.id} is created`).waitFor()
    const { passes, violations } = await new AxeBuilder({ page }).include('dialog').setLegacyMode().analyze()
    expect([passes.length > 5, violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)]).toEqual([true, []])
    const frame = page.frames().find((one) => one.url().endsWith('/frame'))
    expect([...(await page.evaluate(layoutFaults)), ...((await frame?.evaluate(layoutFaults)) ?? ['none'])]).toEqual([])
    const close = dialog().getByRole('button', { name: 'Schließen' })
    expect(await close.evaluate((button) => button === document.activeElement)).toBe(true)
    await close.click()
    // The browser tells of the closing in a task of its own, and the dialog goes with that.
    await dialog().waitFor({ state: 'detached' })
    expect(await pay().evaluate((link) => link === document.activeElement)).toBe(true)
  })

  test('closes on Escape, from the page and from the frame', async () => {
    await open()
    await openShop()
    for (const where of ['page', 'frame'] as const) {
      await pay().click()
      await page.getByText(`${payment.id} is created`).waitFor()
      if (where === 'frame') await inFrame().locator('#main').focus()
      await page.keyboard.press('Escape')
      await dialog().waitFor({ state: 'detached' })
      await page.evaluate(() => document.querySelector('#news')?.replaceChildren())
    }
  })

  test('opens for another payment in place of the first, and hears of that one alone', async () => {
    await open()
    await openShop()
    await pay().click()
    await page.getByText(`${payment.id} is created`).waitFor()
    await newPayment({ provider: 'wallet_app' })
    await page.evaluate((url) => Reflect.get(window, 'pinrail').open(`${url}?x=1#y`, 'Pay €49.90'), payment.url)
    await page.getByText(`${payment.id} is created`).waitFor()
    expect(await page.locator('dialog').count()).toBe(1)
    for (const address of ['https://evil.example/c/x', '/dashboard', 'javascript:alert(1)'])
      await expect(page.evaluate((url) => Reflect.get(window, 'pinrail').open(url), address)).rejects.toThrow(
        'No checkout',
      )
  })

  test('may be removed by the page at any time: nothing else happens to it', async () => {
    await open()
    await page.clock.install()
    await page.route('**/assets/frame.*', (route) => route.abort())
    await openShop()
    await pay().click()
    await heading('Pay in your banking app').waitFor()
    await page.evaluate(() => document.querySelector('dialog')?.remove())
    await page.clock.runFor(10_000)
    expect(page.url()).toBe(`${shop.url}/`)
    await pay().click()
    await heading('Pay in your banking app').waitFor()
    expect(await page.locator('dialog').count()).toBe(1)
  })
})
