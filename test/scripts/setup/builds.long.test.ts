import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { Step } from '../../../scripts/setup/progress.mjs'
import { TEMPORAL } from '../../../scripts/setup/temporal/temporal-server.ts'
import { TEST_SERVER } from '../../../scripts/setup/temporal/test-server.ts'

/** A build with empty caches takes 6 minutes on two idle cores. */
const BUILD_MS = 30 * 60_000
const STEP: Step = { update: () => undefined, done: () => undefined, fail: () => undefined }

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pinrail-built-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test.each([TEMPORAL, TEST_SERVER])(
  'the last source of the $title builds a program that runs',
  async ({ sources, name, findProblem }) => {
    await sources.at(-1)?.make(folder, STEP)
    expect(await findProblem(join(folder, 'bin', name))).toBeNull()
  },
  BUILD_MS,
)
