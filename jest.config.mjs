/** Turns types off and changes nothing else: the tests run as the ES modules they are. */
const swc = (/** @type {boolean} */ tsx) => [
  '@swc/jest',
  {
    jsc: {
      target: 'es2023',
      parser: { syntax: 'typescript', tsx },
      transform: { react: { runtime: 'automatic', importSource: 'preact' } },
    },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  },
]

export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.{ts,tsx}'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: { '\\.ts$': swc(false), '\\.tsx$': swc(true) },
  modulePathIgnorePatterns: ['<rootDir>/.data/'],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  testSequencer: '<rootDir>/test/support/sequencer.cjs',
  // Real databases, chains and processes: a first start may be slow, and a hang must still end.
  testTimeout: 60_000,
  maxWorkers: 2,
  // A process keeps the modules of every file that it has run. After a hundred files it has 4 GB, and collects garbage
  // for longer than it tests: a new one takes over.
  workerIdleMemoryLimit: '800MB',
}
