export type Tally = { passed: number; failed: number }

export const NONE: Tally = { passed: 0, failed: 0 }

export const add = (a: Tally, b: Tally): Tally => ({ passed: a.passed + b.passed, failed: a.failed + b.failed })

/** The counted fields of Jest's `--json` output. */
export type JestResult = {
  success: boolean
  numPassedTests: number
  numFailedTests: number
  /** Files that failed before any of their tests ran. */
  numRuntimeErrorTestSuites: number
}

/** A file that could not run counts as one failure. So does a run that failed without a failed test. */
export function tallyOf({ success, numPassedTests, numFailedTests, numRuntimeErrorTestSuites }: JestResult): Tally {
  const failed = numFailedTests + numRuntimeErrorTestSuites
  return { passed: numPassedTests, failed: success ? failed : Math.max(1, failed) }
}
