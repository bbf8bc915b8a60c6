import { describe, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook, WebhookVerificationError } from '../../src/client/index.ts'
import { newWebhookSecret, signedHeaders } from '../../src/webhooks/sign.ts'

const secret = newWebhookSecret()
const NOW = 1_795_209_600_000
const body = Buffer.from('{"id":"evt_1","type":"payment.succeeded","note":"€"}')
const headers = { ...signedHeaders({ id: 'evt_1', at: NOW, body, secrets: [secret] }) }
const at = (options: { secret?: string | string[]; now?: number } = {}) => ({ secret, now: NOW, ...options })

describe('verifying a webhook', () => {
  test('accepts ours, as bytes or text, with headers as Node or fetch have them', () => {
    expect(verifyWebhook(body, headers, at())).toMatchObject({ id: 'evt_1', type: 'payment.succeeded' })
    expect(verifyWebhook(body.toString(), new Headers(headers), at())).toMatchObject({ id: 'evt_1' })
  })

  test('accepts what the standardwebhooks library signs, and that library accepts ours', () => {
    const signature = new Webhook(secret).sign('evt_1', new Date(NOW), body.toString())
    expect(verifyWebhook(body, { ...headers, 'webhook-signature': `v1,xxx ${signature}` }, at())).toBeDefined()
    const fresh = signedHeaders({ id: 'evt_1', at: Date.now(), body, secrets: [secret] })
    expect(new Webhook(secret).verify(body, { ...fresh })).toMatchObject({ id: 'evt_1' })
  })

  test('accepts either secret while one replaces the other', () => {
    const next = newWebhookSecret()
    const both = { ...signedHeaders({ id: 'evt_1', at: NOW, body, secrets: [next, secret] }) }
    for (const known of [secret, next]) expect(verifyWebhook(body, both, at({ secret: known }))).toBeDefined()
    expect(verifyWebhook(body, headers, at({ secret: [next, secret] }))).toBeDefined()
  })

  test('refuses, and says what the usual causes are', () => {
    const parsedAgain = JSON.stringify(JSON.parse(body.toString()), null, 1)
    const refused: [string, () => unknown, RegExp][] = [
      ['a body that was written again', () => verifyWebhook(parsedAgain, headers, at()), /parsed and written again/],
      [
        'another secret',
        () => verifyWebhook(body, headers, at({ secret: newWebhookSecret() })),
        /another endpoint or mode/,
      ],
      ['an old request', () => verifyWebhook(body, headers, at({ now: NOW + 301_000 })), /301 s/],
      ['one of the future', () => verifyWebhook(body, headers, at({ now: NOW - 301_000 })), /clock/],
      ['no signature', () => verifyWebhook(body, { ...headers, 'webhook-signature': '' }, at()), /missing/],
      [
        'another scheme',
        () => verifyWebhook(body, { ...headers, 'webhook-signature': 'v2,abc' }, at()),
        /No signature/,
      ],
      [
        'a time that is no number',
        () => verifyWebhook(body, { ...headers, 'webhook-timestamp': 'soon' }, at()),
        /number/,
      ],
      ['another id', () => verifyWebhook(body, { ...headers, 'webhook-id': 'evt_2' }, at()), /No signature/],
      ['a short secret', () => verifyWebhook(body, headers, at({ secret: 'whsec_YWJj' })), /24 bytes/],
    ]
    for (const [name, verify, why] of refused) {
      expect([name, verify].length).toBe(2)
      expect(verify).toThrow(WebhookVerificationError)
      expect(verify).toThrow(why)
    }
  })

  test('never accepts one of 10,000 random changes of a signed request', () => {
    let accepted = 0
    let state = 7
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
    const change = (text: string): string => {
      const place = random(text.length)
      const sign = 'abcXYZ019'.charAt(random(9))
      const kinds = [
        text.slice(0, place) + sign + text.slice(place + 1),
        text.slice(0, place) + text.slice(place + 1),
        text.slice(0, place) + sign + text.slice(place),
      ]
      return kinds[random(3)] ?? text
    }
    for (let round = 0; round < 10_000; round++) {
      const parts = [body.toString(), headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature']]
      const which = random(4)
      const original = parts[which]!
      const changed = change(original)
      // The end of a base64 text has bits that mean nothing.
      if (changed === original || (which === 3 && sameBytes(changed, original))) continue
      parts[which] = changed
      const [text, id, timestamp, signature] = parts as [string, string, string, string]
      try {
        verifyWebhook(text, { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }, at())
        accepted++
      } catch (error) {
        expect(error).toBeInstanceOf(WebhookVerificationError)
      }
    }
    expect(accepted).toBe(0)
  })
})

const sameBytes = (a: string, b: string): boolean =>
  a.startsWith('v1,') && Buffer.from(a.slice(3), 'base64').equals(Buffer.from(b.slice(3), 'base64'))
