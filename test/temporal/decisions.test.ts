import { expect, test } from '@jest/globals'
import { outcomeOf } from '../../src/temporal/decisions.ts'

test('a decision that may have been carried out before is not told as done', () => {
  expect(outcomeOf({ status: 'processing', message: 'approve: recorded' })).toEqual({
    kind: 'done',
    status: 'processing',
    message: 'approve: recorded',
  })
  expect(outcomeOf({ status: 'processing', message: 'approve: tried before', unsure: true })).toEqual({
    kind: 'unknown',
    message: 'approve: tried before',
  })
})
