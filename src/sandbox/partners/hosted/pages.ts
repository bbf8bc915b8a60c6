import { formatAmount } from '../../../domain/money.ts'
import { FAILURE_CODES } from '../../../domain/payment/partner.ts'
import { type Html, html, page } from '../../html.ts'
import type { SandboxOrder } from '../order.ts'
import type { Wire } from '../wire.ts'

/** Actions of the simulator's page that lead to an outcome other than a payment. */
const CASES = [
  ['underpay', 'Pay half of the price'],
  ['overpay', 'Pay one and a half times as much'],
  ['slow', 'Pay, and take a minute to confirm'],
  ['hold', 'Pay, and let the partner hold the money'],
  ['check', 'Ask for the identity check'],
] as const

export function orderPage(wire: Wire, order: SandboxOrder): string {
  return page(
    wire.title,
    html`<p>Sandbox: no real money moves here.</p>
<h1>${wire.title}</h1>
${details(order)}
${step(wire, order)}`,
  )
}

/** Renders why an action is not possible in the order's current state. */
export function refusedPage(wire: Wire, order: SandboxOrder): string {
  return page(
    `${wire.title}: not possible`,
    html`<h1>No longer possible</h1>
<p class="note" role="alert">${sentence(order)}</p>
${details(order)}
${back(order)}`,
  )
}

export function absentPage(wire: Wire): string {
  return page(`${wire.title}: not found`, html`<h1>There is no such payment</h1><p>Check the link that you opened.</p>`)
}

function details(order: SandboxOrder): Html {
  return html`<p class="amount">${formatAmount(order)} ${order.currency}</p>
<dl><dt>For</dt><dd>${order.description}</dd><dt>Order</dt><dd>${order.reference}</dd></dl>`
}

function step(wire: Wire, order: SandboxOrder): Html {
  if (order.status === 'open') return payForm(wire, order)
  if (order.status === 'verification_required') return checkForm(order)
  return html`<p class="note" role="status">${sentence(order)}</p>${back(order)}`
}

function payForm(wire: Wire, order: SandboxOrder): Html {
  return html`<form method="post">
${isCard(order) ? cardFields() : html``}
${order.method === 'UPI_INTENT' ? html`<p>You are in the simulated UPI app of <b>${wire.title}</b>.</p>` : html``}
<button class="main" name="action" value="pay">Pay ${formatAmount(order)} ${order.currency}</button>
<button name="action" value="decline">Decline</button>
<button name="action" value="cancel">Cancel</button>
<details>
<summary>Other cases</summary>
${CASES.map(([action, label]) => html`<button name="action" value="${action}">${label}</button>`)}
</details>
</form>`
}

function isCard(order: SandboxOrder): boolean {
  return order.method === 'card' || order.method === 'CARD'
}

function cardFields(): Html {
  return html`<label>Card number <input name="card_number" inputmode="numeric" autocomplete="off" value="4242 4242 4242 4242"></label>`
}

function checkForm(order: SandboxOrder): Html {
  return html`<h2>Confirm who you are</h2>
<p>It is your first payment here, so this is asked once. It takes a moment.</p>
<form method="post">
<label>Full name <input name="full_name" autocomplete="off" value="Sandbox Buyer"></label>
<button class="main" name="action" value="verify">Confirm and pay ${formatAmount(order)} ${order.currency}</button>
<button name="action" value="fail_verification">Fail the check</button>
<button name="action" value="cancel">Cancel</button>
</form>`
}

function back(order: SandboxOrder): Html {
  return html`<p><a href="${order.returnUrl}">Back to the shop</a></p>`
}

function sentence(order: SandboxOrder): string {
  switch (order.status) {
    case 'open':
      return 'The payment is waiting for you.'
    case 'verification_required':
      return 'The identity check is waiting for you.'
    case 'confirming':
      return 'The payment is being confirmed.'
    case 'on_hold':
      return 'The payment was received and is being reviewed.'
    case 'paid':
      return 'The payment was received.'
    case 'declined':
      return FAILURE_CODES[order.failureCode ?? 'declined']
    case 'canceled':
      return 'The payment was canceled. It can no longer be paid.'
    case 'expired':
      return 'The payment has expired. It can no longer be paid.'
    case 'refunded':
      return 'The money was returned.'
  }
}
