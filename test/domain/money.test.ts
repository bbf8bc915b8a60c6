import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { CURRENCIES, type Currency, getDecimals } from '../../src/domain/currencies.ts'
import {
  add,
  atMost,
  compareAt,
  compareReceived,
  convertCurrency,
  convertFromMicroUsdc,
  convertToMicroUsdc,
  convertToMicroUsdcUp,
  convertWholeUsdc,
  formatAmount,
  formatPol,
  formatUsdc,
  grouped,
  groupedAmount,
  isMore,
  isWithinPercent,
  isZero,
  parseAmount,
  parseUsdc,
  readPercent,
  roundToTwoDigits,
  splitFee,
  subtract,
} from '../../src/domain/money.ts'

const currency = fc.constantFrom(...CURRENCIES)
const minor = fc.bigInt({ min: 1n, max: 10n ** 12n - 1n })
/** A rate in millionths: `1_080_000` is 1.08. */
const millionths = fc.integer({ min: 1, max: 2_000_000 })
const toRate = (rate: number): string => `${Math.floor(rate / 1_000_000)}.${String(rate % 1_000_000).padStart(6, '0')}`

describe('Currencies', () => {
  test('every currency has the decimals of ISO 4217, which are those of Intl for all but two', () => {
    // In cash nobody pays their cents, and Intl follows the practice.
    const practice: Record<string, number> = { COP: 0, HUF: 0 }
    for (const code of CURRENCIES) {
      const { maximumFractionDigits } = new Intl.NumberFormat('en', {
        style: 'currency',
        currency: code,
      }).resolvedOptions()
      expect([code, maximumFractionDigits]).toEqual([code, practice[code] ?? getDecimals(code)])
    }
    expect([getDecimals('COP'), getDecimals('HUF')]).toEqual([2, 2])
  })
})

