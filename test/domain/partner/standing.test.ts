import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  type Asked,
  doubted,
  openedAnOrder,
  type Standing,
  suspected,
  wasAsked,
  working,
} from '../../../src/domain/partner/standing.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const up = working('card_partner')
const suspect = (payment: number, merchant: number, at = 0) => ({
  paymentId: `pay_${payment}`,
  merchantId: `mer_${merchant}`,
  at,
})
const suspects = (count: number, merchants: number): Standing =>
  Array.from({ length: count }, (_, index) => suspect(index, index % merchants)).reduce(suspected, up)
const ask = (standing: Standing, asked: Asked, times = 1): Standing =>
  Array.from({ length: times }).reduce<Standing>((before) => wasAsked(before, asked, before.askAt ?? 0), standing)
const isDown = ({ downSince }: Standing): boolean => downSince !== null

describe('A partner goes down', () => {
  test('a partner goes down after a payment’s failure if three questions are not answered', () => {
    const asked = suspected(up, suspect(1, 1))
    expect(asked.askAt).toBe(5 * SECOND)
    expect([ask(asked, 'silent'), ask(asked, 'silent', 2), ask(asked, 'silent', 3)].map(isDown)).toEqual([
      false,
      false,
      true,
    ])
    expect(ask(asked, 'silent', 3)).toMatchObject({ why: 'silent', falls: 1 })
    expect(ask(asked, 'refuses_us', 3).why).toBe('refuses_us')
  })

  test('a partner goes down if it answers questions, but opens no order for five payments of three merchants', () => {
    expect(ask(suspects(5, 3), 'answered')).toMatchObject({ why: 'opens_nothing' })
    expect(isDown(ask(suspects(4, 3), 'answered'))).toBe(false)
    expect(isDown(ask(suspects(20, 2), 'answered'))).toBe(false)
  })
})

describe('A partner stays up', () => {
  test('one payment does not take a partner down, however often it fails', () => {
    const often = Array.from({ length: 500 }, (_, index) => suspect(1, 1, index)).reduce(suspected, up)
    expect(often.suspects).toHaveLength(1)
    expect(isDown(ask(often, 'answered'))).toBe(false)
  })

  test('the payments of one merchant do not take a partner down, however many', () => {
    const many = suspects(500, 1)
    expect(many.suspects).toHaveLength(20)
    expect(isDown(ask(many, 'answered'))).toBe(false)
  })

  test('failed orders between opened ones do not take a partner down', () => {
    const between = openedAnOrder(suspects(4, 3))
    expect(isDown(ask(suspected(between, suspect(9, 9)), 'answered'))).toBe(false)
  })

  test('failed calls about existing orders do not take a partner down, however many; it is asked anyway', () => {
    const troubled = Array.from({ length: 20 }).reduce<Standing>((before) => doubted(before, 0), up)
    expect(troubled).toEqual({ ...up, askAt: 5 * SECOND })
    expect(ask(troubled, 'answered')).toEqual(up)
    expect(ask(troubled, 'silent', 3).why).toBe('silent')
    const down = ask(troubled, 'silent', 3)
    expect(doubted(down, 0)).toBe(down)
  })

  test('orders that failed long ago do not take a partner down', () => {
    const slowly = Array.from({ length: 10 }, (_, index) => suspect(index, index, index * MINUTE)).reduce(suspected, up)
    expect(isDown(wasAsked(slowly, 'answered', 9 * MINUTE))).toBe(false)
  })

  test('a partner stays up in any sequence if it answers every question and no three merchants have failures', () => {
    const step = fc.oneof(
      fc.record({ payment: fc.nat(50), merchant: fc.nat(1) }),
      fc.constant('asked' as const),
      fc.constant('opened' as const),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        let [standing, now] = [up, 0]
        for (const each of steps) {
          now += SECOND
          if (each === 'asked') standing = wasAsked(standing, 'answered', now)
          else if (each === 'opened') standing = openedAnOrder(standing)
          else standing = suspected(standing, suspect(each.payment, each.merchant, now))
          if (isDown(standing)) return false
        }
        return true
      }),
    )
  })

  test('failures make the system ask a partner every five seconds at most', () => {
    let standing = suspected(up, suspect(1, 1, 0))
    standing = wasAsked(standing, 'answered', 5 * SECOND)
    expect(standing.askAt).toBeNull()
    expect(suspected(standing, suspect(2, 2, 5 * SECOND)).askAt).toBe(10 * SECOND)
  })
})

