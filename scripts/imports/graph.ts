import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSync } from 'oxc-parser'

/** One file that imports another. Paths are from the checkout's root. */
export type Import = {
  readonly from: string
  readonly to: string
  /** Erased when the code runs: `import type`, or only types in the braces. */
  readonly typeOnly: boolean
}

/** Imports between the files, in their order; packages and data files are left out. */
export function readImports(root: string, files: readonly string[]): Import[] {
  const known = new Set(files)
  return files.flatMap((from) => {
    const found = importsOf(from, readFileSync(join(root, from), 'utf8'))
    return found
      .map(({ specifier, typeOnly }) => ({ from, to: normalize(join(dirname(from), specifier)), typeOnly }))
      .filter(({ to }) => known.has(to))
  })
}

function importsOf(file: string, text: string): { specifier: string; typeOnly: boolean }[] {
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
  // `await import('./file.ts')`: only a literal says which file.
  const late = module.dynamicImports.map(({ moduleRequest }) => ({
    specifier: text.slice(moduleRequest.start, moduleRequest.end).replaceAll(/^['"`]|['"`]$/g, ''),
    typeOnly: false,
  }))
  return [...fixed, ...passedOn, ...late].filter(({ specifier }) => specifier.startsWith('.'))
}
