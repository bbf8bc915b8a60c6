import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSync } from 'oxc-parser'

/** One file that imports another. Paths are from the checkout's root. */
export type Import = {
  readonly from: string
  readonly to: string
  /** Erased when the code runs: `import type`, or only types in the braces. */
  readonly typeOnly: boolean
}

/** Returns imports between the files, in their order; packages and data files are left out. */
export function readImports(root: string, files: readonly string[]): Import[] {
  const known = new Set(files)
  return files.flatMap((from) => {
    const found = listImports(from, readFileSync(join(root, from), 'utf8'))
    return found
      .map(({ specifier, typeOnly }) => ({ from, to: normalize(join(dirname(from), specifier)), typeOnly }))
      .filter(({ to }) => known.has(to))
  })
}

/** Ways to load a file without an import whose target can be read. The check of the rooms cannot follow them. */
const HIDDEN: readonly (readonly [RegExp, string])[] = [
  [/\brequire\w*\(\s*['"`]\.{1,2}\//, 'requires a file: import it'],
  [/new URL\(\s*['"`]\.[^'"`]*\.(?:[cm]?ts|tsx|[cm]?js|jsx)['"`]/, 'names a source file by its URL: import it'],
  [/\bimport\(\s*(?!['"`])[^)]*['"`]\.{0,2}\//, 'puts the path of an import together: write it as one text'],
]

/** Returns imports that cannot be followed, a line each; none if every one names a file that is there. */
export function unclearImports(root: string, files: readonly string[]): string[] {
  const known = new Set(files)
  return files.flatMap((from) => {
    const text = readFileSync(join(root, from), 'utf8')
    const nowhere = listImports(from, text)
      .map(({ specifier }) => specifier)
      .filter((specifier) => !isFile(normalize(join(dirname(from), specifier)), { root, known }))
      .map((specifier) => `${from}: ${specifier} must be the path of a file, with its ending`)
    const hidden = from.startsWith('src/') ? HIDDEN.filter(([pattern]) => pattern.test(text)) : []
    return [...nowhere, ...hidden.map(([, what]) => `${from} ${what}`)]
  })
}

/** Returns true for a source file that is checked itself, or a file of data. */
function isFile(path: string, { root, known }: { root: string; known: ReadonlySet<string> }): boolean {
  return known.has(path) || (/\.(?:json|css|svg)$/.test(path) && existsSync(join(root, path)))
}

function listImports(file: string, text: string): { specifier: string; typeOnly: boolean }[] {
  const { module, errors } = parseSync(file, text)
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`)
  const fixed = module.staticImports.map(({ moduleRequest, entries }) => ({
    specifier: moduleRequest.value,
    typeOnly: entries.length > 0 && entries.every(({ isType }) => isType),
  }))
  const passedOn = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, isType }) =>
      moduleRequest === null ? [] : [{ specifier: moduleRequest.value, typeOnly: isType }],
    ),
  )
  // `await import('./file.ts')`: only a literal names its file.
  const late = module.dynamicImports.map(({ moduleRequest }) => ({
    specifier: text.slice(moduleRequest.start, moduleRequest.end).replaceAll(/^['"`]|['"`]$/g, ''),
    typeOnly: false,
  }))
  return [...fixed, ...passedOn, ...late].filter(({ specifier }) => specifier.startsWith('.'))
}
