import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

/** `docs/asvs.csv`: the requirements of OWASP ASVS 5.0 up to level 2 in the chapters on input, files, people and rights. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const [head, ...rows] = readFileSync(join(ROOT, 'docs/asvs.csv'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => [...line.matchAll(/"([^"]*)"(?:,|$)/g)].map(([, cell]) => cell ?? ''))

const ANSWERS = ['met', 'partly', 'not met', 'does not apply']

/** How many requirements up to level 2 each section has. Sections that do not apply as a whole are one row. */
const SECTIONS: Readonly<Record<string, number>> = {
  '2.1': 3,
  '2.2': 3,
  '2.3': 4,
  '2.4': 1,
  '5.1': 1,
  '5.2': 3,
  '5.3': 2,
  '5.4': 3,
  '6.1': 3,
  '6.2': 1,
  '6.3': 4,
  '6.4': 4,
  '6.5': 5,
  '6.6': 3,
  '6.8': 1,
  '7.1': 3,
  '7.2': 4,
  '7.3': 2,
  '7.4': 5,
  '7.5': 2,
  '7.6': 1,
  '8.1': 2,
  '8.2': 3,
  '8.3': 1,
  '8.4': 1,
}

test('each requirement of the chapters is answered once, in five columns', () => {
  expect(head).toEqual(['requirement', 'asks', 'answer', 'how', 'where'])
  expect(rows.filter((row) => row.length !== 5 || row.slice(0, 4).includes(''))).toEqual([])
  const ids = rows.map(([id]) => id ?? '')
  expect(new Set(ids).size).toBe(ids.length)
  const sections = ids.map((id) => id.split('.').slice(0, 2).join('.'))
  const counts = [...new Set(sections)].map((one) => [one, sections.filter((section) => section === one).length])
  expect(Object.fromEntries(counts)).toEqual(SECTIONS)
})

test('what is met, or met in part, names files that exist', () => {
  const wrong = rows.filter(([, , answer = '', , where = '']) => {
    const files = where.split(' ').filter((file) => file !== '')
    const isShown = files.length > 0 || answer === 'not met'
    return !ANSWERS.includes(answer) || !isShown || !files.every((file) => existsSync(join(ROOT, file)))
  })
  expect(wrong).toEqual([])
})
