import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { PROVIDER_NAMES, type ProviderName } from '../../src/domain/methods.ts'
import type { RawCallback } from '../../src/domain/payment/partner.ts'
import type { PaymentPartner } from '../../src/partners/provider.ts'
import type { Wire } from '../../src/sandbox/partners/wire.ts'
import { mutated } from './mutated.ts'
import { PATHS, type SandboxServer, soon } from './sandbox-server.ts'

export type CallbackCase = {
  readonly provider: ProviderName
  readonly wire: Wire
  /** The headers that make a callback authentic, signed with a secret at a time. */
  readonly sign: (body: Buffer, secret: string, now: number) => Record<string, string>
  /** True if the time is the number `ts` of the body. */
  readonly isTimeInBody?: boolean
  /** Fields that the partner's events lack. */
  readonly without?: readonly ('account' | 'amount' | 'event id' | 'second signature' | 'time')[]
}

/** The suite of callbacks: every driver reads those of its partner's simulator, and refuses all else. */
export function describeCallbacks(
  title: string,
  { provider, wire, sign, without = [], isTimeInBody = false }: CallbackCase,
  start: () => Promise<SandboxServer>,
): void {
  describe(title, () => {
    let server: SandboxServer
    beforeAll(async () => {
      server = await start()
    })
    afterAll(() => server.close())

    const webhookSecret = () => server.settings(provider).webhookSecrets[0]!
    const signRaw = (body: string | Buffer, now: number) => sign(Buffer.from(body), webhookSecret(), now)
    const signing = Object.keys(sign(Buffer.from(''), '', 0))
    let partner: PaymentPartner
    const readCallback = (callback: RawCallback) => server.readCallback(provider, callback)
    beforeEach(async () => {
      partner = server.partners()[provider]
      server.receiver.status = 204
      await fetch(`${server.url}${PATHS[provider]}/sandbox/faults`, { method: 'DELETE' })
      await server.takeCallbacks(provider)
    })

    const openOrder = async (): Promise<string> => {
      const order = server.newOrder(provider)
      const opened = await partner.openOrder(order, soon())
      if (opened.kind === 'opened') reference = opened.reference
      return order.attemptId
    }
    /** The partner's id of the newest order. */
    let reference = ''
    const paidWith = async (...faults: Record<string, unknown>[]) => {
      const attemptId = await openOrder()
      for (const fault of faults) await server.fault(provider, { attemptId, ...fault })
      await server.act(provider, attemptId, { action: 'pay' })
      return { attemptId, callbacks: await server.takeCallbacks(provider) }
    }
    const authentic = async (): Promise<{ attemptId: string; callback: RawCallback }> => {
      const { attemptId, callbacks } = await paidWith()
      const [callback] = callbacks
      if (callback === undefined) throw new Error('expected a callback')
      return { attemptId, callback }
    }

    test('an authentic callback names the order to read', async () => {
      const { attemptId, callback } = await authentic()
      const reading = readCallback(callback)
      expect(reading).toEqual({
        kind: 'order',
        subject: { attemptId },
        eventId: expect.stringMatching(without.includes('event id') ? /^(?:\d{13}:)?[0-9a-f]{64}$/ : /^evt_/),
      })
    })

    test('a forged callback is refused', async () => {
      const { callbacks } = await paidWith({ fault: 'forged_callback' })
      const readings = callbacks.map((callback) => readCallback(callback))
      expect(readings).toContainEqual({ kind: 'refused', reason: 'signature' })
      expect(readings.filter((reading) => reading.kind === 'order')).toHaveLength(1)
    })

    test('a callback of another partner is refused, and one of another account is foreign', async () => {
      const { callback } = await authentic()
      for (const other of PROVIDER_NAMES.filter((name) => name !== provider))
        expect(server.readCallback(other, callback).kind).toBe('refused')
      // Without an account the attempt decides.
      if (without.includes('account')) return
      const event = wire.event(
        { ...(await server.sandbox.partners[provider].book.list())[0]!, account: 'somebody-else' },
        { eventId: 'evt_1', at: 0 },
      )
      const signed = wire.sign(event, { secret: webhookSecret(), now: callback.receivedAt })
      const theirs = { headers: signed.headers, body: Buffer.from(signed.body), receivedAt: callback.receivedAt }
      expect(readCallback(theirs)).toEqual({ kind: 'foreign' })
    })

    test('a time that is 300 seconds off is accepted, and 301 seconds are not, in the past and in the future', async () => {
      if (without.includes('time')) return
      const { callback } = await authentic()
      const order = (await server.sandbox.partners[provider].book.list())[0]!
      const event = wire.event(order, { eventId: 'evt_1', at: 0 })
      const readAt = (offset: number) => {
        const now = callback.receivedAt
        const signed = wire.sign(event, { secret: webhookSecret(), now })
        return readCallback({
          headers: signed.headers,
          body: Buffer.from(signed.body),
          receivedAt: now + offset,
        })
      }
      expect(readAt(300).kind).toBe('order')
      expect(readAt(-300).kind).toBe('order')
      expect(readAt(301)).toEqual({ kind: 'refused', reason: 'timestamp' })
      expect(readAt(-301)).toEqual({ kind: 'refused', reason: 'timestamp' })
    })

    test('a valid timestamp with extra characters before or after it is refused', async () => {
      if (without.includes('time')) return
      const { callback } = await authentic()
      const wrong = (time: string): string[] => [
        `${time}abc`,
        `${time}.5`,
        `0${time}`,
        `+${time}`,
        `0x${time}`,
        `"${time}"`,
      ]
      if (isTimeInBody) {
        // The changed body is signed again.
        const body = callback.body.toString()
        const [, time = ''] = /"ts":(\d{10})\b/.exec(body) ?? []
        const readWith = (changed: string) => {
          const other = body.replace(`"ts":${time}`, `"ts":${changed}`)
          const headers = signRaw(other, callback.receivedAt)
          return readCallback({ ...callback, headers, body: Buffer.from(other) })
        }
        expect(readWith(time).kind).toBe('order')
        for (const changed of [...wrong(time), 'null', `[${time}]`, `-${time}`, ''])
          expect([changed, readWith(changed)]).toEqual([changed, { kind: 'refused', reason: 'format' }])
        return
      }
      const name = signing[0]!
      const value = callback.headers[name]!
      const [time = ''] = /\d{10}/.exec(value) ?? []
      expect(time).not.toBe('')
      for (const changed of [...wrong(time), `${time}e0`]) {
        const headers = { ...callback.headers, [name]: value.replace(time, changed) }
        expect([changed, readCallback({ ...callback, headers })]).toEqual([
          changed,
          { kind: 'refused', reason: 'timestamp' },
        ])
      }
    })

    test('a second signature before or after the valid one is accepted', async () => {
      if (without.includes('time') || without.includes('second signature')) return
      const { callback } = await authentic()
      const orderBothWays = (right: string, wrong: string): string[] => [`${right},${wrong}`, `${wrong},${right}`]
      const name = signing.at(-1)!
      const right = callback.headers[name]!
      const variants = right.startsWith('t=')
        ? [`${right},v1=00`, right.replace(',v1=', ',v1=ffff,v1=')]
        : orderBothWays(right, 'v1=AAAA')
      for (const value of variants)
        expect(readCallback({ ...callback, headers: { ...callback.headers, [name]: value } }).kind).toBe('order')
    })

    test('missing, empty and malformed signatures are refused without an exception', async () => {
      const { callback } = await authentic()
      for (const name of signing)
        for (const value of [undefined, '', ',', 't=', 'v1=', '🙂', 'a'.repeat(10_000), 't=1e9,v1=00', '1795209600abc'])
          expect(readCallback({ ...callback, headers: { ...callback.headers, [name]: value } }).kind).toBe('refused')
      expect(readCallback({ headers: {}, body: new Uint8Array(), receivedAt: 0 }).kind).toBe('refused')
    })

    test('a signed body that is not an event is refused for its format, without an exception', () => {
      const now = Math.floor(Date.now() / 1000)
      const bodies = ['', 'null', '[]', '{}', '{"__proto__":1}', '[['.repeat(500_000), 'x'.repeat(1_100_000), '\u0000']
      for (const body of bodies) {
        const headers = signRaw(body, now)
        expect(readCallback({ headers, body: Buffer.from(body), receivedAt: now }).kind).toBe('refused')
      }
      const invalidUtf8 = Buffer.from([0x7b, 0xff, 0x7d])
      const headers = signRaw(invalidUtf8, now)
      expect(readCallback({ headers, body: invalidUtf8, receivedAt: now })).toEqual({
        kind: 'refused',
        reason: 'format',
      })
    })

    test('no change of body, signature or time is ever accepted (2,000 mutations)', async () => {
      const { callback } = await authentic()
      expect(readCallback(callback).kind).toBe('order')
      // Inserting and repeating are left out for headers: a blank or a second signature there is tolerated by design.
      const mutation = fc.record({ position: fc.nat(), change: fc.integer({ min: 1, max: 255 }) })
      const target = fc.oneof(
        fc.record({
          name: fc.constant('body'),
          how: fc.constantFrom('flip', 'insert', 'remove', 'truncate', 'repeat'),
        }),
        fc.record({
          name: fc.constantFrom(...signing),
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
          expect(readCallback(changed).kind).toBe('refused')
        }),
        { numRuns: 2000 },
      )
    })

    test('callbacks with the old and the new secret are accepted during a rotation', async () => {
      const { callback } = await authentic()
      const body = Buffer.from(callback.body)
      const by = (secret: string) => ({ ...callback, headers: sign(body, secret, callback.receivedAt) })
      const webhookSecrets = ['the new one', webhookSecret()]
      const read = (callback: RawCallback) => server.readCallback(provider, callback, { webhookSecrets })
      expect(read(by(webhookSecret())).kind).toBe('order')
      expect(read(by('the new one')).kind).toBe('order')
      expect(read(by('the one before'))).toEqual({ kind: 'refused', reason: 'signature' })
    })

    test('two callbacks of one event carry one event id', async () => {
      if (without.includes('event id')) return
      const { callbacks } = await paidWith({ fault: 'callbacks_twice' })
      const [first, second] = callbacks.map((callback) => readCallback(callback))
      expect(callbacks).toHaveLength(2)
      expect(first?.kind).toBe('order')
      expect(second).toEqual(first)
    })

    test('an order can be read without any callback', async () => {
      const { attemptId, callbacks } = await paidWith({ fault: 'callbacks_never' })
      expect(callbacks).toEqual([])
      expect((await partner.readOrder({ attemptId, reference }, soon()))?.status).toBe('paid')
    })

    test('a late callback arrives after its time', async () => {
      const { callbacks } = await paidWith({ fault: 'callbacks_late', seconds: 90 })
      expect(callbacks).toHaveLength(0)
      server.advance(91)
      expect(await server.takeCallbacks(provider)).toHaveLength(1)
    })

    test('callbacks out of order report the later state first', async () => {
      const attemptId = await openOrder()
      await server.fault(provider, { fault: 'callbacks_out_of_order', attemptId })
      await server.act(provider, attemptId, { action: 'require_verification' })
      expect(await server.takeCallbacks(provider)).toHaveLength(0)
      await server.act(provider, attemptId, { action: 'verify' })
      const states = (await server.takeCallbacks(provider)).map(({ body }) => Buffer.from(body).toString())
      expect(states).toHaveLength(2)
      expect(states[0]).toMatch(/COMPLETED|"paid"|SUCCESS/)
      expect(states[1]).toMatch(
        /IDENTITY_CHECK|requires_identity|KYC_PENDING|requires_action|CHALLENGED|payment\.authorized|PENDING/,
      )
    })

    test('an authentic callback with a wrong amount only starts a reading, which has the right one', async () => {
      const { attemptId, callbacks } = await paidWith({ fault: 'wrong_amount_callback' })
      if (!without.includes('amount')) expect(callbacks[0]?.body.toString()).toMatch(/49990\.00|4999000/)
      expect(readCallback(callbacks[0]!)).toMatchObject({ kind: 'order', subject: { attemptId } })
      expect((await partner.readOrder({ attemptId, reference }, soon()))?.received?.minor).toBe('499900')
    })

    test('an unanswered callback is sent again after 1 s, 5 s, 30 s, 2 min, then every 10 min for a day', async () => {
      server.receiver.status = 503
      const attemptId = await openOrder()
      await server.act(provider, attemptId, { action: 'pay' })
      const events = new Set<string>()
      const sendings = async () => {
        const callbacks = await server.takeCallbacks(provider)
        for (const callback of callbacks) {
          const reading = readCallback(callback)
          if (reading.kind === 'order') events.add(reading.eventId)
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
      if (!without.includes('event id')) expect(events.size).toBe(1)
    })

    test('a callback that was not delivered survives a restart of the partner', async () => {
      server.receiver.status = 500
      const { attemptId } = await paidWith()
      await server.restart()
      server.receiver.status = 204
      server.advance(1)
      const callbacks = await server.takeCallbacks(provider)
      expect(callbacks.map((callback) => readCallback(callback))).toMatchObject([
        { kind: 'order', subject: { attemptId } },
      ])
      server.advance(86_400)
      expect(await server.takeCallbacks(provider)).toEqual([])
    })
  })
}
