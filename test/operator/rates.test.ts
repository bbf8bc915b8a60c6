import { beforeEach, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { acceptRates } from '../../src/db/settlement/accepted-rates.ts'
import { listSettlementAttention } from '../../src/db/settlement/observer/standing.ts'
import { connectRates } from '../../src/deps/shared.ts'
import { acceptRate } from '../../src/operator/rates.ts'
import type { Rate } from '../../src/partners/converter/converter.ts'
import { useFixture } from '../chain/fixture.ts'
import { createOperations } from './operations.ts'

const fixture = useFixture()
const { said, operation } = createOperations(fixture)

describe('A rate that is far from the last one', () => {
  let market: Record<string, string>
  let now: number
  beforeEach(async () => {
    await fixture.db.query('delete from accepted_rate')
    market = { EUR: '1.08', GBP: '1.3' }
    now = 1_000_000_000_000
  })

  const connect = () =>
    connectRates(
      {
        rates: async () =>
          Object.entries(market).map(
            ([currency, rate]) => ({ currency, rate, source: 'test', asOf: new Date(now).toISOString() }) as Rate,
          ),
      },
      { db: fixture.db, clock: () => now, log: pino({ level: 'silent' }) },
    )
  const anHourPasses = () =>
    fixture.db.query("update accepted_rate set accepted_at = accepted_at - interval '61 minutes'")
  const waiting = async () => (await listSettlementAttention(fixture.db)).filter(({ kind }) => kind === 'rate_refused')

  test('it is not used by any process, also after a restart, and other currencies continue', async () => {
    expect((await connect().current('EUR')).rate).toBe('1.08')
    market['EUR'] = '108'
    for (const rates of [connect(), connect()]) {
      await expect(rates.current('EUR')).rejects.toThrow('there is no current rate of EUR')
      expect((await rates.current('GBP')).rate).toBe('1.3')
    }
    expect(await waiting()).toMatchObject([{ subject: 'EUR', detail: '1.08 USDC before, 108 now' }])
  })

  test('the rate from before is not used in its place', async () => {
    const rates = connect()
    await rates.current('EUR')
    market['EUR'] = '0.0108'
    now += 60_000
    expect((await rates.current('GBP')).rate).toBe('1.3')
    await expect(rates.current('EUR')).rejects.toThrow('there is no current rate of EUR')
  })

  test('the only rate is not used either when it is far from the last one', async () => {
    market = { EUR: '1.08' }
    const rates = connect()
    expect((await rates.current('EUR')).rate).toBe('1.08')
    market['EUR'] = '2.16'
    now += 60_000
    await expect(rates.current('EUR')).rejects.toThrow('there is no current rate of EUR')
  })

  test('payments continue when the source is near the old rate again, and nobody needs to act', async () => {
    await acceptRates(fixture.db, [{ currency: 'EUR', rate: '1.08' }])
    expect(await acceptRates(fixture.db, [{ currency: 'EUR', rate: '2' }])).toEqual(new Set())
    expect(await acceptRates(fixture.db, [{ currency: 'EUR', rate: '1.1' }])).toEqual(new Set(['EUR']))
    expect(await waiting()).toEqual([])
    // It is compared with the rate of an hour ago, not with the last step.
    expect(await acceptRates(fixture.db, [{ currency: 'EUR', rate: '1.36' }])).toEqual(new Set())
  })

  test('many near steps go no further than one in an hour', async () => {
    const offer = (rate: string) => acceptRates(fixture.db, [{ currency: 'EUR', rate }])
    await offer('1')
    expect((await offer('1.25')).size).toBe(1)
    expect((await offer('1.26')).size).toBe(0)
    expect((await offer('0.8')).size).toBe(1)
    expect((await offer('0.79')).size).toBe(0)
    await anHourPasses()
    expect((await offer('1.25')).size).toBe(1)
    expect((await offer('1.5')).size).toBe(1)
    expect((await offer('0.9')).size).toBe(0)
  })

  test('two processes that start with different rates agree on one', async () => {
    const offers = ['1.08', '108', '1.08', '108'].map((rate) => acceptRates(fixture.db, [{ currency: 'EUR', rate }]))
    await Promise.all(offers)
    const [first, second] = await Promise.all(
      ['1.08', '108'].map((rate) => acceptRates(fixture.db, [{ currency: 'EUR', rate }])),
    )
    expect([first?.size, second?.size].filter((size) => size === 1)).toHaveLength(1)
  })

  test('an operator accepts it, and the act is recorded', async () => {
    await acceptRates(fixture.db, [{ currency: 'EUR', rate: '1.08' }])
    market['EUR'] = '1.5'
    await expect(connect().current('EUR')).rejects.toThrow('no current rate')
    expect(await acceptRate(operation(), { currency: 'EUR', rate: '1.5' })).toBe(0)
    expect(said).toEqual(['rates of EUR are compared with 1.5 USDC from now on'])
    expect((await connect().current('EUR')).rate).toBe('1.5')
    expect(await waiting()).toEqual([])
    const { rows } = await fixture.db.query("select data from operator_action where kind = 'settlement.accept_rate'")
    expect(rows).toEqual([{ data: { subject: 'EUR 1.5' } }])
  })

  test.each([
    ['EURO', '1.5', 'EURO must be a currency'],
    ['EUR', '-1', '-1 must be a rate'],
    ['EUR', '0.00', '0.00 must be a rate'],
    ['EUR', '1,08', '1,08 must be a rate'],
  ])('the command refuses %s %s', async (currency, rate, words) => {
    await expect(acceptRate(operation(), { currency, rate })).rejects.toThrow(words)
    expect((await fixture.db.query('select 1 from accepted_rate')).rows).toEqual([])
  })
})
