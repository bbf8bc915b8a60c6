import { describe, expect, test } from '@jest/globals'
import Stripe from 'stripe'
import { readCallback } from '../../../src/partners/stripe/callback.ts'

const NOW = 1_795_209_600
const SECRET = 'whsec_test_secret'

const read = (header: string, body: string, webhookSecrets: readonly string[] = [SECRET]) =>
  readCallback(
    { account: 'acct_1', webhookSecrets },
    { headers: { 'stripe-signature': header }, body: Buffer.from(body), receivedAt: NOW },
  )

/** Signed by Stripe's own library. */
const sign = (payload: string, secret = SECRET, timestamp = NOW): string =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })

const event = (object: Record<string, unknown>): string =>
  JSON.stringify({ id: 'evt_1', object: 'event', livemode: false, data: { object } })

describe('Stripe’s signature', () => {
  const BODY = event({ object: 'checkout.session', id: 'cs_1', client_reference_id: 'att_1' })

  test("the vector of Stripe's library is authentic, and names nothing of the platform", () => {
    const body = '{\n  "id": "evt_test_webhook",\n  "object": "event"\n}'
    const signature = 'ca2770c07d23e5f66a05c2e350ad021ec9da9eef971044d49da653395fa0ed05'
    expect(sign(body)).toBe(`t=${NOW},v1=${signature}`)
    expect(read(`t=${NOW},v1=${signature}`, body)).toEqual({ kind: 'refused', reason: 'format' })
    expect(read(`t=${NOW},v1=${signature}`, `${body} `)).toEqual({ kind: 'refused', reason: 'signature' })
  })

  test('a callback that the library has signed is accepted, next to signatures of other schemes and secrets', () => {
    const expected = { kind: 'order', eventId: 'evt_1', subject: { attemptId: 'att_1' } }
    const header = sign(BODY)
    const [time, right] = header.split(',')
    expect(read(header, BODY)).toEqual(expected)
    expect(read(`${time},v1=${'0'.repeat(64)},${right},v0=${'1'.repeat(64)}`, BODY)).toEqual(expected)
    expect(read(`${time},${right?.replace('v1', 'v0')}`, BODY)).toEqual({ kind: 'refused', reason: 'signature' })
  })

  test('either secret of a rotation is accepted', () => {
    const both = ['whsec_new', SECRET]
    expect(read(sign(BODY, 'whsec_new'), BODY, both).kind).toBe('order')
    expect(read(sign(BODY), BODY, both).kind).toBe('order')
    expect(read(sign(BODY, 'whsec_other'), BODY, both)).toEqual({ kind: 'refused', reason: 'signature' })
  })

  test('a time that differs by more than five minutes is refused, also one in the future, which the library accepts', () => {
    for (const off of [-301, 301, 86_400]) {
      const header = sign(BODY, SECRET, NOW + off)
      expect(read(header, BODY)).toEqual({ kind: 'refused', reason: 'timestamp' })
    }
    expect(read(sign(BODY, SECRET, NOW + 299), BODY).kind).toBe('order')
  })
})

describe('The subject of an event', () => {
  const subject = (object: Record<string, unknown>) => {
    const body = event(object)
    const reading = read(sign(body), body)
    return reading.kind === 'order' ? reading.subject : reading.kind
  }

  test.each<[string, Record<string, unknown>, unknown]>([
    ['a session', { object: 'checkout.session', client_reference_id: 'att_1', metadata: {} }, { attemptId: 'att_1' }],
    [
      'a charge',
      { object: 'charge', id: 'ch_1', payment_intent: 'pi_1', metadata: { attempt: 'att_1' } },
      { attemptId: 'att_1' },
    ],
    ['a payment', { object: 'payment_intent', id: 'pi_1', metadata: { attempt: 'att_1' } }, { attemptId: 'att_1' }],
    ['a refund', { object: 'refund', payment_intent: 'pi_1', charge: 'ch_1', metadata: {} }, { payment: 'pi_1' }],
    ['a dispute', { object: 'dispute', payment_intent: 'pi_1', charge: 'ch_1', metadata: {} }, { payment: 'pi_1' }],
    ['an old dispute', { object: 'dispute', payment_intent: null, charge: 'ch_1' }, { payment: 'ch_1' }],
    ['a payout', { object: 'payout', id: 'po_1', metadata: {} }, 'foreign'],
    [
      'an object that is expanded',
      { object: 'x', payment_intent: { id: 'pi_1' }, metadata: { attempt: 7 } },
      'foreign',
    ],
  ])('%s names what is read', (_name, object, expected) => {
    expect(subject(object)).toEqual(expected)
  })
})
