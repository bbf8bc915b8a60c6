import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { CURRENCIES, type Currency, getDecimals } from '../../src/domain/currencies.ts'
import { formatAmount, grouped, groupedAmount } from '../../src/domain/money.ts'
import { asciiDigits, readTypedAmount, readTypedNumber } from '../../src/domain/typed-amount.ts'
import { LOCALES } from '../../src/web/messages/locales.ts'
import { wordsIn } from '../../src/web/messages/words.ts'

const eur = (text: string) => {
  const read = readTypedAmount(text, 'EUR')
  return read.ok ? formatAmount(read.money) : read.problem
}

describe('An amount in euros', () => {
  test.each([
    ['12.5', '12.50'],
    ['12,5', '12.50'],
    [' 49.90 ', '49.90'],
    ['1250', '1250.00'],
    ['1.250,00', '1250.00'],
    ['1,250.00', '1250.00'],
    ['1 250,00', '1250.00'],
    ['1 250', '1250.00'],
    ['1\u00a0250,5', '1250.50'],
    ['1\u202f250,5', '1250.50'],
    ["1'250.50", '1250.50'],
    ['1’250.50', '1250.50'],
    ['1.250.000', '1250000.00'],
    ['1,250,000.5', '1250000.50'],
    ['1,00,000', '100000.00'],
    ['10,00,000.25', '1000000.25'],
    ['€49.90', '49.90'],
    ['49,90 €', '49.90'],
    ['EUR 49.90', '49.90'],
    ['49.90eur', '49.90'],
    ['€ 1.250,00', '1250.00'],
    ['\u200e€\u00a01,250.00\u200f', '1250.00'],
    ['١٢٫٥', '12.50'],
    ['١٬٢٥٠٫٥٠', '1250.50'],
    ['۱۲٫۵', '12.50'],
    ['१२.५०', '12.50'],
    ['４９．９０', '49.90'],
    ['৪৯.৯০', '49.90'],
    ['4\u200b9.90', '49.90'],
    ['\u202d€49.90\u202c', '49.90'],
    ['12،5', '12.50'],
    ['12,50 Eur.', '12.50'],
    [`${' '.repeat(59)}5`, '5.00'],
  ])('%j is read as %s', (text, amount) => {
    expect(eur(text)).toBe(amount)
  })

  test.each([
    ['1.250', 'ambiguous'],
    ['1,250', 'ambiguous'],
    ['١٢٣,٤٥٦', 'ambiguous'],
    ['€1,250', 'ambiguous'],
    ['$12.50', 'currency'],
    ['12.50 USD', 'currency'],
    ['₹ 100', 'currency'],
    ['12.345', 'ambiguous'],
    ['1250.500', 'precision'],
    ['0.125', 'precision'],
    ['12.3456', 'precision'],
    ['0', 'zero'],
    ['0,00', 'zero'],
    ['', 'format'],
    ['abc', 'format'],
    ['-5', 'format'],
    ['+5', 'format'],
    ['1e3', 'format'],
    ['0x10', 'format'],
    ['5²', 'format'],
    ['½', 'format'],
    ['①②', 'format'],
    ['.50', 'format'],
    ['EUR.50', 'format'],
    ['5.', 'format'],
    ['1.2.3', 'format'],
    ['12 50', 'format'],
    ["1,250'000", 'format'],
    ['1,250,00', 'format'],
    ['01.50', 'format'],
    ["1250'000", 'format'],
    ['5 bananas', 'format'],
    ['$5 bananas', 'currency'],
    [`${' '.repeat(60)}5`, 'format'],
    [`${' '.repeat(5000)}5`, 'format'],
    ['9'.repeat(40), 'format'],
  ])('%j is refused: %s', (text, problem) => {
    expect(eur(text)).toBe(problem)
  })

  test('an amount with two readings is refused with the amount that grouping gives', () => {
    expect(readTypedAmount('1.250', 'EUR')).toEqual({
      ok: false,
      problem: 'ambiguous',
      grouped: { minor: '125000', currency: 'EUR' },
    })
  })
})

