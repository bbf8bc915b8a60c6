import { expect, test } from '@jest/globals'
import { aUsdcAttempt, USDC_LINK } from './fixtures.ts'
import { html } from './reading.ts'
import { SITUATIONS } from './situations.ts'

test('the page of a USDC payment shows the exact amount, the address, the network, a named code and the link for a wallet', () => {
  const page = html(SITUATIONS['an address for USDC'])
  expect(page).toContain('Send 58.30 USDC')
  expect(page).toContain('data-copy="0x3c499c542cef5e3811e1192ce70d8cc03d5c3359"')
  expect(page).toContain('data-copy="0x00000000000000000000000000000000000000a1"')
  expect(page).toContain('role="img" aria-label="QR code: send 58.30 USDC to Nightline Rail"')
  expect(page).toContain(`href="${USDC_LINK.replaceAll('&', '&amp;')}"`)
  expect(page).toContain('data-poll="3"')
})

test('a link that is no transfer of a token is not opened', () => {
  const attempts = [aUsdcAttempt({ intentUri: 'javascript:alert(1)' })]
  expect(html({ ...SITUATIONS['an address for USDC'], attempts })).not.toContain('href="javascript:')
})
