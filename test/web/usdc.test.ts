import { expect, test } from '@jest/globals'
import { drawQr, encodeQr } from '../../src/web/kit/qr.tsx'
import { anAttempt, aUsdcAttempt, type CheckoutChanges } from './fixtures.ts'
import { html, read, readTitle } from './reading.ts'
import { SITUATIONS } from './situations.ts'

/** The stored link, with the addresses in the case of EIP-55. */
const SHOWN_LINK =
  'ethereum:0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359@137/transfer?address=0x00000000000000000000000000000000000000A1&uint256=58300000'

test('the page of a USDC payment shows the exact amount, the address, the network, a named code and the link for a wallet', () => {
  const page = html(SITUATIONS['an address for USDC'])
  expect(page).toContain('Send 58.30 USDC')
  // In the case of EIP-55, so that a wallet detects a mistyped character.
  expect(page).toContain('data-copy="0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"')
  expect(page).toContain('data-copy="0x00000000000000000000000000000000000000A1"')
  expect(page).not.toContain('0x3c499c542cef5e3811e1192ce70d8cc03d5c3359')
  expect(page).toContain('role="img" aria-label="QR code: send 58.30 USDC to Nightline Rail"')
  expect(page).toContain(`href="${SHOWN_LINK.replaceAll('&', '&amp;')}"`)
  expect(page).toContain('data-poll="3"')
})

test('a second code has only the address, for wallets that cannot read a link', () => {
  const page = html(SITUATIONS['an address for USDC'])
  const address = encodeQr('0x00000000000000000000000000000000000000A1')
  expect(page).toContain('aria-label="Code with only the address"')
  expect(page).toContain(drawQr(address))
})

test('a buyer who has sent a part is asked for the rest in every form, and is not offered another method', () => {
  const part = SITUATIONS['an address for the rest of the USDC']
  expect(read(part)).toContain('Arrived 8.30 USDC Missing 50.00 USDC')
  const page = html(part)
  expect(page).toContain('Send 50.00 USDC')
  expect(page).toContain(`href="${SHOWN_LINK.replace('58300000', '50000000').replaceAll('&', '&amp;')}"`)
  expect(page).toContain('aria-label="QR code: send 50.00 USDC to Nightline Rail"')
  expect(page).not.toContain('58.30')
  expect(page).not.toContain('Pay another way')
})

test.each<NonNullable<CheckoutChanges['asked']>>([
  { step: 'pick' },
  { step: 'country' },
  { choice: { provider: 'card_partner', method: 'card' } },
])('every page of the checkout shows how to send the rest once a part has arrived: %j', (asked) => {
  const part = SITUATIONS['an address for the rest of the USDC']
  const card = anAttempt('open', { id: 'att_2', provider: 'card_partner', method: 'card' })
  const known = aUsdcAttempt({ held: '8300000' })
  for (const attempts of [part.attempts, [known], [known, card]]) {
    const arrived = { ...part, attempts }
    const text = read({ ...arrived, crypto: true, asked })
    expect(text).toContain('Arrived 8.30 USDC Missing 50.00 USDC')
    expect(text).not.toMatch(/Nothing is charged|pay twice|Continue|Change/)
  }
})

test('money of an order that the buyer cannot complete is under review, and no other method is shown', () => {
  const attempts = [anAttempt('paid', { returned: true })]
  const text = read({ payment: { status: 'pending' }, attempts, asked: { step: 'pick' } })
  expect(text).toContain('We are checking this payment')
  expect(text).not.toContain('Continue')
})

test.each(['58300000', '60000000'])(
  'a buyer who has sent all of it (%s) is asked for nothing, before the payment has a reading of it',
  (received) => {
    const all = { ...SITUATIONS['an address for USDC'], received }
    const page = html(all)
    expect(page).not.toMatch(/ethereum:|Send -?\d|data-copy="0x/)
    expect(page).not.toContain('Pay another way')
    expect(page).toContain('data-poll="3"')
    expect(readTitle(all)).toBe('Checking with Polygon: €49.99 to Nightline Rail')
  },
)

test('a link that is not a token transfer is not opened', () => {
  const attempts = [aUsdcAttempt({ intentUri: 'javascript:alert(1)' })]
  expect(html({ ...SITUATIONS['an address for USDC'], attempts })).not.toContain('href="javascript:')
})

test('an underpaid payment asks for the rest of the USDC that is not at its address yet, while late money counts', () => {
  const rest = SITUATIONS['the rest of the USDC after the end']
  expect(html(rest)).toContain('Send 50.00 USDC')
  expect(html({ ...rest, received: '38300000' })).toContain('Send 20.00 USDC')
  const asksForNothing = /ethereum:|Send -?\d|data-copy="0x/
  for (const changes of [{ received: '58300000' }, { payment: { ...rest.payment, listenEnded: true } }])
    expect(html({ ...rest, ...changes })).not.toMatch(asksForNothing)
})