test.each<[string, Currency]>([
  ['kr. 12', 'DKK'],
  ['12 dkr', 'DKK'],
  ['12 د.إ', 'AED'],
])('the amount %j in %s has a sign of the language in which it is written', (text, currency) => {
  expect(readTypedAmount(text, currency)).toStrictEqual({ ok: true, money: { minor: '1200', currency } })
})

test('a number is read without blanks and hidden characters, and with the number that its sign can group', () => {
  expect(readTypedNumber(' 1\u202e2\u200b.5 ', 2)).toStrictEqual({ ok: true, decimal: '12.5' })
  expect(readTypedNumber('1.250', 2)).toStrictEqual({ ok: false, problem: 'ambiguous', grouped: '1250' })
})

test.each(['1,250', '1.250', '1 250', '¥1,250', '￥1,250', '1250', '１，２５０'])(
  'in yen, which have no decimals, %j can only be 1250',
  (text) => {
    expect(readTypedAmount(text, 'JPY')).toEqual({ ok: true, money: { minor: '1250', currency: 'JPY' } })
  },
)

const money = fc
  .tuple(fc.constantFrom<Currency>(...CURRENCIES), fc.integer({ min: 1, max: 99_999_999 }))
  .map(([currency, minor]) => ({ minor: String(minor), currency }))

test.each(LOCALES)('any amount that a page in %s shows is accepted when it is typed', (locale) => {
  const words = wordsIn(locale)
  for (const currency of CURRENCIES)
    for (const minor of ['7', '700', '125000', '862000', '99999999']) {
      const shown = words.money({ minor, currency })
      expect({ shown, read: readTypedAmount(shown, currency) }).toEqual({
        shown,
        read: { ok: true, money: { minor, currency } },
      })
    }
})

test('any amount that a form shows is accepted when it is typed', () => {
  fc.assert(
    fc.property(money, (amount) => {
      for (const shown of [formatAmount(amount), groupedAmount(amount), `${groupedAmount(amount)} ${amount.currency}`])
        expect(readTypedAmount(shown, amount.currency)).toEqual({ ok: true, money: amount })
    }),
  )
})

const systems = Intl.supportedValuesOf('numberingSystem').filter((system) => {
  const digits = new Intl.NumberFormat(`en-u-nu-${system}`, { useGrouping: false }).format(1_234_567_890)
  return /^\p{Nd}{10}$/u.test(digits)
})

test('the digits of every script are read by their value', () => {
  expect(systems.length).toBeGreaterThan(50)
  for (const system of systems) {
    const format = new Intl.NumberFormat(`en-u-nu-${system}`, { useGrouping: false })
    expect([system, asciiDigits(format.format(1_234_567_890))]).toEqual([system, '1234567890'])
  }
})

test('an amount in any script, with any grouping of its language, is read with its value', () => {
  const languages = ['en', 'de', 'de-CH', 'fr', 'hi', 'en-IN', 'ar-EG', 'fa', 'bn', 'sv', 'pl', 'pt-BR', 'ja']
  fc.assert(
    fc.property(money, fc.constantFrom(...languages), (amount, language) => {
      const decimals = getDecimals(amount.currency)
      const format = new Intl.NumberFormat(language, {
        minimumFractionDigits: decimals,
        maximumFractionDigits: decimals,
      })
      const shown = format.format(formatAmount(amount) as Intl.StringNumericLiteral)
      expect({ shown, read: readTypedAmount(shown, amount.currency) }).toEqual({
        shown,
        read: { ok: true, money: amount },
      })
    }),
  )
})

test('reading any typed text never throws, and a read amount is a plain decimal', () => {
  const character = fc.constantFrom(...Array.from("0123456789.,' €$EUR-٫٬١٢\u00a0\u200b"))
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: character }))
  fc.assert(
    fc.property(text, fc.constantFrom(0, 2), (typed, decimals) => {
      const read = readTypedNumber(typed, decimals)
      if (read.ok) expect(read.decimal).toMatch(/^\d+(?:\.\d+)?$/)
    }),
  )
})

test('a number with a comma between thousands is shown with groups of three', () => {
  expect(['7', '1250.5', '1250000'].map(grouped)).toEqual(['7', '1,250.5', '1,250,000'])
})
