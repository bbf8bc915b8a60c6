import { createServer } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { CURRENCIES } from '../../src/domain/currencies.ts'
import { convertToMicroUsdc } from '../../src/domain/money.ts'
import { newId } from '../../src/ids.ts'
import type { Converter, Rate } from '../../src/partners/converter/converter.ts'
import { CLOCK_SKEW_SECONDS, createRates, MAX_RATE_AGE_SECONDS } from '../../src/partners/converter/rates.ts'
import { createConverter } from '../../src/partners/converter/simple-converter.ts'
import { PartnerError } from '../../src/partners/provider.ts'
import { listen, postJson, type SandboxServer, soon, startSandboxServer } from './sandbox-server.ts'

let server: SandboxServer
let converter: Converter
beforeAll(async () => {
  server = await startSandboxServer()
})
afterAll(() => server.close())
beforeEach(async () => {
  converter = server.converter()
  await fetch(`${server.url}/converter/sandbox/faults`, { method: 'DELETE' })
})

describe('the converter', () => {
  const readRate = async (currency: string): Promise<string> => {
    const rate = (await converter.rates(soon())).find((each) => each.currency === currency)
    if (rate === undefined) throw new Error(`no rate of ${currency}`)
    return rate.rate
  }
  const newOrder = async (minor = '499900', currency: 'EUR' | 'JPY' = 'EUR') => ({
    key: `${newId('payment')}:convert`,
    amount: { minor, currency },
    rate: await readRate(currency),
  })
  const getErrorKind = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'no trouble',
      (error: unknown) => (error instanceof PartnerError ? error.kind : `not ours: ${String(error)}`),
    )

  test('every currency of a charge has a rate, as decimal text', async () => {
    const rates = await converter.rates(soon())
    expect(rates.map((rate) => rate.currency).toSorted()).toEqual([...CURRENCIES].toSorted())
    for (const rate of rates)
      expect(() => convertToMicroUsdc({ minor: '100', currency: rate.currency }, rate.rate)).not.toThrow()
  })

  test('rates move slowly, and are the same for the same time', async () => {
    const before = await readRate('EUR')
    expect(await readRate('EUR')).toBe(before)
    server.advance(120)
    const after = await readRate('EUR')
    expect(after).not.toBe(before)
    expect(Math.abs(Number(after) / Number(before) - 1)).toBeLessThan(0.012)
  })

  test('a fill is within ten basis points of the requested rate, and whole micro-USDC', async () => {
    for (const currency of ['EUR', 'JPY'] as const) {
      const order = await newOrder('499900', currency)
      const fill = await converter.convert(order, soon())
      if (fill.kind !== 'filled') throw new Error('expected a fill')
      expect(fill.microUsdc).toMatch(/^[1-9]\d*$/)
      const asked = BigInt(convertToMicroUsdc(order.amount, order.rate))
      const difference = BigInt(fill.microUsdc) - asked
      expect((difference < 0n ? -difference : difference) * 1000n).toBeLessThanOrEqual(asked)
    }
  })

  test('a repeated call with the same key makes one conversion', async () => {
    const order = await newOrder()
    const first = await converter.convert(order, soon())
    server.advance(600)
    expect(await converter.convert(order, soon())).toEqual(first)
  })

  test('the same key with another amount is refused and makes no second conversion', async () => {
    const order = await newOrder()
    const first = await converter.convert(order, soon())
    const other = { ...order, amount: { ...order.amount, minor: '1' } }
    expect(await getErrorKind(converter.convert(other, soon()))).toBe('unknown')
    expect(await converter.convert(order, soon())).toEqual(first)
  })

  test('a timeout after the effect does not buy twice', async () => {
    await server.fault('converter', { fault: 'timeout_after_effect', operation: 'convert', times: 1 })
    const order = await newOrder()
    expect(await getErrorKind(converter.convert(order, soon()))).toBe('unknown')
    const bought = async () => (await (await fetch(`${server.url}/converter/sandbox/conversions`)).json()) as object[]
    const before = (await bought()).length
    expect((await converter.convert(order, soon())).kind).toBe('filled')
    expect((await bought()).length).toBe(before)
  })

  test('a pending conversion is filled later', async () => {
    const order = await newOrder()
    await server.fault('converter', { fault: 'delay', attemptId: order.key, seconds: 90, times: 1 })
    expect(await converter.convert(order, soon())).toEqual({ kind: 'pending', retryAfterSeconds: 90 })
    server.advance(90)
    expect((await converter.convert(order, soon())).kind).toBe('filled')
  })

  test('a refusal is a result, and the same key can be tried again', async () => {
    const order = await newOrder()
    await server.fault('converter', { fault: 'conversion_refused', times: 1 })
    expect(await converter.convert(order, soon())).toEqual({ kind: 'refused', reason: 'the market is closed' })
    expect((await converter.convert(order, soon())).kind).toBe('filled')
  })

  test('a currency with a rate of zero has no rate, and the others have theirs', async () => {
    const answer = { as_of: new Date().toISOString(), source: 'market', rates: { EUR: '1.08', CLP: '0.000' } }
    const strange = createServer((_request, response) => response.end(JSON.stringify(answer)))
    const elsewhere = createConverter({ url: await listen(strange), secret: 'x' })
    expect((await elsewhere.rates(soon())).map(({ currency }) => currency)).toEqual(['EUR'])
    strange.closeAllConnections()
    strange.close()
  })

  test('a response about another conversion has an unknown result', async () => {
    const strange = createServer((_request, response) => {
      response.end('{"status":"filled","id":"fill_1","key":"another","bought_micro_usdc":"5"}')
    })
    const elsewhere = createConverter({ url: await listen(strange), secret: 'x' })
    expect(await getErrorKind(elsewhere.convert(await newOrder(), soon()))).toBe('unknown')
    strange.closeAllConnections()
    strange.close()
  })

  test('a rate far from the market is refused', async () => {
    expect((await converter.convert({ ...(await newOrder()), rate: '5' }, soon())).kind).toBe('refused')
  })

  test('errors have their kind: 500, 429, a wrong secret, an aborted call', async () => {
    await server.fault('converter', { fault: 'server_error', times: 1 })
    expect(await getErrorKind(converter.rates(soon()))).toBe('unknown')
    await server.fault('converter', { fault: 'throttle', times: 1 })
    expect(await getErrorKind(converter.rates(soon()))).toBe('throttled')
    const stranger = createConverter({ url: `${server.url}/converter`, secret: 'not-the-secret' })
    expect(await getErrorKind(stranger.rates(soon()))).toBe('misconfigured')
    expect(await getErrorKind(converter.rates(AbortSignal.abort()))).toBe('unknown')
  })

  test('a conversion survives a restart of the converter', async () => {
    const order = await newOrder()
    const fill = await converter.convert(order, soon())
    await server.restart()
    expect(await converter.convert(order, soon())).toEqual(fill)
  })

  test('unknown faults are refused with the reason', async () => {
    const answer = await postJson(`${server.url}/converter/sandbox/faults`, { fault: 'explode' })
    expect(answer.status).toBe(400)
  })

  test('the simulator can return the rates of some time ago, with their time', async () => {
    await server.fault('converter', { fault: 'old_rates', seconds: 700, times: 1 })
    const [old] = await converter.rates(soon())
    expect(server.now() - Date.parse(old?.asOf ?? '')).toBe(700_000)
    const [present] = await converter.rates(soon())
    expect(server.now() - Date.parse(present?.asOf ?? '')).toBe(0)
  })

  test('the simulator can fill an order far off the requested rate, and then keeps that fill', async () => {
    const order = await newOrder()
    await server.fault('converter', { fault: 'fill_off_rate', minor: '1', times: 1, attemptId: order.key })
    const fill = await converter.convert(order, soon())
    expect(fill).toMatchObject({ kind: 'filled', microUsdc: '1' })
    expect(await converter.convert(order, soon())).toEqual(fill)
  })

  describe('Cached rates', () => {
    const at = (ms: number) => new Date(ms).toISOString()
    const setUp = () => {
      const fixture = { now: 1_000_000_000, calls: 0, isDown: false, madeAt: 1_000_000_000, rate: '1.1' }
      const rates = createRates(
        {
          rates: async () => {
            fixture.calls += 1
            if (fixture.isDown) throw new PartnerError('unknown', 'down')
            const rate: Rate = { currency: 'EUR', rate: fixture.rate, source: 'test', asOf: at(fixture.madeAt) }
            return [rate]
          },
        },
        { refreshSeconds: 15, clock: () => fixture.now, accept: async (all) => all },
      )
      return { fixture, rates }
    }

    test('concurrent callers share one call', async () => {
      const { fixture, rates } = setUp()
      await Promise.all(Array.from({ length: 50 }, () => rates.current('EUR')))
      expect(fixture.calls).toBe(1)
      fixture.now += 15_000
      fixture.rate = '1.2'
      const both = await Promise.all([rates.current('EUR'), rates.current('EUR')])
      expect(both.map(({ rate }) => rate)).toEqual(['1.2', '1.2'])
      expect(fixture.calls).toBe(2)
    })

    test('while the converter is down, older rates are used for up to ten minutes', async () => {
      const { fixture, rates } = setUp()
      // Fetched now, but made a minute ago: its own time counts.
      fixture.madeAt = fixture.now - 60_000
      expect((await rates.current('EUR')).rate).toBe('1.1')
      fixture.isDown = true
      fixture.now = fixture.madeAt + MAX_RATE_AGE_SECONDS * 1000
      expect((await rates.current('EUR')).rate).toBe('1.1')
      fixture.now += 1
      await expect(rates.current('EUR')).rejects.toThrow('there is no current rate of EUR')
    })

    test('a rate that is old when it is fetched is not used', async () => {
      const { fixture, rates } = setUp()
      fixture.madeAt = fixture.now - MAX_RATE_AGE_SECONDS * 1000 - 1
      await expect(rates.current('EUR')).rejects.toThrow('there is no current rate of EUR')
      fixture.madeAt += 1
      fixture.now += 5000
      await expect(rates.current('EUR')).rejects.toThrow('there is no current rate of EUR')
      fixture.madeAt = fixture.now
      fixture.now += 5000
      expect((await rates.current('EUR')).asOf).toBe(at(fixture.madeAt))
    })

    test('a rate that becomes old is requested again, however recently it was fetched', async () => {
      const { fixture, rates } = setUp()
      fixture.madeAt = fixture.now - MAX_RATE_AGE_SECONDS * 1000
      await rates.current('EUR')
      fixture.now += 1
      fixture.madeAt = fixture.now
      fixture.rate = '1.2'
      expect((await rates.current('EUR')).rate).toBe('1.2')
    })

    test('an old response does not replace a newer one', async () => {
      const { fixture, rates } = setUp()
      await rates.current('EUR')
      fixture.now += 15_000
      fixture.madeAt = fixture.now - MAX_RATE_AGE_SECONDS * 1000 - 1
      fixture.rate = '1.2'
      expect((await rates.current('EUR')).rate).toBe('1.1')
      expect(fixture.calls).toBe(2)
    })

    test('a rate from the future is used only within the difference of clocks', async () => {
      const { fixture, rates } = setUp()
      fixture.madeAt = fixture.now + CLOCK_SKEW_SECONDS * 1000 + 1
      await expect(rates.current('EUR')).rejects.toThrow('there is no current rate of EUR')
      fixture.now += 5000
      fixture.madeAt = fixture.now + CLOCK_SKEW_SECONDS * 1000
      expect((await rates.current('EUR')).rate).toBe('1.1')
    })

    test('not every caller calls a converter that is down', async () => {
      const { fixture, rates } = setUp()
      await rates.current('EUR')
      fixture.isDown = true
      fixture.now += 60_000
      for (let caller = 0; caller < 20; caller += 1) await rates.current('EUR')
      expect(fixture.calls).toBe(2)
      fixture.isDown = false
      fixture.now += 5000
      await rates.current('EUR')
      expect(fixture.calls).toBe(3)
    })

    test('not every caller calls a converter whose rates are old', async () => {
      const { fixture, rates } = setUp()
      fixture.madeAt = 0
      for (let caller = 0; caller < 20; caller += 1)
        await expect(rates.current('EUR')).rejects.toThrow('no current rate')
      expect(fixture.calls).toBe(1)
    })

    test('a currency that the converter does not know has no rate, while another has one', async () => {
      const { rates } = setUp()
      await expect(rates.current('JPY')).rejects.toThrow('there is no current rate of JPY')
      expect((await rates.current('EUR')).rate).toBe('1.1')
    })
  })
})

