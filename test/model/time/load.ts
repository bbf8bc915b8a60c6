import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from '@swc/core'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** A change of the source that is loaded, not of the file: a planted bug. `find` must be there exactly once. */
export type Edit = { readonly file: string; readonly find: string; readonly put: string }

type Exports = Record<string, unknown>

export type LoadOptions = {
  /** Takes the place of packages. */
  readonly packages: Readonly<Record<string, Exports>>
  /** What workflows and domain take for the clock. */
  readonly date: DateConstructor
  readonly edits: readonly Edit[]
}

/**
 * Loads files of `src` a second time, apart from all other modules: workflows run on packages of ours and tell the
 * virtual time, and edits plant bugs. Answers what the files export.
 */
export async function loadSystem(files: readonly string[], options: LoadOptions): Promise<Exports[]> {
  const sources = readAll(files, options.edits)
  const packages: Record<string, Exports> = {}
  const names = new Set([...sources.values()].flatMap(({ needs }) => needs.filter((name) => !name.startsWith('.'))))
  for (const name of names) packages[name] = options.packages[name] ?? withDefault(await import(name))
  const loaded = new Map<string, { exports: Exports }>()

  /** What a file needs is there before it runs; no two files need each other. */
  async function load(file: string): Promise<Exports> {
    const known = loaded.get(file)
    if (known !== undefined) return known.exports
    const module = { exports: {} as Exports }
    loaded.set(file, module)
    const source = sources.get(file)
    const near = (name: string): string => relative(ROOT, join(ROOT, dirname(file), name))
    for (const name of source?.needs ?? []) if (name.startsWith('.')) await load(near(name))
    const require = (name: string): Exports =>
      (name.startsWith('.') ? loaded.get(near(name))?.exports : packages[name]) ?? {}
    const isDeterministic = /^src\/(workflows|domain)\//.test(file)
    const run = new AsyncFunction(
      'require',
      'exports',
      'module',
      'Date',
      `${source?.code}\n//# sourceURL=model:${file}`,
    )
    await run(require, module.exports, module, isDeterministic ? options.date : Date)
    return module.exports
  }
  const exported: Exports[] = []
  for (const file of files) exported.push(await load(file))
  return exported
}

type Module = (...args: unknown[]) => Promise<void>
/** Some modules await something before they are there. */
const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (...args: string[]) => Module

type Source = { readonly code: string; readonly needs: readonly string[] }
const compiled = new Map<string, Source>()

function readAll(files: readonly string[], edits: readonly Edit[]): Map<string, Source> {
  const sources = new Map<string, Source>()
  const open = [...files]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (sources.has(file)) continue
    const source = compile(file, edits)
    sources.set(file, source)
    for (const name of source.needs)
      if (name.startsWith('.')) open.push(relative(ROOT, join(ROOT, dirname(file), name)))
  }
  for (const { file } of edits)
    if (!sources.has(file)) throw new Error(`${file} is not a part of the system that is loaded`)
  return sources
}

function compile(file: string, edits: readonly Edit[]): Source {
  const mine = edits.filter((edit) => edit.file === file)
  const known = compiled.get(file)
  if (known !== undefined && mine.length === 0) return known
  let text = readFileSync(join(ROOT, file), 'utf8')
  for (const { find, put } of mine) {
    if (text.split(find).length !== 2) throw new Error(`${file}: must have exactly once: ${find}`)
    text = text.replace(find, () => put)
  }
  const { code } = transformSync(text, {
    filename: file,
    jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs', ignoreDynamic: true },
    sourceMaps: false,
  })
  const needs = [...code.matchAll(/require\("([^"]+)"\)/g)].map((match) => match[1] ?? '')
  const source = { code, needs }
  if (mine.length === 0) compiled.set(file, source)
  return source
}

/** As CommonJS code that was compiled from ES modules expects it. */
function withDefault(namespace: Exports): Exports {
  return { __esModule: true, ...namespace, ...(namespace['default'] === undefined ? { default: namespace } : {}) }
}
