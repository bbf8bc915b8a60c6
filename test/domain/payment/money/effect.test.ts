import { expect, test } from '@jest/globals'
import { nothing, takesAway } from '../../../../src/domain/payment/money/effect.ts'
import { effect, order, paidBy, paidOrder, part } from './order-story.ts'

test('an answer without news moves nothing, and leaves what is said of the payment', () => {
  expect(nothing('open')).toEqual({
    attempt: 'open',
    failureCode: null,
    moves: [],
    exception: undefined,
    park: null,
    parts: [],
    partsBecome: null,
    money: 'none',
    besides: [],
    voidsPayout: false,
    incident: null,
  })
})

test('an answer takes money away that says less than is known, whatever else came with it', () => {
  const confirmed = { status: 'confirmed' } as const
  expect(takesAway(effect(paidBy(), confirmed, paidOrder('4990')))).toBe(true)
  expect(takesAway(effect(paidBy(), confirmed, order({ status: 'refunded' })))).toBe(true)
  expect(takesAway(effect(paidBy(), confirmed, paidOrder()))).toBe(false)
  expect(takesAway(effect(paidBy(), confirmed, paidOrder('5010')))).toBe(false)
  const both = [part('10'), part('-10', { kind: 'reversal_outside', state: 'reversed' })]
  expect(takesAway({ ...nothing('confirmed'), parts: both })).toBe(true)
})
