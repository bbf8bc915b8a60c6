import { expect, test } from '@jest/globals'
import { DEFECTS } from './defects/all.ts'
import { checkSeam } from './time/load.ts'

test('every seam of a planted bug is declared by its file', () => {
  for (const { and = [], ...seam } of DEFECTS)
    for (const one of [seam, ...and]) expect(() => checkSeam(one)).not.toThrow()
})

test('a seam that its file does not declare is refused by the names of both', () => {
  expect(() => checkSeam({ file: 'src/domain/money.ts', seam: 'subtrac', plant: () => null })).toThrow(
    'src/domain/money.ts declares no function or constant subtrac at its top level',
  )
})

test('no two planted bugs have the same name', () => {
  expect(new Set(DEFECTS.map(({ name }) => name)).size).toBe(DEFECTS.length)
})
