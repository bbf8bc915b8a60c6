import { createServer, type IncomingMessage, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { MethodName, ProviderName } from '../../src/domain/methods.ts'
import { payAtCheckout } from '../../src/sandbox/buyer.ts'
import { readPage } from '../../src/sandbox/forms.ts'
import { listen, type SandboxServer, soon, startSandboxServer } from '../providers/sandbox-server.ts'

const PROVIDER_OF: Record<string, ProviderName> = {
  banking_app: 'wallet_app',
  card: 'card_partner',
  upi: 'local_partner',
}

let sandbox: SandboxServer
let shop: Server
let shopUrl: string
const opened: string[] = []
beforeAll(async () => {
  sandbox = await startSandboxServer()
  shop = createServer((request, response) => {
    answer(request).then(
      ({ html, location }) => {
        if (location !== undefined) response.writeHead(303, { location }).end()
        else response.writeHead(200, { 'content-type': 'text/html' }).end(html)
      },
      () => response.writeHead(500).end(),
    )
  })
  shopUrl = await listen(shop)
})
afterAll(async () => {
  shop.closeAllConnections()
  shop.close()
  await sandbox.close()
})

/** A checkout as any could be: pick a method, confirm, hand over, come back. */
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
    const order = sandbox.newOrder(provider, { method, returnUrl: `${shopUrl}/return` })
    opened.push(order.attemptId)
    const result = await sandbox.partners()[provider].openOrder(order, soon())
    if (result.kind !== 'opened') throw new Error('declined')
    if (result.intentUri === null) return { location: result.redirectUrl }
    return { html: `<title>Scan</title><a href="${result.intentUri.replaceAll('&', '&amp;')}">Open a UPI app</a>` }
  }
  if (path === '/stuck') return { html: '<title>Nothing here</title>' }
  return { html: 'thank you' }
}

const statusOf = async (provider: ProviderName) =>
  (await sandbox.partners()[provider].readOrder({ attemptId: opened.at(-1)! }, soon()))?.status

test.each([
  ['/radio', 'card', 'card_partner'],
  ['/radio', 'upi', 'local_partner'],
  ['/links', 'card', 'card_partner'],
  ['/links', 'upi', 'local_partner'],
  ['/buttons', 'banking_app', 'wallet_app'],
  ['/buttons', 'card', 'card_partner'],
  ['/buttons', 'upi', 'local_partner'],
] as const)('a buyer on %s pays by %s, identity check included', async (path, method, provider) => {
  const lines: string[] = []
  const bought = await payAtCheckout(`${shopUrl}${path}`, {
    method,
    sandboxUrl: sandbox.url,
    log: (line) => lines.push(line),
  })
  expect(bought.partnerPage).toContain('/pay/')
  expect(bought.finalUrl).toBe(`${shopUrl}/return`)
  expect(await statusOf(provider)).toBe('paid')
  expect(lines[0]).toBe(`GET ${shopUrl}${path}`)
})

test('a buyer who presses Decline comes back unpaid', async () => {
  const bought = await payAtCheckout(`${shopUrl}/buttons`, { method: 'card', press: 'decline' })
  expect(bought.finalUrl).toBe(`${shopUrl}/return`)
  expect(await statusOf('card_partner')).toBe('declined')
})

test('a page without a way forward is an error that names it', async () => {
  await expect(payAtCheckout(`${shopUrl}/stuck`)).rejects.toThrow(`no way forward on ${shopUrl}/stuck ("Nothing here")`)
})

test('forms are read with their selects, boxes, texts and controls outside of them', () => {
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
