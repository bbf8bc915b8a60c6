import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { readImports, unclearImports } from '../../scripts/imports/graph.ts'
import { brokenRules, findRoom, misplacedRooms, ROOMS } from '../../scripts/imports/rooms.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pinrail-imports-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Writes the files and returns the problems of their imports. */
function findProblems(files: Record<string, string>): string[] {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  return brokenRules(readImports(folder, Object.keys(files)))
}

const empty = 'export {}\n'

describe('an import is refused', () => {
  test.each([
    ['of a room above', 'src/domain/money.ts', "import { a } from '../db/db.ts'", 'src/db/db.ts'],
    [
      'of a neighboring room',
      'src/chain/engine.ts',
      "import { a } from '../partners/index.ts'",
      'src/partners/index.ts',
    ],
    ['of a type, from a room above', 'src/domain/ids.ts', "import type { A } from '../ids.ts'", 'src/ids.ts'],
    ['that is passed on', 'src/web/home.tsx', "export { a } from '../api/app.ts'", 'src/api/app.ts'],
    ['that happens late', 'src/web/home.tsx', "const a = await import('../api/app.ts')", 'src/api/app.ts'],
    [
      'of a namesake in another room',
      'src/webhooks/sign.ts',
      "import { a } from '../db/webhooks/events.ts'",
      'src/db/webhooks/events.ts',
    ],
    [
      'of an activity as a value',
      'src/workflows/options.ts',
      "import { a } from '../activities/failure.ts'",
      'src/activities/failure.ts',
    ],
    [
      'of the tests, from a script',
      'scripts/system.ts',
      "import { a } from '../test/support/until.ts'",
      'test/support/until.ts',
    ],
    ['of the lab, from a test', 'test/support/until.ts', "import { a } from '../../lab/main.ts'", 'lab/main.ts'],
    [
      'of a test, from src',
      'src/runtime/log.ts',
      "import { a } from '../../test/support/until.ts'",
      'test/support/until.ts',
    ],
  ])('an import is refused: %s', (_case, from, text, to) => {
    expect(findProblems({ [from]: `${text}\n`, [to]: empty })).toEqual([expect.stringContaining(`(${to})`)])
  })

  test('an import from a file outside all rooms is refused', () => {
    const found = findProblems({ 'src/helpers.ts': "import { a } from './ids.ts'\n", 'src/ids.ts': empty })
    expect(found).toEqual([expect.stringContaining('src/helpers.ts is in no room')])
  })
})

describe('an import that cannot be followed is refused', () => {
  test.each([
    ['with the ending of the built file', "import { a } from '../db/db.js'"],
    ['without an ending', "import { a } from '../db/db'"],
    ['with a query', "import { a } from '../db/db.ts?x'"],
    ['of types, with the ending of the built file', "import type { A } from '../db/db.js'"],
    ['of a file outside of the folders', "import { a } from '../../tools/build.ts'"],
    ['that is required', "const { a } = require('../db/db.ts')"],
    ['that is required later', "const a = requireLater('../db/db.ts')"],
    ['whose path is put together', "const a = await import(`.` + './db/db.ts')"],
    ['of a worker by its URL', "new Worker(new URL('../db/db.ts', import.meta.url))"],
  ])('an import that cannot be followed is refused: %s', (_case, text) => {
    const from = 'src/domain/money.ts'
    mkdirSync(join(folder, 'src/domain'), { recursive: true })
    writeFileSync(join(folder, from), `${text}\n`)
    mkdirSync(join(folder, 'src/db'), { recursive: true })
    writeFileSync(join(folder, 'src/db/db.ts'), empty)
    expect(unclearImports(folder, [from, 'src/db/db.ts'])).toEqual([expect.stringContaining(from)])
  })

  test('an import of a package or of an existing file is allowed', () => {
    const from = 'src/domain/money.ts'
    mkdirSync(join(folder, 'src/domain'), { recursive: true })
    writeFileSync(join(folder, 'src/domain/data.json'), '{}')
    const good = ["import { z } from 'zod'", "import { a } from './ids.ts'", "import data from './data.json'"]
    writeFileSync(join(folder, from), `${good.join('\n')}\nconst b = await import(name)\n`)
    writeFileSync(join(folder, 'src/domain/ids.ts'), empty)
    expect(unclearImports(folder, [from, 'src/domain/ids.ts'])).toEqual([])
  })
})

test('an import of types alone is allowed if the room allows it, and inside the room every import is', () => {
  const files = {
    'src/workflows/options.ts':
      "import type { A } from '../activities/failure.ts'\nimport { type B } from '../activities/failure.ts'\n",
    'src/activities/failure.ts':
      "import { c } from './payment/payment.ts'\nimport { d } from '../db/webhooks/events.ts'\n",
    'src/activities/payment/payment.ts': empty,
    'src/db/webhooks/events.ts': empty,
  }
  expect(findProblems(files)).toEqual([])
})

test('a table of rooms is refused if a lower room imports from a higher one', () => {
  expect(misplacedRooms(ROOMS)).toEqual([])
  expect(misplacedRooms(ROOMS.toReversed())).toContain('main → deps runs up')
  const both = ROOMS.map((room) => (room.name === 'domain' ? { ...room, mayType: ['db'] } : room))
  expect(misplacedRooms(both)).toEqual(['domain → db runs up'])
})

test('the more exact path decides about the room', () => {
  expect(findRoom('src/partners/signature.ts')?.name).toBe('signature')
  expect(findRoom('src/partners/crypto.ts')?.name).toBe('partners')
  expect(findRoom('src/webhooks-too/a.ts')).toBeNull()
})

test('the linter refuses two files that import only types of each other', async () => {
  writeFileSync(join(folder, 'a.ts'), "import type { B } from './b.ts'\nexport type A = { b: B }\n")
  writeFileSync(join(folder, 'b.ts'), "import type { A } from './a.ts'\nexport type B = { a: A | null }\n")
  const lint = promisify(execFile)(join(ROOT, 'node_modules/.bin/oxlint'), ['-c', join(ROOT, '.oxlintrc.json'), folder])
  await expect(lint).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('no-cycle') })
})
