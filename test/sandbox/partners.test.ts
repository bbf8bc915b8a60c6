import { createServer, type IncomingMessage, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import express from 'express'
import { type MethodName, PROVIDER_NAMES, type ProviderName } from '../../src/domain/methods.ts'
import { newId } from '../../src/ids.ts'
import { payAtCheckout } from '../../src/sandbox/buyer.ts'
import { readPage } from '../../src/sandbox/forms.ts'
import { usdcWallet } from '../../src/sandbox/usdc-wallet.ts'
import { listen, PATHS, postJson, type SandboxServer, soon, startSandboxServer } from '../partners/sandbox-server.ts'

let server: SandboxServer
beforeAll(async () => {
  server = await startSandboxServer()
})
afterAll(() => server.close())

describe('The partners’ pages', () => {
  const open = async (provider: ProviderName) => {
    const order = server.newOrder(provider)
    const opened = await server.partners()[provider].openOrder(order, soon())
    if (opened.kind !== 'opened') throw new Error('expected an opened order')
    return { order, page: opened.redirectUrl, intent: opened.intentUri }
  }
  const press = (page: string, fields: Record<string, string>, cookie = '') =>
    fetch(page, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields), headers: { cookie } })
  const readStatus = async (provider: ProviderName, attemptId: string) =>
    (await server.partners()[provider].readOrder({ attemptId, reference: null }, soon()))?.status

  describe.each(PROVIDER_NAMES)('the page of %s', (provider) => {
    test('the partner’s page shows amount and description, escaped, with no script and a strict policy', async () => {
      const { page, order } = await open(provider)
      const answer = await fetch(page)
      const text = await answer.text()
      expect(answer.status).toBe(200)
      expect(text).toContain('4999.00')
      expect(text).toContain('Order 17 &amp; &quot;more&quot; &lt;b&gt;é&lt;/b&gt; ✓')
      expect(text).not.toMatch(/<script|javascript:|\son\w+=|style=/i)
      const policy = answer.headers.get('content-security-policy')
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain(`form-action 'self' ${new URL(order.returnUrl).origin}`)
    })

    test('reading the partner’s page changes nothing', async () => {
      const { page, order } = await open(provider)
      for (let visit = 0; visit < 3; visit += 1) await fetch(page)
      await fetch(page, { method: 'HEAD' })
      expect(await readStatus(provider, order.attemptId)).toBe('open')
    })

    test('the partner’s page asks for the identity check at a first payment, and not at the second', async () => {
      const first = await open(provider)
      const asked = await press(first.page, { action: 'pay' })
      expect(new URL(asked.headers.get('location')!, first.page).href).toBe(first.page)
      expect(await readStatus(provider, first.order.attemptId)).toBe('verification_required')
      expect(await (await fetch(first.page)).text()).toContain('Confirm who you are')
      const cookie = asked.headers.getSetCookie()[0]!.split(';')[0]!
      const passed = await press(first.page, { action: 'verify' }, cookie)
      expect(passed.headers.get('location')).toBe(first.order.returnUrl)
      expect(await readStatus(provider, first.order.attemptId)).toBe('paid')

      await server.restart()
      const second = await open(provider)
      const paid = await press(second.page, { action: 'pay' }, cookie)
      expect(paid.headers.get('location')).toBe(second.order.returnUrl)
      expect(await readStatus(provider, second.order.attemptId)).toBe('paid')
    })

    test('a failed identity check declines the order, and the buyer stays unknown', async () => {
      const first = await open(provider)
      const buyer = newId('request')
      await press(first.page, { action: 'pay', buyer })
      await press(first.page, { action: 'fail_verification', buyer })
      expect(await readStatus(provider, first.order.attemptId)).toBe('declined')
      const second = await open(provider)
      await press(second.page, { action: 'pay', buyer })
      expect(await readStatus(provider, second.order.attemptId)).toBe('verification_required')
    })

    test('every button of the partner’s page has its effect', async () => {
      const after = async (action: string) => {
        const { page, order } = await open(provider)
        expect((await press(page, { action })).status).toBe(303)
        return readStatus(provider, order.attemptId)
      }
      expect(await after('decline')).toBe('declined')
      expect(await after('cancel')).toBe(provider === 'local_partner' ? 'declined' : 'canceled')
      expect(await after('hold')).toBe('on_hold')
      expect(await after('slow')).toBe('confirming')
      expect(await after('check')).toBe('verification_required')
      expect(await after('underpay')).toBe('verification_required')
    })

    test('a canceled order cannot be paid on a page that was still open', async () => {
      const { page, order } = await open(provider)
      await server.act(provider, order.attemptId, { action: 'cancel' })
      const answer = await press(page, { action: 'pay' })
      expect(answer.status).toBe(409)
      expect(await answer.text()).toContain('No longer possible')
    })

    test('an unknown button and an unknown order are refused', async () => {
      const { page, order } = await open(provider)
      expect((await press(page, { action: 'reverse' })).status).toBe(400)
      expect((await press(page, {})).status).toBe(400)
      expect(await readStatus(provider, order.attemptId)).toBe('open')
      expect((await fetch(`${server.url}${PATHS[provider]}/pay/nothing`)).status).toBe(404)
      expect((await press(`${server.url}${PATHS[provider]}/pay/nothing`, { action: 'pay' })).status).toBe(404)
    })
  })

  test('the UPI link opens the page of its order in the simulated app', async () => {
    const { intent, page } = await open('local_partner')
    const answer = await fetch(intent!.replace('upi://pay', `${server.url}/local-partner/upi/pay`))
    expect(answer.url).toBe(page)
    expect(await answer.text()).toContain('simulated UPI app')
  })

  describe('The control routes', () => {
    test('the control routes accept only JSON, so that a page of another origin cannot use them', async () => {
      const { order } = await open('card_partner')
      const url = `${server.url}/card-partner/sandbox/orders/${order.attemptId}/act`
      const answer = await fetch(url, { method: 'POST', body: '{"action":"pay"}' })
      expect(answer.status).toBe(415)
      expect(await readStatus('card_partner', order.attemptId)).toBe('open')
    })

    test('the control routes refuse unknown input, with the reason', async () => {
      const { order } = await open('card_partner')
      expect((await server.act('card_partner', order.attemptId, { action: 'steal' })).status).toBe(400)
      expect((await server.act('card_partner', order.attemptId, { action: 'pay', receivedMinor: '-1' })).status).toBe(
        400,
      )
      expect((await server.act('card_partner', newId('attempt'), { action: 'pay' })).status).toBe(404)
      expect((await postJson(`${server.url}/card-partner/sandbox/faults`, { fault: 'decline', extra: 1 })).status).toBe(
        400,
      )
    })

    test('faults are listed, used up, cleared, and survive a restart', async () => {
      const faults = async () =>
        (await (await fetch(`${server.url}/card-partner/sandbox/faults`)).json()) as Record<string, unknown>[]
      await server.fault('card_partner', { fault: 'decline', times: 2 })
      const { order } = await open('card_partner')
      await server.act('card_partner', order.attemptId, { action: 'pay' })
      expect(await faults()).toMatchObject([{ fault: 'decline', remaining: 1 }])
      await server.restart()
      expect(await faults()).toMatchObject([{ fault: 'decline', remaining: 1 }])
      await fetch(`${server.url}/card-partner/sandbox/faults`, { method: 'DELETE' })
      expect(await faults()).toEqual([])
    })

    test('bad requests are answered as JSON without a stack', async () => {
      for (const path of ['/nothing', '/card-partner/pay/%E0%A4%A', '/wallet-app/v2/orders']) {
        const answer = await fetch(`${server.url}${path}`, { method: 'POST', body: 'x'.repeat(10) })
        expect(answer.status).toBeGreaterThanOrEqual(400)
        expect(answer.status).toBeLessThan(500)
        expect(await answer.text()).not.toMatch(/node_modules|at \w+/)
      }
      const large = await fetch(`${server.url}/card-partner/pay/x`, { method: 'POST', body: 'x'.repeat(7_000_000) })
      expect(large.status).toBe(413)
    })
  })
})

