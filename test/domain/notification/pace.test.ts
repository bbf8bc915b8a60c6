import { describe, expect, test } from '@jest/globals'
import {
  DIGEST_SIZE,
  MOST_A_MINUTE,
  type Situation,
  type Waiting,
  whatNext,
} from '../../../src/domain/notification/pace.ts'

const NOW = 1_790_000_000_000
const SECOND = 1000

const waiting = (count: number, fields: Partial<Waiting> = {}): Waiting[] =>
  Array.from({ length: count }, (_each, index) => ({ id: `n${index + 1}`, urgent: false, delayed: false, ...fields }))
const sent = (count: number, { secondsAgo = 10, digest = false } = {}) =>
  Array.from({ length: count }, () => ({ at: NOW - secondsAgo * SECOND, digest }))
const next = (situation: Partial<Situation>) =>
  whatNext({ now: NOW, waiting: [], recent: [], quietUntil: null, ...situation })
const alone = (id: string) => ({ kind: 'send', ids: [id], digest: false })
const together = (count: number) => ({ kind: 'send', ids: waiting(count).map(({ id }) => id), digest: true })

test('the pace is ten messages a minute, and 500 notifications in one message', () => {
  expect([MOST_A_MINUTE, DIGEST_SIZE]).toEqual([10, 500])
})

test('without waiting notifications nothing is sent', () => {
  expect(next({})).toEqual({ kind: 'nothing' })
  expect(next({ recent: sent(10), quietUntil: NOW + 1 })).toEqual({ kind: 'nothing' })
})

describe('Few notifications', () => {
  test.each([
    [1, 0],
    [10, 0],
    [1, 9],
    [5, 5],
  ])(
    '%i waiting notifications, after %i in the last minute, are sent one by one, the oldest first',
    (count, before) => {
      expect(next({ waiting: waiting(count), recent: sent(before) })).toEqual(alone('n1'))
    },
  )

  test('a message from more than a minute ago does not count', () => {
    expect(next({ waiting: waiting(1), recent: sent(10, { secondsAgo: 60 }) })).toEqual(alone('n1'))
    expect(next({ waiting: waiting(1), recent: sent(10, { secondsAgo: 59.999 }) })).toEqual({
      kind: 'wait',
      until: NOW + 1,
    })
  })
})

describe('Many notifications', () => {
  test.each([
    [11, 0],
    [2, 9],
    [6, 5],
  ])('%i waiting notifications, after %i in the last minute, are sent as a digest', (count, before) => {
    expect(next({ waiting: waiting(count), recent: sent(before) })).toEqual(together(count))
  })

  test('after ten messages within a minute notifications wait until the oldest is a minute old', () => {
    const recent = [...sent(4, { secondsAgo: 50 }), ...sent(6, { secondsAgo: 5 })]
    expect(next({ waiting: waiting(3), recent })).toEqual({ kind: 'wait', until: NOW + 10 * SECOND })
  })

  test('a digest follows the last one after a minute', () => {
    const recent = [...sent(1, { secondsAgo: 40, digest: true }), ...sent(1, { secondsAgo: 20, digest: true })]
    expect(next({ waiting: waiting(12), recent })).toEqual({ kind: 'wait', until: NOW + 40 * SECOND })
  })

  test('a full digest is sent at once', () => {
    const recent = sent(1, { secondsAgo: 20, digest: true })
    expect(next({ waiting: waiting(DIGEST_SIZE - 1), recent })).toEqual({ kind: 'wait', until: NOW + 40 * SECOND })
    expect(next({ waiting: waiting(DIGEST_SIZE), recent })).toEqual(together(DIGEST_SIZE))
  })
})

describe('Quiet hours and the pace', () => {
  const quietUntil = NOW + 3600 * SECOND

  test('quiet hours hold everything that is not urgent', () => {
    expect(next({ waiting: waiting(12), quietUntil })).toEqual({ kind: 'wait', until: quietUntil })
  })

  test('quiet hours do not hold notifications about the wallet, keys or sign-in: each is sent alone, whatever was sent before', () => {
    const mixed = [...waiting(2), { id: 'urgent', urgent: true, delayed: false }]
    expect(next({ waiting: mixed, quietUntil, recent: sent(30) })).toEqual(alone('urgent'))
  })

  test('quiet hours are followed by one digest of the notifications that they delayed', () => {
    expect(next({ waiting: waiting(2, { delayed: true }) })).toEqual(together(2))
    expect(next({ waiting: waiting(1, { delayed: true }) })).toEqual(alone('n1'))
    const one = [...waiting(1, { delayed: true }), { id: 'n2', urgent: false, delayed: false }]
    expect(next({ waiting: one })).toEqual(alone('n1'))
  })
})
