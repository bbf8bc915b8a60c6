import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { format } from 'node:util'
import vm from 'node:vm'
import { transformSync } from '@swc/core'
import { expect } from 'expect'

/**
 * Runs tests of pure rules for Stryker. Jest needs a tenth of a second to begin, for each of thousands of mutants. This
 * loads only the tests and what they import, again for each mutant, so that changed tables are noticed as well.
 */

/**
 * @typedef {{ readonly id: string, readonly run: () => unknown }} Test
 * @typedef {{ mutantCoverage?: unknown, currentTestId?: string | undefined, activeMutant?: string | undefined,
 *   hitCount?: number | undefined, hitLimit?: number | undefined }} Instruments
 * @typedef {{ id: string, name: string, timeSpentMs: number, status: number, failureMessage: string }} Result
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PASSED = 0
const FAILED = 1
const SWC = /** @type {const} */ ({
  jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
  module: { type: 'es6' },
})

/** @type {Instruments} What the instrumented code reads and writes. */
const instruments = {}
Object.assign(globalThis, { __stryker__: instruments })

class RulesRunner {
  static inject = /** @type {const} */ (['options'])

  /** @param {{ tests: readonly string[] }} options the test files, relative to the repository */
  constructor({ tests }) {
    // Most mutants fall in the small files, so that the large ones are not run for them.
    this.files = tests.toSorted((a, b) => getSize(a) - getSize(b))
  }

  capabilities() {
    return { reloadEnvironment: true }
  }

  async dryRun() {
    Object.assign(instruments, { mutantCoverage: undefined, activeMutant: undefined, hitCount: undefined })
    /** @type {Result[]} */
    const tests = []
    for await (const result of runTests(this.files)) tests.push(result)
    return { status: 'complete', tests, mutantCoverage: instruments.mutantCoverage }
  }

  /** @param {{ activeMutant: { id: string }, testFilter?: string[], hitLimit?: number }} run */
  async mutantRun({ activeMutant, testFilter, hitLimit }) {
    Object.assign(instruments, { activeMutant: activeMutant.id, hitLimit, hitCount: hitLimit && 0 })
    const files = this.files.filter((file) => testFilter?.some((id) => id.startsWith(`${file} `)) ?? true)
    let nrOfTests = 0
    try {
      for await (const { id, status, failureMessage } of runTests(files, testFilter && new Set(testFilter))) {
        nrOfTests += 1
        if (isAtLimit()) return { status: 'timeout' }
        if (status === FAILED) return { status: 'killed', killedBy: [id], failureMessage, nrOfTests }
      }
      return { status: 'survived', nrOfTests }
    } catch (error) {
      return isAtLimit() ? { status: 'timeout' } : { status: 'error', errorMessage: String(error) }
    }
  }
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'rules', injectableClass: RulesRunner }]

const getSize = (/** @type {string} */ file) => statSync(resolve(ROOT, file)).size

const isAtLimit = () => (instruments.hitCount ?? 0) > (instruments.hitLimit ?? Number.POSITIVE_INFINITY)

/**
 * Runs the tests one after the other, until the caller has seen enough.
 * @param {readonly string[]} files @param {ReadonlySet<string>} [wanted] only the tests with these ids
 */
async function* runTests(files, wanted) {
  for (const file of files)
    for (const test of await loadTests(file)) if (wanted?.has(test.id) ?? true) yield await runTest(test)
}

/** @param {Test} test @returns {Promise<Result>} */
async function runTest({ id, run }) {
  instruments.currentTestId = id
  const start = performance.now()
  const result = (/** @type {number} */ status, failureMessage = '') => ({
    id,
    name: id,
    status,
    failureMessage,
    timeSpentMs: Math.round(performance.now() - start),
  })
  try {
    await run()
    return result(PASSED)
  } catch (error) {
    return result(FAILED, String(error))
  } finally {
    instruments.currentTestId = undefined
  }
}

/** Evaluates the file and its imports again, and returns its tests. @param {string} file @returns {Promise<Test[]>} */
async function loadTests(file) {
  /** @type {Test[]} */
  const tests = []
  const registry = createRegistry(file, tests)
  const loader = new Loader(registry)
  await loader.run(resolve(ROOT, file))
  return tests
}

/**
 * Creates what `@jest/globals` exports, as far as the tests of the rules use it.
 * @param {string} file @param {Test[]} tests
 */
function createRegistry(file, tests) {
  /** @type {string[]} */
  const titles = [file]
  const add = (/** @type {string} */ title, /** @type {() => unknown} */ run) => {
    const name = [...titles, title].join(' ')
    const same = tests.filter(({ id }) => id === name || id.startsWith(`${name} (`)).length
    tests.push({ id: same === 0 ? name : `${name} (${same})`, run })
  }
  const each =
    (/** @type {readonly unknown[]} */ rows) =>
    (/** @type {string} */ title, /** @type {(...row: unknown[]) => unknown} */ run) => {
      for (const row of rows) {
        const values = Array.isArray(row) ? row : [row]
        add(format(title.replaceAll('%p', '%j'), ...values), () => run(...values))
      }
    }
  const test = Object.assign(add, { each })
  const describe = (/** @type {string} */ title, /** @type {() => void} */ define) => {
    titles.push(title)
    define()
    titles.pop()
  }
  const ignore = () => {}
  return { expect, test, it: test, describe, beforeAll: ignore, afterAll: ignore, afterEach: ignore }
}

/** @type {Map<string, string>} Transformed once: a mutant is switched on when the code runs. */
const sources = new Map()
/** @type {Map<string, Record<string, unknown>>} Packages, which no mutant changes. */
const packages = new Map()

/** Stryker works in a folder with a copy of the rules, one of which is instrumented. @param {string} path */
function findCopy(path) {
  const copy = resolve(relative(ROOT, path))
  return existsSync(copy) ? copy : path
}

class Loader {
  /** @type {Map<string, vm.Module>} */
  #modules = new Map()
  /** @param {Record<string, unknown>} registry */
  constructor(registry) {
    this.registry = registry
  }

  /** @param {string} path */
  async run(path) {
    const module = await this.#load(path)
    await module.link((specifier, from) => this.#resolve(specifier, from.identifier))
    await module.evaluate()
  }

  /** @param {string} specifier @param {string} from */
  async #resolve(specifier, from) {
    if (specifier.startsWith('.')) return this.#load(resolve(dirname(from), specifier))
    if (specifier === '@jest/globals') return this.#wrap(specifier, this.registry)
    const known = packages.get(specifier) ?? (await import(specifier))
    packages.set(specifier, known)
    return this.#wrap(specifier, known)
  }

  /** @param {string} path */
  async #load(path) {
    const known = this.#modules.get(path)
    if (known !== undefined) return known
    if (path.endsWith('.json')) return this.#wrap(path, { default: JSON.parse(readFileSync(path, 'utf8')) })
    const source = sources.get(path) ?? transformSync(readFileSync(findCopy(path), 'utf8'), SWC).code
    sources.set(path, source)
    const module = new vm.SourceTextModule(source, {
      identifier: path,
      initializeImportMeta: (meta) => void (meta.url = pathToFileURL(path).href),
    })
    this.#modules.set(path, module)
    return module
  }

  /** @param {string} name @param {Record<string, unknown>} exported */
  #wrap(name, exported) {
    const known = this.#modules.get(name)
    if (known !== undefined) return known
    const names = Object.keys(exported)
    const module = new vm.SyntheticModule(
      names,
      () => {
        for (const each of names) module.setExport(each, exported[each])
      },
      { identifier: name },
    )
    this.#modules.set(name, module)
    return module
  }
}