describe('A buyer at a checkout', () => {
  const PROVIDER_OF: Record<string, ProviderName> = {
    banking_app: 'wallet_app',
    card: 'card_partner',
    upi: 'local_partner',
  }

  let merchantServer: Server
  let merchantUrl: string
  const opened: string[] = []
  beforeAll(async () => {
    merchantServer = createServer((request, response) => {
      answer(request).then(
        ({ html, location }) => {
          if (location !== undefined) response.writeHead(303, { location }).end()
          else response.writeHead(200, { 'content-type': 'text/html' }).end(html)
        },
        () => response.writeHead(500).end(),
      )
    })
    merchantUrl = await listen(merchantServer)
  })
  afterAll(async () => {
    merchantServer.closeAllConnections()
    merchantServer.close()
  })

  /** A checkout of any design: pick a method, confirm, hand over, come back. */
  async function answer(request: IncomingMessage): Promise<{ html?: string; location?: string }> {
    const path = request.url ?? '/'
    const form = new URLSearchParams(await text(request))
    if (path === '/radio')
      return {
        html: `<form method="post" action="/language"><button name="language" value="de">Deutsch</button></form>
        <!-- <form method=post action=/trap><button>No</button></form> -->
        <form method=POST action="/continue"><input type=hidden name=token value="a&amp;b">
        <label><input type="radio" name="method" value="card" checked> Card</label>
        <label><input type="radio" name="method" value="upi"> UPI</label><button>Continue &rarr;</button></form>`,
      }
    if (path === '/buttons')
      return {
        html: ['banking_app', 'card', 'upi']
          .map(
            (
              method,
            ) => `<form method="post" action="/continue?x=1&amp;y=2"><input type="hidden" name="token" value="a&#38;b">
          <button name="method" value="${method}"><b>${method}</b></button></form>`,
          )
          .join(''),
      }
    if (path === '/links')
      return {
        html: `<a href="/links?step=help">Help</a><a href="?method=card_partner.card">Card</a>
        <a href="?method=local_partner.upi">UPI</a><form method="post" action="/links/country"><select name="country">
        <option value="DE">Germany</option></select><button>Save</button></form>`,
      }
    if (path.startsWith('/links?method=')) {
      const method = path.split('.').pop() ?? ''
      return {
        html: `<form method="post" action="/continue"><input type="hidden" name="token" value="a&amp;b">
        <input type="hidden" name="method" value="${method}"><button type="submit">Continue</button></form>
        <a href="/links?step=pick">Another way</a>`,
      }
    }
    if (path.startsWith('/continue') && request.method === 'POST') {
      if (form.get('token') !== 'a&b') throw new Error('the hidden field was lost')
      const method = (form.get('method') ?? '') as MethodName
      const provider = PROVIDER_OF[method]!
      const order = server.newOrder(provider, { method, returnUrl: `${merchantUrl}/return` })
      opened.push(order.attemptId)
      const result = await server.partners()[provider].openOrder(order, soon())
      if (result.kind !== 'opened') throw new Error('declined')
      if (result.intentUri === null) return { location: result.redirectUrl }
      return { html: `<title>Scan</title><a href="${result.intentUri.replaceAll('&', '&amp;')}">Open a UPI app</a>` }
    }
    if (path === '/stuck') return { html: '<title>Nothing here</title>' }
    return { html: 'thank you' }
  }

  const readStatus = async (provider: ProviderName) =>
    (await server.partners()[provider].readOrder({ attemptId: opened.at(-1)!, reference: null }, soon()))?.status

  test.each([
    ['/radio', 'card', 'card_partner'],
    ['/radio', 'upi', 'local_partner'],
    ['/links', 'card', 'card_partner'],
    ['/links', 'upi', 'local_partner'],
    ['/buttons', 'banking_app', 'wallet_app'],
    ['/buttons', 'card', 'card_partner'],
    ['/buttons', 'upi', 'local_partner'],
  ] as const)('a buyer on %s pays by %s and passes the identity check', async (path, method, provider) => {
    const lines: string[] = []
    const bought = await payAtCheckout(`${merchantUrl}${path}`, {
      method,
      sandboxUrl: server.url,
      log: (line) => lines.push(line),
    })
    expect(bought.partnerPage).toContain('/pay/')
    expect(bought.finalUrl).toBe(`${merchantUrl}/return`)
    expect(await readStatus(provider)).toBe('paid')
    expect(lines[0]).toBe(`GET ${merchantUrl}${path}`)
  })

  test('a buyer who presses Decline comes back unpaid', async () => {
    const bought = await payAtCheckout(`${merchantUrl}/buttons`, { method: 'card', press: 'decline' })
    expect(bought.finalUrl).toBe(`${merchantUrl}/return`)
    expect(await readStatus('card_partner')).toBe('declined')
  })

  test('a page without a next step is an error that names it', async () => {
    await expect(payAtCheckout(`${merchantUrl}/stuck`)).rejects.toThrow(
      `no form or link leads on from ${merchantUrl}/stuck ("Nothing here")`,
    )
  })

  test('a form is read with its selects, checkboxes and texts, and with controls outside the form', () => {
    const page = readPage(
      'http://shop.example/pay/1?a=1',
      `<form id=f method=post action="../go"><select name=country><option value=DE>Germany<option value=FR selected>France</select>
     <input type=checkbox name=terms checked><input type=checkbox name=news><textarea name=note>a &lt; b</textarea>
     <input name=disabled value=x disabled><input type=submit name=ok value="Go &raquo;"></form>
     <button form=f name=other value=1>Other</button>`,
    )
    expect(page.forms).toEqual([
      {
        url: 'http://shop.example/go',
        method: 'post',
        fields: [
          ['terms', 'on'],
          ['note', 'a < b'],
        ],
        choices: [
          { name: 'country', value: 'DE', isChecked: false },
          { name: 'country', value: 'FR', isChecked: true },
        ],
        buttons: [
          { name: 'ok', value: 'Go &raquo;', label: 'Go &raquo;' },
          { name: 'other', value: '1', label: 'Other' },
        ],
      },
    ])
  })
})

