import { fileURLToPath } from 'node:url'

const parser = { syntax: 'typescript' }

/** The pure rules need no database, no chain and no server, so a mutant costs little. */
export default {
  rootDir: '../..',
  testEnvironment: fileURLToPath(new URL('environment.cjs', import.meta.url)),
  testSequencer: fileURLToPath(new URL('sequencer.cjs', import.meta.url)),
  testMatch: ['<rootDir>/test/domain/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  // Turns types off and changes nothing else, as in the tests' own configuration.
  transform: { '\\.ts$': ['@swc/jest', { jsc: { target: 'es2023', parser }, module: { type: 'es6' } }] },
}
