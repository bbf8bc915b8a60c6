import { fileURLToPath } from 'node:url'
import base from '../../jest.config.mjs'

/** The pure rules need no database, no chain and no server, so a mutant costs little. */
export default {
  rootDir: '../..',
  testEnvironment: fileURLToPath(new URL('environment.cjs', import.meta.url)),
  testMatch: ['<rootDir>/test/domain/**/*.test.ts'],
  extensionsToTreatAsEsm: base.extensionsToTreatAsEsm,
  transform: base.transform,
}
