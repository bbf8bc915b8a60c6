import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { GENERATED } from '../../scripts/docs/generated.ts'
import { PERMISSIVE, shippedPackages } from '../../scripts/docs/licenses.ts'
import { sourceFiles } from '../../scripts/imports/files.ts'
import { readImports } from '../../scripts/imports/graph.ts'
import { curlLine } from '../../scripts/start/banner.ts'
import { KNOWN_VARIABLES } from '../../src/config/config.ts'
import { ANSWERS } from '../../src/domain/payment/funds/answer.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...markdownIn('docs')]

function markdownIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)
}

test.each(Object.entries(GENERATED))('the document %s equals the output of `npm run docs`', (path, write) => {
  expect(read(path)).toBe(write())
})

describe.each(pages)('%s', (page) => {
  const text = read(page)

  test('the document names only files that exist', () => {
    const inCode = [...text.matchAll(/`((?:src|scripts|test|lab|docs|tools|ops)\/[\w./-]*[\w])`/g)].map(
      ([, path]) => path!,
    )
    const linked = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(([, path]) =>
      join(dirname(page), path!),
    )
    expect([...inCode, ...linked].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  test('the document names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name!)
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })
})

test('the README’s curl line makes the request of the printed one', () => {
  const body = /-d '([^']+)'/
  const printed = curlLine({ api_url: 'http://localhost:4242', secret_key: 'sk' } as Parameters<typeof curlLine>[0])
  expect(body.exec(read('README.md'))?.[1]).toBe(body.exec(printed)?.[1])
})

test('the operator’s page has every decision and no other', () => {
  const [, table = ''] = /table of decisions is written(.*?)End of the table/s.exec(read('docs/decide.md')) ?? []
  const rows = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  expect(new Set(rows)).toEqual(new Set(ANSWERS))
})

test('the operator’s page names only variables that exist', () => {
  const named = [...read('docs/operations.md').matchAll(/`([A-Z][A-Z_]{3,})(?:=\w+)?`/g)].map(([, name]) => name!)
  // Variables of Node and of the database driver, which live mode checks.
  const others = ['PGPASSWORD', 'PGSSLMODE', 'NODE_TLS_REJECT_UNAUTHORIZED', 'NODE_OPTIONS', 'NODE_DEBUG']
  expect(named.filter((name) => !KNOWN_VARIABLES.has(name) && !others.includes(name))).toEqual([])
})

test('a newcomer who reads one payment in the README’s order never has to go back', () => {
  const files = [...followed('payment').matchAll(/`(src\/[\w./-]+\.tsx?)`/g)].map(([, path]) => path!)
  expect(new Set(files).size).toBe(files.length)
  expect(files.length).toBeGreaterThan(8)
  const place = (file: string): number => files.indexOf(file)
  // A type can name later files; a value of an earlier file would have to be looked up there again.
  const back = readImports(ROOT, files).filter(({ from, to, typeOnly }) => !typeOnly && place(to) < place(from))
  expect(back).toEqual([])
})

test('the README’s map has a row for each folder and no other', () => {
  expect(mappedFolders().toSorted()).toEqual(listFolders().toSorted())
})

test('the README’s map names each file in src itself', () => {
  const [, sentence = ''] = /\nIn `src` itself, (.*?)\n`scripts/s.exec(read('README.md')) ?? []
  const named = [...sentence.matchAll(/`([\w-]+\.ts)`/g)].map(([, name]) => name!)
  const files = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isFile())
  expect(named.toSorted()).toEqual(files.map(({ name }) => name).toSorted())
})

test.each(['payment', 'payout', 'webhook'])('each step of “Follow one %s” names files of src that exist', (what) => {
  const steps = followed(what)
    .split(/^\d+\. /m)
    .slice(1)
  const paths = steps.map((step) => [...step.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path!))
  expect(paths.map(({ length }) => length)).not.toContain(0)
  expect(paths.flat().filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

function followed(what: string): string {
  const [, list = ''] = new RegExp(`## Follow one ${what}\n(.*?)\n##`, 's').exec(read('README.md')) ?? []
  return list
}

/** The folders in the first column of the README's map. */
function mappedFolders(): string[] {
  const [, table = ''] = /## The map\n(.*?)\n## /s.exec(read('README.md')) ?? []
  return [...table.matchAll(/^\| `([\w/]+)` \|/gm)].map(([, folder]) => folder!)
}

/** The folders of src, and the other folders of the checkout that are not hidden. */
function listFolders(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n')
  const folders = files.filter((file) => existsSync(join(ROOT, file))).map((file) => dirname(file).split('/'))
  const shown = folders.map(([first = '', second]) => (first === 'src' && second ? `src/${second}` : first))
  return [...new Set(shown)].filter((folder) => folder !== 'src' && !folder.startsWith('.'))
}

test('the code names only documents that exist', () => {
  const files = [
    ...sourceFiles(ROOT),
    ...readdirSync(join(ROOT, 'src/db/migrations')).map((name) => `src/db/migrations/${name}`),
  ]
  const missing = files.flatMap((file) => {
    const named = [...read(file).matchAll(/(?<![\w/.])(?:[A-Z]{2,}|docs\/[\w/-]+)\.md/g)].map(([path]) => path)
    return named.filter((path) => !existsSync(join(ROOT, path))).map((path) => `${file} names ${path}`)
  })
  expect(missing).toEqual([])
})

test('the glossary defines each noun and each verb once, and defines no word that it replaces', () => {
  const [nouns = '', verbs = ''] = read('docs/glossary.md').split('\n## Verbs\n')
  for (const table of [nouns, verbs]) {
    const rows = [...table.matchAll(/^\| (\*\*[^|]+) \| ([^|]+) \|([^|]*)\|$/gm)]
    const defined = rows.flatMap(([, word]) => [...word!.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name]) => name!))
    const replaced = rows.flatMap(([, , , not]) => [...not!.matchAll(/`([^`]+)`(?! \()/g)].map(([, name]) => name!))
    expect(defined.length).toBeGreaterThan(20)
    expect(defined.filter((word, index) => defined.indexOf(word) !== index)).toEqual([])
    expect(replaced.filter((word) => defined.includes(word))).toEqual([])
  }
})

test('the shipped packages have permissive licenses', () => {
  expect(shippedPackages().filter(({ license }) => !PERMISSIVE.has(license))).toEqual([])
})
