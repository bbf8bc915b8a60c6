import { type Request, type Response, Router } from 'express'
import { formatUsdc } from '../domain/money.ts'
import { readTransferLink } from '../domain/settlement/deposit.ts'
import { type Html, html, page } from './html.ts'

/** Sends USDC on the development chain. Resolves when the transfer is mined. */
export type SendUsdc = (transfer: { readonly to: `0x${string}`; readonly micro: bigint }) => Promise<void>

const TITLE = 'Simulated wallet'
const POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'"

/** The wallet of a buyer who pays in USDC: it opens the link of the checkout, and pays all or half of the amount. */
export function usdcWallet(send: SendUsdc): Router {
  // One transfer at a time, because all of them use the nonces of one account.
  let last: Promise<unknown> = Promise.resolve()
  const router = Router()
  router.get('/', (request, response) => {
    const asked = readAsked(request)
    if (asked === null) return sendPage(response, { status: 400, body: html`<h1>This link asks for no USDC</h1>` })
    sendPage(response, { status: 200, body: payForm(asked) })
  })
  router.post('/', async (request, response) => {
    const asked = readAsked(request)
    if (asked === null) return sendPage(response, { status: 400, body: html`<h1>This link asks for no USDC</h1>` })
    const form = new URLSearchParams(Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '')
    const micro = form.get('part') === 'half' ? asked.micro / 2n : asked.micro
    const sending = last.then(() => send({ to: asked.to, micro }))
    last = sending.catch(() => undefined)
    await sending
    sendPage(response, {
      status: 200,
      body: html`<h1>${formatUsdc(micro.toString())} USDC sent</h1>
<p class="note" role="status">The checkout shows it once the block is final.</p>${back(asked)}`,
    })
  })
  return router
}

type Asked = { readonly to: `0x${string}`; readonly micro: bigint; readonly back: string | null }

function readAsked({ query }: Request): Asked | null {
  const link = typeof query['pay'] === 'string' ? readTransferLink(query['pay']) : null
  if (link === null) return null
  const to = typeof query['back'] === 'string' && /^https?:\/\//.test(query['back']) ? query['back'] : null
  return { to: link.address, micro: BigInt(link.micro), back: to }
}

function payForm(asked: Asked): Html {
  return html`<p>Sandbox: no real money moves here.</p>
<h1>${TITLE}</h1>
<p class="amount">${formatUsdc(asked.micro.toString())} USDC</p>
<dl><dt>To</dt><dd>${asked.to}</dd><dt>Network</dt><dd>The development chain of this machine</dd></dl>
<form method="post">
<button class="main" name="part" value="all">Send ${formatUsdc(asked.micro.toString())} USDC</button>
<button name="part" value="half">Send half of it</button>
</form>${back(asked)}`
}

function back({ back: href }: Asked): Html {
  return href === null ? html`` : html`<p><a href="${href}">Back to the checkout</a></p>`
}

function sendPage(response: Response, { status, body }: { status: number; body: Html }): void {
  response.set('content-security-policy', POLICY)
  response.status(status).type('html').send(page(TITLE, body))
}
