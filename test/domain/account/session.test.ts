import { describe, expect, test } from '@jest/globals'
import {
  ABSOLUTE_MS,
  CODE_TRIES,
  CODE_TRIES_A_DAY,
  CONFIRMED_MS,
  IDLE_MS,
  isConfirmed,
  isOpen,
  KNOWN_BROWSER_SECONDS,
  LINK_MS,
  LINKS_PER_HOUR,
} from '../../../src/domain/account/session.ts'

const HOUR = 3_600_000
const START = 1_790_000_000_000
const SESSION = { createdAt: START, usedAt: START, confirmedAt: START, endedAt: null }

test('the limits of a session are those that people read', () => {
  expect({ ABSOLUTE_MS, CODE_TRIES, CODE_TRIES_A_DAY, CONFIRMED_MS, IDLE_MS, LINK_MS, LINKS_PER_HOUR }).toEqual({
    ABSOLUTE_MS: 24 * HOUR,
    CODE_TRIES: 5,
    CODE_TRIES_A_DAY: 20,
    CONFIRMED_MS: HOUR / 6,
    IDLE_MS: HOUR,
    LINK_MS: HOUR / 4,
    LINKS_PER_HOUR: 5,
  })
})

describe('a session', () => {
  test.each([
    ['used within the hour', { usedAt: START + 5 * HOUR }, 6 * HOUR - 1, true],
    ['used by nobody for an hour', { usedAt: START + 5 * HOUR }, 6 * HOUR, false],
    ['of a day, less a millisecond', { usedAt: START + 24 * HOUR - 2 }, 24 * HOUR - 1, true],
    ['of a day, still in use', { usedAt: START + 24 * HOUR - 1 }, 24 * HOUR, false],
    ['that was ended', { endedAt: START + 1 }, 2, false],
    ['that was ended in the first moment of time', { endedAt: 0 }, 2, false],
  ])('a session is open or not: %s', (_what, times, after, open) => {
    expect(isOpen({ ...SESSION, ...times }, START + after)).toBe(open)
  })

  test('a session counts as confirmed for ten minutes', () => {
    expect(isConfirmed(SESSION, START + HOUR / 6 - 1)).toBe(true)
    expect(isConfirmed(SESSION, START + HOUR / 6)).toBe(false)
  })
})

test('a browser is known for as long as browsers keep a cookie, which is 400 days', () => {
  expect(KNOWN_BROWSER_SECONDS).toBe(34_560_000)
})
