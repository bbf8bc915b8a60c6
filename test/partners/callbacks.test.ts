import { createHmac } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import type { DriverName } from '../../src/domain/partner/drivers.ts'
import { readAs, readCallbackBody } from '../../src/partners/reading.ts'
import { cardPartner } from '../../src/sandbox/partners/card-partner.ts'
import { cashfreeWire } from '../../src/sandbox/partners/cashfree/cashfree.ts'
import { localPartner } from '../../src/sandbox/partners/local-partner.ts'
import { razorpayWire } from '../../src/sandbox/partners/razorpay/razorpay.ts'
import { revolutWire } from '../../src/sandbox/partners/revolut/revolut.ts'
import { stripeWire } from '../../src/sandbox/partners/stripe/stripe.ts'
import { walletApp } from '../../src/sandbox/partners/wallet-app.ts'
import { type CallbackCase, describeCallbacks } from './callback-suite.ts'
import { PATHS, startSandboxServer } from './sandbox-server.ts'

type Case = CallbackCase & { readonly driver: DriverName }

const hmac = (secret: string, message: readonly (string | Buffer)[], encoding: 'hex' | 'base64'): string => {
  const mac = createHmac('sha256', secret)
  for (const part of message) mac.update(part)
  return mac.digest(encoding)
}

const CASES: readonly Case[] = [
  {
    provider: 'wallet_app',
    driver: 'simulator',
    wire: walletApp,
    sign: (body, secret, now) => ({
      'x-callback-timestamp': `${now}`,
      'x-callback-signature': hmac(secret, [`wallet-app-callback\n${now}\n`, body], 'hex'),
    }),
  },
  {
    provider: 'card_partner',
    driver: 'simulator',
    wire: cardPartner,
    sign: (body, secret, now) => ({ 'card-signature': `t=${now},v1=${hmac(secret, [`${now}.`, body], 'hex')}` }),
  },
  {
    provider: 'local_partner',
    driver: 'simulator',
    wire: localPartner,
    isTimeInBody: true,
    sign: (body, secret) => ({ 'x-checksum': hmac(secret, [body], 'base64') }),
  },
  {
    provider: 'wallet_app',
    driver: 'revolut',
    wire: revolutWire,
    without: ['account', 'amount', 'event id'],
    sign: (body, secret, now) => ({
      'revolut-request-timestamp': `${now}000`,
      'revolut-signature': `v1=${hmac(secret, [`v1.${now}000.`, body], 'hex')}`,
    }),
  },
  {
    provider: 'local_partner',
    driver: 'razorpay',
    wire: razorpayWire,
    without: ['account', 'event id', 'time'],
    sign: (body, secret) => ({ 'x-razorpay-signature': hmac(secret, [body], 'hex') }),
  },
  {
    provider: 'local_partner',
    driver: 'cashfree',
    wire: cashfreeWire,
    without: ['account', 'amount', 'event id', 'second signature'],
    sign: (body, secret, now) => ({
      'x-webhook-timestamp': `${now}000`,
      'x-webhook-signature': hmac(secret, [`${now}000`, body], 'base64'),
    }),
  },
  {
    provider: 'card_partner',
    driver: 'stripe',
    wire: stripeWire('card_partner', PATHS.card_partner),
    without: ['account'],
    sign: (body, secret, now) => ({ 'stripe-signature': `t=${now},v1=${hmac(secret, [`${now}.`, body], 'hex')}` }),
  },
]

for (const each of CASES)
  describeCallbacks(`Callbacks of ${each.provider} by the driver ${each.driver}`, each, () =>
    startSandboxServer({ drivers: { [each.provider]: each.driver } }),
  )

describe('Texts that Postgres refuses', () => {
  test('a refund’s reason that Postgres would refuse is read with a replacement, because it could never be stored', () => {
    const text = String.raw`{"reason":"no\u0000t \ud800today","refunds":[{"id":"r\u0000 \ud83d\ude00"}]}`
    const schema = z.object({ reason: z.string(), refunds: z.array(z.object({ id: z.string() })) })
    const read = readAs('partner', schema, { status: 200, headers: {}, text })
    expect(read).toEqual({ reason: 'no\uFFFDt \uFFFDtoday', refunds: [{ id: 'r\uFFFD \u{1F600}' }] })
  })

  test('a callback with a text that Postgres would refuse is read too, because the partner would repeat it forever', () => {
    const body = Buffer.from(String.raw`{"id":"evt\u0000 \udc00"}`)
    expect(readCallbackBody(z.object({ id: z.string() }), body)).toEqual({ id: 'evt\uFFFD \uFFFD' })
  })
})
