import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { compare, record } from '../../scripts/language/baseline.ts'
import { runLanguage } from '../../scripts/language/command.ts'
import { findWords } from '../../scripts/language/findings.ts'
import { PATTERNS } from '../../scripts/language/patterns.ts'

/** Each pattern, a file that matches it, and the words to find there. */
const WRONG: readonly (readonly [pattern: string, path: string, text: string, found: string])[] = [
  ['British spelling', 'guides/a.md', 'A cancelled payment.', 'cancelled'],
  ['anew', 'guides/a.md', 'The list is made anew.', 'anew'],
  ['for ever', 'src/a.ts', '/** Waits for\n * ever. */', 'for ever'],
  ['for ever', 'src/a.ts', '// Waits for\n// ever.', 'for ever'],
  ['all the same', 'src/a.sql', 'select 1 -- It is paid all the same.', 'all the same'],
  ['of its own', 'src/a.tsx', 'const a = 1 // It has a database of its own.', 'of its own'],
  ['told', 'src/a.ts', 'throw new Error(`${name} was not told of it`)', 'told'],
  ['news', 'src/a.ts', '// The partner has news of the order.', 'news'],
  ['meanwhile', 'src/a.tsx', 'const page = <p>It was paid meanwhile.</p>', 'meanwhile'],
  ['may not', 'scripts/a.mjs', '// The api may not import it.', 'may not'],
  ['beside', 'guides/a.md', 'A refund beside a payout.', 'beside'],
  ['beside', 'guides/a.md', 'A lone ` sign.\n\nA refund beside `b`.', 'beside'],
  ['told', 'test/a.test.ts', "test('the merchant is told once', () => {})", 'told'],
  ['told', 'test/a.test.ts', "test.each([1, 2])('the merchant is told %d times', (times) => {})", 'told'],
  ['told', 'test/a.test.ts', "test.each([\n  [1],\n] as const)(\n  'a page tells %d',\n  async (n) => {},\n)", 'tells'],
  ['meanwhile', 'src/a.ts', '/* Meanwhile the buyer pays. */', 'Meanwhile'],
  ['by itself', 'src/a.ts', '/** The wait ends by itself. */', 'by itself'],
  ['goes on', 'src/a.ts', '/** The payment goes on. */', 'goes on'],
  ['is ours', 'guides/a.md', 'The USDC is ours.', 'is ours'],
  ['is ours', 'guides/a.md', 'After a day it is an operator’s: look at it.', 'is an operator’s'],
  ['nobody may', 'guides/a.md', 'Nobody may see the key.', 'Nobody may'],
  ['docstring that opens with a question word', 'src/a.ts', '/** Whether it is paid. */', 'Whether'],
  ['docstring that opens with a question word', 'src/a.ts', '/**\n * Of a payment: its rows.\n */', 'Of'],
  ['docstring that opens with a question word', 'src/a.ts', '/** Answers how many are left. */', 'Answers how'],
  ['title that continues another one', 'test/a.test.ts', "  test('and is paid once', () => {})", 'and'],
  ['title of less than three words', 'test/a.test.ts', "test('the worker', async () => {})", 'the worker'],
  ['function …Of', 'src/a.ts', 'export async function partsOf(id: string) {}', 'partsOf'],
  ['function named by a replaced word', 'src/a.ts', 'function tellChannel() {}', 'tell'],
  ['function named by a replaced word', 'src/a.ts', 'const leaveNews = (id: string) => id', 'News'],
  ['function …Of', 'src/a.ts', 'const partsOf = (id: string): Part[] => []', 'partsOf'],
  ['function …Of', 'src/a.ts', 'const partsOf = <T>(of: T): T => of', 'partsOf'],
  ['function …Of', 'src/a.ts', 'const partsOf = id => []', 'partsOf'],
  ['file named by no noun', 'src/payment/coming.ts', 'export {}', 'coming'],
  ['file named by no noun', 'src/around/calls.ts', 'export {}', 'around'],
  ['file named by no noun', 'decisions/0078-open-pages-are-told.md', '# Pages', 'told'],
]

const RIGHT: readonly (readonly [path: string, text: string])[] = [
  ['src/a.ts', '/** True if the payment is paid. Besides, all of them are all the same. */'],
  ['src/a.ts', '/** The request may or might not be stored: it may or may not have an effect. */'],
  ['src/a.ts', "const texts = ['told', `beside`, 'for ever'] // Texts of the code are data."],
  ['src/a.ts', '/** Renames `told` to `notified`. */'],
  ['src/a.ts', '// It waits for\nconst ever = 1'],
  ['src/a.ts', 'function renewsLease() {}\nfunction newStore() {}'],
  ['src/a.ts', 'export function isMemberOf(id: string) {}\nconst price = valueOf(id)\nconst kindOf = 1'],
  ['src/a.ts', '// What follows is a comment, not a docstring.'],
  ['src/a.ts', '/** Returns what was paid, and whether it was enough. */'],
  ['src/a.sql', "select 'told' -- The last one."],
  [
    'guides/a.md',
    'Run `told`, and read [the decision](decisions/0066-settlement-is-told.md).\n```sh\n./told beside\n```\n',
  ],
  ['test/a.test.ts', "test('rejects an oversized receipt', () => {})\ntest.each(ROWS)('%s', (row) => {})"],
  ['test/a.test.ts', "run(test)('sh', ['-c'])\nexpect(x).toBe('and so on')"],
  ['src/db/watching.ts', 'export {}'],
]

