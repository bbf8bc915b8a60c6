export type Tally = {
  readonly passed: number
  readonly failed: number
  /** Seconds that the files of each folder of `test` took, one after the other. */
  readonly seconds: Readonly<Record<string, number>>
}

export const NONE: Tally = { passed: 0, failed: 0, seconds: {} }

export function add(a: Tally, b: Tally): Tally {
  const seconds = { ...a.seconds }
  for (const [folder, more] of Object.entries(b.seconds)) seconds[folder] = (seconds[folder] ?? 0) + more
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, seconds }
}

/** The fields of Jest's `--json` output that are counted. */
export type JestResult = {
  success: boolean
  numPassedTests: number
  numFailedTests: number
  /** Files that failed before any of their tests ran. */
  numRuntimeErrorTestSuites: number
  /** Unix milliseconds. */
  testResults: readonly { name: string; startTime: number; endTime: number }[]
}

/** Counts a file that could not run as one failure, and a run that failed without a failed test, or had no test. */
export function countResults(result: JestResult): Tally {
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites
  const seconds: Record<string, number> = {}
  for (const { name, startTime, endTime } of result.testResults) {
    const folder = /\/test\/([^/]+)\//.exec(name)?.[1] ?? 'test'
    seconds[folder] = (seconds[folder] ?? 0) + (endTime - startTime) / 1000
  }
  const isRight = result.success && result.numPassedTests > 0
  return { passed: result.numPassedTests, failed: isRight ? failed : Math.max(1, failed), seconds }
}

/** Lists the folders of a run and their seconds, the slowest first. */
export function describeTimes({ seconds }: Tally): string {
  const slowestFirst = Object.entries(seconds).toSorted(([, a], [, b]) => b - a)
  return slowestFirst.map(([folder, taken]) => `${taken.toFixed(0).padStart(5)} s  test/${folder}\n`).join('')
}
