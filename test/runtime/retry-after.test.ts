import { expect, test } from '@jest/globals'
import { parseRetryAfter } from '../../src/runtime/retry-after.ts'

const NOW = Date.UTC(2026, 0, 1, 12)

test.each([
  ['0', 0],
  [' 120 ', 120],
  ['Thu, 01 Jan 2026 12:01:30 GMT', 90],
  ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
  [undefined, null],
  ['', null],
  ['-5', null],
  ['1.5', null],
  ['9'.repeat(10), null],
  ['soon', null],
  ['2026-01-01', null],
])('a Retry-After of %p is read as %p seconds', (value, seconds) => {
  expect(parseRetryAfter(value, NOW)).toBe(seconds)
})
