import { expect, test } from '@jest/globals'
import { CURRENCIES } from '../../src/domain/currencies.ts'
import { NOTIFICATION_EVENTS, NOTIFICATION_LANGUAGES } from '../../src/domain/notification/channel.ts'
import { composeMessage } from '../../src/notify/compose.ts'
import { sendToDiscord } from '../../src/notify/discord.ts'

/** https://discord.com/developers/docs/resources/webhook#execute-webhook */
const MOST_OF_DISCORD = 2000
const TAKEN = { status: 200, body: '{}', headers: {}, retryAfterSeconds: null, error: null, wasSent: true }

test.each(NOTIFICATION_LANGUAGES)('the longest digest fits Discord, in %s', async (language) => {
  const told = NOTIFICATION_EVENTS.flatMap((kind) =>
    Array.from({ length: 45 }, (_, n) => ({
      kind,
      at: '2026-01-01T00:00:00.000Z',
      data: kind.startsWith('payment.')
        ? { amount_minor: 99_999_999, currency: CURRENCIES[n % CURRENCIES.length], reference: '_*'.repeat(50) }
        : {},
    })),
  )
  const message = { id: 'm', account: '_'.repeat(100), told, repeated: true, stopUrl: null }
  const composed = composeMessage(message, { language }, { publicUrl: 'https://pay.pinrail.example', testMode: true })
  let content = ''
  const post = async ({ body }: { body: object }) => {
    content = String((body as { content: unknown }).content)
    return TAKEN
  }
  await sendToDiscord(post, { channelId: 'c', url: 'https://discord.com', signal: AbortSignal.timeout(1000) }, composed)
  expect(content.length).toBeLessThanOrEqual(MOST_OF_DISCORD)
  expect(content).toContain('https://pay.pinrail.example/dashboard')
})