test.each(WRONG)('the pattern "%s" is found in %s: %j', (pattern, path, text, found) => {
  expect(findWords(path, text)).toEqual([expect.objectContaining({ pattern, found })])
})

test.each(RIGHT)('the plain English of %s has no findings: %j', (path, text) => {
  expect(findWords(path, text)).toEqual([])
})

test('every pattern has an example', () => {
  const tried = new Set(WRONG.map(([pattern]) => pattern))
  expect(PATTERNS.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([])
})

test('a finding has the line of its first word', () => {
  const text = 'export {}\n\n/**\n * Waits for\n * ever. Nobody may see it.\n */\n'
  expect(findWords('src/a.ts', text).map(({ line, found }) => [line, found])).toEqual([
    [4, 'for ever'],
    [5, 'Nobody may'],
  ])
})

describe('the baseline', () => {
  test('the baseline differs from a file with more findings, from one with fewer, and from one that is not recorded', () => {
    const found = { same: 2, more: 3, fewer: 1, added: 1, clean: 0 }
    expect(compare({ same: 2, more: 2, fewer: 2, deleted: 4 }, found)).toEqual([
      { path: 'added', found: 1, allowed: 0 },
      { path: 'deleted', found: 0, allowed: 4 },
      { path: 'fewer', found: 1, allowed: 2 },
      { path: 'more', found: 3, allowed: 2 },
    ])
  })

  test('the baseline records fewer findings and never more', () => {
    expect(record({ a: 3, b: 3, c: 1 }, { a: 1, b: 5, c: 0, added: 1 })).toEqual({ a: 1, b: 3 })
  })

  test('the baseline gives the findings of deleted files to those that take over their text', () => {
    expect(record({ a: 3, b: 2, old: 4 }, { a: 5, b: 2, renamed: 2 })).toEqual({ a: 5, b: 2, renamed: 2 })
    expect(record({ a: 3, b: 2, old: 4 }, { a: 5, b: 2, renamed: 3 })).toEqual({ a: 3, b: 2 })
  })

  test('the baseline records all findings if there is none yet', () => {
    expect(record(null, { b: 2, a: 1, clean: 0 })).toEqual({ a: 1, b: 2 })
  })
})

describe('npm run check:language', () => {
  const baseline = 'scripts/language/baseline.json'
  let folder = ''

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pinrail-language-'))
    execFileSync('git', ['init', '--quiet'], { cwd: folder })
    mkdirSync(join(folder, dirname(baseline)), { recursive: true })
    write('old.ts', '// Waits for ever.\n')
    expect(runLanguage(folder, ['--record'])).toEqual({ lines: [], passed: true })
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const write = (path: string, text: string): void => writeFileSync(join(folder, path), text)
  const recorded = (): unknown => JSON.parse(readFileSync(join(folder, baseline), 'utf8'))

  test('check:language passes with the recorded findings, and lists them for a folder', () => {
    expect(recorded()).toEqual({ 'old.ts': 1 })
    expect(runLanguage(folder, ['--check'])).toEqual({ lines: [], passed: true })
    expect(runLanguage(folder, ['old']).lines).toEqual([
      'old.ts:1: "for ever" (for ever): write "forever"',
      '1 findings',
    ])
    expect(runLanguage(folder, ['src']).lines).toEqual(['0 findings'])
  })

  test('check:language fails for a new file, with the line, the words and what to write instead', () => {
    write('new.md', '# Title\n\nIt is told.\n')
    const { lines, passed } = runLanguage(folder, ['--check'])
    expect(passed).toBe(false)
    expect(lines).toEqual([
      'new.md has 1 findings, 0 are allowed:',
      expect.stringContaining('new.md:3: "told" (told): write the verb'),
    ])
    expect(runLanguage(folder, ['--record']).passed).toBe(false)
    expect(recorded()).toEqual({ 'old.ts': 1 })
    expect(runLanguage(folder, ['--record-all']).passed).toBe(true)
    expect(recorded()).toEqual({ 'new.md': 1, 'old.ts': 1 })
  })

  test('check:language asks for a lower number, and records it', () => {
    write('old.ts', '// Waits forever.\n')
    expect(runLanguage(folder, ['--check']).lines).toEqual([expect.stringContaining('run npm run fix')])
    expect(runLanguage(folder, ['--record']).passed).toBe(true)
    expect(recorded()).toEqual({})
  })

  test('check:language records the new name of a renamed file', () => {
    renameSync(join(folder, 'old.ts'), join(folder, 'renamed.ts'))
    expect(runLanguage(folder, ['--check']).passed).toBe(false)
    expect(runLanguage(folder, ['--record']).passed).toBe(true)
    expect(recorded()).toEqual({ 'renamed.ts': 1 })
  })
})