describe('Amounts', () => {
  test('a formatted amount is read back to the same minor units', () => {
    fc.assert(
      fc.property(currency, minor, (code, units) => {
        const text = formatAmount({ minor: units.toString(), currency: code })
        expect(parseAmount(text, code)).toEqual({ ok: true, money: { minor: units.toString(), currency: code } })
      }),
    )
  })

  test.each([
    ['49.99', 'EUR', '4999'],
    ['49.9', 'EUR', '4990'],
    ['1200', 'JPY', '1200'],
    ['1200', 'HUF', '120000'],
    ['0.01', 'USD', '1'],
    ['0.29', 'USD', '29'],
    ['1.1', 'USD', '110'],
  ] as const)('%s %s is %s minor units', (text, code, units) => {
    expect(parseAmount(text, code)).toEqual({ ok: true, money: { minor: units, currency: code } })
  })

  test.each([
    ['', 'EUR', 'format'],
    ['-1', 'EUR', 'format'],
    ['+1', 'EUR', 'format'],
    ['1e3', 'EUR', 'format'],
    ['01', 'EUR', 'format'],
    ['1.', 'EUR', 'format'],
    ['.5', 'EUR', 'format'],
    ['1,5', 'EUR', 'format'],
    ['NaN', 'EUR', 'format'],
    ['Infinity', 'EUR', 'format'],
    [' 1', 'EUR', 'format'],
    ['١', 'EUR', 'format'],
    ['1234567890123', 'EUR', 'format'],
    ['1.001', 'EUR', 'precision'],
    ['1.0', 'JPY', 'precision'],
    ['0', 'EUR', 'zero'],
    ['0.00', 'EUR', 'zero'],
  ] as const)('%p %s is refused: %s', (text, code, problem) => {
    expect(parseAmount(text, code)).toEqual({ ok: false, problem })
  })

  test('USDC is written with exactly six decimals and read back', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 20n }),
        (micro) => parseUsdc(formatUsdc(micro.toString())) === micro.toString(),
      ),
    )
    expect(formatUsdc('1')).toBe('0.000001')
  })

  test.each(['1.5', '1.0000001', '1', '.000001', 'x1.000000', '1.000000x', '-1.000000', ''])(
    'USDC is not read from %j',
    (text) => expect(() => parseUsdc(text)).toThrow(new RangeError('USDC amounts have exactly six decimals')),
  )

  test('a loss is written with its sign', () => {
    expect(formatUsdc('-1500000')).toBe('-1.500000')
    expect([0n, 99_999_999_999_999n, 1_234_567_000_000_000_000n].map(formatPol)).toEqual(['0.0000', '0.0000', '1.2345'])
    expect(formatAmount({ minor: '-1', currency: 'EUR' })).toBe('-0.01')
    expect(formatAmount({ minor: '-1', currency: 'JPY' })).toBe('-1')
  })

  test.each([
    ['0', '0'],
    ['999', '999'],
    ['1000', '1,000'],
    ['1234567', '1,234,567'],
    ['1249.00', '1,249.00'],
    ['100.123456', '100.123456'],
    ['-1249.5', '-1,249.5'],
    ['-100', '-100'],
  ])('people read %s as %s: a comma for each three digits of the whole part', (decimal, text) => {
    expect(grouped(decimal)).toBe(text)
  })

  test('people read an amount with the decimals of its currency', () => {
    expect(groupedAmount({ minor: '124900', currency: 'EUR' })).toBe('1,249.00')
    expect(groupedAmount({ minor: '124900', currency: 'JPY' })).toBe('124,900')
  })

  test.each([
    ['863412', '870000', '860000'],
    ['870000', '870000', '870000'],
    ['860001', '870000', '860000'],
    ['995', '1000', '990'],
    ['12', '12', '12'],
    ['7', '7', '7'],
  ])('%s minor units with two digits are %s rounded up, and %s rounded down', (units, up, down) => {
    const amount = { minor: units, currency: 'EUR' as Currency }
    expect(roundToTwoDigits(amount, 'up')).toEqual({ minor: up, currency: 'EUR' })
    expect(roundToTwoDigits(amount, 'down')).toEqual({ minor: down, currency: 'EUR' })
  })

  test('an amount is more than another by its value, and not if both are equal', () => {
    const euros = (units: string) => ({ minor: units, currency: 'EUR' as Currency })
    expect([isMore(euros('10'), euros('9')), isMore(euros('9'), euros('10')), isMore(euros('9'), euros('9'))]).toEqual([
      true,
      false,
      false,
    ])
  })

  test('sums are exact beyond the range of a number', () => {
    expect(add('9007199254740992', '1')).toBe('9007199254740993')
    expect(add('1', '-3')).toBe('-2')
  })

  test('differences and zero are exact beyond the range of a number', () => {
    expect(subtract('9007199254740993', '1')).toBe('9007199254740992')
    expect(subtract('1', '3')).toBe('-2')
    expect(['0', '-0', '1', '-1'].map(isZero)).toEqual([true, true, false, false])
  })
})

