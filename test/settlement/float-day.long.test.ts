import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Currency } from '../../src/domain/currencies.ts'
import { convertToMicroUsdc, splitFee } from '../../src/domain/money.ts'
import { createFloatFixture, type FloatFixture, HOUR_MS, type Paid } from './float-fixture.ts'

/** Bridge exchanges the first four. Rupees stay at the partner until an operator exchanges them. */
const CURRENCIES = ['EUR', 'GBP', 'USD', 'MXN', 'INR'] as const satisfies readonly Currency[]
const MORNING: Readonly<Record<(typeof CURRENCIES)[number], string>> = {
  EUR: '1.16',
  GBP: '1.32',
  USD: '0.9998',
  MXN: '0.0545',
  INR: '0.0113',
}
/** About as many minor units as a hundred dollars. */
const PRICES: Readonly<Record<(typeof CURRENCIES)[number], number>> = {
  EUR: 8600,
  GBP: 7600,
  USD: 10_000,
  MXN: 183_500,
  INR: 885_000,
}

const PAYMENTS = 1000
const PER_STEP = 50
const CAPITAL = 60_000_000_000n
const RESERVE = 5_000_000_000n
/** Bridge and the partners keep this many basis points of what the market gives. */
const KEPT = 80n

/** The test's own books, which are compared with the platform's. */
const own = {
  exposed: new Map<string, { units: bigint; cost: bigint }>(),
  owed: 0n,
  paidOut: 0n,
  lost: 0n,
  arrived: 0n,
  gain: 0n,
  spread: 0n,
}

const micro = (units: bigint, currency: Currency, rate: string): bigint =>
  BigInt(convertToMicroUsdc({ minor: units.toString(), currency }, rate))

