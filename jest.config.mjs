/**
 * Removes the types and changes nothing else.
 * @param {{ tsx: boolean, module: 'commonjs' | 'es6' }} options
 */
const swc = ({ tsx, module }) => [
  '@swc/jest',
  {
    jsc: {
      target: 'es2023',
      experimental: { keepImportAttributes: true },
      parser: { syntax: 'typescript', tsx },
      transform: { react: { runtime: 'automatic', importSource: 'preact' } },
    },
    module: { type: module },
    sourceMaps: 'inline',
  },
]

/** @param {'commonjs' | 'es6'} module */
const transform = (module) => ({
  '\\.m?[jt]s$': swc({ tsx: false, module }),
  '\\.tsx$': swc({ tsx: true, module }),
})

const shared = { testEnvironment: 'node', modulePathIgnorePatterns: ['<rootDir>/.data/'] }

/** Folders whose tests are of rules and texts: no process, no socket, no service. */
const PURE = ['domain', 'notify', 'web'].map((folder) => `**/test/${folder}/**/*.test.{ts,tsx}`)
const LONG = ['**/test/**/*.long.test.ts']

/** Runs without Node's VM modules, so packages that are ES modules alone are transformed as well. */
const pure = {
  ...shared,
  displayName: 'pure',
  testMatch: PURE,
  transform: transform('commonjs'),
  transformIgnorePatterns: ['/node_modules/(?!(intl-messageformat|@formatjs|preact)/)'],
}

/** Tests against real parts, which run as the ES modules that they are, and share the services of the run. */
const system = {
  ...shared,
  transform: transform('es6'),
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
}

/**
 * `pure` and `system` are `npm test`. `long` is `npm run test:long`: what starts whole systems, or shows something only
 * now and then.
 */
export default {
  projects: [
    pure,
    {
      ...system,
      displayName: 'system',
      testMatch: ['**/test/**/*.test.{ts,tsx}', ...[...PURE, ...LONG].map((pattern) => `!${pattern}`)],
    },
    { ...system, displayName: 'long', testMatch: LONG },
  ],
  testSequencer: '<rootDir>/test/support/sequencer.cjs',
  // Real databases, chains and processes: a first start may be slow, and a hang must still end.
  testTimeout: 60_000,
  // One more than the two cores that a runner has: tests also wait for services.
  maxWorkers: 3,
  // A new process for each file, because Node keeps the ES modules of each file that a process has run, about 70 MB.
  workerIdleMemoryLimit: '1MB',
}
