import { expect, test } from '@jest/globals'
import { getFailure, PARTS, REST_CAUSES } from '../../../src/domain/settlement/part.ts'
import { part } from './well.ts'

test('the failure of a part counts for two minutes after its report', () => {
  const failing = { failure: 'no node answers' }
  expect(getFailure(part('signing', { ...failing, reportedSeconds: 120 }))).toBe('no node answers')
  expect(getFailure(part('signing', { ...failing, reportedSeconds: 121 }))).toBeNull()
  expect(getFailure(part('signing', { reportedSeconds: 1 }))).toBeNull()
})

test('parts and causes of a rest are stored under these names', () => {
  expect(PARTS).toEqual(['observing', 'deposits', 'signing', 'sending'])
  expect(REST_CAUSES).toEqual(['token_paused', 'treasury_blacklisted', 'treasury_delegated', 'gas_above_cap'])
})
