import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from '@swc/core'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * A place where a bug is planted: a function or a constant that `file` declares at its top level, by name. `plant`
 * receives the real one, and returns its replacement, for callers in the file and in files that import it.
 */
export type Seam = { readonly file: string; readonly seam: string; readonly plant: (real: never) => unknown }

type Exports = Record<string, unknown>

export type LoadOptions = {
  /** Replacements of packages. */
  readonly packages: Readonly<Record<string, Exports>>
  /** The clock of workflows and domain. */
  readonly date: DateConstructor
  readonly seams: readonly Seam[]
}

/**
 * Loads files of `src` a second time, apart from all other modules: workflows run on replaced packages and read the
 * virtual time, and bugs are planted at seams. Returns the exports of the files.
 */
export async function loadSystem(files: readonly string[], options: LoadOptions): Promise<Exports[]> {
  const sources = readAll(files)
  for (const { file } of options.seams)
    if (!sources.has(file)) throw new Error(`${file} is not a part of the system that is loaded`)
  const packages: Record<string, Exports> = {}
  const names = new Set([...sources.values()].flatMap(({ needs }) => needs.filter((name) => !name.startsWith('.'))))
  for (const name of names) packages[name] = options.packages[name] ?? withDefault(await import(name))
  const loaded = new Map<string, { exports: Exports }>()

  /** Loads what a file imports before it runs; no two files import each other. */
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
    const seams = options.seams.filter((seam) => seam.file === file)
    const code = seams.reduce(withSeam, source?.code ?? '')
    const names = ['require', 'exports', 'module', 'Date', SEAMS]
    const run = new AsyncFunction(...names, `${code}\n//# sourceURL=model:${file}`)
    await run(require, module.exports, module, isDeterministic ? options.date : Date, seams)
    return module.exports
  }
  const exported: Exports[] = []
  for (const file of files) exported.push(await load(file))
  return exported
}

type Module = (...args: unknown[]) => Promise<void>
/** Some modules have a top-level await. */
const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (...args: string[]) => Module

type Source = { readonly code: string; readonly needs: readonly string[] }
const compiled = new Map<string, Source>()

function readAll(files: readonly string[]): Map<string, Source> {
  const sources = new Map<string, Source>()
  const open = [...files]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (sources.has(file)) continue
    const source = compile(file)
    sources.set(file, source)
    for (const name of source.needs)
      if (name.startsWith('.')) open.push(relative(ROOT, join(ROOT, dirname(file), name)))
  }
  return sources
}

function compile(file: string): Source {
  const known = compiled.get(file)
  if (known !== undefined) return known
  const { code } = transformSync(readFileSync(join(ROOT, file), 'utf8'), {
    filename: file,
    jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs', ignoreDynamic: true },
    sourceMaps: false,
  })
  const needs = [...code.matchAll(/require\("([^"]+)"\)/g)].map((match) => match[1] ?? '')
  const source = { code, needs }
  compiled.set(file, source)
  return source
}

/** The name under which a file finds the seams that are planted in it. */
const SEAMS = '$seams'

/**
 * The code of a file, which binds the name of the seam again at its end. Exports are getters, and read the new binding.
 */
function withSeam(code: string, { file, seam }: Seam, index: number): string {
  // The compiler leaves a comment on the line that it describes.
  const declaration = new RegExp(`^((?:/\\*.*\\*/ | \\*/ )?)(function|async function|const) ${seam}\\b`, 'm')
  if (!declaration.test(code)) throw new Error(`${file} declares no function or constant ${seam} at its top level`)
  const rebindable = code.replace(declaration, (_text, before: string, kind: string) => {
    return `${before}${kind === 'const' ? 'let' : kind} ${seam}`
  })
  return `${rebindable}\n;${seam} = ${SEAMS}[${index}].plant(${seam})`
}

/** Throws an error that names both if the file does not declare the seam. */
export function checkSeam(seam: Seam): void {
  withSeam(compile(seam.file).code, seam, 0)
}

/** As CommonJS code that was compiled from ES modules expects it. */
function withDefault(namespace: Exports): Exports {
  return { __esModule: true, ...namespace, ...(namespace['default'] === undefined ? { default: namespace } : {}) }
}
