import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

/**
 * `docs/asvs.csv`: each requirement of OWASP ASVS 5.0 up to level 2, with the proof that it is met or the reason why
 * not.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const [head, ...rows] = readFileSync(join(ROOT, 'docs/asvs.csv'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => [...line.matchAll(/"([^"]*)"(?:,|$)/g)].map(([, cell]) => cell ?? ''))

const ANSWERS = ['met', 'partly', 'not met', 'does not apply']

/** The published levels of the requirements of each section, in their order: 1.2.9 is of level 2. */
const LEVELS: Readonly<Record<string, string>> = {
  '1.1': '22',
  '1.2': '1111122223',
  '1.3': '112222222223',
  '1.4': '222',
  '1.5': '123',
  '2.1': '122',
  '2.2': '112',
  '2.3': '12223',
  '2.4': '23',
  '3.1': '3',
  '3.2': '113',
  '3.3': '12223',
  '3.4': '11222233',
  '3.5': '11122333',
  '3.6': '3',
  '3.7': '22333',
  '4.1': '12233',
  '4.2': '23333',
  '4.3': '22',
  '4.4': '1222',
  '5.1': '2',
  '5.2': '112333',
  '5.3': '113',
  '5.4': '222',
  '6.1': '122',
  '6.2': '111111112222',
  '6.3': '11223333',
  '6.4': '112233',
  '6.5': '22222333',
  '6.6': '2223',
  '6.7': '33',
  '6.8': '2222',
  '7.1': '222',
  '7.2': '1111',
  '7.3': '22',
  '7.4': '11222',
  '7.5': '223',
  '7.6': '22',
  '8.1': '1233',
  '8.2': '1123',
  '8.3': '133',
  '8.4': '23',
  '9.1': '111',
  '9.2': '1222',
  '10.1': '22',
  '10.2': '223',
  '10.3': '22223',
  '10.4': '1111122222233333',
  '10.5': '22222',
  '10.6': '22',
  '10.7': '222',
  '11.1': '2233',
  '11.2': '22233',
  '11.3': '11233',
  '11.4': '1222',
  '11.5': '23',
  '11.6': '23',
  '11.7': '33',
  '12.1': '12233',
  '12.2': '11',
  '12.3': '22223',
  '13.1': '2333',
  '13.2': '222223',
  '13.3': '2233',
  '13.4': '1222233',
  '14.1': '22',
  '14.2': '12223333',
  '14.3': '122',
  '15.1': '12233',
  '15.2': '12233',
  '15.3': '1222222',
  '15.4': '3333',
  '16.1': '2',
  '16.2': '22222',
  '16.3': '2222',
  '16.4': '222',
  '16.5': '2223',
  '17.1': '23',
  '17.2': '22223333',
  '17.3': '22',
}

test('each published requirement up to level 2 is answered once, in its order, with its level', () => {
  const published = Object.entries(LEVELS).flatMap(([section, levels]) =>
    Array.from(levels, (level, index) => [`${section}.${index + 1}`, level]),
  )
  expect(published).toHaveLength(345)
  expect(rows.map(([id, level]) => [id, level])).toEqual(published.filter(([, level]) => level !== '3'))
})

test('each answer has its reason, and an answer of met, or met in part, names files that exist', () => {
  expect(head).toEqual(['requirement', 'level', 'asks', 'answer', 'how', 'where'])
  const wrong = rows.filter(([, , asks = '', answer = '', how = '', where = '', ...more]) => {
    const files = where.split(' ').filter((file) => file !== '')
    const isShown = files.length > 0 || answer === 'not met' || answer === 'does not apply'
    const isWhole = ANSWERS.includes(answer) && asks !== '' && how !== '' && more.length === 0
    return !isWhole || !isShown || !files.every((file) => existsSync(join(ROOT, file)))
  })
  expect(wrong).toEqual([])
})
