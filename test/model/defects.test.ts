import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { FOUND_DEFECTS } from './defects/found.ts'
import { PROVED_DEFECTS } from './defects/proved.ts'

const DEFECTS = [...PROVED_DEFECTS, ...FOUND_DEFECTS]

test('every bug that the model must catch can be planted in the code of today', () => {
  const edits = DEFECTS.flatMap(({ name, and = [], ...edit }) => [edit, ...and].map((one) => ({ name, ...one })))
  const places = edits.map(({ name, file, find }) => [name, readFileSync(file, 'utf8').split(find).length - 1])
  expect(places.filter(([, count]) => count !== 1)).toEqual([])
  expect(new Set(DEFECTS.map(({ name }) => name)).size).toBe(DEFECTS.length)
})
