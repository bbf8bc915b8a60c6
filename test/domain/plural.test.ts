import { expect, test } from '@jest/globals'
import { plural } from '../../src/domain/plural.ts'

test('a noun is plural unless it counts one', () => {
  expect([0, 1, 2, 1n, 2n].map((count) => plural(count, 'payment'))).toEqual([
    '0 payments',
    '1 payment',
    '2 payments',
    '1 payment',
    '2 payments',
  ])
  expect(plural(1, 'address', 'addresses')).toBe('1 address')
  expect(plural(2, 'address', 'addresses')).toBe('2 addresses')
})
