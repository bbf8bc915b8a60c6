import { describe, expect, test } from '@jest/globals'
import { IntlMessageFormat } from 'intl-messageformat'
import { CURRENCIES } from '../../src/domain/currencies.ts'
import { NOTIFICATION_EVENTS, NOTIFICATION_LANGUAGES } from '../../src/domain/notification/channel.ts'
import type { WebhookEventType } from '../../src/domain/webhook.ts'
import { composeMessage } from '../../src/notify/compose.ts'
import { sendToDiscord } from '../../src/notify/discord.ts'
import { noticeMail } from '../../src/notify/notice-mail.ts'
import { plainText } from '../../src/notify/text.ts'
import { createSpeech, WORDS } from '../../src/notify/words/languages.ts'
import { LOCALES } from '../../src/web/messages/locales.ts'

/** A refund as its events show it, in part. */
const REFUND = {
  id: 're_01m80a6q5ye2zvcb0m1xq2f7ht',
  amount_minor: 2000,
  currency: 'EUR',
  funding: { required_usdc: '21.680000' },
}

describe('The words of notifications', () => {
  const OTHERS = NOTIFICATION_LANGUAGES.filter((language) => language !== 'en')
  type Language = (typeof NOTIFICATION_LANGUAGES)[number]
  const getTexts = (language: Language): Record<string, string> => {
    const { happened, mail, buyer, ...rest } = WORDS[language]
    const named = Object.entries(buyer).map(([key, text]) => [`buyer.${key}`, text])
    return { ...rest, ...happened, ...mail, ...Object.fromEntries(named) }
  }
  const parseParts = (text: string) => new IntlMessageFormat(text, 'en', undefined, { ignoreTag: true }).getAst()
  const namesIn = (text: string): string[] =>
    parseParts(text).flatMap((part) => (part.type === 0 ? [] : [String('value' in part && part.value)]))

  test('channels are notified in the languages of the checkout', () => {
    expect([...NOTIFICATION_LANGUAGES]).toEqual([...LOCALES])
  })

  test.each(OTHERS)('the words in %s have the keys and placeholders of English, and no text in English', (language) => {
    const [own, english] = [getTexts(language), getTexts('en')]
    expect(Object.keys(own).toSorted()).toEqual(Object.keys(english).toSorted())
    const wrong = Object.keys(english).filter(
      (key) => String(namesIn(own[key] ?? '').toSorted()) !== String(namesIn(english[key] ?? '').toSorted()),
    )
    expect(wrong).toEqual([])
    const left = Object.keys(english).filter((key) => own[key] === english[key])
    expect(left).toEqual([])
  })

  test.each(NOTIFICATION_LANGUAGES)(
    'the words in %s have a text for each of its plurals, for no others, and typographic marks',
    (language) => {
      const categories = new Intl.PluralRules(language === 'pt' ? 'pt-PT' : language).resolvedOptions().pluralCategories
      for (const text of [WORDS[language].many, WORDS[language].more])
        for (const part of parseParts(text))
          expect('options' in part && Object.keys(part.options).toSorted()).toEqual([...categories].toSorted())
      for (const text of Object.values(getTexts(language)))
        expect([text, text === '' || text.trim() !== text || /['"<>]|\.\.\.| {2}|!/.test(text)]).toEqual([text, false])
    },
  )

  test.each(NOTIFICATION_LANGUAGES)('the words in %s count with digits that everybody reads', (language) => {
    expect(createSpeech(language).many(137)).toContain('137')
  })

  /** Every notice, with its data. */
  const NOTICES: Readonly<Record<string, Record<string, unknown>>> = {
    'wallet.changed': { address: '0xAB', at: null },
    'wallet.planned': { address: '0xAB', at: '2026-11-23T10:00:00.000Z' },
    'wallet.kept': {},
    'payment_link.claimed': { title: 'Tip jar', wallet: '0xAB', link: 'plink_1' },
    'payment_link.stopped': { title: 'Tip jar', link: 'plink_1' },
    'payment_link.resumed': { title: 'Tip jar', link: 'plink_1' },
    'channel.added': { name: 'Team', kind: 'slack', channel: 'nch_1' },
    'channel.removed': { name: 'Team', kind: 'slack', channel: 'nch_1' },
    'channel.broken': { name: 'Team', kind: 'slack', channel: 'nch_1', reason: 'Slack says "no_service"' },
    'api_key.created': { name: 'Server', key: 'key_1' },
    'api_key.revoked': { name: 'Server', key: 'key_1' },
    'account.approved': { message: 'Call us before Christmas.' },
    'account.rejected': { message: 'We serve no sellers of fireworks.' },
    'account.suspended': { message: 'Too many chargebacks.' },
    'account.resumed': { message: 'Thank you for the papers.' },
    'sign_in.new': { email: 'ann@shop.example', ip: '192.0.2.7' },
    'payout.stopped': { id: 'pay_1', reason: 'blacklisted' },
    'webhook_endpoint.disabled': { url: 'https://shop.example/hook', reason: 'gone', endpoint: 'we_1' },
  }

  test.each(NOTIFICATION_LANGUAGES)(
    '%s: each mail names the account and every fact of its notice, and has a link',
    (language) => {
      for (const [kind, data] of Object.entries(NOTICES)) {
        const facts = { account: 'Ann’s\nShop', data, testMode: true, publicUrl: 'https://pay.example', stopUrl: null }
        const { subject, text } = noticeMail(
          { ...facts, kind: kind === 'wallet.planned' ? 'wallet.changed' : kind },
          language,
        )
        expect(subject).toBe(`Ann’s Shop (test): ${createSpeech(language).translateName(kind)}`)
        expect(subject).not.toContain(WORDS[language].other)
        for (const [name, value] of Object.entries(data)) {
          const isShown =
            typeof value === 'string' && !(name === 'reason' && kind !== 'channel.broken') && name !== 'channel'
          const shown = name === 'kind' ? 'Slack' : String(value)
          expect([language, kind, name, !isShown || text.includes(shown)]).toEqual([language, kind, name, true])
        }
        expect(text).toContain('https://pay.example/dashboard')
        expect(text).not.toMatch(/[{}]|\bundefined\b|\bnull\b/)
      }
      const planned = { account: 'Shop', kind: 'wallet.changed', testMode: false, publicUrl: 'https://pay.example' }
      const { text } = noticeMail(
        {
          ...planned,
          data: { address: '0xAB', at: '2026-11-23T10:00:00.000Z' },
          stopUrl: 'https://pay.example/stop/1',
        },
        language,
      )
      expect(text).toContain('https://pay.example/stop/1')
    },
  )

  test('a notice of an unknown kind has general words', () => {
    for (const kind of ['constructor', 'something.new'])
      expect(createSpeech('de').translateName(kind)).toBe('Etwas ist geschehen')
  })

  test.each([
    [
      'payout.stopped',
      { id: 'pay_01m7z134d8fetv1hwd26y1yksm', reason: 'refused' },
      '/dashboard/payments/pay_01m7z134d8fetv1hwd26y1yksm',
    ],
    ['refund.created', REFUND, `/dashboard/refunds/${REFUND.id}`],
    ['refund.succeeded', REFUND, `/dashboard/refunds/${REFUND.id}`],
    ['refund.failed', REFUND, `/dashboard/refunds/${REFUND.id}`],
    ['reserve.released', { amount_usdc: '103.140000' }, '/dashboard/balance'],
    ['api_key.created', { name: 'Shop server' }, '/dashboard/keys'],
    ['sign_in.new', { email: 'you@shop.example' }, '/dashboard/account'],
    ['channel.broken', { name: '#payments', reason: 'its address cannot be read' }, '/dashboard/notifications'],
  ])('%s: the notification names its subject, and links to it, in every language', (kind, data, path) => {
    for (const language of NOTIFICATION_LANGUAGES) {
      const facts = [{ kind, at: '2026-11-22T10:00:00.000Z', data }]
      const message = { id: 'ncm_1', account: 'Shop', facts, repeated: false, stopUrl: null }
      const { text } = plainText(
        composeMessage(message, { language }, { publicUrl: 'https://pay.example', testMode: false }),
      )
      expect(text).toContain(createSpeech(language).translateName(kind))
      expect(text).not.toContain(createSpeech(language).other)
      expect(text.endsWith(`https://pay.example${path}`)).toBe(true)
    }
  })
})

describe('Amounts in notifications', () => {
  /** The amount that a channel reads about a converted payment: 103.14 USDC after the fee. */
  function read(kind: WebhookEventType): string {
    const data = { amount_minor: 10_000, currency: 'EUR', settlement: { net_usdc: '103.140000' } }
    const facts = [{ kind, at: '2026-01-01T00:00:00.000Z', data }]
    const message = { id: 'm', account: 'Shop', facts, repeated: false, stopUrl: null }
    const place = { publicUrl: 'https://pay.example', testMode: false }
    return plainText(composeMessage(message, { language: 'en' }, place)).text
  }

  test('a channel reads what a refund costs only while it waits for USDC', () => {
    const readRefund = (kind: WebhookEventType): string => {
      const message = { id: 'm', account: 'Shop', facts: [{ kind, at: '2026-01-01T00:00:00.000Z', data: REFUND }] }
      const place = { publicUrl: 'https://pay.example', testMode: false }
      return plainText(composeMessage({ ...message, repeated: false, stopUrl: null }, { language: 'en' }, place)).text
    }
    expect(readRefund('refund.created')).toContain('A refund waits for your USDC\n20.00 EUR = 21.680000 USDC\n')
    for (const kind of ['refund.succeeded', 'refund.failed'] as const) expect(readRefund(kind)).toContain('20.00 EUR\n')
  })

  test('a channel reads the USDC of released reserves', () => {
    const facts = [{ kind: 'reserve.released', at: '2026-01-01T00:00:00.000Z', data: { amount_usdc: '103.140000' } }]
    const message = { id: 'm', account: 'Shop', facts, repeated: false, stopUrl: null }
    const place = { publicUrl: 'https://pay.example', testMode: false }
    const { text } = plainText(composeMessage(message, { language: 'en' }, place))
    expect(text).toContain('Reserve released\n103.140000 USDC\n')
  })

  test('a channel reads the USDC that arrives of a payment that succeeded', () => {
    expect(read('payment.succeeded')).toContain('100.00 EUR, 103.140000 USDC arrives')
  })

  // Both are sent by default: “Chargeback” must not continue with “103.140000 USDC arrives”.
  test.each(['payment.under_review', 'payment.chargeback', 'payment.refunded'] as const)(
    'a channel does not read that USDC arrives of %s',
    (kind) => {
      expect(read(kind)).toContain('100.00 EUR')
      expect(read(kind)).not.toContain('USDC')
    },
  )
})

describe('digests', () => {
  /** https://discord.com/developers/docs/resources/webhook#execute-webhook */
  const MOST_OF_DISCORD = 2000
  const TAKEN = { status: 200, body: '{}', headers: {}, retryAfterSeconds: null, error: null, wasSent: true }

  test.each(NOTIFICATION_LANGUAGES)('the longest digest fits Discord, in %s', async (language) => {
    const facts = NOTIFICATION_EVENTS.flatMap((kind) =>
      Array.from({ length: 45 }, (_, n) => ({
        kind,
        at: '2026-01-01T00:00:00.000Z',
        data: /^(?:payment|refund)\./.test(kind)
          ? { amount_minor: 99_999_999, currency: CURRENCIES[n % CURRENCIES.length], reference: '_*'.repeat(50) }
          : {},
      })),
    )
    const message = { id: 'm', account: '_'.repeat(100), facts, repeated: true, stopUrl: null }
    const composed = composeMessage(message, { language }, { publicUrl: 'https://pay.pinrail.example', testMode: true })
    let content = ''
    const post = async ({ body }: { body: object }) => {
      content = String((body as { content: unknown }).content)
      return TAKEN
    }
    await sendToDiscord(
      post,
      { channelId: 'c', url: 'https://discord.com', signal: AbortSignal.timeout(1000) },
      composed,
    )
    expect(content.length).toBeLessThanOrEqual(MOST_OF_DISCORD)
    expect(content).toContain('https://pay.pinrail.example/dashboard')
  })
})
