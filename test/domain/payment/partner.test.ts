import { expect, test } from '@jest/globals'
import { fitExpiry } from '../../../src/domain/payment/partner.ts'

const NOW = 1_000_000
const LIFETIME = { least: 1800, most: 86_400 }

test.each([
  ['an expiry that the partner accepts stays', 3600, 3600],
  ['an order that would close too soon closes later, and its payment cancels it', 60, 1800],
  ['an expiry in the past becomes the earliest', -60, 1800],
  ['an order that would live too long closes earlier', 7 * 86_400, 86_400],
])('%s', (_title, asked, fitted) => {
  expect(fitExpiry(NOW + asked, LIFETIME, NOW)).toBe(NOW + fitted)
})

test('a partner without limits gets the expiry of the payment', () => {
  expect(fitExpiry(NOW + 7 * 86_400, undefined, NOW)).toBe(NOW + 7 * 86_400)
})