describe('Canceling an order at the converter', () => {
  const newOrder = () => ({
    key: `${newId('payment')}:convert`,
    amount: { minor: '499900', currency: 'EUR' } as const,
    rate: '1.16',
  })

  describe('An order that is no longer needed', () => {
    test('canceling an unknown order prevents a purchase under its key, even after a restart', async () => {
      const order = newOrder()
      expect(await converter.cancel(order.key, soon())).toEqual({ kind: 'canceled' })
      await server.restart()
      expect(await converter.convert(order, soon())).toEqual({ kind: 'refused', reason: 'the order was canceled' })
      expect(await converter.cancel(order.key, soon())).toEqual({ kind: 'canceled' })
    })

    test('canceling a filled order returns its fill', async () => {
      const order = newOrder()
      const fill = await converter.convert(order, soon())
      expect(await converter.cancel(order.key, soon())).toEqual(fill)
    })

    test('canceling an order that is being filled is pending until it is filled', async () => {
      const order = newOrder()
      await server.fault('converter', { fault: 'delay', attemptId: order.key, seconds: 90, times: 1 })
      await converter.convert(order, soon())
      expect(await converter.cancel(order.key, soon())).toEqual({ kind: 'pending', retryAfterSeconds: 90 })
      server.advance(90)
      expect((await converter.cancel(order.key, soon())).kind).toBe('filled')
    })

    test('canceling at a converter without that call has an unknown result, never a canceled order', async () => {
      const old = createServer((_request, response) => {
        response.statusCode = 404
        response.end('{"error":"not found"}')
      })
      const elsewhere = createConverter({ url: await listen(old), secret: 'x' })
      await expect(elsewhere.cancel('pay_1:convert', soon())).rejects.toMatchObject({ kind: 'unknown' })
      old.closeAllConnections()
      old.close()
    })
  })
})
