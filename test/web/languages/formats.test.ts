import { expect, test } from '@jest/globals'
import { wordsIn } from '../../../src/web/messages/words.ts'

const words = wordsIn('en')

test('amounts have the decimals of ISO 4217, and keep every digit', () => {
  expect(words.money({ minor: '4999', currency: 'EUR' })).toBe('€49.99')
  expect(words.money({ minor: '1200', currency: 'JPY' })).toBe('¥1,200')
  expect(words.money({ minor: '120050', currency: 'HUF' })).toBe('HUF\u00a01,200.50')
  expect(words.money({ minor: '99999999999999999', currency: 'USD' })).toBe('$999,999,999,999,999.99')
})

test('durations are seconds below a minute, then whole minutes', () => {
  expect(words.about(1)).toBe('about 1 second')
  expect(words.about(20)).toBe('about 20 seconds')
  expect(words.about(60)).toBe('about 1 minute')
  expect(words.about(61)).toBe('about 2 minutes')
  expect(words.about(900)).toBe('about 15 minutes')
  // One, few, many; and in Arabic two has its own form.
  expect([60, 120, 300].map((seconds) => wordsIn('pl').about(seconds))).toEqual([
    'około 1 minuty',
    'około 2 minut',
    'około 5 minut',
  ])
  expect([120, 180].map((seconds) => wordsIn('ar').about(seconds))).toEqual(['نحو دقيقتين', 'نحو 3 دقائق'])
})

test('times are in the zone of the buyer’s country, and in UTC with its name if there are several zones or none is known', () => {
  const at = '2026-11-20T12:03:12.000Z'
  const inGermany = wordsIn('en', 'DE')
  expect(inGermany.moment(at, 'time')).toBe('13:03')
  expect(inGermany.moment(at, 'seconds')).toBe('13:03:12')
  expect(inGermany.moment(at, 'day')).toBe('20 Nov, 13:03')
  expect(inGermany.moment(at, 'long')).toBe('20 November 2026 at 13:03 (Germany)')
  expect(wordsIn('en', 'IN').moment(at, 'time')).toBe('17:33')
  expect(words.moment(at, 'time')).toBe('12:03 UTC')
  expect(wordsIn('en', 'US').moment(at, 'time')).toBe('12:03 UTC')
})

test('values are inserted unchanged, including placeholders in them', () => {
  expect(words.t('shop.back', { merchant: '{merchant} $& Co' })).toBe('Back to {merchant} $& Co')
})

test('amounts, moments, countries and currencies are those of the language', () => {
  const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ').replace(/[\u200e\u200f\u061c]/g, '')
  const price = { minor: '123456', currency: 'EUR' } as const
  expect(plain(wordsIn('de').money(price))).toBe('1.234,56 €')
  expect(plain(wordsIn('fr').money(price))).toBe('1 234,56 €')
  expect(plain(wordsIn('hi').money({ minor: '12345678', currency: 'INR' }))).toBe('₹1,23,456.78')
  expect(plain(wordsIn('ar').money(price))).toBe('1,234.56 €')
  expect(plain(wordsIn('sv', 'SE').moment('2026-11-20T12:03:12.000Z', 'time'))).toBe('13:03')
  expect(wordsIn('el').country('DE')).toBe('Γερμανία')
  expect(wordsIn('de').currency('INR')).toBe('Indische Rupie')
  expect(wordsIn('fr').currency('INR')).toBe('roupies indiennes')
})

test('in Arabic a name in Latin letters is isolated, so that the text around it stays in its place', () => {
  expect(wordsIn('ar').t('shop.back', { merchant: 'Veena (EU)' })).toBe('العودة إلى \u2068Veena (EU)\u2069')
  expect(wordsIn('de').t('shop.back', { merchant: 'Veena (EU)' })).toBe('Zurück zu Veena (EU)')
})
