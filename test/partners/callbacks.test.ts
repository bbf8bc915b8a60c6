import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { z } from 'zod'
import { PROVIDER_NAMES, type ProviderName } from '../../src/domain/methods.ts'
import type { RawCallback } from '../../src/domain/payment/partner.ts'
import { createReadCallback } from '../../src/partners/index.ts'
import type { PaymentPartner } from '../../src/partners/provider.ts'
import { readAs, readCallbackBody } from '../../src/partners/reading.ts'
import { cardPartner } from '../../src/sandbox/partners/card-partner.ts'
import { localPartner } from '../../src/sandbox/partners/local-partner.ts'
import { walletApp } from '../../src/sandbox/partners/wallet-app.ts'
import { mutated } from './mutated.ts'
import { getSecret, PATHS, type SandboxServer, soon, startSandboxServer } from './sandbox-server.ts'

describe('Callbacks', () => {
  const WIRES = { wallet_app: walletApp, card_partner: cardPartner, local_partner: localPartner }
  /** The headers that make a callback authentic. */
  const SIGNATURE_HEADERS: Record<ProviderName, string[]> = {
    wallet_app: ['x-callback-timestamp', 'x-callback-signature'],
    card_partner: ['card-signature'],
    local_partner: ['x-checksum'],
  }

  let server: SandboxServer
  beforeAll(async () => {
    server = await startSandboxServer()
  })
  afterAll(() => server.close())

  describe.each(PROVIDER_NAMES)('Callbacks of %s', (provider) => {
    let partner: PaymentPartner
    beforeEach(async () => {
      partner = server.partners()[provider]
      server.receiver.status = 204
      await fetch(`${server.url}${PATHS[provider]}/sandbox/faults`, { method: 'DELETE' })
      await server.callbacksOf(provider)
    })

    const openOrder = async (): Promise<string> => {
      const order = server.newOrder(provider)
      await partner.openOrder(order, soon())
      return order.attemptId
    }
    const paidWith = async (...faults: Record<string, unknown>[]) => {
      const attemptId = await openOrder()
      for (const fault of faults) await server.fault(provider, { attemptId, ...fault })
      await server.act(provider, attemptId, { action: 'pay' })
      return { attemptId, callbacks: await server.callbacksOf(provider) }
    }
    const authentic = async (): Promise<{ attemptId: string; callback: RawCallback }> => {
      const { attemptId, callbacks } = await paidWith()
      const [callback] = callbacks
      if (callback === undefined) throw new Error('expected a callback')
      return { attemptId, callback }
    }

    test('an authentic callback names the order to read', async () => {
      const { attemptId, callback } = await authentic()
      const reading = createReadCallback(server.partners())(provider, callback)
      expect(reading).toEqual({ kind: 'news', attemptId, eventId: expect.stringMatching(/^evt_/) })
    })

    test('a forged callback is refused', async () => {
      const { callbacks } = await paidWith({ fault: 'forged_callback' })
      const readings = callbacks.map((callback) => partner.readCallback(callback))
      expect(readings).toContainEqual({ kind: 'refused', reason: 'signature' })
      expect(readings.filter((reading) => reading.kind === 'news')).toHaveLength(1)
    })

    test('a callback of another partner or account is refused', async () => {
      const { callback } = await authentic()
      for (const other of PROVIDER_NAMES.filter((name) => name !== provider))
        expect(server.partners()[other].readCallback(callback).kind).toBe('refused')
      const event = WIRES[provider].event(
        { ...(await server.sandbox.partners[provider].book.list())[0]!, account: 'somebody-else' },
        { eventId: 'evt_1', at: 0 },
      )
      const signed = WIRES[provider].sign(event, { secret: getSecret(provider), now: callback.receivedAt })
      const theirs = { headers: signed.headers, body: Buffer.from(signed.body), receivedAt: callback.receivedAt }
      expect(partner.readCallback(theirs)).toEqual({ kind: 'refused', reason: 'format' })
    })

    test('a time that is 300 seconds off is accepted, and 301 seconds are not, in the past and in the future', async () => {
      const { callback } = await authentic()
      const order = (await server.sandbox.partners[provider].book.list())[0]!
      const event = WIRES[provider].event(order, { eventId: 'evt_1', at: 0 })
      const readAt = (offset: number) => {
        const now = callback.receivedAt
        const signed = WIRES[provider].sign(event, { secret: getSecret(provider), now })
        return partner.readCallback({
          headers: signed.headers,
          body: Buffer.from(signed.body),
          receivedAt: now + offset,
        })
      }
      expect(readAt(300).kind).toBe('news')
      expect(readAt(-300).kind).toBe('news')
      expect(readAt(301)).toEqual({ kind: 'refused', reason: 'timestamp' })
      expect(readAt(-301)).toEqual({ kind: 'refused', reason: 'timestamp' })
    })

    test('a right time with extra characters before or after it is refused: only digits are valid', async () => {
      const { callback } = await authentic()
      const wrong = (time: string): string[] => [
        `${time}abc`,
        `${time}.5`,
        `0${time}`,
        `+${time}`,
        `0x${time}`,
        `"${time}"`,
      ]
      if (provider === 'local_partner') {
        // Its time is a number of JSON in the body, so the changed body is signed again.
        const body = callback.body.toString()
        const [, time = ''] = /"ts":(\d{10})\b/.exec(body) ?? []
        const readWith = (changed: string) => {
          const other = body.replace(`"ts":${time}`, `"ts":${changed}`)
          const headers = signRaw(provider, other, callback.receivedAt)
          return partner.readCallback({ ...callback, headers, body: Buffer.from(other) })
        }
        expect(readWith(time).kind).toBe('news')
        for (const changed of [...wrong(time), 'null', `[${time}]`, `-${time}`, ''])
          expect([changed, readWith(changed)]).toEqual([changed, { kind: 'refused', reason: 'format' }])
        return
      }
      const name = SIGNATURE_HEADERS[provider][0]!
      const value = callback.headers[name]!
      const [time = ''] = /\d{10}/.exec(value) ?? []
      expect(time).not.toBe('')
      for (const changed of [...wrong(time), `${time}e0`]) {
        const headers = { ...callback.headers, [name]: value.replace(time, changed) }
        expect([changed, partner.readCallback({ ...callback, headers })]).toEqual([
          changed,
          { kind: 'refused', reason: 'timestamp' },
        ])
      }
    })

    test('a second signature next to the right one is tolerated, in either place', async () => {
      const { callback } = await authentic()
      const beside = (right: string, wrong: string): string[] => [`${right},${wrong}`, `${wrong},${right}`]
      const name = SIGNATURE_HEADERS[provider].at(-1)!
      const right = callback.headers[name]!
      const variants =
        provider === 'card_partner' ? [`${right},v1=00`, right.replace(',v1=', ',v1=ffff,v1=')] : beside(right, 'AAAA')
      for (const value of variants)
        expect(partner.readCallback({ ...callback, headers: { ...callback.headers, [name]: value } }).kind).toBe('news')
    })

    test('missing, empty and malformed signatures are refused without an exception', async () => {
      const { callback } = await authentic()
      for (const name of SIGNATURE_HEADERS[provider])
        for (const value of [undefined, '', ',', 't=', 'v1=', '🙂', 'a'.repeat(10_000), 't=1e9,v1=00', '1795209600abc'])
          expect(partner.readCallback({ ...callback, headers: { ...callback.headers, [name]: value } }).kind).toBe(
            'refused',
          )
      expect(partner.readCallback({ headers: {}, body: new Uint8Array(), receivedAt: 0 }).kind).toBe('refused')
    })

    test('a signed body that is no event is refused for its format, without an exception', () => {
      const now = Math.floor(Date.now() / 1000)
      const bodies = ['', 'null', '[]', '{}', '{"__proto__":1}', '[['.repeat(20_000), 'x'.repeat(70_000), '\u0000']
      for (const body of bodies) {
        const headers = signRaw(provider, body, now)
        expect(partner.readCallback({ headers, body: Buffer.from(body), receivedAt: now }).kind).toBe('refused')
      }
      const invalidUtf8 = Buffer.from([0x7b, 0xff, 0x7d])
      const headers = signRaw(provider, invalidUtf8, now)
      expect(partner.readCallback({ headers, body: invalidUtf8, receivedAt: now })).toEqual({
        kind: 'refused',
        reason: 'format',
      })
    })

    test('no change of body, signature or time is ever accepted (2,000 mutations)', async () => {
      const { callback } = await authentic()
      expect(partner.readCallback(callback).kind).toBe('news')
      // Inserting and repeating are left out for headers: a blank or a second signature there is tolerated by design.
      const mutation = fc.record({ position: fc.nat(), change: fc.integer({ min: 1, max: 255 }) })
      const target = fc.oneof(
        fc.record({
          name: fc.constant('body'),
          how: fc.constantFrom('flip', 'insert', 'remove', 'truncate', 'repeat'),
        }),
        fc.record({
          name: fc.constantFrom(...SIGNATURE_HEADERS[provider]),
          how: fc.constantFrom('flip', 'remove', 'truncate'),
        }),
      )
      fc.assert(
        fc.property(target, mutation, ({ name, how }, { position, change }) => {
          const mutate = (bytes: Buffer): Buffer => mutated(bytes, { position, change, how })
          const header = () => mutate(Buffer.from(callback.headers[name]!, 'latin1')).toString('latin1')
          const changed =
            name === 'body'
              ? { ...callback, body: mutate(Buffer.from(callback.body)) }
              : { ...callback, headers: { ...callback.headers, [name]: header() } }
          expect(partner.readCallback(changed).kind).toBe('refused')
        }),
        { numRuns: 2000 },
      )
    })

    test('two callbacks of one event carry one event id', async () => {
      const { callbacks } = await paidWith({ fault: 'callbacks_twice' })
      const [first, second] = callbacks.map((callback) => partner.readCallback(callback))
      expect(callbacks).toHaveLength(2)
      expect(first?.kind).toBe('news')
      expect(second).toEqual(first)
    })

    test('an order can be read without any callback', async () => {
      const { attemptId, callbacks } = await paidWith({ fault: 'callbacks_never' })
      expect(callbacks).toEqual([])
      expect((await partner.readOrder({ attemptId }, soon()))?.status).toBe('paid')
    })

    test('a late callback arrives after its time', async () => {
      const { callbacks } = await paidWith({ fault: 'callbacks_late', seconds: 90 })
      expect(callbacks).toHaveLength(0)
      server.advance(91)
      expect(await server.callbacksOf(provider)).toHaveLength(1)
    })

    test('callbacks out of order report the later state first', async () => {
      const attemptId = await openOrder()
      await server.fault(provider, { fault: 'callbacks_out_of_order', attemptId })
      await server.act(provider, attemptId, { action: 'require_verification' })
      expect(await server.callbacksOf(provider)).toHaveLength(0)
      await server.act(provider, attemptId, { action: 'verify' })
      const states = (await server.callbacksOf(provider)).map(({ body }) => Buffer.from(body).toString())
      expect(states).toHaveLength(2)
      expect(states[0]).toMatch(/COMPLETED|"paid"|SUCCESS/)
      expect(states[1]).toMatch(/IDENTITY_CHECK|requires_identity|KYC_PENDING/)
    })

    test('an authentic callback with a wrong amount only starts a reading, which has the right one', async () => {
      const { attemptId, callbacks } = await paidWith({ fault: 'wrong_amount_callback' })
      expect(callbacks[0]?.body.toString()).toMatch(/49990\.00|4999000/)
      expect(partner.readCallback(callbacks[0]!)).toMatchObject({ kind: 'news', attemptId })
      expect((await partner.readOrder({ attemptId }, soon()))?.received?.minor).toBe('499900')
    })

    test('an unanswered callback is sent again after 1 s, 5 s, 30 s, 2 min, then every 10 min for a day', async () => {
      server.receiver.status = 503
      const attemptId = await openOrder()
      await server.act(provider, attemptId, { action: 'pay' })
      const events = new Set<string>()
      const sendings = async () => {
        const callbacks = await server.callbacksOf(provider)
        for (const callback of callbacks) {
          const reading = partner.readCallback(callback)
          if (reading.kind === 'news') events.add(reading.eventId)
        }
        return callbacks.length
      }
      expect(await sendings()).toBe(1)
      for (const wait of [1, 5, 30, 120, 600]) {
        server.advance(wait - 0.5)
        expect(await sendings()).toBe(0)
        server.advance(0.5)
        expect(await sendings()).toBe(1)
      }
      let more = 0
      for (let step = 0; step < 200; step += 1) {
        server.advance(600)
        more += await sendings()
      }
      expect(more).toBeGreaterThan(130)
      expect(more).toBeLessThan(145)
      expect(events.size).toBe(1)
    })

    test('a callback that was not delivered survives a restart of the partner', async () => {
      server.receiver.status = 500
      const { attemptId } = await paidWith()
      await server.restart()
      server.receiver.status = 204
      server.advance(1)
      const callbacks = await server.callbacksOf(provider)
      expect(callbacks.map((callback) => server.partners()[provider].readCallback(callback))).toMatchObject([
        { kind: 'news', attemptId },
      ])
      server.advance(86_400)
      expect(await server.callbacksOf(provider)).toEqual([])
    })
  })

  /** Any body with a right signature, to pass the signature check. */
  function signRaw(provider: ProviderName, body: string | Buffer, now: number): Record<string, string> {
    const hmac = (message: (string | Buffer)[], encoding: 'hex' | 'base64'): string => {
      const mac = createHmac('sha256', getSecret(provider))
      for (const part of message) mac.update(part)
      return mac.digest(encoding)
    }
    if (provider === 'wallet_app')
      return {
        'x-callback-timestamp': `${now}`,
        'x-callback-signature': hmac([`wallet-app-callback\n${now}\n`, body], 'hex'),
      }
    if (provider === 'card_partner') return { 'card-signature': `t=${now},v1=${hmac([`${now}.`, body], 'hex')}` }
    return { 'x-checksum': hmac([body], 'base64') }
  }
})

describe('Texts that Postgres refuses', () => {
  test('a refund’s reason that Postgres would refuse is read with a replacement, because it could never be stored', () => {
    const text = String.raw`{"reason":"no\u0000t \ud800today","refunds":[{"id":"r\u0000 \ud83d\ude00"}]}`
    const schema = z.object({ reason: z.string(), refunds: z.array(z.object({ id: z.string() })) })
    const read = readAs('partner', schema, { status: 200, headers: {}, text })
    expect(read).toEqual({ reason: 'no\uFFFDt \uFFFDtoday', refunds: [{ id: 'r\uFFFD \u{1F600}' }] })
  })

  test('a callback with such a text is read too, because its partner would repeat it without end', () => {
    const body = Buffer.from(String.raw`{"id":"evt\u0000 \udc00"}`)
    expect(readCallbackBody(z.object({ id: z.string() }), body)).toEqual({ id: 'evt\uFFFD \uFFFD' })
  })
})
