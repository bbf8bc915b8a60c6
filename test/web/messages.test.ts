import { expect, test } from '@jest/globals'
import { wordsIn } from '../../src/web/messages/words.ts'

const words = wordsIn('en')

test('amounts have the decimals of ISO 4217, and keep every digit', () => {
  expect(words.money({ minor: '4999', currency: 'EUR' })).toBe('€49.99')
  expect(words.money({ minor: '1200', currency: 'JPY' })).toBe('¥1,200')
  expect(words.money({ minor: '120050', currency: 'HUF' })).toBe('HUF\u00a01,200.50')
  expect(words.money({ minor: '99999999999999999', currency: 'USD' })).toBe('$999,999,999,999,999.99')
})

test('durations are seconds below a minute, then whole minutes', () => {
  expect(words.duration(20)).toBe('20 seconds')
  expect(words.duration(60)).toBe('1 minute')
  expect(words.duration(61)).toBe('2 minutes')
  expect(words.duration(900)).toBe('15 minutes')
})

test('times are in the zone of the buyer’s country, and say UTC where it is not one zone or not known', () => {
  const at = '2026-11-20T12:03:12.000Z'
  const inGermany = wordsIn('en', 'DE')
  expect(inGermany.moment(at, 'time')).toBe('13:03')
  expect(inGermany.moment(at, 'seconds')).toBe('13:03:12')
  expect(inGermany.moment(at, 'day')).toBe('20 Nov, 13:03')
  expect(inGermany.moment(at, 'long')).toBe('20 November 2026 at 13:03 (Berlin)')
  expect(wordsIn('en', 'IN').moment(at, 'time')).toBe('17:33')
  expect(words.moment(at, 'time')).toBe('12:03 UTC')
  expect(wordsIn('en', 'US').moment(at, 'time')).toBe('12:03 UTC')
})

test('values are put in as they are, placeholders in them included', () => {
  expect(words.t('shop.back', { merchant: '{merchant} $& Co' })).toBe('Back to {merchant} $& Co')
})