test('the simulated wallet sends the amount of a checkout’s link, or half of it, and nothing for another link', async () => {
  const sent: { to: string; micro: bigint }[] = []
  const app = express()
  app.use(express.raw({ type: () => true }))
  app.use(
    '/usdc-wallet',
    usdcWallet(async (transfer) => void sent.push(transfer)),
  )
  const wallet = createServer(app)
  const url = `${await listen(wallet)}/usdc-wallet`
  const [token, to] = [`0x${'3c'.repeat(20)}`, `0x${'a1'.repeat(20)}`]
  const link = `ethereum:${token}@31337/transfer?address=${to}&uint256=58300000`
  const query = new URLSearchParams({ pay: link, back: 'http://localhost:4242/c/token' })
  const shown = await (await fetch(`${url}?${query}`)).text()
  expect([shown.includes('58.300000 USDC'), shown.includes(to)]).toEqual([true, true])
  for (const part of ['all', 'half']) {
    const answer = await fetch(`${url}?${query}`, { method: 'POST', body: new URLSearchParams({ part }) })
    expect(await answer.text()).toContain('href="http://localhost:4242/c/token"')
  }
  expect(sent).toEqual([
    { to, micro: 58_300_000n },
    { to, micro: 29_150_000n },
  ])
  expect((await fetch(`${url}?pay=bitcoin:1`, { method: 'POST' })).status).toBe(400)
  expect(
    await (await fetch(`${url}?${new URLSearchParams({ pay: link, back: 'javascript:alert(1)' })}`)).text(),
  ).not.toContain('javascript:')
  wallet.close()
})
