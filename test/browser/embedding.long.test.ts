import { describe, expect, test } from '@jest/globals'
import type { Frame } from 'playwright-core'
import { until } from '../../scripts/test/until.ts'
import { movePayment } from '../api/checkout/checkout-fixture.ts'
import { findFaults, findSidewaysScroll, findSmallTargets, prepareForAxe } from './faults.ts'
import {
  context,
  dialog,
  examples,
  fixture,
  heading,
  inFrame,
  list,
  merchantSite,
  newPayment,
  open,
  openMerchantPage,
  page,
  pay,
  payment,
  RECORD_MESSAGES,
  stranger,
  useMerchantSite,
} from './merchant-site.ts'

useMerchantSite()

/** The checkout over the merchant's page of the guide. */
describe('Embedding by a merchant', () => {
  describe('The page of the guide', () => {
    test('the page of the guide works without JavaScript, by the same link', async () => {
      await open({ javaScriptEnabled: false })
      await openMerchantPage()
      await pay().click()
      expect(page.url()).toBe(payment.url)
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('heading', { name: 'Partner page' }).waitFor()
    })

    test('the page of the guide lets the buyer pick in the frame, and leave it for the whole page', async () => {
      await newPayment({})
      await open()
      await openMerchantPage()
      await pay().click()
      await inFrame().getByRole('link', { name: /^Card/ }).click()
      await heading('Pay by card').waitFor()
      await inFrame().getByRole('link', { name: 'Pay another way' }).click()
      await heading('How would you like to pay?').waitFor()
      expect(context.pages()).toHaveLength(1)
      await inFrame().getByRole('link', { name: 'Open as a full page' }).click()
      await page.waitForURL(payment.url)
    })

    test('the page of the guide opens a tab for a link with that option', async () => {
      await open()
      await openMerchantPage((html) => html.replace('data-pinrail>', 'data-pinrail="tab">'))
      const [tab] = await Promise.all([context.waitForEvent('page'), pay().click()])
      await tab.getByRole('heading', { name: 'Pay in your banking app' }).waitFor()
      expect([await tab.evaluate(() => window.opener), await dialog().count()]).toEqual([null, 0])
    })

    test('the page of the guide has its own policy, and the browser checks the script', async () => {
      // A header that browsers do not send would make them send a preflight.
      await open({ extraHTTPHeaders: {} })
      const policy = `default-src 'none'; script-src ${fixture.url}; frame-src ${fixture.url}`
      await openMerchantPage((html) =>
        html
          .replace(/<script src.*<\/script>/, examples()[1] ?? '')
          .replace('<meta charset', `<meta http-equiv="content-security-policy" content="${policy}"><meta charset`),
      )
      await pay().click()
      await heading('Pay in your banking app').waitFor()
    })
  })

  describe('The script of BTCPay for shops', () => {
    test('the script opens the checkout of an invoice over the page, and reports its status and the closing', async () => {
      await newPayment({ provider: 'wallet_app' })
      await open()
      await openMerchantPage((html) =>
        html.replace(/<script src.*<\/script>/, `<script src="${fixture.url}/btcpay/modal/btcpay.js"></script>`),
      )
      await page.evaluate((id) => {
        const btcpay = Reflect.get(window, 'btcpay')
        const received: unknown[] = []
        Object.assign(window, { received })
        btcpay.onModalReceiveMessage(({ data }: { data: unknown }) => received.push(data))
        btcpay.showInvoice(id)
      }, payment.id)
      await heading('Pay in your banking app').waitFor()
      const receivedData = () => page.evaluate(() => Reflect.get(window, 'received') as unknown[])
      await until(receivedData, (all) => all.length > 0)
      await page.evaluate(() => Reflect.get(window, 'btcpay').hideFrame())
      await dialog().waitFor({ state: 'detached' })
      const all = await until(receivedData, (received) => received.length > 1)
      expect(all).toEqual([{ invoiceId: payment.id, status: 'New' }, 'close'])
    })
  })

  describe('The dialog', () => {
    test('the dialog is accessible, fits, and gives the focus back', async () => {
      await open()
      await prepareForAxe(page)
      await openMerchantPage((html) => html.replace('lang="en"', 'lang="de"'))
      await pay().focus()
      await page.keyboard.press('Enter')
      await heading('Pay in your banking app').waitFor()
      await page.getByText(`${payment.id} is created`).waitFor()
      expect(
        await findFaults(page, 'dialog', { layout: [findSidewaysScroll, findSmallTargets], within: 'dialog' }),
      ).toEqual([])
      const close = dialog().getByRole('button', { name: 'Schließen' })
      expect(await close.evaluate((button) => button === document.activeElement)).toBe(true)
      await close.click()
      // The browser reports the closing in a separate task, and the dialog is removed with it.
      await dialog().waitFor({ state: 'detached' })
      expect(await pay().evaluate((link) => link === document.activeElement)).toBe(true)
    })

    test('the dialog closes on Escape, from the page and from the frame', async () => {
      await open()
      await openMerchantPage()
      for (const where of ['page', 'frame'] as const) {
        await pay().click()
        await page.getByText(`${payment.id} is created`).waitFor()
        if (where === 'frame') await inFrame().locator('#main').focus()
        await page.keyboard.press('Escape')
        await dialog().waitFor({ state: 'detached' })
        await page.evaluate(() => document.querySelector('#status')?.replaceChildren())
      }
    })

    test('the dialog opens for another payment in place of the first, and receives only that one’s messages', async () => {
      await open()
      await openMerchantPage()
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

    test('the dialog can be removed by the page at any time, without another effect', async () => {
      await open()
      await page.clock.install()
      await page.route('**/assets/frame.*', (route) => route.abort())
      await openMerchantPage()
      await pay().click()
      await heading('Pay in your banking app').waitFor()
      await page.evaluate(() => document.querySelector('dialog')?.remove())
      await page.clock.runFor(10_000)
      expect(page.url()).toBe(`${merchantSite.url}/`)
      await pay().click()
      await heading('Pay in your banking app').waitFor()
      expect(await page.locator('dialog').count()).toBe(1)
    })
  })
})

/** Attempts of a merchant's page, a stranger's page and a frame of either, which get nothing from a checkout. */
describe('Embedding that is refused', () => {
  describe('A page that is not in the list', () => {
    test.each([
      ['the page for a tab', () => payment.url],
      ['the code of the link', () => `${payment.url}/code.svg`],
      ['the receipt', () => `${payment.url}/receipt`],
    ])('no frame shows %s, with or without a list', async (_name, address) => {
      await open()
      await openMerchantPage(() => `<!doctype html><title>Merchant</title><iframe src="${address()}"></iframe>`)
      const answer = await context.request.get(address(), { headers: { 'sec-fetch-dest': 'iframe' }, maxRedirects: 0 })
      expect(answer.headers()['content-security-policy']).toContain("frame-ancestors 'none'")
      await expectRefused()
    })

    test('a page that is not in the list cannot list itself in the URL', async () => {
      await list()
      await open()
      const query = `origins=${merchantSite.url}&frame_ancestors=${merchantSite.url}&ancestors=${merchantSite.url}&origin=${merchantSite.url}`
      await openMerchantPage(
        () => `<!doctype html><title>Merchant</title><iframe src="${payment.url}/frame?${query}"></iframe>`,
      )
      await expectRefused()
      const { headers } = await fetch(`${payment.url}/frame?${query}`, {
        headers: { origin: merchantSite.url, referer: merchantSite.url },
      })
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    })

    /** The frame has the browser's own page, which has no origin. */
    async function expectRefused(): Promise<void> {
      const frame = page.frames().find((one) => one !== page.mainFrame())
      await frame?.waitForLoadState()
      expect(frame?.url()).toBe('chrome-error://chromewebdata/')
    }
  })

  describe('A message between frame and page', () => {
    test('the merchant’s page ignores a message that is not from the frame', async () => {
      await open()
      await openMerchantPage()
      await pay().click()
      await page.getByText(`${payment.id} is created`).waitFor()
      // From a stranger's frame, and from another page of the checkout's origin.
      for (const address of [`${stranger.url}/`, `${fixture.url}/pinrail.js`]) {
        const frame = await addFrame(address)
        await frame.evaluate(() => {
          for (const pinrail of ['status', 'close'])
            parent.postMessage({ pinrail, payment: 'pay_evil', status: 'paid' }, '*')
        })
      }
      await page.evaluate(() => {
        for (const pinrail of ['status', 'close']) postMessage({ pinrail, payment: 'pay_evil', status: 'paid' }, '*')
      })
      // Messages arrive in their order: this one is the last.
      await movePayment(fixture, payment.id, ['expired'])
      await page.getByText(`${payment.id} is expired`).waitFor()
      expect(await page.evaluate(() => Reflect.get(window, 'statuses'))).toEqual(
        ['created', 'expired'].map((status) => ({ payment: payment.id, status })),
      )
      expect(await dialog().count()).toBe(1)
    })

    test('a message is not sent to a page that has replaced the frame’s, and not accepted from one', async () => {
      await open()
      await page.route('**/frame', (route) => route.fulfill({ status: 302, headers: { location: `${stranger.url}/` } }))
      await openMerchantPage()
      await page.evaluate(() => {
        addEventListener('message', ({ data }) => data === 'last' && Reflect.set(window, 'received', true))
      })
      await pay().click()
      const frame = await frameAt(`${stranger.url}/`)
      await frame.waitForLoadState()
      await frame.evaluate(() => {
        parent.postMessage({ pinrail: 'status', payment: 'pay_evil', status: 'paid' }, '*')
        parent.postMessage('last', '*')
      })
      await page.waitForFunction(() => Reflect.get(window, 'received'))
      expect(await page.evaluate(() => Reflect.get(window, 'statuses'))).toEqual([])
      // A message of the page itself comes after the script's.
      await page.evaluate(() => document.querySelector('iframe')?.contentWindow?.postMessage('last', '*'))
      await frame.waitForFunction(() => Reflect.get(window, 'received').includes('last'))
      expect(await frame.evaluate(() => Reflect.get(window, 'received'))).toEqual(['last'])
    })

    test.each([
      { who: 'a page that is not listed', asks: null },
      { who: 'a stranger’s frame next to it', asks: () => `${stranger.url}/` },
      { who: 'another frame of the merchant next to it', asks: () => `${merchantSite.url}/received` },
    ])('a message of $who gets no answer', async ({ asks }) => {
      await open()
      if (asks === null) {
        await list('https://other.example')
        // As in a browser without support for the policy.
        await page.route('**/frame', async (route) => {
          const answer = await route.fetch()
          const { 'content-security-policy': _none, ...headers } = answer.headers()
          await route.fulfill({ response: answer, headers })
        })
      }
      await openMerchantPage(
        () => `<!doctype html><title>Merchant</title>${RECORD_MESSAGES}<iframe src="${payment.url}/frame"></iframe>`,
      )
      await page.frameLocator('iframe').getByRole('heading', { level: 1 }).waitFor()
      const checkout = await frameAt(`${payment.url}/frame`)
      // After its own script, which already listens.
      await checkout.evaluate(() => addEventListener('message', () => Reflect.set(window, 'asked', true)))
      const asking = asks === null ? page.mainFrame() : await addFrame(asks())
      await asking.evaluate(() => top?.frames[0]?.postMessage({ pinrail: 'hello' }, '*'))
      await checkout.waitForFunction(() => Reflect.get(window, 'asked'))
      await checkout.locator('#main').focus()
      await page.keyboard.press('Escape')
      // The frame's earlier messages would have arrived before this one.
      await checkout.evaluate(() => top?.postMessage('last', '*'))
      await page.waitForFunction(() => Reflect.get(window, 'received').includes('last'))
      expect(await page.evaluate(() => Reflect.get(window, 'received'))).toEqual(['last'])
      if (asks !== null) expect(await asking.evaluate(() => Reflect.get(window, 'received'))).toEqual([])
    })

    async function addFrame(address: string) {
      await page.evaluate((src) => {
        const frame = document.createElement('iframe')
        document.body.append(Object.assign(frame, { src }))
        return new Promise((resolve) => frame.addEventListener('load', resolve))
      }, address)
      return frameAt(address)
    }
  })

  async function frameAt(address: string): Promise<Frame> {
    const find = async () => page.frames().find((one) => one.url() === address)
    const found = await until(find, (frame) => frame !== undefined)
    if (found === undefined) throw new Error(`no frame at ${address}`)
    return found
  }

  test('a form of another page opens nothing, in any frame', async () => {
    await open()
    await openMerchantPage(
      () => `<!doctype html><title>Merchant</title><form method="post" action="${payment.url}/continue">
      <input name="provider" value="wallet_app"><input name="method" value="banking_app"><button>Win</button></form>`,
    )
    await page.getByRole('button', { name: 'Win' }).click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect((await payment.read())?.status).toBe('created')
  })
})
