import { expect, test } from '@jest/globals'
import { createStall } from '../../../src/chain/observer/stall.ts'

test('a standstill is told once a minute, also after the clock was set back', () => {
  let now = 10_000_000
  const told: unknown[] = []
  const log = { info: () => undefined, error: () => undefined, warn: (about: object) => void told.push(about) }
  const stall = createStall({ log, clock: () => new Date(now) }, 'this')
  const after = (ms: number): number => {
    now += ms
    stall.goesOn('why')
    return told.length
  }
  expect([after(0), after(59_000), after(1000), after(59_000), after(1000)]).toEqual([0, 0, 1, 1, 2])
  after(-3_600_000)
  expect([after(59_000), after(1000)].at(-1)).toBeGreaterThanOrEqual(3)
})
