import { expect, test } from '@jest/globals'
import type { WebhookEventType } from '../../src/domain/webhook.ts'
import { composeMessage } from '../../src/notify/compose.ts'
import { plainText } from '../../src/notify/text.ts'

/** What a channel reads of a payment that was converted: 103.14 USDC after the fee. */
function read(kind: WebhookEventType): string {
  const data = { amount_minor: 10_000, currency: 'EUR', settlement: { net_usdc: '103.140000' } }
  const told = [{ kind, at: '2026-01-01T00:00:00.000Z', data }]
  const message = { id: 'm', account: 'Shop', told, repeated: false, stopUrl: null }
  const place = { publicUrl: 'https://pay.example', testMode: false }
  return plainText(composeMessage(message, { language: 'en' }, place)).text
}

test('a channel reads how much USDC arrives of a payment that succeeded', () => {
  expect(read('payment.succeeded')).toContain('100.00 EUR, 103.140000 USDC arrives')
})

// Both are told by default: “Money was taken back by the bank” went on with “103.140000 USDC arrives”.
test.each(['payment.under_review', 'payment.chargeback', 'payment.refunded'] as const)(
  '… and not that it arrives of %s',
  (kind) => {
    expect(read(kind)).toContain('100.00 EUR')
    expect(read(kind)).not.toContain('USDC')
  },
)
