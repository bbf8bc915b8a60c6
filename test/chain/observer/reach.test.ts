import { describe, expect, test } from '@jest/globals'
import { createReach } from '../../../src/chain/observer/reach.ts'
import { createStall } from '../../../src/chain/observer/stall.ts'

describe('how many blocks are read at once', () => {
  const asked = async (open: number, answers: readonly ('read' | 'not read' | 'throws')[]): Promise<number[]> => {
    const reach = createReach(1000)
    const blocks: number[] = []
    for (const answer of answers)
      await reach
        .read(open, async (count) => {
          blocks.push(count)
          if (answer === 'throws') throw new Error('more than can be asked in time')
          return answer === 'read' ? 'logs' : null
        })
        .catch(() => null)
    return blocks
  }

  const times = <T>(count: number, what: T): T[] => Array.from({ length: count }, () => what)

  test('is half as much after each failure, and anew after a single block, which fails for another reason', async () => {
    expect(await asked(5000, times(11, 'not read'))).toEqual([1000, 500, 250, 125, 62, 31, 15, 7, 3, 1, 1000])
    expect(await asked(5000, ['throws', 'not read', 'read'])).toEqual([1000, 500, 250])
  })

  test('is twice as much after a success, and as much as failed only after eight of them', async () => {
    const answers = [...times(3, 'not read' as const), ...times(9, 'read' as const), 'not read', 'read'] as const
    const small = times(8, 125)
    expect(await asked(5000, answers)).toEqual([1000, 500, 250, ...small, 250, 500, 250])
    expect(await asked(5000, times(3, 'read'))).toEqual([1000, 1000, 1000])
  })

  test('gets smaller from what there was to be read, and a short range that is read makes it no smaller', async () => {
    expect(await asked(40, ['not read', 'not read', 'read', 'read'])).toEqual([40, 20, 10, 10])
    const reach = createReach(1000)
    await reach.read(3, async () => 'logs')
    expect(await reach.read(5000, async (blocks) => blocks)).toBe(1000)
  })
})

describe('the warning of a standstill', () => {
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
})