describe('The fee', () => {
  test('the fee of EUR 100 at 1.08 is 4.86: gross 108, net 103.14', () => {
    const gross = convertToMicroUsdc({ minor: '10000', currency: 'EUR' }, '1.08')
    expect(splitFee(gross, '4.5')).toEqual({ gross: '108000000', fee: '4860000', net: '103140000' })
  })

  test('the fee and the net sum to the gross, and the fee is the percentage rounded down, whatever both are', () => {
    const percents = fc.bigInt({ min: 0n, max: 5000n })
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), percents, (gross, hundredths) => {
        const percent = readPercent(`${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`, 50) ?? ''
        const { fee, net } = splitFee(gross.toString(), percent)
        expect(BigInt(fee) + BigInt(net)).toBe(gross)
        expect(BigInt(fee) * 10_000n <= gross * hundredths).toBe(true)
        expect(BigInt(fee) * 10_000n > gross * hundredths - 10_000n).toBe(true)
      }),
    )
  })

  test('a percentage has one spelling, at most two decimals, and a maximum', () => {
    expect(['4.5', '4.50', '4', '4.00', '0', '0.05', '12.25'].map((text) => readPercent(text, 50))).toEqual([
      '4.5',
      '4.5',
      '4',
      '4',
      '0',
      '0.05',
      '12.25',
    ])
    for (const text of ['', '-1', '+4', '04', '4.', '.5', '4.555', '50.01', '51', '1e1', '4,5', ' 4', '٤'])
      expect(readPercent(text, 50)).toBeNull()
    expect(readPercent('100', 100)).toBe('100')
    expect(readPercent('100.01', 100)).toBeNull()
  })

  test('a negative amount has no fee', () => {
    expect(() => splitFee('-1', '4.5')).toThrow(new RangeError('an amount is not negative'))
    expect(splitFee('0', '4.5')).toEqual({ gross: '0', fee: '0', net: '0' })
  })

  test('the fee is exact for amounts at which floating point is not', () => {
    // Math.floor(gross * 0.045) is one micro-USDC short for these.
    for (const gross of ['29000000', '57000000', '113000000'])
      expect(splitFee(gross, '4.5').fee).toBe(((BigInt(gross) * 45n) / 1000n).toString())
  })
})

describe('Conversion', () => {
  test('whole USDC are converted to micro-USDC', () => {
    expect([0, 1, 1_000_000_000].map(convertWholeUsdc)).toEqual(['0', '1000000', '1000000000000000'])
  })

  test('a conversion floors to whole micro-USDC and never gives more than the rate', () => {
    fc.assert(
      fc.property(currency, minor, millionths, (code, units, rate) => {
        const micro = BigInt(convertToMicroUsdc({ minor: units.toString(), currency: code }, toRate(rate)))
        const exact = units * BigInt(rate)
        const scale = 10n ** BigInt(getDecimals(code))
        expect(micro * scale <= exact).toBe(true)
        expect((micro + 1n) * scale > exact).toBe(true)
      }),
    )
  })

  test('a conversion does not multiply a currency without decimals by 100', () => {
    expect(convertToMicroUsdc({ minor: '1000', currency: 'JPY' }, '0.0067')).toBe('6700000')
    expect(convertToMicroUsdc({ minor: '1000', currency: 'USD' }, '1')).toBe('10000000')
  })

  test('USDC becomes the most minor units whose conversion does not exceed it', () => {
    fc.assert(
      fc.property(currency, minor, millionths, (code, micro, rate) => {
        const money = convertFromMicroUsdc(micro.toString(), code, toRate(rate))
        const cost = (units: bigint) => units * BigInt(rate)
        const worth = micro * 10n ** BigInt(getDecimals(code))
        expect(money.currency).toBe(code)
        expect(cost(BigInt(money.minor)) <= worth).toBe(true)
        expect(cost(BigInt(money.minor) + 1n) > worth).toBe(true)
      }),
    )
    expect(convertFromMicroUsdc('6700000', 'JPY', '0.0067')).toEqual({ minor: '1000', currency: 'JPY' })
  })

  test('what must be paid for an amount is its conversion, rounded up to a whole micro-USDC', () => {
    fc.assert(
      fc.property(currency, minor, millionths, (code, units, rate) => {
        const micro = BigInt(convertToMicroUsdcUp({ minor: units.toString(), currency: code }, toRate(rate)))
        const exact = units * BigInt(rate)
        const scale = 10n ** BigInt(getDecimals(code))
        expect(micro * scale >= exact).toBe(true)
        expect((micro - 1n) * scale < exact).toBe(true)
      }),
    )
    expect(convertToMicroUsdcUp({ minor: '10000', currency: 'EUR' }, '1.08')).toBe('108000000')
    expect(convertToMicroUsdcUp({ minor: '1', currency: 'EUR' }, '0.00000101')).toBe('1')
  })

  test('a conversion between currencies uses both rates', () => {
    expect(convertCurrency({ minor: '10000', currency: 'USD' }, 'INR', { from: '1', to: '0.0119' })).toEqual({
      minor: '840336',
      currency: 'INR',
    })
    expect(convertCurrency({ minor: '500', currency: 'EUR' }, 'EUR', { from: '1', to: '1' })).toEqual({
      minor: '500',
      currency: 'EUR',
    })
  })

  test('a comparison at rates is exact at the limit', () => {
    const limit = { minor: '600', currency: 'EUR' as Currency }
    expect(compareAt({ minor: '600', currency: 'EUR' }, limit, { a: '1.08', b: '1.08' })).toBe(0)
    expect(compareAt({ minor: '648', currency: 'USD' }, limit, { a: '1', b: '1.08' })).toBe(0)
    expect(compareAt({ minor: '647', currency: 'USD' }, limit, { a: '1', b: '1.08' })).toBe(-1)
    expect(compareAt({ minor: '649', currency: 'USD' }, limit, { a: '1', b: '1.08' })).toBe(1)
  })

  test('an amount in its own currency needs no rate', () => {
    expect(convertCurrency({ minor: '500', currency: 'EUR' }, 'EUR', { from: '', to: '' }).minor).toBe('500')
  })

  test('a rate can have twelve digits before and after the point', () => {
    expect(convertToMicroUsdc({ minor: '100', currency: 'EUR' }, '123456789012.000001000000')).toBe(
      '123456789012000001',
    )
  })

  test.each(['-1', '1e3', '', 'abc', '1.', '.5', ' 1', '1 ', '1.0000000000001', '1234567890123'])(
    '%p is not a rate',
    (rate) =>
      expect(() => convertToMicroUsdc({ minor: '1', currency: 'EUR' }, rate)).toThrow(
        new RangeError(`not a rate: ${rate}`),
      ),
  )

  test.each(['0', '0.0'])('the rate %p is refused', (rate) => {
    expect(() => convertToMicroUsdc({ minor: '1', currency: 'EUR' }, rate)).toThrow(
      new RangeError('a rate is more than zero'),
    )
  })
})

