import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Progress } from '../../../scripts/setup/progress.mjs'
import { prepareFor } from '../../../scripts/test/needs.ts'

const lines: string[] = []
const progress: Progress = {
  line: (text) => lines.push(text),
  step: () => ({ update: () => undefined, done: () => undefined, fail: () => undefined }),
}
const environment = { ...process.env }
beforeEach(() => {
  lines.splice(0)
  delete process.env['CI']
  process.env['CHROMIUM'] = '/nowhere'
})
afterEach(() => {
  process.env = { ...environment }
})

describe('Tests that need a missing program', () => {
  test('tests that need a missing program are left out, and the reason names the program and the files', async () => {
    const { jestArgs, reasons } = await prepareFor(['test/browser/links.test', 'test/domain'], progress)
    expect(jestArgs).toEqual(['--testPathIgnorePatterns', '/node_modules/', 'test/browser/links.test.ts'])
    expect(reasons).toEqual([
      'left out, because Chromium cannot be used (CHROMIUM=/nowhere is not a program): test/browser/links.test.ts',
    ])
    expect(lines).toEqual(reasons)
  })

  test('tests that need a missing program fail in CI', async () => {
    process.env['CI'] = 'true'
    await expect(prepareFor(['test/browser/links.test'], progress)).rejects.toThrow(
      'CHROMIUM=/nowhere is not a program',
    )
  })

  test('a missing program does not matter to a run of other tests', async () => {
    expect(await prepareFor(['test/domain'], progress)).toEqual({ jestArgs: [], reasons: [] })
  })
})

test('the CI workflow and the devcontainer install what only root can install', () => {
  const read = (path: string): string =>
    readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8')
  expect(read('.github/actions/setup/action.yml')).toMatch(/sudo apt-get install .*\bpgbouncer\b/)
  expect(read('.devcontainer/devcontainer.json')).toMatch(/sudo apt-get install .*\bchromium\b.*\bpgbouncer\b/)
})
