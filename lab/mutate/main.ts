import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Stryker } from '@stryker-mutator/core'
import { transformFileSync } from '@swc/core'
import type { Progress } from '../../scripts/setup/progress.mjs'
import { computeScore, listSurvivors, type MutationReport, parseExplained, withoutSurvivors } from './survivors.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDER = '.data/mutation'
const PAGE = 'docs/mutation.md'

type LogLevel = NonNullable<ConstructorParameters<typeof Stryker>[0]['logLevel']>

/** Minimum percent of the mutants of all files together that the tests must notice. */
const MIN_SCORE = 90

/** The random stories notice more, and would take minutes for each change. */
const FUNDS = [
  ...['decision', 'derived', 'reserve', 'reviews', 'snapshot', 'states'].map((name) => `payment/${name}`),
  ...['answer', 'funds', 'money-step', 'positions', 'review', 'stored-funds'].map((name) => `payment/funds/${name}`),
]

/** Files whose tests are not in the file of the same name under test/domain. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  'account/name.ts': ['text'],
  'countries.ts': ['methods'],
  'currencies.ts': ['methods', 'money'],
  'link/report.ts': ['link/link'],
  'partner/drivers.ts': ['methods', 'offers'],
  'partner/offering.ts': ['methods', 'offers'],
  'payment/derived.ts': FUNDS,
  'payment/funds/account.ts': FUNDS,
  'payment/funds/answer.ts': FUNDS,
  'payment/funds/funds.ts': FUNDS,
  'payment/funds/money-step.ts': FUNDS,
  'payment/funds/positions.ts': ['payment/funds/positions', 'payment/reserve'],
  'payment/funds/review.ts': FUNDS,
  'payment/funds/stored-funds.ts': FUNDS,
  'payment/payment.ts': ['payment/states'],
}

/**
 * `npm run mutate` changes the pure rules of src/domain in one place after the other, and runs the tests of the changed
 * file: those in the file of the same name, or the ones that TESTS names. A survivor is a change that no test notices.
 * Each must be explained in docs/mutation.md.
 * `npm run mutate -- src/domain/money.ts` does so for the files named. Results of earlier runs are kept, unless
 * `--afresh` is set. Every file is stored when it is done, so that a run that was ended continues.
 */
export async function main(args: readonly string[], progress: Progress): Promise<number> {
  process.chdir(ROOT)
  const named = args.filter((arg) => !arg.startsWith('--')).map((arg) => relative(ROOT, resolve(arg)))
  const files = (named.length > 0 ? named : rules()).filter((file) => !hasTypesOnly(file))
  if (args.includes('--afresh')) await rm(FOLDER, { recursive: true, force: true })
  const untested = files.filter((file) => findTests(file).length === 0)
  for (const file of untested)
    progress.line(
      `${file} has no tests: write them in the same place under test/domain, or name them in lab/mutate/main.ts`,
    )
  if (untested.length > 0) return 1
  const reports: MutationReport[] = []
  for (const file of files) {
    const report = await mutate(file)
    reports.push(report)
    const { score, mutants } = computeScore(report)
    progress.line(`${file}: noticed ${score.toFixed(1)} % of ${mutants}`)
  }
  const report = { files: Object.assign({}, ...reports.map((one) => one.files)) } as MutationReport
  return judge(report, files, progress)
}

async function judge(report: MutationReport, files: readonly string[], progress: Progress): Promise<number> {
  const survivors = listSurvivors(report)
  const explained = parseExplained(await readFile(PAGE, 'utf8')).filter(({ file }) => files.includes(file))
  const isIn = (list: readonly { file: string; key: string }[], one: { file: string; key: string }): boolean =>
    list.some(({ file, key }) => file === one.file && key === one.key)
  const unexplained = survivors.filter((survivor) => !isIn(explained, survivor))
  const gone = explained.filter((known) => !isIn(survivors, known))
  for (const { file, line, key } of unexplained) progress.line(`NOT EXPLAINED ${file}:${line} - ${key}`)
  for (const { file, key } of gone) progress.line(`NO SURVIVOR ANY MORE, take it out of ${PAGE}: ${file} - ${key}`)
  const { score, mutants } = computeScore(report)
  progress.line(`noticed ${score.toFixed(1)} % of ${mutants} mutants; at least ${MIN_SCORE} % must be`)
  progress.line(`${unexplained.length} survivors without explanation, ${gone.length} explanations without survivor`)
  return score >= MIN_SCORE && unexplained.length === 0 && gone.length === 0 ? 0 : 1
}

const rules = (): string[] =>
  readdirSync('src/domain', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `src/domain/${file}`)
    .toSorted()

/** Returns true for a file of types: they do not exist when the code runs, so that no change of them can be noticed. */
const hasTypesOnly = (file: string): boolean =>
  transformFileSync(file, { jsc: { target: 'es2023', parser: { syntax: 'typescript' } } }).code.endsWith(
    'export { };\n',
  )

/** Empty: the file has no tests. */
function findTests(file: string): string[] {
  const name = relative('src/domain', file)
  const tests = TESTS[name] ?? [name.replace(/\.ts$/, '')]
  return tests.map((test) => `test/domain/${test}.test.ts`).filter((test) => existsSync(test))
}

/** A report with a digest of the file and its tests: as long as they are the same, it is not made again. */
type StoredReport = MutationReport & { readonly digest?: string }

async function mutate(file: string): Promise<MutationReport> {
  const path = `${FOLDER}/${file.replaceAll('/', '-')}.json`
  const hash = createHash('sha256')
  for (const each of [file, ...findTests(file)]) hash.update(readFileSync(each))
  const digest = hash.digest('hex')
  const stored = existsSync(path) ? (JSON.parse(await readFile(path, 'utf8')) as StoredReport) : null
  if (stored?.digest === digest) return stored
  await mkdir(FOLDER, { recursive: true })
  // Stryker would take a survivor from the file if the names of the tests are the same.
  if (stored !== null) await writeFile(path, JSON.stringify(withoutSurvivors(stored)))
  await runStryker(file, path)
  const report = { ...(JSON.parse(await readFile(path, 'utf8')) as MutationReport), digest }
  await writeFile(path, JSON.stringify(report))
  return report
}

async function runStryker(file: string, incrementalFile: string): Promise<void> {
  const stryker = new Stryker({
    mutate: [file],
    testRunner: 'rules',
    plugins: [fileURLToPath(new URL('runner.mjs', import.meta.url))],
    tests: findTests(file),
    testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    coverageAnalysis: 'perTest',
    concurrency: 2,
    // A mutant may loop forever. A file of tests takes three seconds at most, and a busy machine has time for it.
    timeoutMS: 60_000,
    incremental: true,
    incrementalFile,
    tempDirName: `${FOLDER}/sandbox`,
    // Only the rules are copied: the tests are read where they are.
    ignorePatterns: ['/*', '!/src', '/src/*', '!/src/domain'],
    // Types are checked elsewhere. Stryker would parse every file to turn them off, and rewrite the configuration with
    // the API of an older TypeScript.
    disableTypeChecks: false,
    tsconfigFile: 'none.json',
    reporters: [],
    logLevel: 'error' as LogLevel,
    warnings: false,
  })
  await stryker.runMutationTest()
}