describe('The received amount', () => {
  const asked = { minor: '10000', currency: 'EUR' as Currency }
  test.each([
    ['10000', 'exact'],
    ['9900', 'exact'],
    ['9899', 'underpaid'],
    ['10001', 'overpaid'],
    ['0', 'underpaid'],
  ])('%s of 10000 is %s with a tolerance of 1 %%', (received, verdict) => {
    expect(compareReceived(asked, received, 1)).toBe(verdict)
  })
  test('without tolerance one unit short is underpaid', () => {
    expect(compareReceived(asked, '9999', 0)).toBe('underpaid')
  })
})

describe('A difference of at most some percent', () => {
  test.each([
    ['9800', true],
    ['9799', false],
    ['10200', true],
    ['10201', false],
    ['10000', true],
    ['0', false],
  ])('%s against 10000 with 2 %%: %s', (amount, isWithin) => {
    expect(isWithinPercent(amount, '10000', 2)).toBe(isWithin)
  })
  test('with 0 % no difference is allowed, and for zero no amount', () => {
    expect(isWithinPercent('10000', '10000', 0)).toBe(true)
    expect(isWithinPercent('10001', '10000', 0)).toBe(false)
    expect(isWithinPercent('0', '0', 2)).toBe(true)
    expect(isWithinPercent('1', '0', 20)).toBe(false)
  })
})

test('the lesser of two amounts is decided by their value, and not by their digits', () => {
  expect([atMost('9', '10'), atMost('10', '9'), atMost('7', '7'), atMost('-3', '2')]).toEqual(['9', '9', '7', '-3'])
})
