import { expect, test } from '@jest/globals'
import { wordsIn } from '../../src/web/messages/words.ts'

const words = wordsIn('en')

test('amounts have the decimals of ISO 4217, and keep every digit', () => {
  expect(words.money({ minor: '4999', currency: 'EUR' })).toBe('€49.99')
  expect(words.money({ minor: '1200', currency: 'JPY' })).toBe('¥1,200')
  expect(words.money({ minor: '120050', currency: 'HUF' })).toBe('HUF\u00a01,200.50')
  expect(words.money({ minor: '99999999999999999', currency: 'USD' })).toBe('$999,999,999,999,999.99')
})

test('durations are seconds up to 90, then whole minutes', () => {
  expect(words.duration(20)).toBe('20 seconds')
  expect(words.duration(90)).toBe('90 seconds')
  expect(words.duration(91)).toBe('2 minutes')
  expect(words.duration(900)).toBe('15 minutes')
})

test('times say that they are UTC', () => {
  expect(words.dateTime('2026-11-20T12:03:00.000Z').replace(/\s/g, ' ')).toBe('Nov 20, 2026, 12:03 PM UTC')
})

test('values are put in as they are, placeholders in them included', () => {
  expect(words.t('shop.back', { merchant: '{merchant} $& Co' })).toBe('Back to {merchant} $& Co')
})
