import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { parseSync } from 'oxc-parser'
import { ENTRIES } from '../../scripts/build/entries.ts'
import { sourceFiles } from '../../scripts/imports/files.ts'
import { SYSTEM_TOOLS, subsetLockfile } from '../../scripts/setup/subset.mjs'

/** `npm start` installs the packages that run the system, and none that only checks and tests need. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const lockfile = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { dev?: boolean; dependencies?: Record<string, string> }>
}
const { packages } = subsetLockfile(lockfile)
const has = (name: string): boolean => `node_modules/${name}` in packages

test('the subset has the production packages and the tools of npm start', () => {
  const { dependencies = {} } = lockfile.packages['']!
  expect([...Object.keys(dependencies), ...SYSTEM_TOOLS].filter((name) => !has(name))).toEqual([])
  expect(Object.keys(packages['']!.dependencies ?? {})).toEqual([...Object.keys(dependencies), ...SYSTEM_TOOLS])
})

test('the subset has no tool of the checks, of the tests or of the browser', () => {
  const needless = ['jest', 'typescript', '@biomejs/biome', 'knip', 'oxlint', 'oxlint-tsgolint', 'oxc-parser']
  const others = ['playwright-core', 'axe-core', '@stryker-mutator/core', '@swc/jest', 'fast-check', 'stripe']
  expect([...needless, ...others].filter(has)).toEqual([])
  expect(Object.keys(packages).length).toBeLessThan(Object.keys(lockfile.packages).length / 2)
})

test('the subset finds each package where Node would, and takes every version from the lockfile', () => {
  const small = {
    packages: {
      '': { dependencies: { a: '1' }, devDependencies: Object.fromEntries(SYSTEM_TOOLS.map((name) => [name, '1'])) },
      'node_modules/a': { dependencies: { b: '1' }, optionalDependencies: { elsewhere: '1' } },
      'node_modules/a/node_modules/b': { dependencies: { c: '1' } },
      'node_modules/b': { dev: true },
      'node_modules/c': {
        dev: true,
        peerDependencies: { d: '1', e: '1' },
        peerDependenciesMeta: { e: { optional: true } },
      },
      'node_modules/d': {},
      'node_modules/e': {},
    },
  }
  const found = subsetLockfile(small).packages
  expect(Object.keys(found)).toEqual([
    '',
    'node_modules/a',
    'node_modules/a/node_modules/b',
    'node_modules/c',
    'node_modules/d',
  ])
  expect(found['node_modules/c']).not.toHaveProperty('dev')
})

/** The processes of a live system, the operator's command, and the workflows. */
const PRODUCTION = [...ENTRIES.app, 'src/workflows/index.ts']

/** The commands of a development system, and the processes that they start. */
const DEVELOPMENT = [
  'scripts/start/main.ts',
  'scripts/start/operator.ts',
  'scripts/start/reset.ts',
  'scripts/demo/main.ts',
  'scripts/prepare.ts',
  'scripts/setup/temporal/sdk-download-child.ts',
  ...ENTRIES.sandbox,
]

test('the subset has every package that one of its files imports', () => {
  const { files, names } = reachPackages([...PRODUCTION, ...DEVELOPMENT])
  expect(files).toBeGreaterThan(400)
  expect(names.length).toBeGreaterThan(25)
  expect(names.filter((name) => !has(name))).toEqual([])
})

test('the production packages are those that a live process imports', () => {
  const { dependencies = {} } = lockfile.packages['']!
  const { names } = reachPackages(PRODUCTION)
  // `src/web/receipt-pdf/fonts.ts` finds the fonts by their paths.
  const isImported = (name: string): boolean => names.includes(name) || name.startsWith('@fontsource/')
  expect(Object.keys(dependencies).filter((name) => !isImported(name))).toEqual([])
})

/** Follows the imports from these files, and returns the names of the packages that they reach. */
function reachPackages(entries: readonly string[]): { readonly files: number; readonly names: readonly string[] } {
  const known = new Set(sourceFiles(ROOT))
  const seen = new Set<string>()
  const names = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file) || !known.has(file)) return
    seen.add(file)
    // JSX is compiled to an import.
    if (file.endsWith('.tsx')) names.add('preact')
    for (const specifier of listImports(file))
      if (specifier.startsWith('.')) visit(normalize(join(dirname(file), specifier)))
      else if (!specifier.startsWith('node:')) {
        const [scope = '', name = ''] = specifier.split('/')
        names.add(scope.startsWith('@') ? `${scope}/${name}` : scope)
      }
  }
  for (const entry of entries) visit(entry)
  return { files: seen.size, names: [...names] }
}

/** The imports of a file that are left once its types are erased. */
function listImports(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module
  const imported = staticImports.filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
  return [
    ...imported.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) => (moduleRequest === null || isType ? [] : [moduleRequest.value])),
    ),
    ...dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
      const [, literal] = /^['"`](.+)['"`]$/.exec(text.slice(start, end)) ?? []
      return literal === undefined ? [] : [literal]
    }),
  ]
}
