import { expect, test } from '@jest/globals'
import { isSame } from '../../src/domain/equality.ts'

test.each<[string, unknown, unknown]>([
  ['the same text', 'a', 'a'],
  ['the same bigint', 1n, 1n],
  ['null', null, null],
  ['an object with its keys in another order', { a: 1, b: { c: [1, null] } }, { b: { c: [1, null] }, a: 1 }],
])('%s is the same', (_what, left, right) => {
  expect([isSame(left, right), isSame(right, left)]).toEqual([true, true])
})

test.each<[string, unknown, unknown]>([
  ['a number and its text', 1, '1'],
  ['null and an empty object', null, {}],
  ['an object with another value', { a: { b: 1 } }, { a: { b: 2 } }],
  ['an object with one value of two changed', { a: 1, b: 2 }, { a: 1, b: 3 }],
  ['an object with one more key', { a: 1 }, { a: 1, b: undefined }],
  ['an object with another key', { a: undefined }, { b: undefined }],
  ['an array in another order', [1, 2], [2, 1]],
])('%s is not the same', (_what, left, right) => {
  expect([isSame(left, right), isSame(right, left)]).toEqual([false, false])
})
