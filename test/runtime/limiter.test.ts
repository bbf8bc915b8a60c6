import { describe, expect, test } from '@jest/globals'
import { createLimiter, type Free, type Limiter } from '../../src/runtime/limiter.ts'

/** Takes a slot for each name, and lists the names in the order in which they get one. */
function takeAll(limiter: Limiter, names: readonly string[]) {
  const begun: string[] = []
  const taken = names.map(async (name) => {
    const free = await limiter.take()
    if (free !== null) begun.push(name)
    return free
  })
  return { begun, taken }
}

const take = async (limiter: Limiter): Promise<Free> => {
  const free = await limiter.take()
  if (free === null) throw new Error('expected a free slot')
  return free
}

describe('A limiter', () => {
  test('slots are given in the order in which they were asked for, and no newcomer is faster', async () => {
    const limiter = createLimiter({ running: 2 })
    const [first, second] = [await take(limiter), await take(limiter)]
    const { begun, taken } = takeAll(limiter, ['third', 'fourth', 'fifth'])
    second()
    const newcomer = limiter.take()
    first()
    const [third, fourth] = await Promise.all(taken.slice(0, 2))
    expect(begun).toEqual(['third', 'fourth'])
    third?.()
    fourth?.()
    expect([await taken[2], await newcomer]).not.toContain(null)
    expect(begun).toEqual(['third', 'fourth', 'fifth'])
  })

  test('work is refused at once if as many wait as can', async () => {
    const limiter = createLimiter({ running: 1, queued: 1 })
    const first = await take(limiter)
    const waiting = limiter.take()
    expect(await limiter.take()).toBeNull()
    first()
    expect(await waiting).not.toBeNull()
  })

  test('each key has its own slots and its own queue', async () => {
    const limiter = createLimiter({ running: 1, queued: 0 })
    const free = await limiter.take({ key: 'one' })
    expect([await limiter.take({ key: 'one' }), await limiter.take({ key: 'other' })]).toEqual([
      null,
      expect.any(Function),
    ])
    free?.()
    expect(await limiter.take({ key: 'one' })).not.toBeNull()
  })

  test('work that has waited too long is refused, and its slot goes to the next', async () => {
    const limiter = createLimiter({ running: 1, waitMs: 5 })
    const first = await take(limiter)
    expect(await limiter.take()).toBeNull()
    const next = limiter.take()
    first()
    expect(await next).not.toBeNull()
  })

  test('an aborted signal ends a wait, makes room in the queue, and takes no slot', async () => {
    const limiter = createLimiter({ running: 1, queued: 1 })
    const first = await take(limiter)
    const over = new AbortController()
    const left = limiter.take({ signal: over.signal })
    over.abort()
    expect(await left).toBeNull()
    const waiting = limiter.take()
    first()
    expect(await waiting).not.toBeNull()
    expect(await createLimiter({}).take({ signal: over.signal })).toBeNull()
  })

  test('no more work starts within a second than the rate allows, and a refusal does not count', async () => {
    let now = 0
    const limiter = createLimiter({ rate: 2, queued: 0 }, () => now)
    const takeAt = async (at: number): Promise<boolean> => {
      now = at
      return (await limiter.take()) !== null
    }
    expect([await takeAt(0), await takeAt(600), await takeAt(700), await takeAt(999)]).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect([await takeAt(1000), await takeAt(1599), await takeAt(1600)]).toEqual([true, false, true])
  })

  test('work that waits for the rate starts in its order when the time has come', async () => {
    let now = 0
    const limiter = createLimiter({ rate: 1 }, () => now)
    await take(limiter)
    now = 995
    const { begun, taken } = takeAll(limiter, ['second', 'third'])
    now = 1000
    await taken[0]
    expect(begun).toEqual(['second'])
    now = 2000
    await taken[1]
    expect(begun).toEqual(['second', 'third'])
  })
})