describe('A partner comes back', () => {
  const down = ask(suspects(1, 1), 'silent', 3)

  test('a partner is up again with the first question that it answers', () => {
    expect(ask(down, 'answered')).toMatchObject({ downSince: null, why: null, suspects: [], askAt: null })
  })

  test('a partner that goes down repeatedly is up again later each time; a good half-hour resets that', () => {
    let standing = down
    for (const needed of [1, 2, 3, 4, 5, 6, 6, 6]) {
      expect([
        needed,
        isDown(ask(standing, 'answered', needed - 1)),
        isDown(ask(standing, 'answered', needed)),
      ]).toEqual([needed, true, false])
      const back = ask(standing, 'answered', needed)
      standing = ask(suspected(back, suspect(1, 1, standing.askAt ?? 0)), 'silent', 3)
    }
    const late = (standing.fellAt ?? 0) + 40 * MINUTE
    const rested = ask(suspected(ask(standing, 'answered', 6), suspect(1, 1, late)), 'silent', 3)
    expect([isDown(rested), rested.falls]).toEqual([true, 1])
  })

  test('a partner that answers only now and then stays down', () => {
    const twice = ask(suspected(ask(down, 'answered'), suspect(1, 1, 20 * SECOND)), 'silent', 3)
    const flapping = ask(ask(ask(twice, 'answered'), 'silent'), 'answered')
    expect(isDown(flapping)).toBe(true)
  })

  test('a partner is open for orders after half a minute, doubled each time that it opens none, up to a quarter of an hour', () => {
    const waits: number[] = []
    let standing = up
    for (let fall = 0; fall < 8; fall++) {
      const at = standing.fellAt === null ? 0 : standing.fellAt + (waits.at(-1) ?? 0)
      for (let index = 0; index < 5; index++) standing = suspected(standing, suspect(index, index, at))
      standing = wasAsked(standing, 'answered', at)
      waits.push(((standing.askAt ?? 0) - at) / SECOND)
      standing = ask(standing, 'answered')
      expect(isDown(standing)).toBe(false)
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 900, 900, 900])
  })

  test('failures during an outage do not count after it', () => {
    expect(suspected(down, suspect(2, 2))).toBe(down)
    expect(ask(suspected(down, suspect(2, 2)), 'answered').suspects).toEqual([])
  })
})

describe('The standing of a partner to the millisecond', () => {
  const start = 1_790_000_000_000
  const fallen = { ...up, downSince: start, why: 'silent', falls: 3, fellAt: start, askAt: start + 10_000 } as const

  test('neither more failures nor failures during the outage postpone a question', () => {
    const asked = doubted(up, start)
    expect(asked).toEqual({ ...up, askAt: start + 5000 })
    expect(doubted(asked, start + 4999)).toBe(asked)
    expect(suspected(asked, suspect(1, 1, start + 4999)).askAt).toBe(start + 5000)
    expect(doubted({ ...fallen, askAt: null }, start)).toEqual({ ...fallen, askAt: null })
  })

  test('an order that is opened clears a partner that is up, and says nothing about one that is down', () => {
    expect(openedAnOrder({ ...up, suspects: [suspect(1, 1)], misses: 2, askAt: 5 })).toEqual({
      ...up,
      misses: 2,
      askAt: 5,
    })
    const opensNothing = { ...fallen, suspects: [suspect(1, 1)] }
    expect(openedAnOrder(opensNothing)).toBe(opensNothing)
  })

  test('two questions without an answer are a disturbance, the third is an outage', () => {
    const once = wasAsked(up, 'silent', start)
    expect(once).toEqual({ ...up, misses: 1, askAt: start + 5000 })
    const twice = wasAsked(once, 'refuses_us', start + 5000)
    expect(twice).toEqual({ ...up, misses: 2, askAt: start + 10_000 })
    expect(wasAsked(twice, 'silent', start + 10_000)).toEqual({
      ...up,
      downSince: start + 10_000,
      why: 'silent',
      falls: 1,
      fellAt: start + 10_000,
      askAt: start + 20_000,
    })
    expect(wasAsked(twice, 'answered', start + 10_000)).toEqual(up)
  })

  test('a partner that is down is asked every ten seconds, and its last answer is the reason', () => {
    const answered = wasAsked({ ...fallen, answers: 1 }, 'answered', start + 10_000)
    expect(answered).toEqual({ ...fallen, answers: 2, askAt: start + 20_000 })
    expect(wasAsked(answered, 'refuses_us', start + 20_000)).toEqual({
      ...fallen,
      why: 'refuses_us',
      answers: 0,
      askAt: start + 30_000,
    })
    expect(wasAsked(answered, 'answered', start + 20_000)).toEqual({ ...up, falls: 3, fellAt: start })
  })

  test('orders are tried after one answer, and only if it answered before', () => {
    expect(isDown(wasAsked({ ...fallen, why: 'opens_nothing' }, 'answered', start))).toBe(false)
    expect(isDown(wasAsked(fallen, 'answered', start))).toBe(true)
  })

  test('after half an hour an outage counts as the first again', () => {
    const back = { ...up, falls: 3, fellAt: start, misses: 2 }
    expect(wasAsked(back, 'silent', start + 30 * MINUTE - 1).falls).toBe(4)
    expect(wasAsked(back, 'silent', start + 30 * MINUTE).falls).toBe(1)
    // Whatever the row says of outages without a time.
    expect(wasAsked({ ...back, fellAt: null }, 'silent', 1000).falls).toBe(1)
  })

  test('a failure of two minutes ago is forgotten', () => {
    const two = [suspect(1, 1, start), suspect(2, 2, start + 1)]
    expect(wasAsked({ ...up, suspects: two }, 'answered', start + 2 * MINUTE).suspects).toEqual(two.slice(1))
    expect(suspected({ ...up, suspects: two }, suspect(3, 3, start + 2 * MINUTE)).suspects).toEqual([
      two[1],
      suspect(3, 3, start + 2 * MINUTE),
    ])
  })
})