describe('A day of the float converter, with 1,000 payments in five currencies', () => {
  let fixture: FloatFixture
  const waiting: Paid[] = []
  const handed: Paid[] = []
  beforeAll(async () => {
    fixture = await createFloatFixture({
      reserveMicro: RESERVE.toString(),
      settlementDays: 0,
      leastMicro: '8000000000',
    })
    Object.assign(fixture.rates, MORNING)
    await fixture.arrives(CAPITAL)
  }, 120_000)
  afterAll(() => fixture.close())

  const gross = ({ amount, rate }: Paid): bigint => BigInt(convertToMicroUsdc(amount, rate))

  /** Tries to convert each payment once, and notes what was handed over. */
  async function settleAll(payments: readonly Paid[]): Promise<void> {
    for (const payment of payments) {
      const answer = await fixture.trySettle(payment.id)
      if (answer === 'handed over') {
        handed.push(payment)
        const { net } = splitFee(gross(payment).toString(), '4.5')
        own.owed += BigInt(net)
        const known = own.exposed.get(payment.amount.currency) ?? { units: 0n, cost: 0n }
        own.exposed.set(payment.amount.currency, {
          units: known.units + BigInt(payment.amount.minor),
          cost: known.cost + gross(payment),
        })
      } else {
        expect(answer).toBe('waits: the float is at its reserve')
        waiting.push(payment)
      }
    }
  }

  /** The final chain shows the payouts of all that were handed over. */
  async function proveAll(): Promise<void> {
    const proved = handed.splice(0)
    await fixture.prove(proved.map(({ id }) => id))
    const paid = proved.reduce((sum, payment) => sum + BigInt(splitFee(gross(payment).toString(), '4.5').net), 0n)
    own.owed -= paid
    own.paidOut += paid
  }

  /** Bridge sends the USDC of the open refills, at the market's rate less what it keeps. */
  async function deliverAll(): Promise<void> {
    const open = (await fixture.refills()).filter(({ state }) => state === 'open')
    for (const { currency, units, cost } of open) {
      const market = micro(units, currency as Currency, fixture.rates[currency as Currency]!)
      const brought = (market * (10_000n - KEPT)) / 10_000n
      await fixture.deliver(currency as Currency, brought)
      own.arrived += brought
      own.gain += market - cost
      own.spread += market - brought
      const known = own.exposed.get(currency)!
      own.exposed.set(currency, { units: known.units - units, cost: known.cost - cost })
    }
    fixture.advance(HOUR_MS)
    expect(await fixture.refill()).toBe(open.length)
  }

  /** Exposure, gain, loss and float are the same in the test's books, in the standing, and in the ledger. */
  async function expectBooks(): Promise<void> {
    expect(await fixture.differences()).toEqual([])
    const ledger = await fixture.ledger()
    const { freeMicro, exposures, results } = await fixture.float()
    const treasury = CAPITAL + own.arrived - own.paidOut
    expect([ledger['treasury USDC'], BigInt(freeMicro)]).toEqual([treasury, treasury - own.owed])
    const open = (await fixture.refills()).filter(({ state }) => state === 'open')
    for (const [currency, { units, cost }] of own.exposed) {
      const inFlight = open.find((refill) => refill.currency === currency)
      const free = { units: units - (inFlight?.units ?? 0n), cost: cost - (inFlight?.cost ?? 0n) }
      const shown = exposures.find(({ money }) => money.currency === currency)
      expect([currency, BigInt(shown?.money.minor ?? 0), BigInt(shown?.costMicro ?? 0)]).toEqual([
        currency,
        free.units,
        free.cost,
      ])
      expect([currency, ledger[`conversion ${currency}`] ?? 0n, ledger[`refill ${currency}`] ?? 0n]).toEqual([
        currency,
        -units,
        inFlight?.units ?? 0n,
      ])
    }
    const cost = [...own.exposed.values()].reduce((sum, each) => sum + each.cost, 0n)
    expect([ledger['conversion USDC'] ?? 0n, ledger['exchange USDC'] ?? 0n, ledger['spread USDC'] ?? 0n]).toEqual([
      cost,
      -own.gain,
      own.spread,
    ])
    expect([
      results.reduce((sum, { gainMicro }) => sum + BigInt(gainMicro), 0n),
      results.reduce((sum, { spreadMicro }) => sum + BigInt(spreadMicro), 0n),
    ]).toEqual([own.gain, own.spread])
  }

  test('conversions are filled until the float is at its reserve, and then wait', async () => {
    for (let done = 0; done < PAYMENTS; done += PER_STEP) {
      fixture.advance((24 * HOUR_MS * PER_STEP) / PAYMENTS)
      // In the afternoon the euro loses three percent, and the peso gains as much.
      if (done === PAYMENTS / 2) Object.assign(fixture.rates, { EUR: '1.1252', MXN: '0.056135' })
      const paid = await Promise.all(
        Array.from({ length: PER_STEP }, (_, index) => {
          const currency = CURRENCIES[index % CURRENCIES.length]!
          return fixture.paid({ currency, minor: String(PRICES[currency] + (((done + index) * 37) % 997)) })
        }),
      )
      await settleAll(paid)
      await proveAll()
      await fixture.refill()
      await expectBooks()
    }
    expect(waiting.length).toBeGreaterThan(300)
    const { freeMicro, waiting: shown } = await fixture.float()
    expect(shown.count).toBe(waiting.length)
    // Nothing that was promised is missing: the float is at its reserve, less than one payment above it.
    expect(BigInt(freeMicro)).toBeGreaterThanOrEqual(RESERVE)
    expect(BigInt(freeMicro)).toBeLessThan(RESERVE + 120_000_000n)
    // The refills were asked for hours ago, and their money has not arrived.
    expect((await fixture.refills()).map(({ currency, state }) => `${currency} ${state}`).toSorted()).toEqual([
      'EUR open',
      'GBP open',
      'MXN open',
      'USD open',
    ])
  }, 300_000)

  test('the conversions continue automatically when the late refills arrive, and gain and loss are the ledger’s', async () => {
    await deliverAll()
    await expectBooks()
    expect(own.gain).not.toBe(0n)
    for (let round = 0; round < 12 && waiting.length > 0; round += 1) {
      await settleAll(waiting.splice(0))
      await proveAll()
      await fixture.refill()
      await expectBooks()
      await deliverAll()
      await expectBooks()
    }
    expect([waiting.length, (await fixture.float()).waiting.count]).toEqual([0, 0])
    const { rows } = await fixture.db.query(`select status, count(*)::int as count from payment group by status`)
    expect(rows).toEqual([{ status: 'succeeded', count: PAYMENTS }])
    // Rupees are exposed still: Bridge takes none.
    expect(own.exposed.get('INR')?.units).toBeGreaterThan(0n)
    expect((await fixture.refills()).filter(({ currency }) => currency === 'INR')).toEqual([])
  }, 300_000)
})
