import { describe, expect, test } from '@jest/globals'
import { countResults } from '../../../scripts/test/tally.ts'

const RESULT = { success: true, numPassedTests: 3, numFailedTests: 0, numRuntimeErrorTestSuites: 0, testResults: [] }

describe('The tally of a test run', () => {
  test('the tally counts passed and failed tests, and a file that could not run', () => {
    expect(countResults(RESULT)).toEqual({ passed: 3, failed: 0, seconds: {} })
    const failed = { ...RESULT, success: false, numFailedTests: 2, numRuntimeErrorTestSuites: 1 }
    expect(countResults(failed)).toMatchObject({ passed: 3, failed: 3 })
  })

  test.each([
    ['in which no test ran', { numPassedTests: 0 }],
    ['that failed otherwise', { success: false }],
  ])('the tally lists a failed test: %s', (_what, changes) => {
    expect(countResults({ ...RESULT, ...changes }).failed).toBe(1)
  })
})
